package iceberglite.tree

import iceberglite.spec.IcebergError
import iceberglite.spec.file.PartSummary
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.PrimitiveType

/**
 * The partition specs of a table, with their source columns. Serializable, because executors need the partition specs
 * to read partition values.
 *
 * @param sources a schema with all source columns; see [[PartitionSpecs.sources]]
 */
final case class PartitionSpecs(byId: Map[Int, PartitionSpec], sources: Schema) {

  /**
   * Returns the partition spec of a part (a manifest in format versions 1 to 3).
   *
   * @throws IcebergError.InvalidMetadata if the table does not have this partition spec
   */
  def of(part: PartSummary): PartitionSpec = byId.getOrElse(
    part.specId,
    throw IcebergError.InvalidMetadata(
      part.path,
      "$.partition_spec_id",
      s"The table has no partition spec ${part.specId}. Its specs are ${byId.keys.toVector.sorted.mkString(", ")}"
    )
  )

  /**
   * Returns only the given partition spec with its source columns. A reader of one part needs no other partition specs.
   */
  def only(specId: Int): PartitionSpecs = {
    val spec = byId.get(specId)
    val columns = spec.toVector.flatMap(_.fields).flatMap(_.sourceIds).distinct.flatMap(sources.byId.get)
    PartitionSpecs(spec.map(specId -> _).toMap, Schema(sources.schemaId, columns))
  }
}

object PartitionSpecs {

  /** Returns the partition specs of a table. @param current the table's schema, or the schema of an old snapshot */
  def of(metadata: TableMetadata, current: Schema): PartitionSpecs =
    PartitionSpecs(metadata.specsById, sources(metadata, current))

  /**
   * Returns a schema that determines the types of partition values. The schema has the columns of `current` and the
   * dropped source columns of all partition specs. A dropped column has the type that it had in the newest schema that
   * contains it, because files have values of that type. Dropped columns are at the top level, even if they were
   * nested, because the schema is used only for lookups by id.
   */
  def sources(metadata: TableMetadata, current: Schema): Schema = {
    val newestFirst = current +: metadata.schemas.sortBy(-_.schemaId)
    val sources = metadata.specs.flatMap(_.fields).flatMap(_.sourceIds).distinct
    val dropped = sources.filterNot(current.byId.contains).flatMap(id => newestFirst.flatMap(_.byId.get(id)).headOption)
    current.copy(fields = current.fields ++ dropped.filter(_.fieldType.isInstanceOf[PrimitiveType]))
  }
}
