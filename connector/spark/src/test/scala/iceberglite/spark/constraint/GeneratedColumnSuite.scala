package iceberglite.spark.constraint

import org.apache.spark.sql.functions.{col, lit}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.{IcebergTable, SharedSession}
import iceberglite.spark.error.{Causes, StatementError}
import iceberglite.spec.IcebergError.{CommitConflict, GeneratedColumnMismatch, InvalidArgument, NotFound, Unsupported}
import iceberglite.spec.schema.GeneratedColumn
import iceberglite.table.action.UpdateProperties

/** Checks that writes compute and check the values of generated columns, and the statements that define them. */
class GeneratedColumnSuite extends AnyFunSuite with ConstraintFixture {

  /** Creates a table in which `twice` is `n * 2`, with two rows, whose ids are 1 and 2. */
  private def doubled(mode: String = "copy-on-write", version: Int = 2, properties: Seq[(String, String)] = Nil) = {
    val t =
      create("id BIGINT, n BIGINT, twice BIGINT GENERATED ALWAYS AS (n * 2)", version, mode, properties: _*)
    sql(s"INSERT INTO $t (id, n) VALUES (1, 10), (2, NULL)")
    t
  }

  private def generatedIn(t: String): Seq[(String, String)] =
    GeneratedColumn.of(live(t).schema, live(t).properties).map(g => g.field.name -> g.expression)

  /** Requires that a write changes nothing and fails with `GENERATED_COLUMN_MISMATCH` for the given row. */
  private def assertMismatch(t: String, row: String)(write: => Any): Unit = {
    val before = sorted(s"SELECT * FROM $t")
    val causes = Causes.of(intercept[Exception](write)).toVector
    val conditions = causes.collect { case e: StatementError => (e.getErrorClass, e.getSqlState) }
    assert(conditions.headOption.contains(("ICEBERG_LITE.GENERATED_COLUMN_MISMATCH", "428C9")), causes)
    assert(causes.collectFirst { case e: GeneratedColumnMismatch => e.row }.contains(row))
    assert(sorted(s"SELECT * FROM $t") == before)
  }

  test("INSERT computes a generated column that is omitted, null or DEFAULT") {
    val t = doubled()
    sql(s"INSERT INTO $t VALUES (3, 30, NULL), (4, 40, DEFAULT)")
    sql(s"INSERT INTO $t BY NAME SELECT 50L AS n, 5L AS id")
    sql(s"INSERT INTO $t (n, id) VALUES (60, 6)")
    sql(s"INSERT INTO $t SELECT id, n, IF(id = 7, 140, NULL) FROM VALUES (7, 70), (8, 80) AS v(id, n)")
    assert(
      sorted(s"SELECT * FROM $t") ==
        Seq("[1,10,20]", "[2,null,null]") ++ (3 to 8).map(i => s"[$i,${i * 10},${i * 20}]")
    )
    sql(s"INSERT OVERWRITE $t (id, n) VALUES (9, 90)")
    assert(sorted(s"SELECT * FROM $t") == Seq("[9,90,180]"))
  }

  test("a value that differs from the expression fails the write, and the message shows the row", Slow) {
    val t = doubled()
    assertMismatch(t, "twice = 7, n = 30")(sql(s"INSERT INTO $t VALUES (3, 30, 7)"))
    assertMismatch(t, "twice = 7, n = null")(sql(s"INSERT INTO $t VALUES (3, NULL, 7)"))
    assertMismatch(t, "twice = 7, n = 10")(sql(s"UPDATE $t SET twice = 7 WHERE id = 1"))
    assertMismatch(t, "twice = 1, n = 3") {
      sql(
        s"MERGE INTO $t t USING (SELECT 9L AS id, 3L AS n, 1L AS twice) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *"
      )
    }
    val frame = spark.range(3, 4).select(col("id"), lit(30L).as("n"), lit(7L).as("twice"))
    assertMismatch(t, "twice = 7, n = 30")(frame.writeTo(t).append())
    assertMismatch(t, "twice = 7, n = 30")(frame.writeTo(t).overwrite(col("id") === 1))
  }

