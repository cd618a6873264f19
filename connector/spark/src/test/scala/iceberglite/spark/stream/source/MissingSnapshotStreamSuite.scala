package iceberglite.spark.stream.source

import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.util.Optional
import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.connector.read.streaming.Offset
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.spark.error.Causes

/**
 * Tests the cases in which streaming reads of other implementations fail with a `NullPointerException`: a table without
 * a snapshot, a history whose first snapshots have expired, a position whose snapshot no longer exists, and a
 * checkpoint without a valid offset.
 */
class MissingSnapshotStreamSuite extends AnyFunSuite with SourceFixture {
  private val oneFile = "streaming-max-files-per-micro-batch" -> "1"

  /** Returns the message of the error of an operation, which must be an error of Spark's types with a condition. */
  private def rejected(operation: => Any): String = {
    val error = intercept[Exception](operation)
    val causes = Causes.of(error).toVector
    assert(!causes.exists(_.isInstanceOf[NullPointerException]), error)
    val conditions = causes.collect { case e: SparkThrowable => e.getErrorClass }
    assert(conditions.exists(c => c != null && c != "STREAM_FAILED" && !c.startsWith("INTERNAL_ERROR")), error)
    causes.map(_.getMessage).mkString("\n")
  }

  private def snapshots(t: String): Seq[Long] =
    rows(s"SELECT snapshot_id FROM $t.snapshots ORDER BY committed_at").map(_.getLong(0))

  private def call(t: String, procedure: String, arguments: String): Unit = {
    sql(s"CALL lite.system.$procedure(table => '${t.stripPrefix("lite.")}', $arguments)")
    ()
  }

  private def expire(t: String, retained: Int = 1): Unit =
    call(t, "expire_snapshots", s"older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => $retained")

  private def next(source: IcebergStream, start: Offset): Option[Offset] =
    Option(source.latestOffset(start, source.getDefaultReadLimit))

  private val starts: Seq[Seq[(String, String)]] = Seq(
    Nil,
    Seq("stream-from" -> "oldest"),
    Seq("stream-from" -> "current"),
    Seq("stream-from" -> "now"),
    Seq("stream-from-timestamp" -> "0"),
    Seq("consumer-id" -> "etl")
  )

  for (table <- Seq("t", "t.changes"))
    test(
      s"a stream of $table of a table without a snapshot has no rows, and reads the rows that are appended later",
      Sampling.slowUnless(table == "t.changes"): _*
    ) {
      starts.filter(start => table == "t" || start.forall(_._1 != "stream-from") || start.contains("current")).foreach {
        start =>
          val t = numbers()
          val name = t + table.stripPrefix("t")
          val source = sourceOf(name, start: _*)
          val first = source.initialOffset()
          assert(next(source, first).isEmpty && Option(source.reportLatestOffset()).isEmpty, start)
          assert(source.metrics(Optional.empty[Offset]).asScala("filesBehind") == "0", start)
          assert(source.metrics(Optional.of(first)).asScala("snapshotsBehind") == "0", start)
          assert(source.planInputPartitions(first, source.deserializeOffset(first.json)).isEmpty, start)
          source.commit(first)
          source.stop()
          val checkpoint = newCheckpoint()
          assert(batches(stream(name, start: _*), checkpoint).isEmpty, start)
          append(t, 0 until 2)
          assert(read(stream(name, start: _*).select("id", "name"), checkpoint) == texts(0 until 2), start)
      }
    }

  test(
    "a running query of a table without a snapshot continues after a commit, a rollback and a table without rows",
    Slow
  ) {
    val t = numbers()
    val read = new ConcurrentLinkedQueue[String]
    val query = stream(t).writeStream.foreachBatch { (batch: DataFrame, _: Long) =>
      batch.collect().foreach(row => read.add(row.toString))
    }.option("checkpointLocation", newCheckpoint()).trigger(Trigger.ProcessingTime(0)).start()
    try {
      query.processAllAvailable()
      sql(s"INSERT INTO $t SELECT id, 'x' FROM range(0)")
      query.processAllAvailable()
      append(t, 0 until 2)
      query.processAllAvailable()
      assert(read.asScala.toVector.sorted == texts(0 until 2))
      val Seq(_, second) = snapshots(t)
      append(t, 2 until 3)
      query.processAllAvailable()
      call(t, "rollback_to_snapshot", s"snapshot_id => $second")
      val message = rejected(query.processAllAvailable())
      assert(message.contains("no longer in the history") && message.contains(s"stream-from-snapshot-id=$second"))
    } finally query.stop()
  }

  test("a stream begins although the parent of the oldest snapshot has expired", Slow) {
    val t = numbers(0 until 2, 2 until 4, 4 until 5)
    expire(t, retained = 2)
    val ids = snapshots(t)
    val expected = Seq(
      Nil -> texts(0 until 5),
      Seq("stream-from" -> "oldest") -> texts(0 until 5),
      Seq("stream-from" -> "current") -> texts(0 until 5),
      Seq("stream-from" -> "now") -> Vector.empty,
      Seq("stream-from-timestamp" -> "0") -> texts(0 until 5),
      Seq("stream-from-timestamp" -> System.currentTimeMillis.toString) -> Vector.empty,
      Seq("stream-from-snapshot-id" -> ids.head.toString) -> texts(4 until 5)
    )
    expected.foreach { case (start, rows) => assert(read(stream(t, start: _*)) == rows, start) }
    assert(read(stream(s"$t.changes").select("id", "name")) == texts(2 until 5))
  }

