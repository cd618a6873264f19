package iceberglite.spark.stream.sink

import org.apache.spark.sql.execution.SortExec
import org.apache.spark.sql.execution.streaming.StreamingQueryWrapper
import org.apache.spark.sql.streaming.{OutputMode, StreamingQuery}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/** Checks how the rows of a micro-batch are distributed to tasks and files. */
class StreamingFilesSuite extends AnyFunSuite with SinkFixture {
  private val manyPartitions = "spark.sql.shuffle.partitions" -> "16"

  private def manyRows(count: Int): Seq[(Long, String)] = (0L until count.toLong).map(id => id -> s"p${id % 3}")

  /** The number of data files and of delete files that each commit added, oldest first. */
  private def addedFiles(t: String): Seq[(Int, Int)] = {
    def count(summary: collection.Map[String, String], key: String): Int = summary.get(key).fold(0)(_.toInt)
    rows(s"SELECT summary FROM $t.snapshots ORDER BY committed_at").map { row =>
      val summary = row.getMap[String, String](0)
      (count(summary, "added-data-files"), count(summary, "added-delete-files"))
    }
  }

  private def sortedTable(clauses: String = ""): String = {
    val t = tableWith("id BIGINT, p STRING", clauses)
    sql(s"ALTER TABLE $t WRITE ORDERED BY id")
    t
  }

  test("a small micro-batch in a sorted table writes one file, or one for each partition", Slow) {
    withConf(manyPartitions) {
      val t = sortedTable()
      new TestStream().into(t)(manyRows(300), manyRows(20))
      assert(addedFiles(t) == Seq((1, 0), (1, 0)))
      assert(ids(t).size == 320)
      val partitioned = sortedTable("PARTITIONED BY (p)")
      new TestStream().into(partitioned)(manyRows(300))
      assert(addedFiles(partitioned) == Seq((3, 0)))
    }
  }

  test("a small micro-batch with key columns writes one data file and one delete file") {
    withConf(manyPartitions) {
      val t = tableWith("id BIGINT, p STRING", "")
      val options = Map("upsert-keys" -> "id", "upsert-search-bytes" -> "0")
      new TestStream(OutputMode.Append(), options).into(t)(manyRows(300), manyRows(200))
      assert(addedFiles(t) == Seq((1, 1), (1, 1)))
      assert(ids(t) == (0 until 300))
    }
  }

  private def bounds(t: String): Seq[(Long, Long)] =
    rows(s"SELECT readable_metrics.id.lower_bound, readable_metrics.id.upper_bound FROM $t.files ORDER BY 1")
      .map(row => (row.getLong(0), row.getLong(1)))

  test("the partitions of a larger micro-batch are merged up to the size in the settings, in their order", Slow) {
    withConf(manyPartitions, "spark.sql.adaptive.coalescePartitions.minPartitionSize" -> "16k") {
      val t = sortedTable()
      new TestStream().into(t)(manyRows(20000))
      val ranges = bounds(t)
      assert(ranges.size > 1 && ranges.size < 16, ranges)
      assert(ranges.zip(ranges.drop(1)).forall { case (low, high) => low._2 < high._1 }, ranges)
      assert(ids(t) == (0 until 20000))
    }
    withConf(manyPartitions, "spark.sql.adaptive.coalescePartitions.enabled" -> "false") {
      val t = sortedTable()
      new TestStream().into(t)(manyRows(300))
      assert(addedFiles(t) == Seq((16, 0)))
    }
  }

  test("a partition of the query's own shuffle is not merged") {
    withConf(manyPartitions) {
      val t = tableWith("id BIGINT, p STRING", "")
      val stream = new TestStream()
      stream.select = _.repartition(4)
      stream.into(t)(manyRows(300))
      assert(addedFiles(t) == Seq((4, 0)))
    }
  }

  private def sortsOf(query: StreamingQuery): Int = query match {
    case wrapper: StreamingQueryWrapper =>
      wrapper.streamingQuery.lastExecution.executedPlan.collect { case sort: SortExec => sort }.size
    case other => fail(s"$other has no plan")
  }

  test(
    "with fanout-enabled, tasks keep a file open for each partition; without it, their rows are sorted first",
    Slow
  ) {
    Seq("true" -> 0, "false" -> 1).foreach { case (enabled, sorts) =>
      val t = tableWith("id BIGINT, p STRING", "PARTITIONED BY (p)")
      val options = Map("fanout-enabled" -> enabled, "distribution-mode" -> "none")
      val stream = new TestStream(options = options)
      stream.select = _.coalesce(1)
      assert(sortsOf(stream.into(t)(manyRows(300))) == sorts, enabled)
      assert(addedFiles(t) == Seq((3, 0)) && ids(t) == (0 until 300), "the rows alternate between the partitions")
    }
  }
}
