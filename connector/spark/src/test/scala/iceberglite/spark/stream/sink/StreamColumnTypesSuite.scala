package iceberglite.spark.stream.sink

import org.apache.spark.sql.functions.col
import org.apache.spark.sql.streaming.{StreamingQueryException, Trigger}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/**
 * Checks that streaming reads and writes follow the declared types of columns, and that writes use the current
 * properties of the table.
 */
class StreamColumnTypesSuite extends AnyFunSuite with SinkFixture {

  test("CHAR values are padded, and too long CHAR and VARCHAR values fail the query") {
    val t = tableWith("id BIGINT, p CHAR(3), q VARCHAR(3)", "")
    val stream = new TestStream
    stream.select = _.withColumn("Q", col("p"))
    stream.into(t)(Seq(1L -> "a", 2L -> null))
    assert(rows(s"SELECT id, concat('<', p, '>'), q FROM $t ORDER BY id").map(_.toString) == Seq(
      "[1,<a  >,a]",
      "[2,null,null]"
    ))
    assertUnchanged(t) {
      val error = messages(intercept[StreamingQueryException](stream.into(t)(Seq(3L -> "long"))))
      assert(error.contains("EXCEED_LIMIT_LENGTH") && error.contains("3"), error)
    }
  }

  test(
    "strings in structs are checked with the type of the field of the same name, and integers are not cast to strings",
    Slow
  ) {
    val t = tableWith("id BIGINT, s STRUCT<a: CHAR(3), b: VARCHAR(3)>, p CHAR(3)", "")
    def insert(id: Long, columns: String*): Unit = {
      val stream = new TestStream
      stream.select = _.selectExpr(columns: _*)
      stream.into(t)(Seq(id -> "x"))
      ()
    }
    insert(1L, "id", "named_struct('b', concat(p, '2'), 'a', p) AS s")
    insert(2L, "id", "named_struct('b', p) AS s", "NULL AS p")
    assert(
      rows(s"SELECT id, concat('<', s.a, '>'), s.b, p FROM ${inApacheIceberg(t)} ORDER BY id").map(_.toString) == Seq(
        "[1,<x  >,x2,null]",
        "[2,null,x,null]"
      )
    )
    def fault(columns: String*): String = messages(intercept[StreamingQueryException](insert(3L, columns: _*)))
    assertUnchanged(t) {
      assert(fault("id", "named_struct('b', 'long') AS s").contains("EXCEED_LIMIT_LENGTH"))
      val number = fault("id", "7 AS p")
      assert(number.contains("Cannot write values of type int to column p"), number)
    }
  }

  test("a stream reads CHAR and VARCHAR columns as a batch does") {
    val t = tableWith("id BIGINT, p CHAR(3), q VARCHAR(3)", "")
    sql(s"INSERT INTO $t VALUES (1, 'a', 'b')")
    val copy = tableWith("id BIGINT, p STRING, q STRING", "")
    spark.readStream.table(t).writeStream.option("checkpointLocation", newDirectory("checkpoint").toString)
      .trigger(Trigger.AvailableNow()).toTable(copy).awaitTermination()
    assert(read(copy) == sorted(s"SELECT * FROM $t"))
  }

  test("a stream pads and finds CHAR values that another engine has written without padding", Slow) {
    val t = tableWith("id BIGINT, p CHAR(3)", "")
    sql(s"INSERT INTO ${inApacheIceberg(t)} VALUES (1, 'a'), (2, 'b')")
    sql(s"REFRESH TABLE $t")
    sql(s"INSERT INTO $t VALUES (3, 'a')")
    val copy = tableWith("id BIGINT, p STRING", "")
    spark.readStream.table(t).where("p = 'a'").writeStream
      .option("checkpointLocation", newDirectory("checkpoint").toString)
      .trigger(Trigger.AvailableNow()).toTable(copy).awaitTermination()
    assert(read(copy) == Seq("[1,a  ]", "[3,a  ]"))
    assert(read(copy) == sorted(s"SELECT * FROM $t WHERE p = 'a'"))
  }

  test("each micro-batch checks the lengths that the table's columns have at that time", Slow) {
    val t = tableWith("id BIGINT, p VARCHAR(3)", "")
    val stream = new TestStream
    stream.run(_.toTable(t)) {
      stream.add(Seq(1L -> "abc"))
      sql(s"ALTER TABLE $t ALTER COLUMN p TYPE VARCHAR(5)")
      stream.add(Seq(2L -> "abcde"))
    }
    assert(read(t) == Seq("[1,abc]", "[2,abcde]"))
    val tooLong = messages(intercept[StreamingQueryException](new TestStream().into(t)(Seq(3L -> "abcdef"))))
    assert(tooLong.contains("EXCEED_LIMIT_LENGTH"), tooLong)
  }

  test("each micro-batch uses the table properties that another program has set in the meantime", Slow) {
    val t = tableWith("id BIGINT, p STRING", "")
    val stream = new TestStream
    stream.run(_.toTable(t)) {
      stream.add(letters(1))
      sql(s"ALTER TABLE ${inApacheIceberg(t)} SET TBLPROPERTIES ('write.format.default' = 'avro')")
      stream.add(letters(2))
    }
    val formats = rows(s"SELECT file_format FROM $t.files ORDER BY file_format").map(_.getString(0))
    assert(formats == Seq("AVRO", "PARQUET"))
  }
}
