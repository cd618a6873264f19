package iceberglite.spark.read.limit

import iceberglite.scan.{FileScanTask, ScanPlan}
import iceberglite.spark.read.facts.RowCount

/** How many of the rows that match a scan's filter are wanted. */
sealed private[read] trait RowLimit extends Product with Serializable {

  /**
   * The files to read.
   *
   * @param whole the plan of all files, where it is there already
   * @param make plans all files, or no more than hold so many rows for certain
   */
  def plan(whole: Option[ScanPlan], make: Option[Long] => ScanPlan): ScanPlan

  /** For EXPLAIN; absent where there is no limit. */
  def description: Option[String]
}

private[read] object RowLimit {

  /** All of them. */
  case object None extends RowLimit {
    override def plan(whole: Option[ScanPlan], make: Option[Long] => ScanPlan): ScanPlan =
      whole.getOrElse(make(Option.empty))

    override def description: Option[String] = Option.empty
  }

  /** Any so many of them. */
  final case class AnyOf(rows: Int) extends RowLimit {
    override def plan(whole: Option[ScanPlan], make: Option[Long] => ScanPlan): ScanPlan =
      whole.fold(make(Some(rows.toLong)))(all => FewerFiles.of(all, first(all.tasks)))

    override def description: Option[String] = Some(s"limit=$rows")

    /** All rows of these files match: Spark tests none of them. */
    private def first(tasks: Vector[FileScanTask]): Vector[FileScanTask] = {
      var sure = 0L
      tasks.takeWhile { task =>
        val isMissing = sure < rows
        sure += RowCount.of(task).atLeast
        isMissing
      }
    }
  }

  /** So many of them that come first in an order. */
  final case class FirstOf(rows: Int, order: RowOrder) extends RowLimit {
    override def plan(whole: Option[ScanPlan], make: Option[Long] => ScanPlan): ScanPlan = {
      val all = whole.getOrElse(make(Option.empty))
      val first = new FirstRows(order, rows.toLong).of(all.tasks)
      if (first.size == all.tasks.size) all.copy(tasks = first) else FewerFiles.of(all, first)
    }

    override def description: Option[String] = Some(s"first $rows by $order")
  }
}
