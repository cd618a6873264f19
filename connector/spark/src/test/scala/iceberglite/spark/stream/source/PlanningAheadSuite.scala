package iceberglite.spark.stream.source

import java.net.URI
import java.nio.file.{Files, Paths}

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.error.StatementError

/** Checks that the metadata of the next micro-batch is read while the current one is processed. */
class PlanningAheadSuite extends AnyFunSuite with SourceFixture {

  /**
   * Plans the first micro-batch of two, and the second one after the manifest list of its commit was deleted.
   *
   * @param isProcessed whether Spark processes the first micro-batch between the two plans
   * @return whether the second micro-batch can be planned
   */
  private def canPlanWithoutMetadata(isProcessed: Boolean): Boolean = {
    val t = numbers(0 until 1, 1 until 2)
    val list = rows(s"SELECT manifest_list FROM $t.snapshots ORDER BY committed_at").last.getString(0)
    // Otherwise, the manifests of the commits above would be in the cache.
    sql(s"REFRESH TABLE $t")
    val source = sourceOf(t, "streaming-max-files-per-micro-batch" -> "1")
    try {
      val (start, limit) = (source.initialOffset(), source.getDefaultReadLimit)
      val end = source.latestOffset(start, limit)
      // The second call waits until the planning that the first one has started is complete.
      if (isProcessed) (0 until 2).foreach(_ => assert(source.planInputPartitions(start, end).length == 1))
      Files.delete(Paths.get(URI.create(list)))
      try {
        val next = source.latestOffset(end, limit)
        assert(source.planInputPartitions(end, next).length == 1)
        true
      } catch { case e: StatementError if e.getErrorClass == "ICEBERG_LITE.UNREADABLE_FILE" => false }
    } finally source.stop()
  }

  test("the metadata of the next micro-batch is read when the tasks of the current one are planned, and not before") {
    assert(canPlanWithoutMetadata(isProcessed = true))
    assert(!canPlanWithoutMetadata(isProcessed = false))
  }
}