  for {
    mode <- Seq("copy-on-write", "merge-on-read")
    version <- Seq(2, 3)
  } test(
    s"UPDATE and MERGE compute a generated column again if a source column changes (version $version, $mode)",
    Slow
  ) {
    val t = doubled(mode, version)
    sql(s"UPDATE $t SET n = n + 1")
    assert(sorted(s"SELECT * FROM $t") == Seq("[1,11,22]", "[2,null,null]"))
    sql(s"UPDATE $t SET n = 5, twice = 10 WHERE id = 2")
    sql(s"UPDATE $t SET id = 20 WHERE id = 2")
    sql(s"UPDATE $t SET n = 6 WHERE id IN (SELECT id FROM range(20, 21))")
    assert(sorted(s"SELECT * FROM $t") == Seq("[1,11,22]", "[20,6,12]"))
    val source = "(SELECT 1L AS id, 7L AS n UNION ALL SELECT 3L, 8L) s ON t.id = s.id"
    sql(
      s"MERGE INTO $t t USING $source WHEN MATCHED THEN UPDATE SET n = s.n " +
        "WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, s.n) WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = -1"
    )
    assert(sorted(s"SELECT * FROM $t") == Seq("[1,7,14]", "[20,-1,-2]", "[3,8,16]"))
    sql(
      s"MERGE WITH SCHEMA EVOLUTION INTO $t t USING $source WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN " +
        "INSERT *"
    )
    sql(s"DELETE FROM $t WHERE twice = -2")
    assert(sorted(s"SELECT * FROM $t") == Seq("[1,7,14]", "[3,8,16]"))
  }

  test("a NOT NULL generated column can be omitted, and a null result fails the write", Slow) {
    val t = create("id INT, g STRING NOT NULL GENERATED ALWAYS AS (concat('id-', id))", 2, "copy-on-write")
    sql(s"INSERT INTO $t (id) VALUES (1)")
    sql(s"INSERT INTO $t VALUES (2, NULL)")
    sql(s"UPDATE $t SET id = 3 WHERE id = 2")
    // Spark requires that INSERT in MERGE assigns a value to each NOT NULL column.
    val source = "(SELECT 4 AS id) s ON t.id = s.id"
    sql(s"MERGE INTO $t t USING $source WHEN NOT MATCHED THEN INSERT (id, g) VALUES (s.id, NULL)")
    assert(sorted(s"SELECT * FROM $t") == Seq("[1,id-1]", "[3,id-3]", "[4,id-4]"))
    intercept[Exception](sql(s"INSERT INTO $t (id) VALUES (NULL)"))
    intercept[Exception](sql(s"UPDATE $t SET id = NULL WHERE id = 4"))
    assert(count(t) == 3)
  }

  test("rows are distributed by a generated partition column, and filters on the column return the right rows") {
    val t = newTable()
    sql(
      s"CREATE TABLE $t (ts TIMESTAMP, id BIGINT, day DATE GENERATED ALWAYS AS (CAST(ts AS DATE))) USING iceberg " +
        "PARTITIONED BY (day) TBLPROPERTIES ('write.distribution-mode' = 'hash')"
    )
    sql(
      s"INSERT INTO $t (ts, id) SELECT timestamp_seconds(1600000000 + 86400 * (id % 3)), id FROM range(0, 1000, 1, 4)"
    )
    assert(count(s"$t.files") == 3)
    assert(count(t, "day = CAST(ts AS DATE)") == 1000 && count(t, "day = DATE '2020-09-14'") == 333)
  }

  test("the methods of DataFrames and of IcebergTable compute and check generated columns", Slow) {
    val t = doubled("merge-on-read")
    def frame(id: Long, n: Long) = spark.range(id, id + 1).select(col("id"), lit(n).as("n"), lit(null).as("twice"))
    frame(3, 30).writeTo(t).append()
    frame(1, 11).writeTo(t).overwrite(col("id") === 1)
    frame(2, 22).writeTo(t).option("upsert-keys", "id").append()
    frame(4, 40).write.mode("append").saveAsTable(t)
    frame(5, 50).write.insertInto(t)
    val table = IcebergTable.forName(spark, t)
    table.update("id = 5", Map("n" -> lit(55L)))
    table.merge(spark.range(6, 7).selectExpr("id", "60L AS n"), "target.id = source.id")
      .whenNotMatchedInsert(Map("id" -> col("source.id"), "n" -> col("source.n"))).execute()
    assert(
      sorted(s"SELECT * FROM $t") ==
        Seq("[1,11,22]", "[2,22,44]", "[3,30,60]", "[4,40,80]", "[5,55,110]", "[6,60,120]")
    )
    frame(7, 70).writeTo(t).overwritePartitions()
    assert(sorted(s"SELECT * FROM $t") == Seq("[7,70,140]"))
  }

