package iceberglite.spec.update

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{Day, Month, PartitionSpec, SortOrder, Transform, Void, Year}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Type
import iceberglite.spec.types.Type.{DateType, UnknownType}

/**
 * The references from a table's partition specs and sort order to the table's columns. These references restrict schema
 * changes.
 */
final private[update] case class ColumnReferences(
    schema: Schema,
    specs: Vector[PartitionSpec],
    spec: PartitionSpec,
    order: SortOrder
) {

  /** Checks that a column can be dropped. @param ids the ids of the column and of all its nested fields */
  def checkDroppable(name: String, ids: Set[Int]): Unit = {
    spec.fields.filter(_.transform != Void).find(_.sourceIds.exists(ids)).foreach { f =>
      throw ValidationFailed(
        s"Cannot drop column $name: the partition field ${f.name} uses it. Drop the partition field first, " +
          "with ALTER TABLE ... DROP PARTITION FIELD"
      )
    }
    if (order.fields.exists(_.sourceIds.exists(ids))) {
      throw ValidationFailed(s"Cannot drop column $name: the table's sort order uses it. Change the sort order first")
    }
  }

  /**
   * Checks that a promotion does not change the partition values of existing rows. Some of the promotions that version
   * 3 added would change partition values. All partition specs are checked, because manifests of all partition specs
   * are still read.
   */
  def checkPromotable(name: String, id: Int, from: Type, to: Type): Unit =
    for {
      field <- specs.flatMap(_.fields)
      if field.sourceIds.contains(id) && !keepsPartitionValues(field.transform, from, to)
    } {
      throw ValidationFailed(
        s"Cannot change column $name from $from to $to: the partition field ${field.name} (${field.transform}) " +
          "would have other values for the same rows. Add a new column instead"
      )
    }

  /**
   * Checks that a new or renamed column does not have the name of a partition field of another column (see
   * [[UnboundField.checkName]]).
   */
  def checkNames(changed: Schema): Unit =
    for (field <- specs.flatMap(_.fields); column <- changed.find(field.name)) {
      if (!field.sourceIds.contains(column.id) && !schema.find(field.name).exists(_.id == column.id)) {
        throw ValidationFailed(
          s"Column ${field.name} cannot have this name: a partition field (${field.transform}) has this name. Choose " +
            "another name, or rename the partition field with ALTER TABLE ... REPLACE PARTITION FIELD"
        )
      }
    }

  /** Checks that the transforms of the default sort order support the promoted type. */
  def checkSortable(name: String, id: Int, to: Type): Unit =
    order.fields.find(f => f.sourceIds.contains(id) && !f.transform.canTransform(to)).foreach { f =>
      throw ValidationFailed(
        s"Cannot change column $name to $to: the table's sort order uses it (${f.transform}), which does not support " +
          "this type. Change the sort order first"
      )
    }

  private def keepsPartitionValues(transform: Transform, from: Type, to: Type): Boolean = from match {
    case DateType => ColumnReferences.UnchangedByDatePromotion.contains(transform)
    case UnknownType => transform.canTransform(to)
    case _ => true
  }
}

private[update] object ColumnReferences {
  def of(metadata: TableMetadata): ColumnReferences =
    ColumnReferences(metadata.schema, metadata.specs, metadata.spec, metadata.sortOrder)

  private val UnchangedByDatePromotion: Seq[Transform] = Seq(Year, Month, Day, Void)
}
