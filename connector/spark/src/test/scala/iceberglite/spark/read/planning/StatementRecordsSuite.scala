package iceberglite.spark.read.planning

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.scan.FileScanTask
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.partition.PartitionSpec
import iceberglite.tree.TestTable.file

/** Tests `StatementFiles.liveRecords`, the number of live rows in the files that a statement reads. */
class StatementRecordsSuite extends AnyFunSuite {
  private def recordsOf(recordCounts: Long*): Option[Long] = {
    val tasks = recordCounts.zipWithIndex.map { case (count, i) =>
      FileScanTask.whole(file(s"f$i").copy(recordCount = count), 1L, PartitionSpec.Unpartitioned, AlwaysTrue)
    }
    StatementFiles(tasks.toVector, AlwaysTrue).liveRecords
  }

  test("the number of rows that a statement has read is the sum of the record counts") {
    assert(recordsOf(3, 4).contains(7L))
  }

  test("the number of rows that a statement has read is unknown if a file has no valid record count") {
    assert(recordsOf(3, -1).isEmpty)
  }
}
