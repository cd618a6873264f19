package iceberglite.spark.types

import scala.collection.JavaConverters._

import org.apache.iceberg.types.Types
import org.apache.iceberg.types.Types.NestedField.optional
import org.apache.iceberg.{Schema => PeerSchema}
import org.apache.iceberg.data.{IcebergGenerics, Record => PeerRecord}
import org.apache.iceberg.variants.Variant
import org.apache.spark.sql.{AnalysisException, Row}
import org.apache.spark.sql.types.StringType
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.conformance.SparkRules
import iceberglite.spark.SharedSession

/** Tests `to_variant`, with Apache Iceberg's library as the reader of the written variants. */
class ToVariantSuite extends AnyFunSuite with VariantTables {
  private val f = "lite.system.to_variant"

  private val nested = new PeerSchema(
    flat.findField("id"),
    flat.findField("v"),
    optional(3, "text", Types.StringType.get),
    optional(
      4,
      "s",
      Types.StructType.of(optional(5, "v", Types.VariantType.get), optional(6, "i", Types.LongType.get))
    ),
    optional(7, "l", Types.ListType.ofOptional(8, Types.VariantType.get)),
    optional(9, "m", Types.MapType.ofOptional(10, 11, Types.StringType.get, Types.VariantType.get))
  )

  /** SQL expressions with the type and value that Apache Iceberg reads, and the JSON text. */
  private val values = Seq(
    ("true", "BOOLEAN_TRUE true", "true"),
    ("5Y", "INT8 5", "5"),
    ("-300S", "INT16 -300", "-300"),
    ("100000", "INT32 100000", "100000"),
    ("9223372036854775807L", "INT64 9223372036854775807", "9223372036854775807"),
    ("float('1.5')", "FLOAT 1.5", "1.5"),
    ("double('NaN')", "DOUBLE NaN", "\"NaN\""),
    ("1.50BD", "DECIMAL4 1.50", "1.50"),
    ("-12345678901234567890.12345BD", "DECIMAL16 -12345678901234567890.12345", "-12345678901234567890.12345"),
    ("'a\u00e9'", "STRING a\u00e9", "\"a\u00e9\""),
    ("X'00FF'", "BINARY 0,-1", "\"AP8=\""),
    ("DATE'2024-02-29'", "DATE 19782", "\"2024-02-29\""),
    ("TIMESTAMP_NTZ'1969-12-31 23:59:59.999999'", "TIMESTAMPNTZ -1", "\"1969-12-31T23:59:59.999999\""),
    ("TIMESTAMP'1970-01-01T00:00:01Z'", "TIMESTAMPTZ 1000000", "\"1970-01-01T00:00:01+00:00\""),
    (
      "named_struct('b', array(1, NULL), 'a', map('k', DATE'1970-01-02'), 'n', NULL)",
      "{a:{k:DATE 1},b:[INT8 1,NULL null],n:NULL null}",
      "{\"a\":{\"k\":\"1970-01-02\"},\"b\":[1,null],\"n\":null}"
    )
  )

  test("to_variant keeps the types of all values in VALUES and in queries", SparkRules.variantsOfValues) {
    val t = newVariantTable(flat)
    val rowsOfValues = values.zipWithIndex.map { case ((sql, _, _), i) => s"($i, $f($sql))" }
    sql(s"INSERT INTO $t VALUES ${rowsOfValues.mkString(", ")}, (90, NULL), (91, $f(NULL)), (92, '[1]')")
    val expected = values.zipWithIndex.map { case ((_, typed, _), i) => i.toLong -> typed }.toMap
    assert(kept(t) == expected + (92L -> "[INT8 1]"))
    val texts = values.map(_._3)
    assert(rows(s"SELECT v FROM $t WHERE id < 90 ORDER BY id").map(_.getString(0)) == texts)
    val selected = sql(s"SELECT ${values.map(v => s"$f(${v._1})").mkString(", ")}")
    assert(selected.schema.forall(_.dataType == StringType) && !selected.columns.exists(_.contains("as_json")))
    assert(selected.collect().toSeq == Seq(Row(texts: _*)))
    val u = newVariantTable(flat)
    values.zipWithIndex.foreach { case ((value, _, _), i) =>
      sql(s"INSERT INTO $u SELECT $i, $f(x) FROM (SELECT $value AS x)")
    }
    assert(kept(u) == expected)
  }

  /** The rows of the table with the types of all variants. */
  private def allTypes(t: String): Seq[String] = {
    val read = IcebergGenerics.read(loaded(t)).build()
    def shown(value: Any): String = value match {
      case v: Variant => described(v.value)
      case r: PeerRecord => (0 until r.size).map(i => shown(r.get(i))).mkString("(", ",", ")")
      case l: java.util.List[_] => l.toArray.map(shown).mkString("[", ",", "]")
      case m: java.util.Map[_, _] => m.entrySet.toArray.map { case e: java.util.Map.Entry[_, _] =>
          s"${e.getKey}:${shown(e.getValue)}"
        }.mkString("{", ",", "}")
      case other => String.valueOf(other)
    }
    try read.asScala.map(shown).toList.sorted
    finally read.close()
  }

