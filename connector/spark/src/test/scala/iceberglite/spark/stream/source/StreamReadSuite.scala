package iceberglite.spark.stream.source

import scala.annotation.nowarn
import scala.collection.JavaConverters._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.streaming.StreamingQueryWrapper
import org.apache.spark.sql.streaming.{StreamingQuery, Trigger}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession

/** Tests streaming reads of appended rows. */
class StreamReadSuite extends AnyFunSuite with SourceFixture {
  private val oneFile = "streaming-max-files-per-micro-batch" -> "1"

  @nowarn("cat=deprecation") // queries of earlier releases of Spark use this trigger
  private def once: Trigger = Trigger.Once

  test("a stream reads the rows of a table, and after a restart only the rows that were appended since") {
    val t = numbers(0 until 3, 3 until 5)
    val checkpoint = newCheckpoint()
    assert(batches(stream(t), checkpoint) == Vector(texts(0 until 5)))
    assert(batches(stream(t), checkpoint).isEmpty)
    append(t, 5 until 7)
    assert(batches(spark.readStream.format("iceberg-lite").load(t), checkpoint) == Vector(texts(5 until 7)))
    assert(read(stream(t).where("id > 3").selectExpr("name")) == Vector("[n4]", "[n5]", "[n6]"))
  }

  test("a stream that begins with an empty table reads the rows that are appended later") {
    val t = numbers()
    val checkpoint = newCheckpoint()
    assert(batches(stream(t), checkpoint).isEmpty)
    append(t, 0 until 2)
    append(t, 2 until 3)
    assert(batches(stream(t, oneFile), checkpoint) == Vector(texts(0 until 2), texts(2 until 3)))
  }

  test("the limits of files, rows and bytes divide the rows into micro-batches", Slow) {
    val t = numbers(0 until 3, 3 until 5, 5 until 6)
    val single = Vector(texts(0 until 3), texts(3 until 5), texts(5 until 6))
    assert(batches(stream(t, oneFile)) == single)
    assert(batches(stream(t, "streaming-max-rows-per-micro-batch" -> "4")) == Vector(
      texts(0 until 5),
      texts(5 until 6)
    ))
    assert(batches(stream(t, "streaming-max-bytes-per-micro-batch" -> "1")) == single)
    assert(batches(stream(t, oneFile), trigger = once) == Vector(texts(0 until 6)), "Trigger.Once has no limits")
    assert(failure(stream(t, "streaming-max-files-per-micro-batch" -> "0")).contains("It must be 1 or more"))
  }

  test("a running query reads appended rows at the next trigger, and reports how far it is behind", Slow) {
    val t = numbers(0 until 3)
    val query = stream(t).writeStream.format("memory").queryName("running_query")
      .option("checkpointLocation", newCheckpoint()).trigger(Trigger.ProcessingTime(0)).start()
    try {
      query.processAllAvailable()
      append(t, 3 until 5)
      query.processAllAvailable()
      assert(sorted("SELECT * FROM running_query") == texts(0 until 5))
      val metrics = query.lastProgress.sources.head.metrics.asScala
      assert(metrics == Map("snapshotsBehind" -> "0", "filesBehind" -> "0", "rowsBehind" -> "0", "bytesBehind" -> "0"))
      assert(query.lastProgress.sources.head.description.contains(t))
    } finally query.stop()
  }

  /** Returns the lag in the progress of each micro-batch: the snapshots, files and rows that are still to be read. */
  private def lags(query: StreamingQuery): Seq[Seq[Int]] = {
    val metrics = query.recentProgress.toSeq.filter(_.numInputRows > 0).map(_.sources.head.metrics.asScala)
    metrics.foreach(m => assert((m("bytesBehind") != "0") == (m("filesBehind") != "0"), m))
    metrics.map(m => Seq("snapshotsBehind", "filesBehind", "rowsBehind").map(m(_).toInt))
  }

  private def runLimited(stream: DataFrame, checkpoint: String): StreamingQuery = {
    val query = stream.writeStream.format("noop").option("checkpointLocation", checkpoint)
      .trigger(Trigger.AvailableNow).start()
    query.awaitTermination()
    query
  }

  test("the progress of a query that is behind contains the snapshots, files and rows that it has not read", Slow) {
    val t = numbers(0 until 3, 3 until 5, 5 until 6)
    val checkpoint = newCheckpoint()
    assert(lags(runLimited(stream(t, oneFile), checkpoint)) == Seq(Seq(2, 2, 3), Seq(1, 1, 1), Seq(0, 0, 0)))
    Seq(6 until 8, 8 until 9).foreach(append(t, _))
    assert(lags(runLimited(stream(t, oneFile), checkpoint)) == Seq(Seq(1, 1, 1), Seq(0, 0, 0)))
    val current = runLimited(stream(t, oneFile, "stream-from" -> "current"), newCheckpoint())
    // Four of the five files of the first snapshot with about 4/5 of its nine rows are left, and so on.
    assert(lags(current) == Seq(Seq(1, 4, 7), Seq(1, 3, 5), Seq(1, 2, 4), Seq(1, 1, 2), Seq(0, 0, 0)))
  }

