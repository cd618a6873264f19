package iceberglite.spark.stream.sink

import scala.collection.JavaConverters._

import org.apache.spark.sql.functions.{col, lit, when}
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/** Checks streaming queries in append mode. */
class StreamingAppendSuite extends AnyFunSuite with SinkFixture {

  private def plainTable(clauses: String = ""): String = tableWith("id BIGINT, p STRING", clauses)

  test("each micro-batch appends its rows in a snapshot, which records the query and the epoch, with one manifest") {
    val t = plainTable()
    val query = new TestStream().into(t)(letters(1, 2), letters(3), letters(4, 5, 6))
    assert(ids(t) == (1 to 6))
    val epochs = rows(s"SELECT operation, summary FROM $t.snapshots ORDER BY committed_at").map { r =>
      val summary = r.getMap[String, String](1)
      (r.getString(0), summary("spark.sql.streaming.queryId"), summary("spark.sql.streaming.epochId"))
    }
    assert(epochs == (0 to 2).map(i => ("append", query.id.toString, i.toString)))
    assert(rows(s"SELECT * FROM $t.manifests").size == 3)
    assert(rows(s"SHOW TBLPROPERTIES $t ('application-version.${query.id}')").head.getString(1) == "2")
    val newest = rows(s"SELECT snapshot_id FROM $t.snapshots ORDER BY committed_at").last.getLong(0)
    val writer = rows(s"CALL lite.system.stream_writers('$t')").map(_.toSeq.take(3))
    assert(writer == Seq(Seq(query.id.toString, 2L, newest)))
  }

  test("a micro-batch that runs again changes nothing, and its new files are removed", Slow) {
    val t = plainTable("PARTITIONED BY (p)")
    val stream = new TestStream
    stream.into(t)(letters(1, 2), letters(3, 4))
    stream.forgetCommit()
    assertUnchanged(t)(stream.into(t)())
    stream.into(t)(letters(5))
    assert(ids(t) == (1 to 5))
    assertNoOrphans(t)
  }

  test(
    "a micro-batch that runs again is recognized after other writers have committed and its snapshot has expired",
    Slow
  ) {
    val t = plainTable()
    val stream = new TestStream
    stream.into(t)(letters(1), letters(2))
    stream.forgetCommit()
    sql(s"INSERT INTO $t VALUES (10, 'x')")
    sql(s"CALL lite.system.rewrite_data_files(table => '$t', options => map('rewrite-all', 'true'))")
    sql(
      s"CALL lite.system.expire_snapshots(table => '$t', older_than => TIMESTAMP '2999-01-01 00:00:00', " +
        "retain_last => 1)"
    )
    assert(snapshotCount(t) == 1)
    assertUnchanged(t)(stream.into(t)())
    stream.into(t)(letters(3))
    assert(ids(t) == Seq(1, 2, 3, 10))
  }

  test("two queries into one table have separate epochs", Slow) {
    val t = plainTable()
    val streams = Seq(new TestStream, new TestStream)
    streams.zipWithIndex.foreach { case (s, i) => s.into(t)(letters(i * 10L), letters(i * 10L + 1)) }
    streams.foreach(_.forgetCommit())
    assertUnchanged(t)(streams.foreach(_.into(t)()))
    assert(ids(t) == Seq(0, 1, 10, 11))
  }

  test("toTable creates a missing table, partitioned as the writer requests") {
    val t = newTable()
    new TestStream().run(_.partitionBy("p").toTable(t))(()) // creates the table without rows
    assert(rows(s"SELECT * FROM $t").isEmpty && snapshotCount(t) == 0)
    new TestStream().into(t)(letters(1, 2, 3, 4))
    assert(ids(t) == (1 to 4))
    assert(rows(s"SELECT partition.p FROM $t.files ORDER BY 1").map(_.getString(0)) == Seq("a", "b", "c"))
  }

