package iceberglite.spec.json

import com.fasterxml.jackson.core.JsonGenerator

import iceberglite.spec.schema.Schema
import iceberglite.spec.view.{ViewRepresentation, ViewVersion}
import iceberglite.spec.view.ViewRepresentation.{Sql, Unknown}

/** The JSON form of a view version, in view metadata and in metadata updates. */
object ViewVersionJson extends JsonFormat[ViewVersion] {
  private val VersionId = "version-id"
  private val SchemaId = "schema-id"
  private val TimestampMs = "timestamp-ms"
  private val Summary = "summary"
  private val Representations = "representations"
  private val DefaultCatalog = "default-catalog"
  private val DefaultNamespace = "default-namespace"
  private val Type = "type"
  private val SqlType = "sql"
  private val SqlText = "sql"
  private val Dialect = "dialect"

  // Keys of a version that exist only in the early form of view metadata (view spec: "Appendix A").
  private val ParentVersionId = "parent-version-id"
  private val Properties = "properties"

  // Keys of a representation in the early form. Their values replace the names and comments of the schema's columns.
  private val FieldAliases = "field-aliases"
  private val FieldDocs = "field-docs"

  override def read(json: JsonValue): ViewVersion = read(json, None)

  /**
   * Reads a version.
   *
   * @param currentSchemaId the id of the view's current schema, which is used for a version without a schema id
   */
  private def read(json: JsonValue, currentSchemaId: Option[Int]): ViewVersion = {
    val representations = json(Representations).elements
    def versionOrQueryField[A](key: String)(read: JsonValue => A): Option[A] =
      (json +: representations).flatMap(_.optional(key)).headOption.map(read)
    val version = ViewVersion(
      json.int(VersionId),
      versionOrQueryField(SchemaId)(_.int).orElse(currentSchemaId).getOrElse(json.int(SchemaId)),
      json.long(TimestampMs),
      json(Summary).strings,
      representations.map(representation),
      versionOrQueryField(DefaultCatalog)(_.string),
      versionOrQueryField(DefaultNamespace)(_.map(_.string)).getOrElse(Vector.empty),
      json.optionalInt(ParentVersionId),
      json.stringsOf(Properties)
    )
    json(Representations).requireUnique(version.dialects)(dialect => s"Two queries have the dialect $dialect")
    version
  }

  /**
   * Returns all schemas and versions of a view. If a version of the early form has its own names or comments for the
   * columns, the result contains an additional schema with these names and comments.
   */
  private[json] def readAll(
      json: JsonValue,
      schemas: Vector[Schema],
      currentSchemaId: Option[Int]
  ): (Vector[Schema], Vector[ViewVersion]) =
    json.elements.foldLeft((schemas, Vector.empty[ViewVersion])) { case ((known, versions), element) =>
      val version = read(element, currentSchemaId)
      renamed(element, version, known) match {
        case Some(schema) =>
          val id = known.find(_.sameColumns(schema)).fold(known.map(_.schemaId).max + 1)(_.schemaId)
          val allSchemas = if (known.exists(_.schemaId == id)) known else known :+ schema.copy(schemaId = id)
          (allSchemas, versions :+ version.copy(schemaId = id))
        case None => (known, versions :+ version)
      }
    }

  /**
   * Returns the version's schema with the version's own column names and comments; `None` if the version has no
   * column names and comments of its own, as in the current form of the specification.
   */
  private def renamed(json: JsonValue, version: ViewVersion, schemas: Vector[Schema]): Option[Schema] =
    if (json.has(SchemaId)) None
    else schemas.find(_.schemaId == version.schemaId).flatMap { schema =>
      Some(rename(json, schema)).filterNot(_.sameColumns(schema))
    }

  private def rename(version: JsonValue, schema: Schema): Schema = {
    def readTexts(key: String): Option[Vector[Option[String]]] =
      version(Representations).elements.flatMap(_.optional(key)).headOption.map { list =>
        val texts = list.map(e => if (e.isNull) None else Some(e.string))
        if (texts.size != schema.fields.size) {
          list.fail(s"There are ${texts.size} values, but the schema has ${schema.fields.size} columns")
        }
        texts
      }
    val none = Vector.fill[Option[String]](schema.fields.size)(None)
    val (names, docs) = (readTexts(FieldAliases).getOrElse(none), readTexts(FieldDocs).getOrElse(none))
    schema.copy(fields = schema.fields.zip(names.zip(docs)).map { case (field, (name, doc)) =>
      field.copy(name = name.getOrElse(field.name), doc = doc.orElse(field.doc))
    })
  }

  private def representation(json: JsonValue): ViewRepresentation = json(Type).lowerCase match {
    case SqlType => Sql(json.string(SqlText), json.string(Dialect))
    case _ => Unknown(json.string(Type), json.json)
  }

  override def write(version: ViewVersion, out: JsonGenerator): Unit = write(version, None, out)

  /**
   * Writes a version.
   *
   * @param schema the version's schema, whose column names and comments are also written to the queries. It is absent
   *   in metadata updates, which exist only in the current form of the specification
   */
  private[json] def write(version: ViewVersion, schema: Option[Schema], out: JsonGenerator): Unit = {
    out.writeStartObject()
    out.writeNumberField(VersionId, version.versionId)
    version.parentVersionId.foreach(id => out.writeNumberField(ParentVersionId, id))
    out.writeNumberField(TimestampMs, version.timestampMs)
    JsonFormat.writeStrings(out, Summary, version.summary)
    writeDefaults(version, out)
    JsonFormat.writeArray(out, Representations, version.representations)(writeRepresentation(version, schema, _, out))
    if (version.properties.nonEmpty) JsonFormat.writeStrings(out, Properties, version.properties)
    out.writeEndObject()
  }

  /**
   * Writes the schema id, default catalog and default namespace. In the current form of the specification, these keys
   * belong to the version. In the early form, they belong to each representation.
   */
  private def writeDefaults(version: ViewVersion, out: JsonGenerator): Unit = {
    out.writeNumberField(SchemaId, version.schemaId)
    version.defaultCatalog.foreach(out.writeStringField(DefaultCatalog, _))
    JsonFormat.writeArray(out, DefaultNamespace, version.defaultNamespace)(level => out.writeString(level))
  }

  private def writeRepresentation(
      version: ViewVersion,
      schema: Option[Schema],
      representation: ViewRepresentation,
      out: JsonGenerator
  ): Unit = representation match {
    case Sql(sql, dialect) =>
      out.writeStartObject()
      out.writeStringField(Type, SqlType)
      out.writeStringField(SqlText, sql)
      out.writeStringField(Dialect, dialect)
      writeDefaults(version, out)
      schema.foreach(writeColumns(_, out))
      out.writeEndObject()
    case Unknown(_, json) => out.writeRawValue(json)
  }

  /** Writes the names of the columns and, if a column has a comment, the comments. */
  private def writeColumns(schema: Schema, out: JsonGenerator): Unit = {
    JsonFormat.writeArray(out, FieldAliases, schema.fields)(field => out.writeString(field.name))
    if (schema.fields.exists(_.doc.isDefined)) {
      JsonFormat.writeArray(out, FieldDocs, schema.fields)(_.doc.fold(out.writeNull())(out.writeString))
    }
  }
}
