package iceberglite.spark.stream.source

import org.apache.spark.sql.DataFrame
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/** Compares streaming reads with those of Apache Iceberg, and continues its checkpoints. */
class PeerStreamSuite extends AnyFunSuite with SourceFixture {
  private val oneFile = "streaming-max-files-per-micro-batch" -> "1"

  private def appendFiles(table: String, ids: Range, files: Int): Unit = {
    spark.range(ids.start.toLong, ids.end.toLong, 1, files).selectExpr("id", "concat('n', id) AS name")
      .writeTo(inApacheIceberg(table)).append()
    sql(s"REFRESH TABLE $table")
    ()
  }

  private def peerTable(properties: String = ""): String = {
    val table = newTable()
    sql(s"CREATE TABLE ${inApacheIceberg(table)} (id BIGINT, name STRING) USING iceberg $properties")
    table
  }

  test("a stream returns the same rows and micro-batches as Apache Iceberg's stream", Slow) {
    val t = peerTable()
    Seq((0 until 20, 3), (20 until 25, 1), (25 until 60, 4)).foreach { case (ids, n) => appendFiles(t, ids, n) }
    for (
      options <- Seq(
        Seq.empty,
        Seq(oneFile),
        Seq("streaming-max-files-per-micro-batch" -> "3"),
        Seq("streaming-max-rows-per-micro-batch" -> "12"),
        Seq("streaming-max-files-per-micro-batch" -> "3", "streaming-max-rows-per-micro-batch" -> "25")
      )
    ) {
      val expected = batches(stream(inApacheIceberg(t), options: _*))
      assert(expected.flatten.size == 60)
      assert(batches(stream(t, options: _*)) == expected, options)
    }
  }

  for (properties <- Seq("", "TBLPROPERTIES ('commit.manifest.min-count-to-merge' = '2')"))
    test(
      s"a checkpoint of Apache Iceberg is continued, also within a commit and after a failed batch $properties",
      Slow
    ) {
      val t = peerTable(properties)
      appendFiles(t, 0 until 20, 3)
      appendFiles(t, 20 until 30, 3)
      for (failAt <- 0L to 6L) {
        val checkpoint = newCheckpoint()
        val before = batches(stream(inApacheIceberg(t), oneFile), checkpoint, failAt = Some(failAt))
        assert(before.size == math.min(failAt, 6L))
        val after = batches(stream(t, oneFile), checkpoint)
        assert((before ++ after).flatten.sorted == texts(0 until 30), s"failed at $failAt")
      }
    }

  test("a checkpoint of Apache Iceberg without a limit is continued") {
    val t = peerTable("TBLPROPERTIES ('commit.manifest.min-count-to-merge' = '2')")
    val checkpoint = newCheckpoint()
    assert(batches(stream(inApacheIceberg(t)), checkpoint).flatten.isEmpty, "the table is empty")
    appendFiles(t, 0 until 10, 2)
    assert(read(stream(inApacheIceberg(t)), checkpoint) == texts(0 until 10))
    appendFiles(t, 10 until 20, 2)
    assert(read(stream(t), checkpoint) == texts(10 until 20))
    appendFiles(t, 20 until 30, 2)
    val error = intercept[Exception](batches(stream(inApacheIceberg(t)), checkpoint)).getMessage
    assert(error.contains("version"), s"Apache Iceberg rejects the offset with its version: $error")
    assert(read(stream(t), checkpoint) == texts(20 until 30))
  }

  test("a stream from a timestamp returns the same rows as Apache Iceberg's stream", Slow) {
    val t = peerTable()
    (0 until 40 by 10).foreach(i => appendFiles(t, i until i + 10, 1))
    val times = rows(s"SELECT committed_at FROM $t.snapshots ORDER BY committed_at").map(_.getTimestamp(0).getTime)
    for (time <- Seq(0L, times(1), times(1) + 1, times.last, times.last + 1)) {
      val options = Seq("stream-from-timestamp" -> time.toString)
      def rowsOf(frame: DataFrame): Vector[String] = read(frame)
      assert(rowsOf(stream(t, options: _*)) == rowsOf(stream(inApacheIceberg(t), options: _*)), time - times.head)
    }
  }

  private def expireWithPeer(t: String): Unit = {
    sql(s"CALL ice.system.expire_snapshots(table => '${t.stripPrefix("lite.")}', " +
      "older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1)")
    sql(s"REFRESH TABLE $t")
    ()
  }

  private def snapshots(t: String): Seq[Long] =
    rows(s"SELECT snapshot_id FROM $t.snapshots ORDER BY committed_at").map(_.getLong(0))

  test("expire_snapshots of Apache Iceberg keeps the snapshot of a consumer, but not the commits after it", Slow) {
    val t = numbers(0 until 2)
    val checkpoint = newCheckpoint()
    val consumer = Seq("consumer-id" -> "etl", oneFile)
    assert(read(stream(t, consumer: _*), checkpoint) == texts(0 until 2))
    append(t, 2 until 3)
    val before = snapshots(t)
    // The next commit is still there, so the stream continues.
    expireWithPeer(t)
    assert(snapshots(t) == before)
    assert(read(stream(t, consumer: _*), checkpoint) == texts(2 until 3))
    Seq(3 until 4, 4 until 5, 5 until 6).foreach(append(t, _))
    val all = snapshots(t)
    expireWithPeer(t)
    assert(snapshots(t) == Seq(all(1), all.last))
    val error = failure(stream(t, consumer: _*), checkpoint)
    assert(error.contains(s"${all(1)}, the position of a stream") && error.contains("It has expired"), error)
  }

  test(
    "expirations of both connectors keep the commits that a stream has not read if the branch main retains snapshots",
    Slow
  ) {
    val t = numbers(0 until 2)
    sql(s"ALTER TABLE $t REPLACE BRANCH main WITH SNAPSHOT RETENTION 7 DAYS")
    val checkpoint = newCheckpoint()
    assert(read(stream(t), checkpoint) == texts(0 until 2))
    Seq(2 until 3, 3 until 4, 4 until 5).foreach(append(t, _))
    val all = snapshots(t)
    expireWithPeer(t)
    sql(s"CALL lite.system.expire_snapshots(table => '${t.stripPrefix("lite.")}', " +
      "older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1)")
    assert(snapshots(t) == all)
    assert(read(stream(t), checkpoint) == texts(2 until 5))
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}") == texts(0 until 5))
  }
}
