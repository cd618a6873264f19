package iceberglite.spark.stream.source

import java.lang.management.ManagementFactory
import java.nio.file.Files
import java.util.Optional

import org.apache.spark.sql.connector.read.streaming.Offset
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.scan.stream.LongHistory
import iceberglite.spark.SharedSession

/** Checks the cost of triggers that find nothing in a table with many snapshots. */
class PollingSuite extends AnyFunSuite with SourceFixture {

  /** Creates a table with many snapshots, whose manifest lists do not exist. */
  private def tableWithSnapshots(count: Int): String = {
    val t = newTable()
    val Array(_, namespace, name) = t.split('.')
    sql(s"CREATE NAMESPACE IF NOT EXISTS lite.$namespace")
    val directory = SharedSession.warehouse.resolve(namespace).resolve(name)
    val metadata = Files.createDirectories(directory.resolve("metadata"))
    LongHistory.write(count, directory.toUri.toString.stripSuffix("/"), metadata.resolve("v1.metadata.json"))
    Files.write(metadata.resolve("version-hint.text"), "1".getBytes("UTF-8"))
    t
  }

  test("a trigger that finds nothing needs less than 5 ms of processor time in a table with 10,000 snapshots", Slow) {
    val reader = sourceOf(tableWithSnapshots(10000), "stream-from" -> "now")
    val threads = ManagementFactory.getThreadMXBean
    val limit = reader.getDefaultReadLimit
    val start = reader.initialOffset()
    def poll(): Unit = {
      assert(Option(reader.latestOffset(start, limit)).isEmpty)
      reader.reportLatestOffset()
      reader.metrics(Optional.of[Offset](start))
      ()
    }
    (0 until 200).foreach(_ => poll())
    val polls = 400
    val (before, begin) = (threads.getCurrentThreadCpuTime, System.nanoTime())
    (0 until polls).foreach(_ => poll())
    val (processor, elapsed) = (threads.getCurrentThreadCpuTime - before, System.nanoTime() - begin)
    info(f"A poll needed ${processor / 1e6 / polls}%.2f ms of processor time in ${elapsed / 1e6 / polls}%.2f ms")
    assert(processor / polls < 5000000L)
    reader.stop()
  }
}
