package iceberglite.spark.read.limit

import iceberglite.scan.ScanPlan
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
      existingPlan.fold(planFiles(Some(rows.toLong)))(subset(_, rows.toLong))

    override def description: Option[String] = Some(s"limit=$rows")
  }

  /**
   * Returns a function that lets the server plan files for a number of rows, and checks the result. The server may
   * count rows that are deleted. Therefore, if the planned files may have too few rows that are not deleted, all files
   * are planned.
   *
   * @param planFiles lets the server plan files
   */
  def byServer(planFiles: Option[Long] => ScanPlan): Option[Long] => ScanPlan = {
    case None => planFiles(None)
    case Some(rows) =>
      val limited = planFiles(Some(rows))
      val minCount = limited.tasks.iterator.map(FileRowCount.of(_).minCount).sum
      if (minCount >= rows || limited.tasks.forall(_.deletes.isEmpty)) limited else subset(planFiles(None), rows)
  }

  /**
   * Returns a plan of enough files for a limit. All rows of the files match the filter of the scan, because Spark
   * pushes a limit down only if Spark itself applies no filter to rows.
   */
  private def subset(all: ScanPlan, rows: Long): ScanPlan = {
    var minRowCount = 0L
    PlanSubset.of(
      all,
      all.tasks.takeWhile { task =>
        val needsMore = minRowCount < rows
        minRowCount += FileRowCount.of(task).minCount
        needsMore
      }
    )
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
