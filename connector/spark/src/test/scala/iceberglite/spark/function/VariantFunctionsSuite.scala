package iceberglite.spark.function

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.types.{DateType, DecimalType, DoubleType, IntegerType, LongType, StringType}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession
import iceberglite.spark.write.WriteFixture

/** Tests the functions on variants. */
class VariantFunctionsSuite extends AnyFunSuite with WriteFixture {
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  private val variant =
    """{"a": {"b c": [1, 2.50, "x", null, true]}, "d": "2024-02-29", "big": 12345678901, "e": 1e3}"""

  private def get(path: String, t: String, function: String = "variant_get"): Any =
    rows(s"SELECT lite.system.$function('$variant', '$path', '$t')").head.get(0)

  private def failure(expression: String): String =
    messages(intercept[Exception](rows(s"SELECT lite.system.$expression")))

  test("parse_variant returns the text that a stored variant has, and rejects invalid text") {
    assert(rows("""SELECT lite.system.parse_variant(' {"b":1.50, "a":1e2} '), lite.system.parse_variant(NULL)""") ==
      Seq(Row("""{"a":100.0,"b":1.50}""", null)))
    val error = failure("""parse_variant('{"a":1,"a":2}')""")
    assert(error.contains("INVALID_PARAMETER_VALUE") && error.contains("(at character 8)"), error)
    assert(failure("parse_variant(1)").contains("parse_variant"))
  }

  test("variant_get returns the part at a path in the requested type") {
    assert(get("$.a[\\'b c\\'][0]", "int") == 1)
    assert(get("$.a[\"b c\"][1]", "decimal(5,1)") == new java.math.BigDecimal("2.5"))
    assert(get("$.a[\"b c\"][1]", "double") == 2.5 && get("$.e", "bigint") == 1000L)
    assert(get("$.a[\"b c\"][2]", "string") == "x" && get("$.a[\"b c\"][2]", "variant") == "\"x\"")
    assert(get("$.a[\"b c\"][3]", "int") == null && get("$.a[\"b c\"][3]", "variant") == "null")
    assert(get("$.a[\"b c\"][4]", "boolean") == true && get("$.a[\"b c\"][9]", "boolean") == null)
    assert(get("$.d", "date") == java.sql.Date.valueOf("2024-02-29") && get("$.big", "string") == "12345678901")
    assert(get("$.a", "string") == """{"b c":[1,2.50,"x",null,true]}""" && get("$.none.x", "int") == null)
    assert(get("$", "variant").toString.startsWith("{\"a\":"))
    val typed = sql(s"""SELECT lite.system.variant_get(v, '$$.x', 'int') + 1 AS i,
      lite.system.variant_get(v, '$$.x', 'bigint') AS l, lite.system.variant_get(v, '$$.x') AS s,
      lite.system.variant_get(v, '$$.x', 'DOUBLE') * 2 AS d, lite.system.variant_get(v, '$$.y', 'date') AS y,
      lite.system.variant_get(v, '$$.x', 'decimal(4,1)') AS m FROM VALUES ('{"x":7}'), (NULL) AS t(v)""")
    val types = Seq(IntegerType, LongType, StringType, DoubleType, DateType, DecimalType(4, 1))
    assert(typed.schema.map(_.dataType) == types)
    assert(typed.collect().toSeq == Seq(
      Row(8, 7L, "7", 14.0, null, new java.math.BigDecimal("7.0")),
      Row(null, null, null, null, null, null)
    ))
  }

  test("a part that cannot be cast is an error of variant_get and null in try_variant_get") {
    Seq("$.a" -> "int", "$.d" -> "int", "$.big" -> "int", "$.a[\"b c\"][4]" -> "date").foreach { case (path, t) =>
      val error = failure(s"variant_get('$variant', '$path', '$t')")
      assert(error.contains(s"It cannot be cast to $t. Use try_variant_get"), error)
      assert(get(path, t, "try_variant_get") == null)
    }
    assert(failure("variant_get('{', '$.a', 'int')").contains("(at character"))
    assert(rows("SELECT lite.system.try_variant_get('{', '$.a', 'int'), lite.system.try_variant_get('{', '$.a')") ==
      Seq(Row(null, null)))
  }

  test("invalid paths, types and arguments are rejected with the reason") {
    Seq("a", "$a", "$.", "$[x]", "$['a", "$.a..b", "$[99999999999]", "").foreach { path =>
      val text = path.replace("'", "\\'")
      assert(failure(s"variant_get('1', '$text', 'int')").contains("It must be a path in a variant"), path)
      assert(failure(s"try_variant_get('1', '$text')").contains("It must be a path in a variant"), path)
    }
    assert(failure("variant_get('1', '$', 'array<int>')").contains("It must be the name of a type"))
    assert(failure("variant_get('1', '$', 'nothing')").contains("It must be the name of a type"))
    assert(failure("variant_get('1', '$', t) FROM VALUES ('int') AS x(t)").contains("It must be a constant text"))
    assert(failure("variant_get('1')").contains("variant_get"))
    assert(failure("variant_get(1, '$', 'int')").contains("variant_get"))
    inSession(SharedSession.withoutExtensions) { plain =>
      assert(plain.sql("SELECT lite.system.variant_get('[5]', '$[0]')").collect().toSeq == Seq(Row("5")))
      val error = intercept[Exception](plain.sql("SELECT lite.system.variant_get('[5]', '$[0]', 'int')"))
      assert(messages(error).contains("needs the SQL extensions"))
    }
  }

  test("the functions work in statements on tables, conditions and CTEs") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, v VARIANT) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    sql(s"""INSERT INTO $t VALUES (1, '{"n": 5}'), (2, '{"n": 15}'), (3, NULL)""")
    assert(rows(s"SELECT id FROM $t WHERE lite.system.variant_get(v, '$$.n', 'int') > 10") == Seq(Row(2L)))
    assert(rows(s"WITH c AS (SELECT lite.system.variant_get(v, '$$.n', 'int') AS n FROM $t) SELECT sum(n) FROM c") ==
      Seq(Row(20L)))
    sql(s"UPDATE $t SET id = lite.system.variant_get(v, '$$.n', 'bigint') WHERE v IS NOT NULL")
    assert(rows(s"SELECT id FROM $t ORDER BY id") == Seq(Row(3L), Row(5L), Row(15L)))
    sql(s"DELETE FROM $t WHERE lite.system.try_variant_get(v, '$$.n', 'int') = 5")
    assert(rows(s"SELECT id FROM $t ORDER BY id") == Seq(Row(3L), Row(15L)))
  }
}
