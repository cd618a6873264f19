package iceberglite.spark.read.partitioning

import iceberglite.scan.FileScanTask
import iceberglite.spark.read.planning.ScanFiles
import iceberglite.spark.read.stats.{ColumnStats, ColumnStatsByFile, StatisticsColumn}
import iceberglite.spec.expr.Evaluate
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{Identity, SortField}
import iceberglite.spec.partition.NullOrder.NullsFirst
import iceberglite.spec.partition.SortDirection.Ascending
import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.spec.types.Type._

/**
 * Determines the columns by which the rows of each file group are sorted in ascending order, nulls first, if the files
 * of the group are read one after the other. The files of a group share a partition key.
 *
 * The sort order id of a file states how its rows are sorted (spec: "Sorting"). In addition, the bounds of the first
 * sort column must show that the value ranges of the files of a group do not overlap.
 */
private[read] object GroupSortOrder {

  /**
   * Returns the columns by which all groups are sorted; empty if it is not certain that the rows of each group are
   * sorted.
   */
  def of(files: ScanFiles, groups: Vector[Vector[FileScanTask]]): Vector[NestedField] = {
    val metadata = files.table.metadata
    val orders = groups.iterator.flatten.map(_.file.sortOrderId).toSet.toVector
    val fields = orders.map { id =>
      id.flatMap(i => metadata.sortOrders.find(_.orderId == i)).fold(none)(order => supportedColumns(order.fields))
    }
    val commonPrefix =
      fields.reduceOption((a, b) => a.zip(b).takeWhile { case (x, y) => x == y }.map(_._1)).getOrElse(none)
    val columns = commonPrefix.map(id => files.schema.fields.find(f => f.id == id && hasCommonOrder(f)))
      .takeWhile(_.isDefined).flatten
    if (columns.nonEmpty && groups.forall(inAscendingOrder(_, columns, metadata).isDefined)) columns else Vector.empty
  }

  private val none: Vector[Int] = Vector.empty

  /**
   * Returns the ids of the leading sort columns that Spark's joins support: the columns before the first one with
   * another transform, direction or null order.
   */
  private def supportedColumns(fields: Vector[SortField]): Vector[Int] = fields.takeWhile { f =>
    f.transform == Identity && f.direction == Ascending && f.nullOrder == NullsFirst && f.sourceIds.size == 1
  }.map(_.sourceId)

  /**
   * Whether all engines sort a column in the same way. Engines differ in how they order strings, binaries, signed zeros
   * and NaN.
   */
  private def hasCommonOrder(column: NestedField): Boolean = column.fieldType match {
    case BooleanType | IntType | LongType | _: DecimalType | DateType | TimestampType | TimestampTzType => true
    case _ => false
  }

  /**
   * Sorts the files of a group so that their rows are in ascending order; absent if no order of the files has this
   * property.
   */
  def inAscendingOrder(
      tasks: Vector[FileScanTask],
      columns: Vector[NestedField],
      metadata: TableMetadata
  ): Option[Vector[FileScanTask]] = columns.headOption.map(c => (c, c.fieldType)) match {
    case Some((column, t: PrimitiveType)) if tasks.size > 1 =>
      val stats = new ColumnStatsByFile(StatisticsColumn(Vector(column), t), metadata)
      val statsByTask = tasks.map(task => (task, stats(task)))
      if (statsByTask.exists { case (_, f) => f.lower.isEmpty || f.upper.isEmpty }) None
      else {
        val sorted = statsByTask.sortBy(_._2.lower.toSeq.head)(Evaluate.ordering)
        Some(sorted.map(_._1)).filter(_ => areDisjoint(sorted.map(_._2)))
      }
    case _ => Some(tasks)
  }

  private def areDisjoint(stats: Vector[ColumnStats]): Boolean =
    stats.tail.forall(!_.mayBeNull) && stats.zip(stats.tail).forall { case (before, after) =>
      before.upper.exists(high => after.lower.exists(Evaluate.ordering.lt(high, _)))
    }
}