  test("a table that accepts any schema computes a column that the rows lack, from columns in any order") {
    val t = newTable()
    sql(
      s"CREATE TABLE $t (id BIGINT, s STRUCT<x: INT, y: INT>, g BIGINT GENERATED ALWAYS AS (s.x + id)) USING iceberg " +
        "TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')"
    )
    spark.range(1).selectExpr("named_struct('x', 1, 'y', 2) AS s", "5 AS id").writeTo(t).append()
    spark.range(1).selectExpr("8 AS extra", "6L AS id").writeTo(t).option("merge-schema", "true").append()
    assert(sorted(s"SELECT id, g, extra FROM $t") == Seq("[5,6,null]", "[6,null,8]"))
  }

  test("generated CHAR values are padded, and the length of generated VARCHAR values is checked") {
    // Spark rejects GENERATED ALWAYS AS for columns of these types, but not the properties.
    val t = create(
      "id INT, c CHAR(4), v VARCHAR(3), p CHAR(6)",
      2,
      "copy-on-write",
      "iceberg-lite.generated.v" -> "CAST(id AS STRING)",
      "iceberg-lite.generated.p" -> "concat(c, \"!\")"
    )
    sql(s"INSERT INTO $t (id, c) VALUES (1, 'ab')")
    assert(rows(s"SELECT v, p FROM $t").map(_.toSeq) == Seq(Seq("1", "ab  ! ")))
    sql(s"INSERT INTO $t VALUES (2, 'cd', '2', 'cd  !')")
    sql(s"UPDATE $t SET id = 3 WHERE id = 2")
    intercept[Exception](sql(s"INSERT INTO $t (id, c) VALUES (1234, 'ab')"))
    assert(sorted(s"SELECT id, v FROM $t") == Seq("[1,1]", "[3,3]"))
  }

  test("an expression has the same values in sessions with other settings for parsing strings") {
    val t = create("s STRING, g STRING GENERATED ALWAYS AS (concat(s, \"s\", '\\t'))", 2, "copy-on-write")
    val expected = Seq("a", "as\t")
    val settings = Seq(
      Seq("spark.sql.parser.escapedStringLiterals" -> "true"),
      Seq("spark.sql.ansi.enabled" -> "true", "spark.sql.ansi.doubleQuotedIdentifiers" -> "true")
    )
    settings.foreach { conf =>
      withConf(conf: _*)(sql(s"INSERT INTO $t (s) VALUES ('a')"))
      assert(rows(s"SELECT s, g FROM $t").map(_.toSeq).distinct == Seq(expected), conf)
    }
    assert(count(t) == settings.size)
  }

  test("SHOW TBLPROPERTIES and SHOW CREATE TABLE show the expression, and the shown statement creates the same table") {
    val t = doubled()
    assert(rows(s"SHOW TBLPROPERTIES $t ('iceberg-lite.generated.twice')").head.getString(1) == "n * 2")
    val copy = newTable()
    val statement = rows(s"SHOW CREATE TABLE $t").head.getString(0)
    sql(statement.replace(t, copy).replaceAll("LOCATION '[^']*'", ""))
    assert(generatedIn(copy) == Seq("twice" -> "n * 2"))
    val like = newTable()
    sql(s"CREATE TABLE $like LIKE $t")
    sql(s"INSERT INTO $like (id, n) VALUES (1, 1)")
    assert(generatedIn(like) == Seq("twice" -> "n * 2") && count(like, "twice = 2") == 1)
  }

  test("CREATE TABLE AS SELECT computes a column whose expression is set as a table property") {
    val t = newTable()
    val property = "TBLPROPERTIES ('iceberg-lite.generated.g' = 'id + 1')"
    sql(s"CREATE TABLE $t USING iceberg $property AS SELECT id, CAST(NULL AS BIGINT) AS g FROM range(2)")
    assert(sorted(s"SELECT * FROM $t") == Seq("[0,1]", "[1,2]"))
    assert(errorOf(sql(s"CREATE TABLE ${newTable()} (id INT) USING iceberg $property")).isInstanceOf[InvalidArgument])
  }

  test("REPLACE TABLE replaces the generated columns of the table") {
    val t = doubled()
    sql(s"REPLACE TABLE $t (n BIGINT, twice BIGINT, id BIGINT GENERATED ALWAYS AS (n + twice)) USING iceberg")
    assert(generatedIn(t) == Seq("id" -> "n + twice"))
    sql(s"INSERT INTO $t (n, twice) VALUES (1, 7)")
    assert(sorted(s"SELECT * FROM $t") == Seq("[1,7,8]"))
    sql(s"CREATE OR REPLACE TABLE $t USING iceberg AS SELECT 1L AS n, 2L AS twice, 3L AS id")
    assert(generatedIn(t).isEmpty)
  }

