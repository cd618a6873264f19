package iceberglite.catalog.rest

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.{FieldProperties, Schema}
import iceberglite.spec.types.DefaultValue
import iceberglite.spec.update.{FreshIds, MetadataUpdate}
import iceberglite.spec.update.MetadataUpdate.{RemoveProperties, SetProperties}

/** Compares a table that a server created with the definition in the request. */
private[catalog] object CreatedTable {

  /**
   * Checks that the table has the requested format version and columns. The server may assign other field ids.
   *
   * @param table the name of the table, for messages
   * @throws ValidationFailed if the format version, a column's name, type, nullability or default, or the identifier
   *   fields are different
   */
  def check(table: String, requested: TableMetadata, created: TableMetadata): Unit = {
    val version =
      if (created.formatVersion == requested.formatVersion) None
      else Some(s"format version ${created.formatVersion} instead of ${requested.formatVersion}")
    val columns =
      if (definitionOf(created.schema) == definitionOf(requested.schema)) None
      else Some(s"${textOf(created.schema)} instead of ${textOf(requested.schema)}")
    val differences = Seq(version, columns).flatten.mkString(", and ")
    if (differences.nonEmpty) throw ValidationFailed(
      s"The REST catalog created table $table with another definition than requested: $differences. The table exists " +
        "and is empty. Drop it, and create a table that the server supports"
    )
  }

  /**
   * Returns the updates that assign the properties of columns to the field ids of the created table (see
   * [[FieldProperties]]). Returns no updates if the server assigned the requested ids.
   */
  def columnProperties(requested: TableMetadata, created: TableMetadata): Vector[MetadataUpdate] = {
    val declared = requested.properties.filter { case (key, _) => FieldProperties.isKey(key) }
    val renumbered = FieldProperties.renumber(declared, requested.schema, created.schema)
    val stale = declared.keySet -- renumbered.keySet
    if (renumbered == declared) Vector.empty
    else if (stale.isEmpty) Vector(SetProperties(renumbered))
    else Vector(SetProperties(renumbered), RemoveProperties(stale))
  }

  /**
   * Returns the fields at every depth with their defaults, and the identifier fields. Comments are omitted, and the
   * fields are renumbered, so that the result does not depend on the field ids.
   */
  private def definitionOf(schema: Schema): (Vector[(String, Option[DefaultValue])], Set[Int]) = {
    val (numbered, _) = FreshIds.of(schema, None)
    (Schema.fieldsOf(numbered.asStruct).map(f => (f.toString, f.writeDefault)), numbered.identifierFieldIds)
  }

  private def textOf(schema: Schema): String = schema.fields.map { f =>
    s"${f.name} ${f.fieldType}${if (f.required) " NOT NULL" else ""}${if (f.writeDefault.isDefined) " DEFAULT" else ""}"
  }.mkString("columns (", ", ", ")")
}
