package iceberglite.spark.types

import scala.util.Random

import org.apache.hadoop.fs.FileSystem
import org.apache.iceberg.types.Types
import org.apache.iceberg.types.Types.NestedField.optional
import org.apache.iceberg.{Schema => PeerSchema}
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

  private val inStruct: PeerSchema = new PeerSchema(
    flat.findField("id"),
    optional(2, "s", Types.StructType.of(optional(3, "n", Types.LongType.get), optional(4, "v", Types.VariantType.get)))
  )

  private def part(value: String, path: String, t: String = "variant") =
    s"lite.system.variant_get($value, '$path', '$t')"

  /** Queries on a table with variants in structs, and the parts that the scans of the query read. */
  private def queriesOnStructs(t: String): Seq[(String, Seq[String])] = {
    val (i, s, xt) = ("s.v: $['i']", "s.v: $['s']", "s.v: $['x']['t']")
    val union = s"(SELECT id, s.v AS w FROM $t UNION ALL SELECT id + 1000, s.v FROM $t WHERE s.n < 15)"
    val window = "row_number() OVER (PARTITION BY s.n % 3 ORDER BY id DESC)"
    Seq(
      s"SELECT id, s.n, ${part("s.v", "$.i")} FROM $t" -> Seq(i),
      s"SELECT id, ${part("s.v", "$.x.t")}, ${part("s.v", "$.i", "string")} FROM $t" -> Seq(s"$i, $xt"),
      s"SELECT id, ${part("s.v", "$.gone.x")}, s IS NULL, s.v IS NULL FROM $t" -> Seq("s.v: $['gone']['x']"),
      s"SELECT id FROM $t WHERE ${part("s.v", "$.s", "string")} > 'text 2'" -> Seq(s),
      s"SELECT count(DISTINCT ${part("s.v", "$.i")}), max(${part("s.v", "$.s", "string")}) FROM $t" -> Seq(s"$i, $s"),
      s"SELECT id, ${part("s.v", "$.i")}, $window FROM $t" -> Seq(i),
      s"SELECT id, rank() OVER (ORDER BY ${part("s.v", "$.s", "string")}, id) FROM $t" -> Seq(s),
      s"SELECT id, ${part("w", "$.i")} FROM (SELECT id, s.v AS w, $window AS r FROM $t) WHERE r <= 2" -> Seq(i),
      s"SELECT id, ${part("w", "$.i")} FROM $union" -> Seq(i, i),
      s"SELECT count(${part("w", "$.i")}), max(${part("w", "$.s", "string")}) FROM $union" -> Seq(s"$i, $s", s"$i, $s"),
      s"SELECT id, lag(${part("w", "$.i")}) OVER (ORDER BY id) FROM $union" -> Seq(i, i),
      s"SELECT a.id, ${part("a.s.v", "$.i")} FROM $t a JOIN $t b ON a.id = b.s.n WHERE a.s IS NOT NULL" -> Seq(i),
      s"SELECT id, ${part("s.v", "$.i")}, e FROM $t LATERAL VIEW explode(array(1, id)) AS e" -> Seq(i)
    )
  }

  /** Queries for which a scan must read complete variants. */
  private def completeOnStructs(t: String): Seq[String] = Seq(
    s"SELECT id, s, ${part("s.v", "$.i")} FROM $t",
    s"SELECT id, s.v, ${part("s.v", "$.i")} FROM $t",
    s"SELECT id, ${part("s.v", "$")} FROM $t",
    s"SELECT id, max(s.v) OVER (PARTITION BY s.n % 3) FROM $t",
    s"SELECT w, count(${part("w", "$.i")}) FROM (SELECT s.v AS w FROM $t UNION ALL SELECT s.v FROM $t) GROUP BY w",
    s"SELECT ${part("w", "$.i")} FROM (SELECT s.v AS w FROM $t UNION SELECT s.v FROM $t)"
  )

  private def partsRead(plan: String): Seq[String] =
    "parts=(.*?), tasks=".r.findAllMatchIn(plan.substring(plan.indexOf("Initial Plan") max 0)).map(_.group(1)).toSeq

  test("only parts are read of variants in structs, and above windows and unions", Slow, SparkRules.variantPartsRead) {
    val flatTable = newVariantTable(flat)
    insert(flatTable, 0, variants: _*)
    val (t, plain) = (newVariantTable(inStruct, shredded), newVariantTable(inStruct))
    for (into <- Seq(t, plain)) {
      sql(s"INSERT INTO $into SELECT /*+ COALESCE(1) */ id, named_struct('n', id, 'v', v) FROM $flatTable")
      sql(s"INSERT INTO $into VALUES (100, NULL)")
    }
    for (((query, parts), onPlain) <- queriesOnStructs(t).zip(queriesOnStructs(plain).map(_._1))) withClue(query) {
      assert(sorted(query) == sorted(onPlain))
      val plan = read(query).plan
      assert(partsRead(plan) == parts, plan)
    }
    for ((query, onPlain) <- completeOnStructs(t).zip(completeOnStructs(plain))) withClue(query) {
      assert(sorted(query) == sorted(onPlain))
      assert(partsRead(read(query).plan).isEmpty)
    }
    val mixed = s"SELECT count(${part("w", "$.i")}) FROM (SELECT v AS w FROM $flatTable UNION ALL SELECT s.v FROM $t)"
    assert(rows(mixed) == rows(mixed.replace(t, plain)))
    assert(partsRead(read(mixed).plan) == Seq("v: $['i']", "s.v: $['i']"))
    // A runtime filter, for which the files have different ranges of a field of the same struct.
    for (into <- Seq(t, plain)) sql(s"""INSERT INTO $into VALUES (200, named_struct('n', 500, 'v', '{"i":1}'))""")
    val pruned = s"SELECT a.id, ${part("a.s.v", "$.i")} FROM $t a JOIN (SELECT /*+ BROADCAST */ id FROM $flatTable " +
      "WHERE id < 5) b ON a.s.n = b.id"
    assert(sorted(pruned) == sorted(pruned.replace(t, plain)))
    val plan = read(pruned).plan
    assert(plan.contains("dynamicpruning") && partsRead(plan).contains("s.v: $['i']"), plan)
    val named = s"WITH q AS (SELECT id, s.v AS w, rand() AS r FROM $t) SELECT count(*) FROM " +
      s"(SELECT r, ${part("w", "$.i")} AS i FROM q) a JOIN (SELECT r, ${part("w", "$.s")} AS s FROM q) b ON a.r = b.r"
    assert(rows(named) == rows(s"SELECT count(*) FROM $t"))
  }

  /** The bytes that are read from local files. */
  private def bytesRead(query: => Any): Long = {
    def all: Long = FileSystem.getGlobalStorageStatistics.get("file").getLong("bytesRead")
    val before = all
    query
    all - before
  }

  test("a query on one part reads few bytes", SparkRules.variantPartsRead) {
    val json = s"""$parse(concat('{"n":', id % 100, ',"text":"', sha2(cast(id as string), 512),
      '","x":{"n":', id % 10, ',"text":"', sha2(cast(-id as string), 512), '"}}'))"""
    def table(schema: PeerSchema, column: String, properties: (String, String)*) = {
      val t = newVariantTable(schema, properties: _*)
      sql(s"INSERT INTO $t SELECT /*+ COALESCE(1) */ id, $column FROM range(0, 3000, 1, 1)")
      t
    }
    val (t, plain) = (table(flat, json, shredded), table(flat, json))
    val structs = table(inStruct, s"named_struct('n', id, 'v', ${json})", shredded)
    def bytes(t: String, columns: String): Long = {
      rows(s"SELECT $columns FROM $t")
      bytesRead(rows(s"SELECT $columns FROM $t"))
    }
    val complete = bytes(t, "max(v)")
    val one = bytes(t, s"sum(${get("$.n", "int")})")
    val nested = bytes(t, s"sum(${get("$.x.n", "int")}), sum(${get("$.n", "int")})")
    val unshredded = bytes(plain, s"sum(${get("$.n", "int")})")
    val field = bytes(structs, s"sum(${part("s.v", "$.n", "int")})")
    val window = bytes(s"(SELECT v, row_number() OVER (ORDER BY 1) AS r FROM $t)", s"sum(r + ${get("$.n", "int")})")
    val union = bytes(s"(SELECT v FROM $t UNION ALL SELECT s.v FROM $structs)", s"sum(${get("$.n", "int")})")
    info(s"bytes read: complete variants $complete, one part $one, two parts $nested, unshredded $unshredded, " +
      s"in a struct $field, above a window $window, above a union $union")
    assert(complete > 300000 && unshredded > 300000 && one < complete / 20 && nested < complete / 10)
    assert(Seq(field, window, union).forall(_ < complete / 10))
    assert(rows(s"SELECT sum(${get("$.x.n", "int")}) FROM $t") == Seq(Row(13500L)))
  }
}
