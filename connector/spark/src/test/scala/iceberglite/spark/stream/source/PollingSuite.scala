package iceberglite.spark.stream.source

import java.io.InputStream
import java.lang.management.ManagementFactory
import java.nio.file.Files
import java.util.Optional
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._

import org.apache.spark.sql.connector.read.streaming.Offset
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.catalog.FileIOWrapper
import iceberglite.scan.stream.LongHistory
import iceberglite.spark.SharedSession
import iceberglite.spark.conf.TimeTravel
import iceberglite.spark.read.ScanStream
import iceberglite.storage.FileIO
import iceberglite.table.{CountingCommitter, Table}

/** Counts the files that are read. Manifests are not cached, so that each read is counted. */
final private class OpenedFiles(inner: FileIO) extends FileIOWrapper(inner) {
  private val files = new AtomicInteger

  def count: Int = files.get

  override def mayCache: Boolean = false

  override def open(path: String): InputStream = {
    files.incrementAndGet()
    super.open(path)
  }

  override def read(path: String): Array[Byte] = {
    files.incrementAndGet()
    super.read(path)
  }
}

/** Checks the cost of triggers that find nothing. */
class PollingSuite extends AnyFunSuite with SourceFixture {

  /** Returns the stream of a table whose requests to the catalog and opened files are counted. */
  private def counted(table: Table, content: TableStreams.Content, options: (String, String)*): ScanStream = {
    val all = new CaseInsensitiveStringMap(options.toMap.asJava)
    new TableStreams(table, TimeTravel.Latest, _.schema, content, all, spark)
      .streamOf(scanOf(table.name, options: _*), newCheckpoint())
  }

  private val contents = Seq[(String, TableStreams.Content, () => Seq[(String, String)])](
    ("appends", TableStreams.Appends, () => Nil),
    ("appends with a consumer", TableStreams.Appends, () => Seq("consumer-id" -> "etl")),
    ("appends with recorded columns", TableStreams.Appends, () => Seq("schema-tracking" -> newCheckpoint())),
    ("changes", TableStreams.Changes(() => None), () => Seq("streaming-changes" -> "true"))
  )

  for ((name, content, options) <- contents)
    test(s"a trigger that finds nothing sends one request to the catalog and opens no file: a stream of $name") {
      val t = numbers(0 until 2, 2 until 4)
      val loaded = coreTable(t)
      val (catalog, files) = (new CountingCommitter(loaded.committer), new OpenedFiles(loaded.io))
      val source =
        counted(new Table(loaded.id, loaded.name, loaded.version, files, catalog), content, options(): _*) match {
          case stream: IcebergStream => stream
          case other => fail(s"$other is not the stream of a table")
        }
      val limit = source.getDefaultReadLimit
      val end = source.latestOffset(source.initialOffset(), limit)
      assert(source.planInputPartitions(source.initialOffset(), end).nonEmpty)
      def poll(): Boolean = Option(source.latestOffset(end, limit)).isEmpty
      // The tag of a consumer moves with the first trigger after a micro-batch.
      assert(poll())
      val (requests, opened) = (catalog.requests, files.count)
      (1 to 10).foreach { _ =>
        assert(poll())
        source.reportLatestOffset()
        source.metrics(Optional.of[Offset](end))
      }
      assert(catalog.requests == requests + 10 && files.count == opened)
      append(t, 4 until 6)
      assert(!poll() && catalog.requests == requests + 11 && files.count > opened)
      source.stop()
    }

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
