package iceberglite.tree

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{PartitionField, PartitionSpec, PartitionTuple, Void}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField}
import iceberglite.spec.types.Type.{StructType, UnknownType}

/**
 * The unified partition type (spec: "Partition Statistics File"): a single struct for the files of all partition specs
 * of a table. The struct has a field for each partition field id, with the newest name of the partition field, in the
 * order of the ids. In the struct of a file, the fields that the file's partition spec does not have are null.
 */
final class UnifiedPartition(metadata: TableMetadata) extends Serializable {
  private val sources: Schema = PartitionSpecs.sources(metadata, metadata.schema)
  private val newestFirst: Vector[PartitionSpec] = metadata.specs.sortBy(-_.specId)
  private val ids: Vector[Int] = metadata.specs.flatMap(_.fields).map(_.fieldId).distinct.sorted

  val structType: StructType = StructType(distinctNames(ids.map(unified)))

  /** Returns whether no partition spec has a partition field. */
  def isEmpty: Boolean = ids.isEmpty

  /** For each partition spec id, the position of each unified field in the tuples of this partition spec. */
  private val positions: Map[Int, Vector[Option[Int]]] = metadata.specs.map { spec =>
    val positionOf = spec.fields.map(_.fieldId).zipWithIndex.toMap
    spec.specId -> ids.map(positionOf.get)
  }.toMap

  /** Returns a file's partition, in the order of [[structType]]; `None` is null. */
  def values(specId: Int, tuple: PartitionTuple): Vector[Option[Literal]] =
    positions(specId).zip(structType.fields).map { case (position, field) =>
      // If no schema has the source column any more, the type of the values is unknown, and the values are shown as
      // null.
      position.filterNot(_ => field.fieldType == UnknownType).flatMap(tuple.values(_))
    }

  /**
   * Returns the unified field of a partition field id. The field has the type from the newest partition spec in which
   * its transform is not void, because a field that is dropped in format version 1 is void in newer partition specs.
   */
  private def unified(id: Int): NestedField = {
    val uses = newestFirst.flatMap(s => s.fields.zip(s.partitionType(sources).fields)).filter(_._1.fieldId == id)
    val nonVoid = uses.filter(_._1.transform != Void)
    nonVoid.map(_._1).find(!_.sameValues(nonVoid.head._1)).foreach(other => refuse(nonVoid.head._1, other))
    (nonVoid ++ uses).head._2.copy(name = uses.head._1.name)
  }

  private def refuse(first: PartitionField, second: PartitionField): Nothing = throw Unsupported(
    s"a partition column with two definitions of partition field ${first.fieldId}: ${describe(first)} and " +
      describe(second),
    "Version 1 tables may have such specs. Read metadata tables that have no column partition, such as manifests"
  )

  private def describe(f: PartitionField): String = s"${f.name}=${f.transform}(${f.sourceId})"

  /**
   * Makes names distinct. If several fields have the same name, only the field with the highest id keeps the name. The
   * names of the other fields get the field id as a suffix.
   */
  private def distinctNames(fields: Vector[NestedField]): Vector[NestedField] = {
    val newestIds = fields.map(f => f.name -> f.id).toMap
    fields.map(f => if (newestIds(f.name) == f.id) f else f.copy(name = s"${f.name}_${f.id}"))
  }
}
