package iceberglite.spark.read

import java.nio.ByteBuffer

import scala.util.Random

import org.apache.iceberg.types.Types
import org.apache.iceberg.{Schema => PeerSchema}
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.expressions.objects.Invoke
import org.apache.spark.sql.execution.FilterExec
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{MoreRoundsInSlowTierTag, Sampling}
import iceberglite.conformance.{MetricsRules, SparkRules}
import iceberglite.spark.SharedSession
import iceberglite.spark.rules.RewriteFunctionsToRanges
import iceberglite.spark.types.JavaTables
import iceberglite.spark.write.WriteFixture

/** Tests that filters on `st_intersects` skip files by their bounds, and never lose a row. */
class SpatialPruningSuite extends AnyFunSuite with JavaTables with WriteFixture {
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  private val functions = "lite.system"

  /** Returns the number of files in the plan of a query. */
  private def planned(query: String): Int = {
    val plan = sql(query).queryExecution.executedPlan.toString
    "files=(\\d+) of".r.findFirstMatchIn(plan).map(_.group(1).toInt).getOrElse(fail(plan))
  }

  private def ids(condition: String, table: String): Seq[Long] =
    rows(s"SELECT id FROM $table WHERE $condition ORDER BY id").map(_.getLong(0))

  /** Returns the ids without push-down: Spark evaluates the condition on all rows. */
  private def unpruned(condition: String, table: String): Seq[Long] = {
    val rule = RewriteFunctionsToRanges.getClass.getName.stripSuffix("$")
    withConf("spark.sql.optimizer.excludedRules" -> rule) {
      assert(planned(s"SELECT id FROM $table WHERE $condition") == planned(s"SELECT id FROM $table"))
      ids(condition, table)
    }
  }

  private def shape(random: Random, x: Double, y: Double): String = {
    def near = s"${x + random.nextInt(80) / 10.0} ${y + random.nextInt(80) / 10.0}"
    val (a, b, c) = (near, near, near)
    random.nextInt(9) match {
      case 0 => "POINT EMPTY"
      case 1 => s"LINESTRING ($a, $b, $c)"
      case 2 => s"POLYGON (($a, $b, $c, $a))"
      case 3 => s"MULTIPOINT (($a), ($b))"
      case 4 => s"GEOMETRYCOLLECTION (POINT ($a), LINESTRING ($b, $c))"
      case 5 => s"POINT (${x + 1} NaN)"
      case _ => s"POINT ($a)"
    }
  }

  for ((format, t) <- Seq("parquet", "orc", "avro").map(_ -> "GEOMETRY") :+ ("parquet" -> "GEOGRAPHY"))
    test(
      s"the same rows are found with and without bounds of $t in $format, in fewer files",
      MetricsRules.spatialFilters,
      SparkRules.spatialFunctions,
      if (format == "parquet" && t == "GEOMETRY") MoreRoundsInSlowTierTag else Slow
    ) {
      val random = new Random(11)
      val table = newTable()
      sql(s"CREATE TABLE $table (id BIGINT, s STRUCT<g: $t>) USING iceberg TBLPROPERTIES ('format-version' = '3', " +
        s"'write.format.default' = '$format')")
      val values = (0 until 12).flatMap { cell =>
        val (x, y) = ((cell % 4) * 40.0 - 80, (cell / 4) * 40.0 - 60)
        (0 until 8).map { i =>
          // All values of some files are points, so that geographies have bounds.
          val text =
            if (cell % 2 == 0) s"POINT (${x + random.nextInt(9)} ${y + random.nextInt(9)})" else shape(random, x, y)
          if (random.nextInt(8) == 0) s"(${cell * 100 + i}, NULL)" else s"(${cell * 100 + i}, '$text')"
        }
      }
      // Each cell is a file.
      val texts = s"VALUES ${values.mkString(", ")} AS v(id, g)"
      sql(s"INSERT INTO $table SELECT id, named_struct('g', $functions.st_geomfromtext(g)) FROM " +
        s"(SELECT /*+ REPARTITION_BY_RANGE(12, cell) */ id, g, id DIV 100 AS cell FROM $texts)")
      assert(rows(s"SELECT count(DISTINCT id DIV 100) FROM $table GROUP BY _file") == Seq.fill(12)(Row(1L)))
      var skipped = 0
      val boxes = if (Sampling.isFast) 2 else 6
      for (_ <- 0 until boxes) {
        val (x, y) = (random.nextInt(160) - 80, random.nextInt(120) - 60)
        val box = s"$functions.st_box($x, $y, ${x + random.nextInt(40)}, ${y + random.nextInt(40)})"
        val test = s"$functions.st_intersects(s.g, $box)"
        val other = s"$functions.st_intersects($functions.st_geomfromtext('${shape(random, -80, -60)}'), s.g)"
        for (condition <- Seq(test, s"NOT $test", s"$test OR $other", s"$test AND id % 2 = 0", s"($other) IS NULL")) {
          assert(ids(condition, table) == unpruned(condition, table), condition)
        }
        skipped += 12 - planned(s"SELECT id FROM $table WHERE $test")
      }
      assert(skipped > boxes * (if (t == "GEOMETRY") 25 else 10) / 3, skipped)
    }