  test("variants pass through subqueries, unions and nested columns exactly, and expressions see JSON text") {
    val t = newVariantTable(nested)
    val date = "DATE'2024-02-29'"
    val json = "\"2024-02-29\""
    sql(s"""INSERT INTO $t
      SELECT id, v, v, named_struct('v', v, 'i', length(v)), array(v, '1'), map('k', v) FROM (
        SELECT 1L AS id, $f($date) AS v UNION ALL SELECT 2L, $f(x) FROM (SELECT float(2.5) AS x) UNION ALL
        SELECT 3L, '"no variant"') WHERE v LIKE '%2%' OR v LIKE '%no%' ORDER BY v LIMIT 10""")
    assert(allTypes(t) == Seq(
      s"(1,DATE 19782,$json,(DATE 19782,12),[DATE 19782,INT8 1],{k:DATE 19782})",
      "(2,FLOAT 2.5,2.5,(FLOAT 2.5,3),[FLOAT 2.5,INT8 1],{k:FLOAT 2.5})",
      "(3,STRING no variant,\"no variant\",(STRING no variant,12),[STRING no variant,INT8 1],{k:STRING no variant})"
    ))
    sql(
      s"""INSERT OVERWRITE $t VALUES
      (1, '1', $f($date), named_struct('v', $f($date), 'i', 1L), array($f($date), NULL), map('k', $f($date))),
      (2, NULL, NULL, named_struct('v', '2', 'i', NULL), NULL, map('z', '3'))"""
    )
    assert(allTypes(t) == Seq(
      s"(1,INT8 1,$json,(DATE 19782,1),[DATE 19782,null],{k:DATE 19782})",
      "(2,null,null,(INT8 2,null),null,{z:INT8 3})"
    ))
    sql(s"INSERT INTO $t (id, v) SELECT 5L, $f($date)")
    assert(kept(t)(5L) == "DATE 19782")
    sql(s"INSERT INTO $t (v, id) SELECT s.v, id + 10 FROM (SELECT 1L AS id, named_struct('v', $f($date)) AS s) " +
      "WHERE s.v LIKE '%29%' AND id IN (SELECT 1)")
    assert(rows(s"SELECT v FROM $t WHERE id = 11") == Seq(Row(json)))
  }

  test("columns of a table that accepts any schema are matched by name") {
    val t = newVariantTable(nested, "write.spark.accept-any-schema" -> "true")
    spark.sql(s"SELECT $f(DATE'1970-01-02') AS text, 1L AS id, $f(DATE'1970-01-03') AS v, " +
      s"named_struct('i', 5L, 'v', $f(DATE'1970-01-04')) AS s").writeTo(t).append()
    assert(allTypes(t) == Seq("(1,DATE 2,\"1970-01-02\",(STRING 1970-01-04,5),null,null)"))
  }

  test("UPDATE and MERGE write the results of to_variant exactly", Slow, SparkRules.variantsOfValues) {
    for (mode <- Seq("copy-on-write", "merge-on-read")) {
      val t = newVariantTable(flat, Seq("update", "merge").map(c => s"write.$c.mode" -> mode): _*)
      sql(s"INSERT INTO $t VALUES (1, '1'), (2, $f(DATE'1970-01-03')), (3, '3'), (4, '4')")
      sql(s"UPDATE $t SET v = $f(named_struct('d', DATE'1970-01-02', 'old', v)) WHERE id = 1")
      sql(s"UPDATE $t SET v = CASE WHEN v = '3' THEN $f(float(3)) ELSE v END WHERE id IN (2, 3)")
      sql(s"""MERGE INTO $t USING (SELECT id, $f(d) AS v FROM VALUES (4L, DATE'1970-01-05'), (5L, DATE'1970-01-06')
        AS x(id, d)) s ON $t.id = s.id AND s.v LIKE '%1970%'
        WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *""")
      assert(kept(t) == Map(
        1L -> "{d:DATE 1,old:STRING 1}",
        2L -> "DATE 2",
        3L -> "FLOAT 3.0",
        4L -> "DATE 4",
        5L -> "DATE 5"
      ))
    }
  }

  test("VALUES with the current date have the same variants, and rows of different lengths are Spark's error") {
    val today = "x = concat('\"', current_date(), '\"')"
    assert(rows(s"SELECT $today FROM VALUES (1, $f(current_date())) AS t(id, x)") == Seq(Row(true)))
    val t = newVariantTable(flat)
    sql(s"INSERT INTO $t VALUES (1, $f(current_date()))")
    assert(kept(t)(1L).startsWith("DATE "))
    val error = intercept[AnalysisException](sql(s"SELECT * FROM VALUES (1, $f(1)), (2)"))
    assert(error.getErrorClass == "INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH")
  }

  test("values that no variant has, and sessions without the extensions, are rejected with the reason") {
    def failure(expression: String): String = messages(intercept[Exception](rows(s"SELECT $f($expression)")))
    assert(failure("map(1, 2)").contains("keys of the type int"))
    assert(failure("named_struct('a', 1, 'a', 2)").contains("several fields with the name a"))
    assert(failure("array(INTERVAL '1' DAY)").contains("interval day"))
    assert(failure("cast(X'FF' AS STRING)").contains("must be in UTF-8"))
    assert(failure("1, 2").contains("to_variant takes one value"))
    assert(failure("repeat('x', 17000000)").contains("16777216 bytes"))
    inSession(SharedSession.withoutExtensions) { plain =>
      val error = intercept[Exception](plain.sql(s"SELECT $f(1)"))
      assert(messages(error).contains("needs the SQL extensions"))
    }
    assert(rows(s"SELECT lite.system.variant_get($f(named_struct('d', DATE'2024-02-29')), '$$.d', 'date'), " +
      s"get_json_object($f(map('a', 1)), '$$.a') FROM VALUES ($f(1)) AS t(x) WHERE x = '1'") ==
      Seq(Row(java.sql.Date.valueOf("2024-02-29"), "1")))
  }
}
