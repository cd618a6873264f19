package iceberglite.spark.stream.sink

import org.apache.spark.sql.functions.{col, count, lit}
import org.apache.spark.sql.streaming.{OutputMode, StreamingQueryException}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.spark.SharedSession
import iceberglite.spec.IcebergError

/** Checks streaming queries in complete mode, which replace the table, and in update mode, which upsert by key. */
class StreamingModesSuite extends AnyFunSuite with SinkFixture {

  private def counted(mode: OutputMode, options: (String, String)*): TestStream = {
    val stream = new TestStream(mode, options.toMap)
    stream.select = _.groupBy("p").agg(count(lit(1)).as("n"))
    stream
  }

  private def countsTable(version: Int = 2, clauses: String = ""): String =
    tableWith("p STRING, n BIGINT", s"$clauses TBLPROPERTIES ('format-version' = '$version')")

  private def failure(stream: TestStream, t: String): String =
    messages(intercept[StreamingQueryException](stream.into(t)(letters(1))))

  test("a query in complete mode replaces all rows with each micro-batch, exactly once", Slow) {
    val t = countsTable(clauses = "PARTITIONED BY (p)")
    sql(s"INSERT INTO $t VALUES ('other', 1)")
    val stream = counted(OutputMode.Complete())
    stream.into(t)(letters(0, 1), letters(1, 4))
    assert(read(t) == Seq("[a,1]", "[b,3]"))
    sql(s"INSERT INTO $t VALUES ('late', 1)")
    stream.forgetCommit()
    assertUnchanged(t)(stream.into(t)())
    stream.into(t)(letters(0))
    assert(read(t) == Seq("[a,2]", "[b,3]"))
    assert(rows(s"SELECT operation FROM $t.snapshots ORDER BY committed_at").map(_.getString(0)).last == "overwrite")
    assertNoOrphans(t)
  }

  test("in complete mode, an empty result removes all rows") {
    val t = countsTable()
    sql(s"INSERT INTO $t VALUES ('other', 1)")
    val stream = counted(OutputMode.Complete())
    stream.select = _.filter(col("id") < 0).groupBy("p").agg(count(lit(1)).as("n"))
    stream.into(t)(letters(1))
    assert(read(t).isEmpty)
  }

  test("complete mode cannot be combined with a dynamic overwrite or with upsert-keys") {
    val t = countsTable(clauses = "PARTITIONED BY (p)")
    assertUnchanged(t) {
      val message = failure(counted(OutputMode.Complete(), "overwrite-mode" -> "dynamic"), t)
      assert(message.contains("overwrite the partitions of the rows") && message.contains("overwrite-mode"), message)
      val upsert = failure(counted(OutputMode.Complete(), "upsert-keys" -> "p"), t)
      assert(upsert.contains("upsert") && upsert.contains("overwrites"), upsert)
    }
  }

  for ((version, partitioning) <- Seq(2 -> "", 3 -> "PARTITIONED BY (p)"))
    test(
      s"a query in update mode upserts the changed rows by key, exactly once, in version $version $partitioning",
      Sampling.slowUnless(version == 3): _*
    ) {
      val t = countsTable(version, partitioning)
      val stream = counted(OutputMode.Update(), "upsert-keys" -> "p")
      stream.into(t)(letters(0, 1), letters(1, 2), letters(4))
      assert(read(t) == Seq("[a,1]", "[b,3]", "[c,1]"))
      stream.forgetCommit()
      assertUnchanged(t)(stream.into(t)())
      sql(s"CALL lite.system.convert_equality_deletes('$t')")
      stream.into(t)(letters(2, 5))
      assert(read(t) == Seq("[a,1]", "[b,3]", "[c,3]"))
      assertNoOrphans(t)
    }

  test("rows are upserted in append mode, a delete column removes rows, and a repeated key fails the query", Slow) {
    val t = tableWith("id BIGINT, p STRING", "")
    val stream = new TestStream(options = Map("upsert-keys" -> "id", "upsert-delete-column" -> "gone"))
    stream.select = _.withColumn("gone", col("p") === "gone")
    stream.into(t)(Seq(1L -> "a", 2L -> "a", 3L -> "a"), Seq(2L -> "b", 3L -> "gone"), Seq(4L -> "gone"))
    assert(read(t) == Seq("[1,a]", "[2,b]"))
    val repeated = failure(stream, t, Seq(1L -> "c", 1L -> "d"))
    assert(repeated.contains("two of the rows have the key id = 1"), repeated)
    assert(read(t) == Seq("[1,a]", "[2,b]"))
  }

  private def failure(stream: TestStream, t: String, batch: Seq[(Long, String)]): String =
    messages(intercept[StreamingQueryException](stream.into(t)(batch)))

  test("upsert options that contradict each other fail a query in update mode with an exception of Spark") {
    val t = countsTable()
    assertUnchanged(t) {
      val stream = counted(OutputMode.Update(), "upsert-keys" -> "p", "upsert" -> "false")
      val error = intercept[StreamingQueryException](stream.into(t)(letters(1)))
      assert(!error.getCause.isInstanceOf[IcebergError] && messages(error).contains("upsert-keys"), messages(error))
    }
  }

  test("update mode without upsert-keys is rejected, and names the option in a session with the SQL extensions") {
    val t = countsTable()
    assertUnchanged(t) {
      val message = failure(counted(OutputMode.Update()), t)
      assert(message.contains("update mode") && message.contains("upsert-keys") && message.contains(t), message)
    }
    inSession(SharedSession.withoutExtensions) { session =>
      val query = session.readStream.format("rate").load().groupBy("value").count().writeStream
        .outputMode("update").option("checkpointLocation", newDirectory("checkpoint").toString).toTable(t)
      assert(messages(intercept[StreamingQueryException](query.awaitTermination())).contains("does not support Update"))
    }
  }
}
