package iceberglite.spark.read.limit

import iceberglite.scan.{FileScanTask, ScanPlan}
import iceberglite.spark.read.stats.FileRowCount

/** A limit on the rows that match a scan's filter. */
sealed private[read] trait RowLimit extends Product with Serializable {

  /**
   * Returns the files to read.
   *
   * @param existingPlan the plan of all files, if all files have already been planned
   * @param planFiles plans enough files for the given number of rows, or all files if no number is given
   */
  def plan(existingPlan: Option[ScanPlan], planFiles: Option[Long] => ScanPlan): ScanPlan

  /** The description for EXPLAIN; absent without a limit. */
  def description: Option[String]
}

private[read] object RowLimit {

  /** No limit. */
  case object Unlimited extends RowLimit {
    override def plan(existingPlan: Option[ScanPlan], planFiles: Option[Long] => ScanPlan): ScanPlan =
      existingPlan.getOrElse(planFiles(None))

    override def description: Option[String] = None
  }

  /** At most `rows` rows, in any order. */
  final case class Limit(rows: Int) extends RowLimit {
    override def plan(existingPlan: Option[ScanPlan], planFiles: Option[Long] => ScanPlan): ScanPlan =
      existingPlan.fold(planFiles(Some(rows.toLong)))(all => PlanSubset.of(all, enoughFiles(all.tasks)))

    override def description: Option[String] = Some(s"limit=$rows")

    /**
     * Returns enough files for the limit. All rows of the files match the filter of the scan, because Spark pushes a
     * limit down only if Spark itself applies no filter to rows.
     */
    private def enoughFiles(tasks: Vector[FileScanTask]): Vector[FileScanTask] = {
      var minRowCount = 0L
      tasks.takeWhile { task =>
        val needsMore = minRowCount < rows
        minRowCount += FileRowCount.of(task).minCount
        needsMore
      }
    }
  }

  /** The first `rows` rows in a sort order. */
  final case class TopN(rows: Int, order: RowOrder) extends RowLimit {
    override def plan(existingPlan: Option[ScanPlan], planFiles: Option[Long] => ScanPlan): ScanPlan = {
      val fullPlan = existingPlan.getOrElse(planFiles(None))
      val tasks = new TopNFiles(order, rows.toLong).of(fullPlan.tasks)
      if (tasks.size == fullPlan.tasks.size) fullPlan.copy(tasks = tasks) else PlanSubset.of(fullPlan, tasks)
    }

    override def description: Option[String] = Some(s"first $rows by $order")
  }
}
