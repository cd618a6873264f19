package iceberglite.spec.rest

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.json.{
  JsonFormat,
  MetadataUpdateJson,
  PartitionSpecJson,
  RequirementJson,
  SchemaJson,
  SortOrderJson,
  ViewRequirementJson,
  ViewUpdateJson,
  ViewVersionJson
}
import iceberglite.spec.partition.{PartitionSpec, SortOrder}
import iceberglite.spec.schema.Schema
import iceberglite.spec.update.{MetadataUpdate, Requirement, ViewRequirement, ViewUpdate}
import iceberglite.spec.view.ViewVersion

/** Writes the bodies of requests to a REST catalog, as the OpenAPI description of the REST catalog defines them. */
object RestRequestJson {

  /** The name of a table or a view. */
  final case class Name(namespace: Vector[String], name: String)

  /** A change to a single table, which is committed alone or in a transaction. */
  final case class TableCommit(name: Name, requirements: Vector[Requirement], updates: Vector[MetadataUpdate])

  /**
   * The request to create a table.
   *
   * @param location the table location; if absent, the server chooses the location
   * @param staged whether the server only returns the metadata of the table, and a later commit creates the table
   */
  final case class CreateTableRequest(
      name: String,
      location: Option[String],
      schema: Schema,
      spec: PartitionSpec,
      order: SortOrder,
      properties: Map[String, String],
      staged: Boolean
  )

  /** The request to create a view. The server assigns the UUID of the view and the schema id. */
  final case class NewView(
      name: String,
      location: Option[String],
      schema: Schema,
      version: ViewVersion,
      properties: Map[String, String]
  )

  def createNamespace(namespace: Vector[String], properties: Map[String, String]): Array[Byte] = body { out =>
    writeStrings(out, "namespace", namespace)
    JsonFormat.writeStrings(out, "properties", properties)
  }

  def updateProperties(removals: Set[String], updates: Map[String, String]): Array[Byte] = body { out =>
    writeStrings(out, "removals", removals.toVector.sorted)
    JsonFormat.writeStrings(out, "updates", updates)
  }

  def createTable(table: CreateTableRequest): Array[Byte] = body { out =>
    out.writeStringField("name", table.name)
    table.location.foreach(out.writeStringField("location", _))
    out.writeFieldName("schema")
    SchemaJson.write(table.schema, out)
    out.writeFieldName("partition-spec")
    PartitionSpecJson.write(table.spec, out)
    out.writeFieldName("write-order")
    SortOrderJson.write(table.order, out)
    JsonFormat.writeStrings(out, "properties", table.properties)
    out.writeBooleanField("stage-create", table.staged)
  }

  /** Returns the request to register the metadata file of a table or a view. */
  def register(name: String, metadataLocation: String): Array[Byte] = body { out =>
    out.writeStringField("name", name)
    out.writeStringField("metadata-location", metadataLocation)
  }

  def rename(source: Name, destination: Name): Array[Byte] = body { out =>
    writeName(out, "source", source)
    writeName(out, "destination", destination)
  }

  def commitTable(commit: TableCommit): Array[Byte] = body(writeCommit(commit, _))

  def commitTransaction(commits: Vector[TableCommit]): Array[Byte] = body { out =>
    JsonFormat.writeArray(out, "table-changes", commits) { commit =>
      out.writeStartObject()
      writeCommit(commit, out)
      out.writeEndObject()
    }
  }

  def createView(view: NewView): Array[Byte] = body { out =>
    out.writeStringField("name", view.name)
    view.location.foreach(out.writeStringField("location", _))
    out.writeFieldName("schema")
    SchemaJson.write(view.schema, out)
    out.writeFieldName("view-version")
    ViewVersionJson.write(view.version, out)
    JsonFormat.writeStrings(out, "properties", view.properties)
  }

  def commitView(name: Name, requirements: Vector[ViewRequirement], updates: Vector[ViewUpdate]): Array[Byte] =
    body { out =>
      writeName(out, "identifier", name)
      JsonFormat.writeArray(out, "requirements", requirements)(ViewRequirementJson.write(_, out))
      JsonFormat.writeArray(out, "updates", updates)(ViewUpdateJson.write(_, out))
    }

  private def writeCommit(commit: TableCommit, out: JsonGenerator): Unit = {
    writeName(out, "identifier", commit.name)
    JsonFormat.writeArray(out, "requirements", commit.requirements)(RequirementJson.write(_, out))
    JsonFormat.writeArray(out, "updates", commit.updates)(MetadataUpdateJson.write(_, out))
  }

  private def writeName(out: JsonGenerator, key: String, name: Name): Unit = {
    out.writeObjectFieldStart(key)
    writeStrings(out, "namespace", name.namespace)
    out.writeStringField("name", name.name)
    out.writeEndObject()
  }

  private def writeStrings(out: JsonGenerator, key: String, values: Vector[String]): Unit =
    JsonFormat.writeArray(out, key, values)(out.writeString)

  private def body(writeMembers: JsonGenerator => Unit): Array[Byte] = JsonFormat.bytes { out =>
    out.writeStartObject()
    writeMembers(out)
    out.writeEndObject()
  }
}
