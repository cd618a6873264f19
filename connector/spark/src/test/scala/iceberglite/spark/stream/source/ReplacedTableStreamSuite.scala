package iceberglite.spark.stream.source

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.connector.read.streaming.Offset
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.spark.error.StatementError

/**
 * Tests streams whose table is replaced, or dropped and created again. Then a query cannot continue with its
 * checkpoint, even if the new table also has other columns. A change of the columns alone would only require a restart.
 */
class ReplacedTableStreamSuite extends AnyFunSuite with SourceFixture {

  private def uuid(t: String): String = {
    val source = sourceOf(t)
    try IcebergOffset.of(source.initialOffset()).table.fold(fail("no UUID"))(_.toString)
    finally source.stop()
  }

  private def next(source: IcebergStream, start: Offset): Offset =
    Option(source.latestOffset(start, source.getDefaultReadLimit)).getOrElse(fail("no batch"))

  private def replace(t: String, columns: String): Unit = {
    sql(s"CREATE OR REPLACE TABLE $t USING iceberg AS SELECT $columns FROM range(10, 12, 1, 1)")
    ()
  }

  /** The columns of the new table, and whether they differ from those that the query reads. */
  private val columnsOfNewTable =
    Seq("id, concat('n', id) AS name" -> false, "id, concat('n', id) AS name, id AS added" -> true)

  /**
   * Returns the messages of the errors of a running query, of a query that was created before the table changed and is
   * restarted afterwards, and of a query that is created afterwards.
   */
  private def errorsAfter(t: String)(change: => Unit): Seq[String] = {
    val checkpoint = newCheckpoint()
    val frame: DataFrame = stream(t)
    assert(read(frame, checkpoint) == texts(0 until 3))
    val running = sourceOf(t)
    val end = next(running, running.initialOffset())
    change
    val error = intercept[StatementError](next(running, end)).getMessage
    running.stop()
    Seq(error, failure(frame, checkpoint), failure(stream(t), checkpoint))
  }

  for ((columns, differ) <- columnsOfNewTable) {
    val clue = if (differ) "with other columns" else "with the same columns"

    test(
      s"CREATE OR REPLACE TABLE $clue ends a stream with an error that names the options to read the new rows",
      Sampling.slowUnless(!differ): _*
    ) {
      val t = numbers(0 until 3)
      val position = rows(s"SELECT snapshot_id FROM $t.snapshots").head.getLong(0)
      val errors = errorsAfter(t)(replace(t, columns))
      errors.foreach { error =>
        assert(error.contains(s"$t up to snapshot $position"), error)
        assert(error.contains("rolled back or replaced") && error.contains("a new checkpoint location"), error)
        assert(error.contains("stream-from=oldest or stream-from=current"), error)
        assert(!error.contains("the same checkpoint location"), error)
      }
      Seq("oldest", "current").foreach { from =>
        assert(read(stream(t, "stream-from" -> from).select("id", "name")) == texts(10 until 12), from)
      }
    }

    test(
      s"DROP TABLE and CREATE TABLE $clue end a stream with an error that names both tables by their UUIDs",
      Sampling.slowUnless(!differ): _*
    ) {
      val t = numbers(0 until 3)
      val before = uuid(t)
      val errors = errorsAfter(t) {
        sql(s"DROP TABLE $t")
        replace(t, columns)
      }
      errors.foreach { error =>
        Seq(t, uuid(t), before).foreach(name => assert(error.contains(name), error))
        assert(error.contains("a new checkpoint location") && error.contains("stream-from-snapshot-id"), error)
        assert(!error.contains("the same checkpoint location"), error)
      }
      assert(read(stream(t).select("id", "name")) == texts(10 until 12))
    }
  }
}