  test("an expression that is not permitted is rejected, and no table is created") {
    val t = newTable()
    val invalid = Seq(
      "rand()" -> "BIGINT",
      "sum(n)" -> "BIGINT",
      "row_number() OVER (ORDER BY n)" -> "INT",
      "(SELECT 1)" -> "INT",
      "current_date()" -> "DATE",
      "other + 1" -> "BIGINT",
      "g + 1" -> "BIGINT",
      "missing + 1" -> "BIGINT",
      "CAST(n AS STRING)" -> "INT",
      "map('a', n)" -> "MAP<STRING, BIGINT>",
      "reflect('java.lang.System', 'lineSeparator')" -> "STRING"
    )
    invalid.foreach { case (expression, dataType) =>
      val create = s"CREATE TABLE $t (n BIGINT, other BIGINT GENERATED ALWAYS AS (n), " +
        s"g $dataType GENERATED ALWAYS AS ($expression)) USING iceberg"
      intercept[Exception](sql(create))
      assert(!spark.catalog.tableExists(t), expression)
      val property =
        s"""TBLPROPERTIES ('iceberg-lite.generated.g' = "$expression", 'iceberg-lite.generated.other' = 'n')"""
      val byProperty =
        errorOf(sql(s"CREATE TABLE $t (n BIGINT, other BIGINT, g $dataType) USING iceberg $property"))
      assert(byProperty.asInstanceOf[InvalidArgument].name.contains("generated column g"), expression)
      assert(!spark.catalog.tableExists(t), expression)
    }
  }

  test("a source column cannot be renamed or dropped, and the generated column can be renamed and dropped") {
    val t = doubled()
    Seq("RENAME COLUMN n TO m", "DROP COLUMN n").foreach { change =>
      val error = errorOf(sql(s"ALTER TABLE $t $change")).asInstanceOf[Unsupported]
      assert(error.what.contains("twice (n * 2)") && error.advice.contains("iceberg-lite.generated.twice"))
    }
    sql(s"ALTER TABLE $t RENAME COLUMN twice TO two_n")
    sql(s"ALTER TABLE $t RENAME COLUMN id TO key")
    sql(s"INSERT INTO $t (key, n) VALUES (3, 30)")
    assertMismatch(t, "two_n = 1, n = 4")(sql(s"INSERT INTO $t VALUES (4, 4, 1)"))
    assert(count(t, "two_n = 60") == 1)
    sql(s"ALTER TABLE $t DROP COLUMN two_n")
    sql(s"ALTER TABLE $t RENAME COLUMN n TO m")
    sql(s"INSERT INTO $t VALUES (5, 50)")
    assert(generatedIn(t).isEmpty && count(t) == 4)
  }

  test("a source column cannot be widened, not even by a write, because the values may depend on its type") {
    val t = create(
      "id INT, n INT, s STRUCT<x: INT, y: INT>, g INT GENERATED ALWAYS AS (pmod(hash(id, s.x), 16))",
      2,
      "copy-on-write",
      "write.spark.accept-any-schema" -> "true"
    )
    sql(s"INSERT INTO $t (id, n, s) VALUES (1, 1, named_struct('x', 1, 'y', 1))")
    val before = sorted(s"SELECT * FROM $t")
    Seq("id", "s.x").foreach { column =>
      val error = errorOf(sql(s"ALTER TABLE $t ALTER COLUMN $column TYPE BIGINT")).asInstanceOf[Unsupported]
      assert(error.what.contains("the generated column g"), column)
    }
    val merge = errorOf(spark.range(1).writeTo(t).option("merge-schema", "true").append()).asInstanceOf[Unsupported]
    assert(merge.what.contains("the generated column g"))
    assert(sorted(s"SELECT * FROM $t") == before)
    val copied = create(
      "n INT, g INT GENERATED ALWAYS AS (n)",
      2,
      "copy-on-write",
      "write.spark.accept-any-schema" -> "true"
    )
    val wider = spark.range(1).selectExpr("id AS n")
    val error = errorOf(wider.writeTo(copied).option("merge-schema", "true").append()).asInstanceOf[Unsupported]
    assert(error.what.contains("the generated column g"))
    Seq("n", "s.y", "g").foreach(column => sql(s"ALTER TABLE $t ALTER COLUMN $column TYPE BIGINT"))
    assert(sorted(s"SELECT * FROM $t") == before)
  }

