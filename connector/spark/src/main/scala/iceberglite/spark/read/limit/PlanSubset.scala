package iceberglite.spark.read.limit

import iceberglite.scan.{FileScanTask, ScanPlan}

/** Creates a plan that reads only some of the files of another plan. */
private[read] object PlanSubset {
  def of(plan: ScanPlan, tasks: Vector[FileScanTask]): ScanPlan = {
    val report = plan.report.copy(
      prunedFiles = plan.report.prunedFiles + plan.tasks.size - tasks.size,
      resultFiles = tasks.size.toLong,
      resultRecords = tasks.iterator.map(_.file.recordCountOrZero).sum,
      resultBytes = tasks.iterator.map(_.length).sum
    )
    plan.copy(tasks = tasks, report = report.withDeletesOf(tasks))
  }
}
