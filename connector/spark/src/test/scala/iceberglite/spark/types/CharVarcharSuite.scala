package iceberglite.spark.types

import scala.util.{Failure, Success, Try}

import org.scalatest.BeforeAndAfterEach
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession

/** Checks that CHAR and VARCHAR columns behave as in Parquet tables of Spark, which are the reference. */
class CharVarcharSuite extends AnyFunSuite with SharedSession with BeforeAndAfterEach {
  private val types = Seq("CHAR(5)", "VARCHAR(5)")
  private val lite = s"lite.$ns.chars"
  private val reference = "spark_catalog.default.reference"
  private val lite2 = s"lite.$ns.chars2"
  private val reference2 = "spark_catalog.default.reference2"

  override protected def afterEach(): Unit =
    Seq(lite, reference, lite2, reference2).foreach(t => sql(s"DROP TABLE IF EXISTS $t PURGE"))

  private val Reason = "(?s).*(Exceeds char/varchar type length limitation: \\d+|NOT_SUPPORTED_CHANGE_COLUMN).*".r

  /** Returns the rows, or the reason why a value was rejected. */
  private def outcome(statement: String): Either[String, Seq[String]] = Try(sql(statement).collect()) match {
    case Success(rows) => Right(rows.map(_.toString).toSeq)
    case Failure(e) => Left(reason(e).getOrElse(throw e))
  }