  test("UNSET TBLPROPERTIES makes a generated column an ordinary column, and SET cannot change an expression") {
    val t = doubled()
    val set = errorOf(sql(s"ALTER TABLE $t SET TBLPROPERTIES ('iceberg-lite.generated.id' = 'n')"))
    assert(set.isInstanceOf[InvalidArgument])
    assert(errorOf(sql(s"ALTER TABLE $t UNSET TBLPROPERTIES ('iceberg-lite.generated.id')")).isInstanceOf[NotFound])
    sql(s"ALTER TABLE $t UNSET TBLPROPERTIES ('iceberg-lite.generated.TWICE')")
    sql(s"INSERT INTO $t VALUES (3, 30, 7)")
    assert(generatedIn(t).isEmpty && count(t, "twice = 7") == 1)
  }

  test("a write that began before a column became generated fails") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, g BIGINT) USING iceberg")
    val commits = commitWhenCalled(t) { table =>
      val key = GeneratedColumn.key(table.schema.fields.last.id)
      table.transaction().add(new UpdateProperties(Map(key -> "id + 1"))).commit()
      ()
    }
    val error = errorOf(sql(s"INSERT INTO $t SELECT id, commit_and_return(id) FROM range(1)"))
    assert(error.isInstanceOf[CommitConflict] && commits() == 1)
  }

  test("an invalid expression in the metadata fails writes with the name of the column, but not reads and DELETE") {
    val t = doubled()
    val key = GeneratedColumn.key(live(t).schema.fields.last.id)
    live(t).transaction().add(new UpdateProperties(Map(key -> "reflect('java.lang.System', 'exit', '1')"))).commit()
    Seq(s"INSERT INTO $t VALUES (4, 4, 4)", s"UPDATE $t SET n = 5").foreach { write =>
      assert(errorOf(sql(write)).asInstanceOf[InvalidArgument].name.contains("twice"), write)
    }
    assert(count(t) == 2)
    sql(s"DELETE FROM $t WHERE id = 1")
    sql(s"ALTER TABLE $t UNSET TBLPROPERTIES ('iceberg-lite.generated.twice')")
    sql(s"INSERT INTO $t VALUES (4, 4, 4)")
    assert(count(t) == 2)
  }

  test("Apache Iceberg reads and writes the table, keeps the expression, and does not check it", Slow) {
    val t = doubled()
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}") == Seq("[1,10,20]", "[2,null,null]"))
    sql(s"INSERT INTO ${inApacheIceberg(t)} VALUES (3, 30, 7)")
    sql(s"REFRESH TABLE $t")
    assert(generatedIn(t) == Seq("twice" -> "n * 2") && count(t, "twice = 7") == 1)
    assertMismatch(t, "twice = 7, n = 30")(sql(s"UPDATE $t SET id = 30 WHERE id = 3"))
    sql(s"UPDATE $t SET n = n WHERE id = 1")
    sql(s"UPDATE $t SET twice = NULL WHERE id = 3")
    assert(count(t, "twice = 60") == 1)
  }

  test("without the SQL extensions, writes check generated columns but do not compute them") {
    val t = doubled()
    inSession(SharedSession.withoutExtensions) { session =>
      session.sql(s"INSERT INTO $t VALUES (3, 30, 60)")
      assert(errorOf(session.sql(s"INSERT INTO $t VALUES (4, 40, NULL)")).isInstanceOf[GeneratedColumnMismatch])
      assert(errorOf(session.sql(s"UPDATE $t SET n = 1")).isInstanceOf[GeneratedColumnMismatch])
    }
    sql(s"REFRESH TABLE $t")
    assert(count(t) == 3)
  }

  test("add_files is rejected, because it does not check rows, and a clone has the generated columns of its source") {
    val t = doubled()
    val directory = newDirectory()
    spark.range(3).selectExpr("id", "id AS n", "id AS twice").write.mode("overwrite").parquet(directory.toString)
    val error = errorOf(sql(s"CALL lite.system.add_files('$t', '`parquet`.`$directory`')"))
    assert(error.asInstanceOf[Unsupported].what.contains("twice") && count(t) == 2)
    val clone = newTable()
    sql(s"CALL lite.system.clone('$t', '$clone')")
    sql(s"INSERT INTO $clone (id, n) VALUES (3, 3)")
    assert(count(clone, "twice = 6") == 1)
    sql(s"ALTER TABLE $clone SET TBLPROPERTIES ('gc.enabled' = 'true')")
  }
}