  test("a query that starts with a path writes one file for each partition, also for transforms", Slow) {
    val t = plainTable("PARTITIONED BY (bucket(2, id), truncate(1, p))")
    val parts = t.split('.')
    val path = iceberglite.spark.SharedSession.warehouse.resolve(parts(1)).resolve(parts(2)).toString
    new TestStream().run(_.format("iceberg-lite").start(path)) {}
    val stream = new TestStream
    stream.run(_.format("iceberg-lite").start(path))(stream.add(letters(0L until 60L: _*)))
    sql(s"REFRESH TABLE $t")
    assert(ids(t) == (0L until 60L))
    assert(rows(s"SELECT * FROM $t.files").size == 6)
    new TestStream().run(_.format("iceberg-lite").start(t)) {}
  }

  test("a micro-batch without rows commits nothing", Slow) {
    val t = plainTable()
    val stream = new TestStream
    stream.select = _.filter(col("id") > 5)
    val query = stream.into(t)(letters(1), letters(2))
    assert(query.recentProgress.map(_.batchId).max >= 1)
    assert(snapshotCount(t) == 0 && rows(s"SHOW TBLPROPERTIES $t").forall(!_.getString(0).startsWith("application")))
    stream.into(t)(letters(6), letters(3))
    assert(ids(t) == Seq(6) && snapshotCount(t) == 1)
  }

  test("with use-merge-append-for-streaming, small manifests are merged", Slow) {
    val t = plainTable("TBLPROPERTIES ('commit.manifest.min-count-to-merge' = '2')")
    val options = Map("use-merge-append-for-streaming" -> "true")
    new TestStream(options = options).into(t)(letters(1), letters(2), letters(3), letters(4))
    assert(rows(s"SELECT * FROM $t.manifests").size <= 2 && ids(t) == (1 to 4))
  }

  test("the options branch, write-format and snapshot-property.<key> of batch writes apply to streams", Slow) {
    val t = plainTable("PARTITIONED BY (p)")
    sql(s"INSERT INTO $t VALUES (0, 'a')")
    sql(s"ALTER TABLE $t CREATE BRANCH b")
    val options = Map(
      "branch" -> "b",
      "write-format" -> "orc",
      "snapshot-property.Job" -> "nightly",
      "fanout-enabled" -> "false"
    )
    new TestStream(options = options).into(t)(letters(1, 2, 3))
    assert(ids(t) == Seq(0))
    val onBranch = s"$t.branch_b"
    assert(rows(s"SELECT id FROM $onBranch ORDER BY id").map(_.getLong(0)) == (0 to 3))
    assert(rows(s"SELECT id FROM ${inApacheIceberg(onBranch)} ORDER BY id").map(_.getLong(0)) == (0 to 3))
    assert(
      rows(s"SELECT file_format FROM $onBranch.files WHERE record_count > 0").map(_.getString(0)).count(_ == "ORC") == 3
    )
    assert(rows(s"SELECT * FROM $t.snapshots WHERE summary['Job'] = 'nightly'").size == 1)
  }

  test("merge-schema adds the columns of the rows", Slow) {
    val t = plainTable()
    val stream = new TestStream(options = Map("merge-schema" -> "true"))
    stream.into(t)(letters(1))
    stream.select = _.withColumn("extra", lit(7))
    stream.into(t)(letters(2), letters(3))
    assert(read(t) == Seq("[1,b,null]", "[2,c,7]", "[3,a,7]"))
  }

  test("a query continues if columns are added while it runs and are renamed before a restart", Slow) {
    val t = plainTable()
    val stream = new TestStream
    stream.run(_.toTable(t)) {
      stream.add(letters(1))
      sql(s"ALTER TABLE $t ADD COLUMN added INT")
      stream.add(letters(2))
    }
    sql(s"ALTER TABLE $t RENAME COLUMN p TO q")
    stream.select = _.withColumnRenamed("p", "q")
    stream.into(t)(letters(3))
    assert(read(t) == Seq("[1,b,null]", "[2,c,null]", "[3,a,null]"))
  }