  test("a box is pushed down, and only the files whose bounds it intersects are opened", SparkRules.spatialFunctions) {
    val table = newTable()
    sql(s"CREATE TABLE $table (id BIGINT, g GEOMETRY, b BINARY) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    val point = s"$functions.st_point(id, id)"
    sql(s"INSERT INTO $table SELECT id, $point, $point FROM range(0, 20, 1, 20)")
    val two = s"$functions.st_intersects(g, $functions.st_box(3.5, 0, 5, 9))"
    val plan = sql(s"SELECT id FROM $table WHERE $two").queryExecution.executedPlan.toString
    assert(plan.contains("g INTERSECTS BOX(3.5 0.0, 5.0 9.0)") && plan.contains("files=2 of"), plan)
    assert(!plan.contains("st_boxtest"), plan)
    assert(ids(two, table) == Seq(4L, 5L))
    assert(planned(s"SELECT id FROM $table WHERE $two OR id = 17") == 3)
    assert(planned(s"SELECT id FROM $table WHERE NOT $two") == 20)
    assert(planned(s"SELECT id FROM $table WHERE $functions.st_intersects(b, $functions.st_box(3.5, 0, 5, 9))") == 20)
    assert(ids(s"$functions.st_intersects(b, $functions.st_box(3.5, 0, 5, 9))", table) == Seq(4L, 5L))
    assert(planned(s"SELECT id FROM $table WHERE g IS NULL") == 0)
    val invalid = intercept[Exception](sql(s"SELECT id FROM $table WHERE $functions.st_intersects(g, X'01')").collect())
    assert(invalid.isInstanceOf[SparkThrowable] && messages(invalid).contains("The bytes are not a geometry"), invalid)
    val none = s"$functions.st_intersects(g, $functions.st_geomfromtext('POINT EMPTY'))"
    assert(ids(none, table).isEmpty && ids(s"$functions.st_intersects(g, NULL)", table).isEmpty)
    sql(s"DELETE FROM $table WHERE $two")
    assert(rows(s"SELECT count(*) FROM $table WHERE $two OR id < 6") == Seq(Row(4L)))
    sql(s"UPDATE $table SET g = $functions.st_point(4, 4) WHERE $functions.st_intersects(g, $functions.st_point(9, 9))")
    assert(ids(two, table) == Seq(9L))
  }

  test("EXPLAIN shows the box and how many files it leaves, also for statements", Slow, SparkRules.spatialFunctions) {
    for (mode <- Seq("copy-on-write", "merge-on-read")) {
      val table = newTable()
      sql(s"CREATE TABLE $table (id BIGINT, g GEOMETRY) USING iceberg TBLPROPERTIES ('format-version' = '3', " +
        s"'write.delete.mode' = '$mode', 'write.update.mode' = '$mode')")
      (0 until 4).foreach(i => sql(s"INSERT INTO $table VALUES ($i, $functions.st_point($i, $i))"))
      def explained(statement: String, format: String = "") = rows(s"EXPLAIN $format $statement").head.getString(0)
      val condition = s"$functions.st_intersects(g, $functions.st_box(2.5, 0, 5, 9))"
      val scan = s"iceberg-lite $table \\(snapshot \\d+\\) \\[filters=(g IS NOT NULL AND )?" +
        "g INTERSECTS BOX\\(2\\.5 0\\.0, 5\\.0 9\\.0\\), files=1 of 4, manifests=\\d of 4, tasks=1\\]"
      for {
        statement <- Seq(
          s"SELECT id FROM $table WHERE $condition",
          s"DELETE FROM $table WHERE $condition",
          s"UPDATE $table SET id = 7 WHERE $condition"
        )
        text = explained(statement)
      } assert(scan.r.findFirstIn(text).isDefined, text)
      val formatted = explained(s"SELECT id FROM $table WHERE $condition", "FORMATTED")
      assert(scan.r.findFirstIn(formatted).isDefined, formatted)
      val other = explained(s"SELECT id FROM $table WHERE NOT $condition")
      assert(other.contains("files=4 of 4") && !other.contains("INTERSECTS"), other)
      val or = explained(s"SELECT id FROM $table WHERE $condition OR id = 0")
      assert(or.contains("filters=(id = 0 OR g INTERSECTS BOX(2.5 0.0, 5.0 9.0)), files=2 of 4"), or)
      sql(s"UPDATE $table SET id = 7 WHERE $condition")
      sql(s"DELETE FROM $table WHERE $functions.st_intersects($functions.st_point(1, 1), g)")
      assert(ids("true", table) == Seq(0L, 2L, 7L))
    }
  }

  test("a filter with OR tests each row once, and a constant is the second argument of the function") {
    val table = newTable()
    sql(s"CREATE TABLE $table (id BIGINT, g GEOMETRY) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    sql(s"INSERT INTO $table VALUES (1, $functions.st_point(1, 1)), (2, $functions.st_point(2, 2))")
    val test = s"$functions.st_intersects($functions.st_box(0, 0, 1, 1), g)"
    val filters = sql(s"SELECT id FROM $table WHERE $test OR id = 7").queryExecution.executedPlan.collect {
      case f: FilterExec => f.condition
    }
    assert(filters.size == 1 && filters.head.toString.split("id#").length == 2, filters)
    val Seq(call) = filters.head.collect { case i: Invoke => i }
    assert(call.arguments.last.isInstanceOf[Literal] && !call.arguments.head.isInstanceOf[Literal], filters)
    assert(ids(s"$test OR id = 2", table) == Seq(1L, 2L) && ids(test, table) == Seq(1L))
    for (query <- Seq(test, s"$test AND id > 0", s"id > 0 AND $test", s"($test AND id > 0) OR id = 7")) {
      val plan = sql(s"SELECT id FROM $table WHERE $query").queryExecution.executedPlan
      val conditions = plan.collect { case f: FilterExec => f.condition }
      assert(conditions.size == 1 && !conditions.exists(_.exists(_ == Literal.TrueLiteral)), plan)
      assert(conditions.head.collect { case i: Invoke => i.arguments.last }.forall(_.isInstanceOf[Literal]), plan)
      assert(!plan.toString.contains("st_boxtest"), plan)
    }
  }

  test("without the extensions, functions work, and filters skip no files") {
    val table = newTable()
    sql(s"CREATE TABLE $table (id BIGINT, g GEOMETRY) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    (1 to 2).foreach(i => sql(s"INSERT INTO $table VALUES ($i, $functions.st_point($i, $i))"))
    inSession(SharedSession.withoutExtensions) { session =>
      val box = s"$functions.st_box(2, 2, 4, 4)"
      val query = s"SELECT id, $functions.st_astext(g) FROM $table WHERE $functions.st_intersects(g, $box)"
      assert(session.sql(query).collect().toSeq == Seq(Row(2L, "POINT (2 2)")))
      assert(session.sql(query).queryExecution.executedPlan.toString.contains("files=2 of"))
      session.sql(s"INSERT INTO $table VALUES (3, $functions.st_point(3, 3))")
    }
    assert(ids(s"$functions.st_intersects(g, $functions.st_box(2, 2, 4, 4))", table) == Seq(2L, 3L))
  }

  test("filters on geometries find the rows of tables of format version 4, which have no bounds") {
    val table = newTable()
    sql(s"CREATE TABLE $table (id BIGINT, g GEOMETRY) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    sql(s"INSERT INTO $table VALUES (1, $functions.st_point(1, 1)), (2, NULL)")
    sql(s"ALTER TABLE $table SET TBLPROPERTIES ('format-version' = '4')")
    sql(s"INSERT INTO $table VALUES (3, $functions.st_point(3, 3))")
    val condition = s"$functions.st_intersects(g, $functions.st_box(2, 2, 4, 4))"
    assert(ids(condition, table) == Seq(3L) && ids(s"NOT $condition", table) == Seq(1L))
    sql(s"DELETE FROM $table WHERE $condition")
    assert(ids("true", table) == Seq(1L, 2L))
  }

  test("files of other writers without bounds, with unchecked values and across the antimeridian lose no row") {
    val t = newTable()
    val table = javaTable(
      t,
      new PeerSchema(
        Types.NestedField.optional(1, "id", Types.LongType.get),
        Types.NestedField.optional(2, "g", Types.GeographyType.crs84)
      )
    )
    def wkb(text: String) =
      ByteBuffer.wrap(rows(s"SELECT $functions.st_geomfromtext('$text')").head.getAs[Array[Byte]](0))
    append(table, Seq(Seq(1L, wkb("LINESTRING (179 0, -179 0)")), Seq(2L, wkb("POINT (5 5)")), Seq(3L, null)))
    val condition = s"$functions.st_intersects(g, $functions.st_box(-1, -1, 1, 1))"
    assert(ids(condition, t) == Seq(1L) && unpruned(condition, t) == Seq(1L))
    append(table, Seq(Seq(4L, ByteBuffer.wrap(Array[Byte](1)))))
    sql(s"REFRESH TABLE $t")
    val error = messages(intercept[Exception](ids(condition, t)))
    assert(error.contains("The bytes are not a geometry"), error)
    assert(ids("g = X'01'", t) == Seq(4L))
  }
}