  private def reason(e: Throwable): Option[String] =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).map(c => String.valueOf(c.getMessage))
      .collectFirst { case Reason(reason) => reason }

  /**
   * Runs statements on the table of iceberg-lite and on the reference table, and checks that the results are equal. In
   * the statements, `@` stands for the table, `@@` for a second table, and `#` for the format.
   */
  private def sameOutcome(statements: String*): Seq[Either[String, Seq[String]]] = statements.map { statement =>
    val result = outcome(withNames(statement, lite, lite2, "iceberg"))
    assert(result == outcome(withNames(statement, reference, reference2, "parquet")), statement)
    result
  }

  private def withNames(statement: String, table: String, table2: String, format: String): String =
    statement.replace("@@", table2).replace("@", table).replace("#", format)

  private val values = "(1, '12'), (2, '12345'), (3, '12345   '), (4, NULL), (5, '12 '), (6, 'äöü')"

  test("values are padded, trimmed to the length of the type, or rejected", Slow) {
    types.foreach { t =>
      val outcomes = sameOutcome(
        s"CREATE TABLE @ (i INT, c $t) USING #",
        s"INSERT INTO @ VALUES $values",
        "INSERT INTO @ VALUES (7, '123456')",
        "INSERT INTO @ SELECT 7, repeat('ä', 6)",
        "INSERT INTO @ SELECT 8, CAST(12 AS STRING)",
        "SELECT i, c, length(c) FROM @ ORDER BY i",
        "SELECT max(c), min(c), count(c), count(DISTINCT c) FROM @",
        "INSERT OVERWRITE @ VALUES (7, '123456')"
      )
      assert(Seq(2, 3, 7).forall(outcomes(_) == Left(Exceeded)))
      afterEach()
    }
  }

  private val shapes = Seq(
    "STRUCT<c: ?, i: INT>" -> "named_struct('c', %s, 'i', 1)",
    "ARRAY<STRUCT<c: ?>>" -> "array(named_struct('c', %s), NULL)",
    "MAP<STRUCT<c: ?>, ARRAY<?>>" -> "map(named_struct('c', %1$s), array(%1$s))"
  )

  test("values in structs, lists and maps are padded, trimmed or rejected", Slow) {
    types.foreach { t =>
      val columns = shapes.zipWithIndex.map { case ((shape, _), i) => s"c$i ${shape.replace("?", t)}" }
      def nested(text: String) = shapes.map(_._2.format(text)).mkString(", ")
      sameOutcome(s"CREATE TABLE @ (i INT, ${columns.mkString(", ")}) USING #")
      sameOutcome(s"INSERT INTO @ SELECT 1, ${nested("'12'")} UNION ALL SELECT 2, ${nested("'12345  '")}")
      shapes.indices.foreach { i =>
        val values = shapes.map(_._2).zipWithIndex
          .map { case (value, j) => if (i == j) value.format("'123456'") else "NULL" }
        assert(sameOutcome(s"INSERT INTO @ SELECT 3, ${values.mkString(", ")}").head.isLeft)
      }
      sameOutcome("INSERT INTO @ VALUES (4, NULL, NULL, NULL)", "SELECT * FROM @ ORDER BY i")
      afterEach()
    }
  }

  test("partition values of CHAR and VARCHAR columns are written and found as in Spark's own tables", Slow) {
    types.foreach { t =>
      sameOutcome(
        s"CREATE TABLE @ (i INT, c $t) USING # PARTITIONED BY (c)",
        s"INSERT INTO @ VALUES $values",
        "INSERT INTO @ PARTITION (c = 'x') SELECT 9",
        "INSERT INTO @ VALUES (7, '123456')",
        "SELECT i, c, length(c) FROM @ ORDER BY i",
        "SELECT i FROM @ WHERE c = '12' ORDER BY i",
        "SELECT i FROM @ WHERE c = 'x'"
      )
      afterEach()
    }
  }

  test("literals and other columns are padded before they are compared with a CHAR", Slow) {
    val comparisons = Seq("c = 'a'", "'a' = c", "c = 'a  '", "c = 'a      '", "c <=> 'a'", "c > 'a'", "c >= 'b'") ++
      Seq("c < 'b'", "c IN ('a', 'b    ', 'long one')", "c = NULL", "c IN ('a', NULL)", "NOT (c = 'a')", "c = d") ++
      Seq("d = c", "c > d", "c IN (d)", "c LIKE 'a'", "c LIKE 'a%'", "s.c = 'a'", "s.c = c", "c || 'x' = 'a    x'") ++
      Seq("EXISTS (SELECT 1 FROM @@ o WHERE o.c = t.c)", "c IN (SELECT c FROM @@)") ++
      Seq("upper(c) = 'A'", "c = concat('a', '')")
    types.foreach { t =>
      sameOutcome(
        s"CREATE TABLE @ (c $t, d ${t.replace("5", "2")}, s STRUCT<c: $t>) USING #",
        s"CREATE TABLE @@ (c ${t.replace("5", "9")}) USING #",
        "INSERT INTO @ VALUES ('a', 'a', named_struct('c', 'a')), ('b', 'a', NULL)",
        "INSERT INTO @ VALUES (NULL, 'b', named_struct('c', NULL))",
        "INSERT INTO @@ VALUES ('a'), (NULL), ('c')"
      )
      for (padded <- Seq("true", "false")) withConf("spark.sql.readSideCharPadding" -> padded) {
        val (simpleConditions, subqueries) = comparisons.partition(!_.contains("SELECT"))
        sameOutcome(simpleConditions.mkString("SELECT c, ", ", ", " FROM @ t ORDER BY c"))
        (subqueries ++ simpleConditions.take(2))
          .foreach(condition => sameOutcome(s"SELECT * FROM @ t WHERE $condition ORDER BY c"))
        sameOutcome("SELECT t.c, o.c FROM @ t JOIN @@ o ON t.c = o.c")
      }
      afterEach()
    }
  }

  private val columns = "i INT COMMENT 'x', c CHAR(5), v VARCHAR(7) COMMENT 'y', s STRUCT<c: CHAR(2), i: INT>, " +
    "l ARRAY<VARCHAR(3)>, m MAP<CHAR(1), VARCHAR(2)>, n STRING"

  test("declared types are shown in descriptions, schemas and tables created by queries", Slow) {
    def described(table: String) = Seq(
      rows(s"DESCRIBE $table").map(_.toString),
      rows(s"DESCRIBE $table c").map(_.toString),
      rows(s"DESCRIBE $table v").map(_.toString),
      spark.table(table).schema.fields.map(f => s"$f ${f.metadata}").toSeq
    )
    sameOutcome(s"CREATE TABLE @ ($columns) USING #")
    assert(described(lite) == described(reference))
    assert(columnsOf(lite) == columnsOf(reference))
    assert(!rows(s"SHOW CREATE TABLE $lite").head.getString(0).contains("declared-type"))
    sameOutcome("CREATE TABLE @@ USING # AS SELECT *, v AS w, c || v AS x FROM @")
    assert(described(lite2) == described(reference2))
    val query = s"SELECT i, c, upper(v) AS v, named_struct('c', n) AS s FROM $lite"
    sql(s"CREATE OR REPLACE TABLE $lite2 USING iceberg AS $query")
    assert(rows(s"DESCRIBE $lite2").map(_.getString(1)) == Seq("int", "char(5)", "string", "struct<c:string>"))
    val ids = Seq("i", "c", "v", "s", "s.c").map(loaded(lite2).schema.findField(_).fieldId.toString)
    assert(javaProperties(lite2).filterKeys(ids.contains).values.toSeq == Seq("char(5)"))
  }

  private def columnsOf(table: String): Seq[String] = rows(s"SHOW CREATE TABLE $table").head.getString(0)
    .linesIterator.drop(1).takeWhile(!_.startsWith("USING")).toSeq

  private def loaded(table: String): org.apache.iceberg.Table =
    org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark, inApacheIceberg(table))

  private def javaProperties(table: String): Map[String, String] = {
    import scala.collection.JavaConverters._
    val prefix = "schema.declared-type."
    loaded(table).properties.asScala.toMap.collect { case (k, v) if k.startsWith(prefix) => k.stripPrefix(prefix) -> v }
  }

  test("Spark's legacy settings for CHAR and VARCHAR apply as for Spark's own tables", Slow) {
    sameOutcome(s"CREATE TABLE @ (i INT, c CHAR(5), v VARCHAR(5)) USING #")
    withConf("spark.sql.legacy.charVarcharAsString" -> "true") {
      sameOutcome(
        "INSERT INTO @ VALUES (1, '123456', '123456'), (2, 'a', 'a')",
        "SELECT * FROM @ ORDER BY i",
        "SELECT i FROM @ WHERE c = 'a'",
        "CREATE TABLE @@ (c CHAR(5)) USING #",
        "DESCRIBE @@",
        "INSERT INTO @@ VALUES ('123456')"
      )
    }
    sql(s"REFRESH TABLE $reference")
    sameOutcome("SELECT * FROM @ ORDER BY i", "SELECT i FROM @ WHERE c = 'a'")
    withConf("spark.sql.readSideCharPadding" -> "false") {
      sameOutcome("SELECT * FROM @ ORDER BY i", "SELECT i FROM @ WHERE c = 'a'")
      sameOutcome("INSERT INTO @ VALUES (1, 'b', '123456')")
    }
    afterEach()
    withConf("spark.sql.charAsVarchar" -> "true") {
      sameOutcome("CREATE TABLE @ (c CHAR(5)) USING #", "DESCRIBE @", "INSERT INTO @ VALUES ('a')", "SELECT * FROM @")
    }
  }

  test("values that DataFrames write are checked and padded as in statements") {
    sameOutcome(s"CREATE TABLE @ (i INT, c CHAR(5), v VARCHAR(5)) USING #")
    def assertRejected(write: => Unit): Unit =
      assert(reason(intercept[Exception](write)).contains(Exceeded))
    sql("SELECT 1 AS i, 'a' AS c, 'b     ' AS v").writeTo(lite).append()
    sql("SELECT 2 AS i, 'a' AS c, 'b' AS v").write.mode("append").saveAsTable(lite)
    sql("SELECT 3, 'a', 'b'").write.insertInto(lite)
    assertRejected(sql("SELECT 4 AS i, '123456' AS c, 'b' AS v").writeTo(lite).append())
    assertRejected(sql("SELECT 4, 'a', '123456'").write.insertInto(lite))
    assert(rows(s"SELECT c, v FROM $lite ORDER BY i").map(_.toString) == Seq("[a    ,b    ]", "[a    ,b]", "[a    ,b]"))
    assert(spark.table(lite).where("c = 'a' AND v = 'b'").count() == 2)
  }

  test("a default that is set later is padded when written, and a default that is too long does not prevent reads") {
    sql(s"CREATE TABLE $lite (i INT, c CHAR(5), v VARCHAR(5)) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    sql(s"ALTER TABLE $lite ALTER COLUMN c SET DEFAULT 'a'")
    sql(s"ALTER TABLE $lite ALTER COLUMN v SET DEFAULT 'too long'")
    sql(s"INSERT INTO $lite (i, v) VALUES (1, 'b')")
    assert(outcome(s"INSERT INTO $lite VALUES (2, 'c', DEFAULT)") == Left(Exceeded))
    assert(rows(s"SELECT * FROM $lite").map(_.toString) == Seq("[1,a    ,b]"))
    assert(rows(s"DESCRIBE $lite").map(_.getString(1)) == Seq("int", "char(5)", "varchar(5)"))
  }

  private val Exceeded = "Exceeds char/varchar type length limitation: 5"

  private def typesOf(table: String): Seq[String] = rows(s"DESCRIBE $table").map(_.getString(1)).takeWhile(_.nonEmpty)

  test("columns are added, widened, renamed, dropped and replaced with their declared types") {
    sql(s"CREATE TABLE $lite (i INT, c CHAR(5), v VARCHAR(5), w VARCHAR(5)) USING iceberg")
    sql(s"INSERT INTO $lite VALUES (1, 'a', 'b', 'c')")
    val firstSnapshot = rows(s"SELECT snapshot_id FROM $lite.snapshots").head.getLong(0)
    sql(s"ALTER TABLE $lite ADD COLUMNS (s STRUCT<c: CHAR(2)>, l ARRAY<STRUCT<v: VARCHAR(3)>>)")
    sql(s"ALTER TABLE $lite ADD COLUMN l.element.w VARCHAR(4)")
    sql(s"ALTER TABLE $lite ALTER COLUMN v TYPE VARCHAR(9)")
    sql(s"ALTER TABLE $lite ALTER COLUMN w TYPE STRING")
    sql(s"ALTER TABLE $lite RENAME COLUMN c TO d")
    val nested = Seq("struct<c:char(2)>", "array<struct<v:varchar(3),w:varchar(4)>>")
    val typesAfter = Seq("int", "char(5)", "varchar(9)", "string") ++ nested
    assert(typesOf(lite) == typesAfter)
    assert(outcome(s"ALTER TABLE $lite ALTER COLUMN v TYPE VARCHAR(8)") == Left("NOT_SUPPORTED_CHANGE_COLUMN"))
    assert(outcome(s"INSERT INTO $lite VALUES (2, '123456', NULL, NULL, NULL, NULL)") == Left(Exceeded))
    assert(rows(s"SELECT i FROM $lite WHERE d = 'a'").size == 1)
    sql(s"ALTER TABLE $lite DROP COLUMN d")
    sql(s"ALTER TABLE $lite ADD COLUMN d STRING")
    assert(typesOf(lite) == typesAfter.patch(1, Nil, 1) :+ "string")
    // The older snapshot still has the dropped column.
    val oldRows = rows(s"SELECT * FROM $lite VERSION AS OF $firstSnapshot WHERE c = 'a'")
    assert(oldRows.map(_.toString) == Seq("[1,a    ,b,c]"))
    sql(s"ALTER TABLE $lite REPLACE COLUMNS (i INT, d VARCHAR(2))")
    assert(typesOf(lite) == Seq("int", "varchar(2)"))
    sql(s"CREATE OR REPLACE TABLE $lite (i INT, d STRING, e CHAR(1)) USING iceberg")
    assert(typesOf(lite) == Seq("int", "string", "char(1)"))
  }

  test("Apache Iceberg reads and writes the columns as strings, and later statements check values again") {
    sql(s"CREATE TABLE $lite (i INT, c CHAR(5), s STRUCT<v: VARCHAR(5)>) USING iceberg")
    sql(s"INSERT INTO $lite VALUES (1, 'a', named_struct('v', 'b'))")
    assert(rows(s"SELECT * FROM ${inApacheIceberg(lite)}").map(_.toString) == Seq("[1,a    ,[b]]"))
    sql(s"INSERT INTO ${inApacheIceberg(lite)} VALUES (2, 'a', named_struct('v', 'longer')), (3, 'longer', NULL)")
    sql(s"ALTER TABLE ${inApacheIceberg(lite)} RENAME COLUMN c TO d")
    sql(s"ALTER TABLE ${inApacheIceberg(lite)} ADD COLUMN c STRING")
    sql(s"REFRESH TABLE $lite")
    assert(typesOf(lite) == Seq("int", "char(5)", "struct<v:varchar(5)>", "string"))
    assert(rows(s"SELECT i, d, s FROM $lite ORDER BY i").map(_.toString) ==
      Seq("[1,a    ,[b]]", "[2,a    ,[longer]]", "[3,longer,null]"))
    assert(rows(s"SELECT i FROM $lite WHERE d = 'a' ORDER BY i").map(_.getInt(0)) == Seq(1, 2))
    assert(outcome(s"INSERT INTO $lite VALUES (4, 'longer', NULL, NULL)") == Left(Exceeded))
  }

  test("a property whose declared type is invalid or does not fit its column is ignored") {
    sql(s"CREATE TABLE $lite (a STRING, b STRING, c INT, d VARCHAR(3)) USING iceberg")
    val properties = Seq("1" -> "varchar(", "2" -> "int", "3" -> "char(3)", "4" -> "VARCHAR(4)", "x" -> "char(1)")
      .map { case (id, text) => s"'schema.declared-type.$id' = '$text'" }
    sql(s"ALTER TABLE $lite SET TBLPROPERTIES (${properties.mkString(", ")})")
    assert(typesOf(lite) == Seq("string", "string", "int", "varchar(4)"))
  }

  test("UPDATE and MERGE check and pad values, in copy-on-write and in merge-on-read mode", Slow) {
    for (mode <- Seq("copy-on-write", "merge-on-read")) inSession(SharedSession.liteExtensions) { session =>
      def run(statement: String) = session.sql(statement).collect().map(_.toString).toSeq
      val modes = Seq("update", "delete", "merge").map(c => s"'write.$c.mode' = '$mode'").mkString(", ")
      val properties = s"TBLPROPERTIES ($modes, 'format-version' = '3')"
      run(s"CREATE TABLE $lite (i INT, c CHAR(5), v VARCHAR(5)) USING iceberg $properties")
      run(s"INSERT INTO $lite VALUES (1, 'a', 'a'), (2, 'b', 'b'), (3, 'c', 'c'), (4, 'd', 'd')")
      run(s"UPDATE $lite SET c = 'x', v = 'y      ' WHERE c = 'a'")
      run(s"DELETE FROM $lite WHERE c = 'b'")
      val source = "(SELECT 3 AS i, 'z' AS t UNION ALL SELECT 9, 'n')"
      val merge = s"MERGE INTO $lite m USING $source s ON m.i = s.i WHEN MATCHED AND c = 'c' THEN UPDATE SET c = t " +
        "WHEN NOT MATCHED THEN INSERT (i, c, v) VALUES (s.i, t, t) WHEN NOT MATCHED BY SOURCE AND c = 'd' THEN DELETE"
      run(merge)
      assert(run(s"SELECT * FROM $lite ORDER BY i") == Seq("[1,x    ,y    ]", "[3,z    ,c]", "[9,n    ,n]"))
      // An insert-only MERGE is an append.
      val insert = s"MERGE INTO $lite m USING (SELECT 10 AS i, 'o' AS t) s ON m.i = s.i " +
        "WHEN NOT MATCHED THEN INSERT (i, c, v) VALUES (s.i, t, t)"
      run(insert)
      assert(run(s"SELECT * FROM $lite WHERE c = 'o'") == Seq("[10,o    ,o]"))
      run(s"DELETE FROM $lite WHERE i = 10 AND c = 'o'")
      val inserted = insert.replace("'o'", "'longer'")
      val merged = merge.replace("SELECT 9, 'n'", "SELECT 8, 'longer'")
      Seq(inserted, s"UPDATE $lite SET v = 'longer' WHERE i = 1", merged).foreach { s =>
        assert(reason(intercept[Exception](run(s))).contains(Exceeded), s)
      }
      assert(rows(s"SELECT c, v FROM ${inApacheIceberg(lite)} ORDER BY i").map(_.toString) ==
        Seq("[x    ,y    ]", "[z    ,c]", "[n    ,n]"))
      afterEach()
    }
  }

  test("filters on CHAR and VARCHAR columns skip files", Slow) {
    sql(s"CREATE TABLE $lite (i INT, c CHAR(5), v VARCHAR(5)) USING iceberg")
    Seq("a", "m", "z").foreach(x => sql(s"INSERT INTO $lite VALUES (1, '$x', '$x')"))
    def skips(condition: String): Boolean = {
      assert(rows(s"SELECT i FROM $lite WHERE $condition").size == 1, condition)
      rows(s"EXPLAIN SELECT i FROM $lite WHERE $condition").mkString.contains("files=1 of 3")
    }
    Seq("v = 'a'", "v > 'n'", "v IN ('a', 'b')", "c = 'a'", "c > 'n'", "c IN ('a', 'b')", "'a' = c", "c <=> 'a  '")
      .foreach(condition => assert(skips(condition), condition))
  }

  test("CHAR values are padded in comparisons in a subquery of a DELETE", Slow) {
    sameOutcome(
      "CREATE TABLE @@ (c CHAR(7)) USING #",
      "INSERT INTO @@ VALUES ('12'), ('x')"
    )
    sql(s"CREATE TABLE $lite (i INT, c CHAR(5)) USING iceberg")
    sql(s"INSERT INTO $lite VALUES (1, '12'), (2, 'x'), (3, 'y'), (4, NULL)")
    sql(s"DELETE FROM $lite t WHERE EXISTS (SELECT 1 FROM $lite2 s WHERE s.c = t.c AND s.c <> 'x')")
    assert(sorted(s"SELECT i FROM $lite") == Seq("[2]", "[3]", "[4]"))
    sql(s"DELETE FROM $lite WHERE c IN (SELECT c FROM $lite2)")
    assert(sorted(s"SELECT i FROM $lite") == sorted(
      s"SELECT i FROM $lite WHERE c IS NULL OR c NOT IN (SELECT c FROM $lite2)"
    ))
  }
}