  test("a query that is restarted within its first snapshot reads the rest of it, and then the later commits", Slow) {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, name STRING) USING iceberg TBLPROPERTIES " +
      "('format-version' = '2', 'write.delete.mode' = 'merge-on-read')")
    Seq(0 until 2, 2 until 4, 4 until 6, 6 until 8).foreach(append(t, _))
    sql(s"DELETE FROM $t WHERE id IN (1, 4)")
    val checkpoint = newCheckpoint()
    def run(failAt: Long): Vector[Vector[String]] =
      batches(stream(t, oneFile, "stream-from" -> "current"), checkpoint, failAt = Some(failAt))
    val first = run(1)
    assert(first.size == 1)
    // The later commits rewrite the files of the first snapshot, and delete rows that are still to be read.
    compact(t)
    append(t, 8 until 9)
    val second = run(2)
    assert(second.size == 1, "the failed micro-batch must run again")
    append(t, 9 until 10)
    val rest = run(-1)
    assert((first ++ second ++ rest).flatten.sorted == texts(Seq(0, 2, 3, 5, 6, 7, 8, 9)))
    assert((first ++ second ++ rest.take(2)).forall(_.forall(row => texts(0 until 8).contains(row))))
    assert(rest.drop(2) == Vector(texts(8 until 9), texts(9 until 10)))
    assert(run(-1).isEmpty)
  }

  test(
    "after a failure, the same micro-batch is read again, but if its commit was rolled back, the query then fails",
    Slow
  ) {
    val t = numbers(0 until 3, 3 until 5)
    val checkpoint = newCheckpoint()
    assert(batches(stream(t, oneFile), checkpoint, failAt = Some(1)) == Vector(texts(0 until 3)))
    append(t, 5 until 6)
    val previous = rows(s"SELECT snapshot_id FROM $t.snapshots ORDER BY committed_at").map(_.getLong(0))
    sql(s"CALL lite.system.rollback_to_snapshot('${t.stripPrefix("lite.")}', ${previous.head})")
    val collected = Vector.newBuilder[Vector[String]]
    val collect: (DataFrame, Long) => Unit = (batch, _) => collected += batch.collect().map(_.toString).sorted.toVector
    val query = stream(t, oneFile).writeStream.foreachBatch(collect).option("checkpointLocation", checkpoint)
      .trigger(Trigger.AvailableNow).start()
    val error = intercept[Exception](query.awaitTermination()).getMessage
    assert(collected.result() == Vector(texts(3 until 5)))
    assert(error.contains(s"up to snapshot ${previous(1)}"), error)
    assert(error.contains(s"stream-from-snapshot-id=${previous.head}"), error)
  }

  test("a commit that deletes or updates rows stops the stream with an error that names the option to skip it") {
    val t = numbers(0 until 3)
    val checkpoint = newCheckpoint()
    assert(read(stream(t), checkpoint) == texts(0 until 3))
    sql(s"DELETE FROM $t WHERE id >= 0")
    append(t, 3 until 5)
    SharedSession.liteExtensions.sql(s"UPDATE $t SET name = 'x' WHERE id = 4")
    append(t, 5 until 6)
    val deleted = failure(stream(t), checkpoint)
    assert(deleted.contains("its operation is delete") && deleted.contains("streaming-skip-delete-snapshots=true"))
    val skipDeletes = "streaming-skip-delete-snapshots" -> "true"
    val updated = failure(stream(t, skipDeletes), checkpoint)
    assert(
      updated.contains("its operation is overwrite") && updated.contains("streaming-skip-overwrite-snapshots=true")
    )
    val both = Seq(skipDeletes, "streaming-skip-overwrite-snapshots" -> "true")
    assert(read(stream(t, both: _*), checkpoint) == texts(5 until 6), "the rows before the update were read before")
  }

  test("compacted files are not read again") {
    val t = numbers(0 until 3, 3 until 5)
    val checkpoint = newCheckpoint()
    assert(read(stream(t), checkpoint) == texts(0 until 5))
    compact(t)
    append(t, 5 until 6)
    assert(read(stream(t), checkpoint) == texts(5 until 6))
  }

  test("stream-from, stream-from-timestamp and stream-from-snapshot-id select where a new query begins", Slow) {
    val t = numbers(0 until 3, 3 until 5)
    sql(s"DELETE FROM $t WHERE id = 1")
    append(t, 5 until 6)
    val history = rows(s"SELECT snapshot_id, committed_at FROM $t.snapshots ORDER BY committed_at")
    val (third, time) = (history(2).getLong(0).toString, history(3).getTimestamp(1).getTime.toString)
    assert(read(stream(t, "stream-from" -> "current")) == texts(Seq(0, 2, 3, 4, 5)))
    assert(read(stream(t, "stream-from-snapshot-id" -> third)) == texts(5 until 6))
    assert(read(stream(t, "stream-from-timestamp" -> time)) == texts(5 until 6))
    assert(
      read(stream(t, "stream-from" -> "oldest", "streaming-skip-overwrite-snapshots" -> "true")) == texts(0 until 6)
    )
    val checkpoint = newCheckpoint()
    assert(batches(stream(t, "stream-from" -> "now"), checkpoint).isEmpty)
    append(t, 6 until 8)
    assert(read(stream(t, "stream-from" -> "now"), checkpoint) == texts(6 until 8))
    val two = failure(stream(t, "stream-from" -> "now", "stream-from-snapshot-id" -> third))
    assert(two.contains("Only one of these options may be set"), two)
    assert(failure(stream(t, "stream-from-timestamp" -> Long.MaxValue.toString)).contains("in the future"))
    assert(failure(stream(t, "stream-from" -> "middle")).contains("It must be oldest, current or now"))
  }

  test(
    "with stream-from=current, the current snapshot is read without its deleted rows, in several micro-batches",
    Slow
  ) {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, name STRING) USING iceberg TBLPROPERTIES " +
      "('format-version' = '2', 'write.delete.mode' = 'merge-on-read')")
    Seq(0 until 4, 4 until 8).foreach(append(t, _))
    sql(s"DELETE FROM $t WHERE id IN (1, 6)")
    val read = batches(stream(t, "stream-from" -> "current", oneFile))
    assert(read.map(_.toSet).toSet == Set(texts(Seq(0, 2, 3)).toSet, texts(Seq(4, 5, 7)).toSet))
  }

  test("a stream follows a branch, or a tag that moves", Slow) {
    val t = numbers(0 until 3)
    sql(s"ALTER TABLE $t CREATE TAG v1")
    sql(s"ALTER TABLE $t CREATE BRANCH b")
    append(s"$t.branch_b", 3 until 5)
    append(t, 7 until 9)
    val checkpoint = newCheckpoint()
    assert(read(stream(t, "branch" -> "b"), checkpoint) == texts(0 until 5))
    append(s"$t.branch_b", 5 until 6)
    assert(read(stream(s"$t.branch_b"), checkpoint) == texts(5 until 6))
    val ofTag = newCheckpoint()
    assert(read(stream(t, "tag" -> "v1"), ofTag) == texts(0 until 3))
    append(t, 9 until 10)
    assert(read(stream(t, "tag" -> "v1"), ofTag).isEmpty, "the tag has not moved")
    sql(s"ALTER TABLE $t REPLACE TAG v1")
    append(t, 10 until 11)
    assert(
      read(stream(t, "tag" -> "v1"), ofTag) == texts(7 until 10),
      "the tag has moved to the commit before the last"
    )
    assert(read(spark.readStream.format("iceberg-lite").option("branch", "b").load(t)) == texts(0 until 6))
  }

  test("after schema changes, a restarted query reads old and new files with the new columns", Slow) {
    val t = numbers(0 until 2)
    val checkpoint = newCheckpoint()
    assert(batches(stream(t, oneFile), checkpoint).size == 1)
    append(t, 2 until 3)
    sql(s"ALTER TABLE $t RENAME COLUMN name TO title")
    sql(s"ALTER TABLE $t ADD COLUMN n INT")
    sql(s"INSERT INTO $t VALUES (3, 'three', 30)")
    assert(read(stream(t).select("n", "title"), checkpoint) == Vector("[30,three]", "[null,n2]"))
  }

  test("the plan of a stream shows the number of files of the micro-batch") {
    val t = numbers(0 until 2)
    val query = stream(t).writeStream.format("noop").option("checkpointLocation", newCheckpoint())
      .trigger(Trigger.AvailableNow).start()
    query.awaitTermination()
    assert(query.lastProgress.numInputRows == 2)
    val plan = query match {
      case wrapper: StreamingQueryWrapper => wrapper.streamingQuery.explainInternal(extended = false)
      case other => other.toString
    }
    assert(plan.contains(s"iceberg-lite $t (stream of appends) [files=1, bytes="), plan)
  }
}
