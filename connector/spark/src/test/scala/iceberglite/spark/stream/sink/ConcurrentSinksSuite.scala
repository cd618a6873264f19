package iceberglite.spark.stream.sink

import java.util.concurrent.{Callable, Executors}

import scala.collection.JavaConverters._

import org.apache.spark.sql.streaming.OutputMode
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/** Checks streaming queries that run at the same time as other writers of the same table. */
class ConcurrentSinksSuite extends AnyFunSuite with SinkFixture {

  test("with automatic compaction, a query compacts the partitions to which it has written") {
    val t = tableWith(
      "id BIGINT, p STRING",
      "PARTITIONED BY (p) TBLPROPERTIES ('iceberg-lite.auto-compact' = 'true', " +
        "'iceberg-lite.auto-compact.min-input-files' = '3')"
    )
    val stream = new TestStream
    stream.into(t)(letters(0), letters(3), letters(6), letters(1))
    assert(ids(t) == Seq(0, 1, 3, 6))
    assert(rows(s"SELECT partition.p, record_count FROM $t.files ORDER BY 1").map(_.toString) == Seq("[a,3]", "[b,1]"))
    stream.forgetCommit()
    assertUnchanged(t)(stream.into(t)())
  }

  test("two queries, compaction and expiration on one table lose and duplicate no row", Slow) {
    val t = tableWith("id BIGINT, p STRING", "PARTITIONED BY (p) TBLPROPERTIES ('commit.retry.num-retries' = '50')")
    runBeside(t, Seq.fill(2)(new TestStream)) { (q, batch) =>
      letters((0L until 20L).map(_ + 20 * batch + 1000 * q): _*)
    }
    assert(ids(t) == ((0L until 80L) ++ (1000L until 1080L)))
  }

  for (version <- Seq(2, 3))
    test(
      s"two queries that replace rows, compaction and expiration keep the last row of each key, in version $version",
      Slow
    ) {
      val t = tableWith(
        "id BIGINT, p STRING",
        s"PARTITIONED BY (p) TBLPROPERTIES ('format-version' = '$version', 'commit.retry.num-retries' = '50')"
      )
      val streams = Seq.fill(2)(new TestStream(OutputMode.Update(), Map("upsert-keys" -> "id")))
      runBeside(t, streams)((q, batch) => (0L until 20L).map(id => (2 * id + q) -> s"${"ab" (batch % 2)}$batch"))
      assert(read(t) == (0 until 40).map(id => s"[$id,b3]").sorted)
    }

  /**
   * Runs queries into a table, each with four micro-batches, beside a compaction and an expiration. Each query runs
   * each of its micro-batches twice.
   *
   * @param rowsOf returns the rows of a micro-batch for the number of the query and of the micro-batch
   */
  private def runBeside(t: String, streams: Seq[TestStream])(rowsOf: (Int, Int) => Seq[(Long, String)]): Unit = {
    val queries = streams.zipWithIndex.map { case (stream, q) =>
      task {
        (0 until 4).foreach { batch =>
          stream.into(t)(rowsOf(q, batch))
          stream.forgetCommit()
        }
        stream.into(t)()
      }
    }
    val maintenance = task {
      (0 until 4).foreach { _ =>
        sql(s"CALL lite.system.rewrite_data_files(table => '$t', options => map('min-input-files', '2', " +
          "'partial-progress.enabled', 'true'))")
        sql(s"CALL lite.system.expire_snapshots(table => '$t', older_than => now(), retain_last => 2)")
      }
    }
    val pool = Executors.newFixedThreadPool(3)
    try pool.invokeAll((queries :+ maintenance).asJava).asScala.foreach(_.get)
    finally pool.shutdown()
  }

  private def task(body: => Any): Callable[Unit] = () =>
    inSession(spark) { _ =>
      body
      ()
    }
}
