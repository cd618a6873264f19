package iceberglite.spec.update

import iceberglite.spec.IcebergError.{NotFound, ValidationFailed}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.{Schema, SchemaCheck}

/** Updates of the schemas of a table. */
private[update] object Schemas {

  /** Adds a schema, unless the table already has an equal schema. Returns the new metadata and the id of the schema. */
  def add(m: TableMetadata, schema: Schema, lastColumnId: Int): (TableMetadata, Int) = {
    SchemaCheck(schema, m.formatVersion)
    val next = m.copy(lastColumnId = Seq(m.lastColumnId, lastColumnId, schema.highestFieldId).max)
    m.schemas.find(_.sameColumns(schema)) match {
      case Some(same) => (next, same.schemaId)
      case None =>
        val id = m.schemas.map(_.schemaId).foldLeft(-1)(_ max _) + 1
        (next.copy(schemas = m.schemas :+ schema.copy(schemaId = id)), id)
    }
  }

  def setCurrent(m: TableMetadata, id: Int): TableMetadata = {
    if (!m.schemasById.contains(id)) {
      throw NotFound(ObjectKind.Schema, id.toString, "Add the schema before it becomes the current schema")
    }
    m.copy(currentSchemaId = id)
  }

  /** Removes schemas. Ids that the table does not have are ignored. */
  def remove(m: TableMetadata, ids: Set[Int]): TableMetadata = {
    if (ids(m.currentSchemaId)) {
      throw ValidationFailed(s"Cannot remove schema ${m.currentSchemaId}: it is the current schema")
    }
    m.copy(schemas = m.schemas.filterNot(s => ids(s.schemaId)))
  }
}
