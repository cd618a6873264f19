package iceberglite.spark.types

import scala.util.Random

import org.apache.hadoop.fs.FileSystem
import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.conformance.SparkRules

/** Tests that queries on parts of variants read only the columns of these parts. */
class VariantColumnsReadSuite extends AnyFunSuite with VariantQueries {

  test("queries return the same parts as from complete variants", Slow, SparkRules.variantPartsRead) {
    val (t, plain) = (newVariantTable(flat, shredded), newVariantTable(flat))
    Seq(t, plain).foreach(insert(_, 0, variants: _*))
    val paths = Seq(
      "$.i",
      "$.s",
      "$.x.t",
      "$.x.n",
      "$.x",
      "$.l[0].p",
      "$.l",
      "$.extra",
      "$[''a.b'']",
      "$.big",
      "$[1][0]",
      "$.missing.part",
      "$",
      "$.i.part",
      "$.o"
    )
    def part(path: String, t: String = "variant") = s"lite.system.variant_get(v, '${path.replace("''", "\\'")}', '$t')"
    val random = new Random(3L)
    val queries = paths.map(p => s"id, ${part(p)}") ++ paths.map(p => s"id, ${part(p, "string")}") ++
      paths.combinations(2).filter(_ => random.nextInt(8) == 0).map(_.map(part(_)).mkString("id, ", ", ", "")) ++ Seq(
        s"count(DISTINCT ${part("$.i")}), max(${part("$.s", "string")})",
        s"lite.system.variant_get(v, '$$.x.t')",
        s"${part("$.i")}, v",
        s"v IS NULL, ${part("$.d")}",
        s"length(v), ${part("$.d")}"
      )
    for (query <- queries)
      withClue(query)(assert(sorted(s"SELECT $query FROM $t") == sorted(s"SELECT $query FROM $plain")))
    val joined = s"SELECT a.id, ${part("$.i").replace("(v", "(a.v")} FROM $t a JOIN $plain b ON a.id = b.id " +
      s"WHERE b.v IS NOT NULL ORDER BY a.id"
    assert(rows(joined) == rows(joined.replace(t, plain)))
    assert(read(joined).plan.contains("parts=v: $['i']"))
    val union = s"SELECT v FROM $t UNION ALL SELECT ${part("$.i")} FROM $t"
    assert(sorted(union) == sorted(union.replace(t, plain)))
    assert(read(s"SELECT ${part("$.i")} FROM (SELECT v, id + 1 AS n FROM $t ORDER BY n LIMIT 5)").plan
      .contains("parts=v: $['i']"))
    for ((option, value) <- Seq("vectorization-enabled" -> "false", "batch-size" -> "3")) {
      val columns = Seq("id", part("$.i"), part("$.x.t"), part("$.l[0].p"))
      def selected(table: String) = texts(spark.read.option(option, value).table(table).selectExpr(columns: _*))
      assert(selected(t) == selected(plain))
    }
    for (whole <- Seq("v", s"${part("$.i")}, v", s"${part("$")}", "length(v)"))
      assert(!read(s"SELECT $whole FROM $t").plan.contains("parts="))
  }

  /** The bytes that are read from local files. */
  private def bytesRead(query: => Any): Long = {
    def all: Long = FileSystem.getGlobalStorageStatistics.get("file").getLong("bytesRead")
    val before = all
    query
    all - before
  }

  test("a query on one part reads few bytes", SparkRules.variantPartsRead) {
    def table(properties: (String, String)*) = {
      val t = newVariantTable(flat, properties: _*)
      sql(s"""INSERT INTO $t SELECT /*+ COALESCE(1) */ id, $parse(concat('{"n":', id % 100, ',"text":"',
        sha2(cast(id as string), 512), '","x":{"n":', id % 10, ',"text":"', sha2(cast(-id as string), 512), '"}}'))
        FROM range(0, 3000, 1, 1)""")
      t
    }
    val (t, plain) = (table(shredded), table())
    def bytes(t: String, columns: String): Long = {
      rows(s"SELECT $columns FROM $t")
      bytesRead(rows(s"SELECT $columns FROM $t"))
    }
    val complete = bytes(t, "max(v)")
    val part = bytes(t, s"sum(${get("$.n", "int")})")
    val nested = bytes(t, s"sum(${get("$.x.n", "int")}), sum(${get("$.n", "int")})")
    val unshredded = bytes(plain, s"sum(${get("$.n", "int")})")
    info(s"bytes read: complete variants $complete, one part $part, two parts $nested, unshredded $unshredded")
    assert(complete > 300000 && unshredded > 300000 && part < complete / 20 && nested < complete / 10)
    assert(rows(s"SELECT sum(${get("$.x.n", "int")}) FROM $t") == Seq(Row(13500L)))
  }
}