  test("a position whose snapshot has expired is an error that names the snapshot, in each form of the position") {
    val t = numbers(0 until 2, 2 until 4, 4 until 5, 5 until 6)
    val expired = snapshots(t).head
    val running = sourceOf(t, oneFile)
    val first = running.initialOffset()
    val end = next(running, first).getOrElse(fail("no batch"))
    expire(t)
    val own = Seq("in-snapshot", "in-commit", "after").map { position =>
      s"""{"source":"iceberg-lite","version":2,"position":"$position","snapshot-id":$expired,"files":1}"""
    }
    val peers = Seq("true", "false").map { all =>
      s"""{"version":1,"snapshot_id":$expired,"position":1,"scan_all_files":$all}"""
    }
    for (json <- own ++ peers) {
      val source = sourceOf(t, oneFile)
      val message = rejected(next(source, source.deserializeOffset(json)))
      assert(message.contains(expired.toString) && message.contains("It has expired"), json)
      source.stop()
    }
    val newest = sourceOf(t)
    val head = IcebergOffset.of(newest.reportLatestOffset()).position.snapshotId.getOrElse(fail("no snapshot"))
    val last = newest.deserializeOffset(
      s"""{"source":"iceberg-lite","version":2,"position":"after","snapshot-id":$head}"""
    )
    assert(rejected(newest.planInputPartitions(first, last)).contains("It has expired"))
    // Progress is also reported when the position has expired.
    Seq(newest, running).foreach(_.metrics(Optional.of(end)))
    Seq(newest, running).foreach(_.stop())
  }

  test("a running query whose next commits expire between two triggers ends with an error that names its position") {
    val t = numbers(0 until 2)
    val running = sourceOf(t)
    val end = next(running, running.initialOffset()).getOrElse(fail("no batch"))
    assert(next(running, end).isEmpty)
    append(t, 2 until 3)
    append(t, 3 until 4)
    val position = snapshots(t).head
    expire(t)
    assert(rejected(next(running, end)).contains(s"$position, the position of a stream"))
    running.stop()
  }

  private val invalidOffsets = Seq(
    "",
    " ",
    "null",
    "[]",
    "1",
    "{}",
    "{",
    """{"source":null}""",
    """{"source":"iceberg-lite","version":2}""",
    """{"source":"iceberg-lite","version":null,"position":"empty"}""",
    """{"source":"iceberg-lite","version":2,"position":null}""",
    """{"source":"iceberg-lite","version":2,"position":"after","snapshot-id":null}""",
    """{"source":"iceberg-lite","version":2,"position":"in-commit","snapshot-id":1,"files":null}""",
    """{"version":1,"snapshot_id":null,"position":0,"scan_all_files":true}""",
    """{"version":1,"snapshot_id":1,"position":null,"scan_all_files":true}""",
    """{"version":1,"snapshot_id":1,"position":0,"scan_all_files":null}"""
  )

  test("an offset that is null, empty or incomplete is an error with a condition") {
    val t = numbers(0 until 2)
    val source = sourceOf(t)
    for (json <- Option.empty[String].orNull +: invalidOffsets)
      assert(rejected(source.deserializeOffset(json)).contains("the offset of a stream"), s"$json")
    source.stop()
    // The first offset of a query is in a file of its checkpoint, until the first micro-batch is complete.
    val empty = numbers()
    for (json <- Seq("", "null", """{"source":"iceberg-lite","version":2,"position":null}""")) {
      val checkpoint = newCheckpoint()
      assert(batches(stream(empty), checkpoint).isEmpty)
      val file = Paths.get(URI.create(checkpoint)).resolve("sources/0/offsets/0")
      Files.deleteIfExists(file.resolveSibling(".0.crc"))
      Files.write(file, json.getBytes(UTF_8))
      assert(rejected(batches(stream(empty), checkpoint)).contains("the offset of a stream"), json)
    }
  }

  test("a table or a branch that is dropped while a query runs is an error that names it") {
    val t = numbers(0 until 2)
    sql(s"ALTER TABLE $t CREATE BRANCH b")
    val ofBranch = sourceOf(t, "branch" -> "b")
    val ofTable = sourceOf(t)
    val positions = Seq(ofBranch, ofTable).map(s => next(s, s.initialOffset()).getOrElse(fail("no batch")))
    sql(s"ALTER TABLE $t DROP BRANCH b")
    val branch = rejected(next(ofBranch, positions.head))
    assert(branch.contains("Branch not found: b"), branch)
    sql(s"DROP TABLE $t")
    val table = rejected(next(ofTable, positions(1)))
    assert(table.contains(t), table)
  }
}
