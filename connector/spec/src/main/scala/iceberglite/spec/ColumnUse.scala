package iceberglite.spec

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.Type.{DateType, UnknownType}
import iceberglite.spec.transform.{Day, Month, Void, Year}

/** What a table's partition specs and sort order need of its columns. */
final private[spec] case class ColumnUse(specs: Vector[PartitionSpec], spec: PartitionSpec, order: SortOrder) {

  /** @param ids of the column and of all that is inside of it */
  def checkDroppable(name: String, ids: Set[Int]): Unit = {
    spec.fields.filter(_.transform != Void).find(_.sourceIds.exists(ids)).foreach { f =>
      throw ValidationFailed(
        s"Cannot drop column $name: the partition field ${f.name} is made from it. Drop that first, " +
          "with ALTER TABLE ... DROP PARTITION FIELD"
      )
    }
    if (order.fields.exists(_.sourceIds.exists(ids))) {
      throw ValidationFailed(s"Cannot drop column $name: the table's sort order uses it. Change the order first")
    }
  }

  /**
   * Version 3: no promotion that changes a transform's result. Every spec counts, as manifests of each are still read.
   */
  def checkPromotable(name: String, id: Int, from: Type, to: Type): Unit =
    for (field <- specs.flatMap(_.fields) if field.sourceIds.contains(id) && !keepsResult(field.transform, from, to)) {
      throw ValidationFailed(
        s"Cannot change column $name from $from to $to: the partition field ${field.name} (${field.transform}) " +
          "would get other values for the same rows. Add a new column instead"
      )
    }

  private def keepsResult(transform: Transform, from: Type, to: Type): Boolean = from match {
    case DateType => ColumnUse.SameOfDateAndTimestamp.contains(transform)
    case UnknownType => transform.canTransform(to)
    case _ => true
  }
}

private[spec] object ColumnUse {
  val Nothing: ColumnUse = ColumnUse(Vector.empty, PartitionSpec.Unpartitioned, SortOrder.Unsorted)

  def of(metadata: TableMetadata): ColumnUse = ColumnUse(metadata.specs, metadata.spec, metadata.sortOrder)

  private val SameOfDateAndTimestamp: Seq[Transform] = Seq(Year, Month, Day, Void)
}
