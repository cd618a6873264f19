package iceberglite.spark.read.limit

import java.util.IdentityHashMap

import iceberglite.scan.{FileScanTask, ScanPlan}
import iceberglite.scan.deletes.DeleteFile

/** Creates a plan that reads only some of the files of another plan. */
private[read] object PlanSubset {
  def of(plan: ScanPlan, tasks: Vector[FileScanTask]): ScanPlan = {
    val report = plan.report
    plan.copy(
      tasks = tasks,
      report = report.copy(
        prunedFiles = report.prunedFiles + plan.tasks.size - tasks.size,
        resultFiles = tasks.size.toLong,
        resultRecords = tasks.iterator.map(_.file.recordCountOrZero).sum,
        resultBytes = tasks.iterator.map(_.length).sum,
        deleteFiles = deleteFiles(tasks),
        deletedRecords =
          tasks.iterator.filter(_.deletes.nonEmpty).map(t => t.file.recordCountOrZero - t.liveRecords).sum
      )
    )
  }

  private def deleteFiles(tasks: Vector[FileScanTask]): Long = {
    val distinct = new IdentityHashMap[DeleteFile, DeleteFile]
    tasks.foreach(_.deletes.foreach(d => distinct.put(d, d)))
    distinct.size.toLong
  }
}
