package iceberglite.spark.types

import org.scalatest.concurrent.TimeLimits
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow
import org.scalatest.time.SpanSugar._

import iceberglite.spark.SharedSession

/** Checks that statements on deeply nested types finish within a time limit. */
class DeepTypesSuite extends AnyFunSuite with SharedSession with TimeLimits {
  private val Depth = 200

  private def nested(wrap: String => String, inner: String, depth: Int): String =
    Iterator.iterate(inner)(wrap).drop(depth).next()

  private def roundTrip(format: String, columnType: String, json: String, leaf: String): Unit = {
    val t = newTable()
    failAfter(2.minutes) {
      sql(s"CREATE TABLE $t (v $columnType) USING iceberg TBLPROPERTIES ('write.format.default' = '$format')")
      // The value is parsed from JSON, because Spark's analyzer fails on so many nested calls of array().
      sql(s"""INSERT INTO $t SELECT from_json('{"v": $json}', 'v $columnType').v FROM range(2)""")
      assert(rows(s"SELECT to_json(struct(v)) FROM $t").map(_.getString(0)) == Seq.fill(2)(s"""{"v":$json}"""))
      assert(rows(s"SELECT count(*) FROM $t WHERE $leaf IS NOT NULL").head.getLong(0) == 2)
    }
  }

  for (format <- Seq("parquet", "orc", "avro"))
    test(s"lists with $Depth nested levels can be written and read in $format files", Slow) {
      roundTrip(format, nested(t => s"ARRAY<$t>", "BIGINT", Depth), nested(v => s"[$v]", "1", Depth), "v[0]")
    }

  test("structs with 100 nested levels can be written and read") {
    roundTrip("parquet", nested(t => s"STRUCT<a: $t>", "BIGINT", 100), nested(v => s"""{"a":$v}""", "1", 100), "v.a")
  }
}
