package iceberglite.spark.stream.source

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.execution.datasources.v2.StreamingDataSourceV2Relation
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession
import iceberglite.spark.rules.ComputeStreamedChanges

/** Tests streaming reads of tables whose columns change while a query runs. */
class StreamSchemaSuite extends AnyFunSuite with SourceFixture {
  private val oneFile = "streaming-max-files-per-micro-batch" -> "1"

  /** Runs a query, makes the change after its first rows, and returns the message of the error that ends the query. */
  private def errorAfter(frame: DataFrame, checkpoint: String)(change: => Unit): String = {
    val query = frame.writeStream.format("noop").option("checkpointLocation", checkpoint)
      .trigger(Trigger.ProcessingTime(0)).start()
    try {
      query.processAllAvailable()
      change
      intercept[StreamingQueryException](query.processAllAvailable()).getMessage
    } finally query.stop()
  }

  private def required(): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT NOT NULL, name STRING) USING iceberg TBLPROPERTIES ('format-version' = '2')")
    append(t, 0 until 2)
    t
  }

  test("a query ends with an error when a column is added, and a restart returns the rows since then with the column") {
    val t = required()
    val checkpoint = newCheckpoint()
    val error = errorAfter(stream(t), checkpoint) {
      append(t, 2 until 3)
      sql(s"ALTER TABLE $t ADD COLUMN n INT")
      sql(s"INSERT INTO $t VALUES (3, 'n3', 30)")
      ()
    }
    assert(error.contains("column n was added") && error.contains("the same checkpoint location"), error)
    val rest = read(stream(t), checkpoint)
    assert(rest.contains("[3,n3,30]") && rest.forall(Set("[2,n2,null]", "[3,n3,30]")))
  }

  test("a query ends with an error when a column may be null, and a restart returns the null", Slow) {
    val t = required()
    val checkpoint = newCheckpoint()
    val error = errorAfter(stream(t), checkpoint) {
      sql(s"ALTER TABLE $t ALTER COLUMN id DROP NOT NULL")
      sql(s"INSERT INTO $t VALUES (NULL, 'none')")
      ()
    }
    assert(error.contains("column id may be null now"), error)
    assert(read(stream(t), checkpoint) == Vector("[null,none]"))
  }

  test("a query ends with an error when a column is widened or dropped, also for a stream of changes", Slow) {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT, name STRING) USING iceberg")
    sql(s"INSERT INTO $t VALUES (1, 'a')")
    val checkpoint = newCheckpoint()
    val widened = errorAfter(stream(s"$t.changes"), checkpoint) {
      sql(s"ALTER TABLE $t ALTER COLUMN id TYPE BIGINT")
      sql(s"INSERT INTO $t VALUES (${Long.MaxValue}, 'b')")
      ()
    }
    assert(widened.contains("column id has the type long instead of int"), widened)
    assert(read(stream(s"$t.changes").select("id"), checkpoint) == Vector(s"[${Long.MaxValue}]"))
    val dropped = errorAfter(stream(t), newCheckpoint()) {
      sql(s"ALTER TABLE $t DROP COLUMN name")
      ()
    }
    assert(dropped.contains("column name was dropped"), dropped)
  }

  test("a query continues when a column is renamed, with the name that it had when the query began", Slow) {
    val t = required()
    val checkpoint = newCheckpoint()
    val query = stream(t).writeStream.format("memory").queryName("renamed_column")
      .option("checkpointLocation", checkpoint).trigger(Trigger.ProcessingTime(0)).start()
    try {
      query.processAllAvailable()
      sql(s"ALTER TABLE $t RENAME COLUMN name TO title")
      sql(s"INSERT INTO $t VALUES (2, 'n2')")
      query.processAllAvailable()
      assert(sorted("SELECT name FROM renamed_column") == Vector("[n0]", "[n1]", "[n2]"))
    } finally query.stop()
    append(t, 3 until 4)
    assert(read(stream(t).select("title"), checkpoint) == Vector("[n3]"))
  }

  test(
    "with streaming-schema-id, a query keeps its columns while columns are added and dropped, also after a restart",
    Slow
  ) {
    val t = required()
    val fixed = "streaming-schema-id" -> "0"
    val checkpoint = newCheckpoint()
    def run(change: => Unit): Seq[String] = {
      val query = stream(t, fixed).writeStream.format("memory").queryName("fixed_columns")
        .option("checkpointLocation", checkpoint).trigger(Trigger.ProcessingTime(0)).start()
      try {
        query.processAllAvailable()
        change
        query.processAllAvailable()
        sorted("SELECT * FROM fixed_columns")
      } finally query.stop()
    }
    val first = run {
      sql(s"ALTER TABLE $t ADD COLUMN n INT")
      sql(s"INSERT INTO $t VALUES (2, 'n2', 20)")
      sql(s"ALTER TABLE $t DROP COLUMN name")
      sql(s"INSERT INTO $t VALUES (3, 30)")
      ()
    }
    assert(first == Seq("[0,n0]", "[1,n1]", "[2,n2]", "[3,null]"))
    sql(s"INSERT INTO $t VALUES (4, 40)")
    assert(read(stream(t, fixed), checkpoint) == Vector("[4,null]"))
    assert(read(stream(t)).contains("[3,30]"))
    val widened = errorAfter(stream(t, "streaming-schema-id" -> "1"), newCheckpoint()) {
      sql(s"ALTER TABLE $t ALTER COLUMN n TYPE BIGINT")
      sql(s"INSERT INTO $t VALUES (5, ${Long.MaxValue})")
      ()
    }
    assert(widened.contains("column n has the type long instead of int"), widened)
  }

  test("streaming-schema-id is rejected where it has no effect, and if there is no such schema") {
    val t = required()
    def message(frame: => DataFrame): String = failure(frame)
    assert(message(stream(t, "streaming-schema-id" -> "7")).contains("The table has the schemas 0"))
    assert(message(stream(s"$t.changes", "streaming-schema-id" -> "0")).contains("for a stream of changes"))
    val plain = inSession(SharedSession.withoutExtensions) { s =>
      failure(s.readStream.option("streaming-schema-id", "0").table(t))
    }
    assert(plain.contains("without the SQL extensions"), plain)
  }

  test("a DataFrame that was created before a column was added cannot start a query") {
    val t = required()
    val frame = stream(t)
    sql(s"ALTER TABLE $t ADD COLUMN n INT")
    assert(failure(frame).contains("column n was added"))
    assert(read(stream(t)) == Vector("[0,n0,null]", "[1,n1,null]"))
  }

  test(
    "a tag is read with the table's columns if an option selects it, and with its own columns if the name does",
    Slow
  ) {
    val t = required()
    sql(s"ALTER TABLE $t CREATE TAG v1")
    sql(s"ALTER TABLE $t ADD COLUMN n INT")
    val tag = "tag" -> "v1"
    assert(read(stream(t, tag)) == Vector("[0,n0,null]", "[1,n1,null]"))
    assert(read(stream(s"$t.tag_v1")) == Vector("[0,n0]", "[1,n1]"))
    assert(read(stream(s"$t.changes", tag).select("id", "n")) == Vector("[0,null]", "[1,null]"))
  }

  test("the statistics of a micro-batch are those of its rows, and unknown before the first is planned") {
    val t = numbers(0 until 2, 2 until 5)
    val scan = scanOf(t, oneFile)
    val reader = streamOf(scan)
    assert(!scan.estimateStatistics().sizeInBytes().isPresent)
    val first = reader.initialOffset()
    val end = reader.latestOffset(first, reader.getDefaultReadLimit)
    assert(scan.estimateStatistics().numRows().getAsLong == 2L, "before the files are planned")
    reader.planInputPartitions(first, end)
    reader.latestOffset(end, reader.getDefaultReadLimit)
    assert(scan.estimateStatistics().numRows().getAsLong == 3L)
  }

  test("the statistics of a micro-batch of deletes are unknown if the deleted rows are not counted in metadata") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, name STRING) USING iceberg TBLPROPERTIES " +
      "('format-version' = '2', 'write.delete.mode' = 'merge-on-read')")
    append(t, 0 until 4)
    sql(s"DELETE FROM $t WHERE id = 1")
    val scan = scanOf(s"$t.changes", oneFile)
    val reader = streamOf(scan)
    val limit = reader.getDefaultReadLimit
    val inserted = reader.latestOffset(reader.initialOffset(), limit)
    assert(scan.estimateStatistics().numRows().getAsLong == 4L)
    val deleted = reader.latestOffset(inserted, limit)
    assert(!scan.estimateStatistics().numRows().isPresent)
    reader.planInputPartitions(inserted, deleted)
    assert(!scan.estimateStatistics().numRows().isPresent && !scan.estimateStatistics().sizeInBytes().isPresent)
  }

  test("the statistics of a micro-batch are unknown to a query with an aggregation") {
    val scan = scanOf(numbers(0 until 2))
    val reader = streamOf(scan)
    reader.latestOffset(reader.initialOffset(), reader.getDefaultReadLimit)
    val relation = StreamingDataSourceV2Relation(Nil, scan, reader, None, None, None, None)
    val rule = new ComputeStreamedChanges(spark)
    rule(relation)
    assert(scan.estimateStatistics().numRows().getAsLong == 2L)
    rule(Aggregate(Nil, Nil, relation))
    assert(!scan.estimateStatistics().numRows().isPresent)
  }
}