  test(
    "a stream computes generated columns that are missing or null, and continues after the column is dropped",
    Slow
  ) {
    val t = tableWith("id BIGINT, p STRING, twice BIGINT GENERATED ALWAYS AS (id * 2)", "")
    val stream = new TestStream
    stream.into(t)(letters(1))
    stream.select = _.withColumn("twice", when(col("id") === 2, lit(null)).otherwise(col("id") * 2))
    stream.into(t)(letters(2, 3))
    assert(sorted(s"SELECT * FROM $t") == Seq("[1,b,2]", "[2,c,4]", "[3,a,6]"))
    stream.select = identity
    stream.run(_.toTable(t)) {
      stream.add(letters(4))
      sql(s"ALTER TABLE $t DROP COLUMN twice")
      stream.add(letters(5))
    }
    assert(read(t) == Seq("[1,b]", "[2,c]", "[3,a]", "[4,b]", "[5,c]"))
  }

  test("progress reports the rows, files and bytes of a micro-batch") {
    val t = plainTable("PARTITIONED BY (p)")
    val stream = new TestStream
    val query = stream.into(t)(letters(1, 2, 3, 4))
    val sink = query.recentProgress.filter(_.sink.numOutputRows > 0).head.sink
    val metrics = sink.metrics.asScala
    assert(sink.numOutputRows == 4 && sink.description == t)
    assert(metrics("addedRecords") == "4" && metrics("addedDataFiles") == "3" && metrics("addedDeleteFiles") == "0")
    val bytes = rows(s"SELECT sum(file_size_in_bytes) FROM $t.files").head.getLong(0)
    assert(metrics("addedFileSizeInBytes") == bytes.toString)
    stream.forgetCommit()
    val replayed = stream.into(t)().recentProgress.filter(_.sink.numOutputRows > 0).head.sink.metrics.asScala
    assert(replayed("addedRecords") == "0" && replayed("addedDataFiles") == "0")
  }

  private def failure(stream: TestStream, t: String): String =
    messages(intercept[StreamingQueryException](stream.into(t)(letters(1))))

  test("application-id, txnAppId and misspelled options are rejected", Slow) {
    val t = plainTable()
    assertUnchanged(t) {
      for ((id, version) <- Seq("application-id" -> "application-version", "txnAppId" -> "txnVersion")) {
        val message = failure(new TestStream(options = Map(id -> "etl", version -> "3")), t)
        assert(message.contains(id) && message.contains("already records its id"), message)
      }
      assert(
        failure(new TestStream(options = Map("fanout-enable" -> "true")), t).contains("did you mean fanout-enabled")
      )
    }
  }

  test("a column that the table lacks fails the query with an error that names the column and merge-schema") {
    val t = plainTable()
    assertUnchanged(t) {
      val stream = new TestStream
      stream.select = _.withColumn("more", lit(1))
      val message = failure(stream, t)
      assert(message.contains("Column not found: more") && message.contains("merge-schema"), message)
    }
  }

  test("two columns of the rows that match one column of the table fail the query") {
    val t = plainTable()
    assertUnchanged(t) {
      for (other <- Seq("id", "ID")) {
        val stream = new TestStream
        stream.select = _.select(col("id"), col("p"), col("id").as(other))
        val message = failure(stream, t)
        assert(message.contains("2 columns of the rows match the column id. Drop or rename all but one"), message)
      }
    }
  }

  test("continuous processing is rejected") {
    val t = tableWith("timestamp TIMESTAMP, value BIGINT", "")
    val query = spark.readStream.format("rate").load().writeStream.trigger(Trigger.Continuous("1 second"))
      .option("checkpointLocation", newDirectory("checkpoint").toString).toTable(t)
    val error = intercept[StreamingQueryException](query.awaitTermination())
    assert(messages(error).contains(s"continuous processing into $t"))
    assert(snapshotCount(t) == 0)
  }
}
