package iceberglite.tree

import iceberglite.spec.IcebergError
import iceberglite.spec.file.PartSummary
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.PrimitiveType

/**
 * The partition specs of a table, with their source columns. Serializable, because executors use it to read partition
 * values.
 *
 * @param sources a schema with all source columns; see [[PartitionSpecs.sources]]
 */
final case class PartitionSpecs(byId: Map[Int, PartitionSpec], sources: Schema) {

  /** Returns the partition spec of a part. @throws IcebergError.InvalidMetadata the table does not have it */
  def of(part: PartSummary): PartitionSpec = byId.getOrElse(
    part.specId,
    throw IcebergError.InvalidMetadata(
      part.path,
      "$.partition_spec_id",
      s"The table has no partition spec ${part.specId}, only ${byId.keys.toVector.sorted.mkString(", ")}"
    )
  )

  /** Returns these specs reduced to one spec and its source columns, which is all that a reader of one part needs. */
  def only(specId: Int): PartitionSpecs = {
    val spec = byId.get(specId)
    val columns = spec.toVector.flatMap(_.fields).flatMap(_.sourceIds).distinct.flatMap(sources.byId.get)
    PartitionSpecs(spec.map(specId -> _).toMap, Schema(sources.schemaId, columns))
  }
}

object PartitionSpecs {

  /** @param current the table's schema, or that of an old snapshot */
  def of(metadata: TableMetadata, current: Schema): PartitionSpecs =
    PartitionSpecs(metadata.specsById, sources(metadata, current))

  /**
   * Returns a schema that determines the types of partition values. It has the columns of `current` and the dropped
   * source columns of all specs. A dropped column has its type in the newest schema that contains it, because files
   * still have values of that type. Dropped columns are at the top level, even if they were nested, because this schema
   * is used only for lookups by id.
   */
  def sources(metadata: TableMetadata, current: Schema): Schema = {
    val newestFirst = current +: metadata.schemas.sortBy(-_.schemaId)
    val sources = metadata.specs.flatMap(_.fields).flatMap(_.sourceIds).distinct
    val dropped = sources.filterNot(current.byId.contains).flatMap(id => newestFirst.flatMap(_.byId.get(id)).headOption)
    current.copy(fields = current.fields ++ dropped.filter(_.fieldType.isInstanceOf[PrimitiveType]))
  }
}
