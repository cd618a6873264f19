package iceberglite.tree

import iceberglite.spec.{PrimitiveType, Schema, TableMetadata}

/** The columns that partition values come from, dropped ones too. */
object PartitionSources {

  /**
   * A schema to take the types of partition values from. Columns are as in `current`; a source column that it has no
   * more is as the newest schema with it says, for its files still have values of that type. Lost columns stand at the
   * top, whatever they were nested in: this schema is for lookups by id alone.
   */
  def schema(metadata: TableMetadata, current: Schema): Schema = {
    val newestFirst = current +: metadata.schemas.sortBy(-_.schemaId)
    val sources = metadata.specs.flatMap(_.fields).flatMap(_.sourceIds).distinct
    val lost = sources.filterNot(current.byId.contains).flatMap(id => newestFirst.flatMap(_.byId.get(id)).headOption)
    current.copy(fields = current.fields ++ lost.filter(_.fieldType.isInstanceOf[PrimitiveType]))
  }
}
