package iceberglite.spark.constraint

import java.nio.file.{Files, Paths}
import java.util.concurrent.atomic.AtomicBoolean

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.functions.{col, lit}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.{IcebergTable, SharedSession, SparkCatalog}
import iceberglite.spark.error.StatementError
import iceberglite.spec.IcebergError.{
  AlreadyExists,
  CheckViolated,
  CommitConflict,
  InvalidArgument,
  NotFound,
  Unsupported
}
import iceberglite.spec.property.CheckConstraint
import iceberglite.table.Table
import iceberglite.table.action.UpdateProperties

/** Checks that every write enforces the CHECK constraints of a table, and the statements that change constraints. */
class CheckConstraintSuite extends AnyFunSuite with ConstraintFixture {

  private def constrained(mode: String, version: Int = 2): String = {
    val t = create("id BIGINT, n BIGINT", version, mode)
    sql(s"INSERT INTO $t VALUES (1, 1), (2, NULL), (3, 3)")
    sql(s"ALTER TABLE $t ADD CONSTRAINT positive CHECK (n > 0)")
    t
  }

  test("INSERT enforces a constraint, and null satisfies it") {
    val t = constrained("copy-on-write")
    Seq("INTO t VALUES (5, -5)", "INTO t (n, id) VALUES (-5, 5)", "OVERWRITE t VALUES (5, -5)").foreach { insert =>
      assertViolated(t, "positive", "n = -5")(sql("INSERT " + insert.replace(" t ", s" $t ")))
    }
    sql(s"INSERT INTO $t VALUES (4, NULL), (5, 5)")
    sql(s"INSERT INTO $t (id) VALUES (6)")
    assert(count(t) == 6)
  }

  test("the methods of DataFrames that append and overwrite enforce a constraint", Slow) {
    val t = constrained("copy-on-write")
    def frame = spark.range(5, 6).select(col("id"), lit(-5L).as("n"))
    val writes: Seq[() => Any] = Seq(
      () => frame.writeTo(t).append(),
      () => frame.writeTo(t).overwrite(lit(true)),
      () => frame.writeTo(t).overwrite(col("id") === 5),
      () => frame.writeTo(t).overwrite(col("id") === 2),
      () => frame.writeTo(t).overwritePartitions(),
      () => frame.write.mode("append").saveAsTable(t)
    )
    writes.foreach(write => assertViolated(t, "positive", "n = -5")(write()))
  }

  for {
    mode <- Seq("copy-on-write", "merge-on-read")
    version <- Seq(2, 3)
  } test(
    s"UPDATE and MERGE enforce a constraint (version $version, $mode)",
    Slow
  ) {
    val t = constrained(mode, version)
    assertViolated(t, "positive", "n = -1")(sql(s"UPDATE $t SET n = n - 2 WHERE id = 1"))
    assertViolated(t, "positive", "n = 0")(sql(s"UPDATE $t SET n = 0"))
    val source = "(SELECT 3L AS id, -3L AS n UNION ALL SELECT 9L, 9L) s ON t.id = s.id"
    assertViolated(t, "positive", "n = -3")(sql(s"MERGE INTO $t t USING $source WHEN MATCHED THEN UPDATE SET *"))
    assertViolated(t, "positive", "n = -9") {
      sql(s"MERGE INTO $t t USING $source WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, -s.n)")
    }
    assertViolated(t, "positive", "n = -2") {
      sql(s"MERGE INTO $t t USING $source WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = -2")
    }
    sql(s"MERGE INTO $t t USING $source WHEN MATCHED THEN UPDATE SET n = NULL WHEN NOT MATCHED THEN INSERT *")
    sql(s"UPDATE $t SET n = n + 1 WHERE id = 1")
    sql(s"DELETE FROM $t WHERE id = 2")
    assert(sorted(s"SELECT * FROM $t") == Seq("[1,2]", "[3,null]", "[9,9]"))
  }

  test("unchanged and deleted rows are not checked, so invalid rows of another engine do not block statements", Slow) {
    for (mode <- Seq("copy-on-write", "merge-on-read")) {
      val t = constrained(mode)
      sql(s"INSERT INTO ${inApacheIceberg(t)} VALUES (7, -7), (8, -8), (9, 9)")
      sql(s"REFRESH TABLE $t")
      sql(s"DELETE FROM $t WHERE id = 8")
      sql(s"UPDATE $t SET n = 10 WHERE id = 9")
      sql(s"CALL lite.system.rewrite_data_files(table => '$t', options => map('rewrite-all', 'true'))")
      assert(sorted(s"SELECT * FROM $t WHERE id > 6") == Seq("[7,-7]", "[9,10]"))
      assertViolated(t, "positive", "n = -7")(sql(s"UPDATE $t SET id = 70 WHERE id = 7"))
    }
  }

  test("an upsert and the methods of IcebergTable enforce a constraint", Slow) {
    val t = constrained("merge-on-read")
    val rows = spark.range(1, 2).select(col("id"), lit(-1L).as("n"))
    assertViolated(t, "positive", "n = -1")(rows.writeTo(t).option("upsert-keys", "id").append())
    val table = IcebergTable.forName(spark, t)
    assertViolated(t, "positive", "n = -1")(table.update("id = 1", Map("n" -> lit(-1L))))
    assertViolated(t, "positive", "n = -1") {
      table.merge(rows, "target.id = source.id").whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
    }
    rows.withColumn("n", lit(11L)).writeTo(t).option("upsert-keys", "id").append()
    assert(count(t, "n = 11") == 1)
  }

  test("writes that add or widen columns enforce a constraint on the merged row", Slow) {
    val t = newTable()
    sql(
      s"CREATE TABLE $t (id INT, s STRUCT<x: INT>) USING iceberg " +
        "TBLPROPERTIES ('write.spark.accept-any-schema' = 'true', " +
        "'iceberg-lite.constraints.small' = 's.x < 10 AND id < 5')"
    )
    def append(columns: String*): Unit = spark.range(1).selectExpr(columns: _*).writeTo(t)
      .option("merge-schema", "true").append()
    append("1 AS id", "named_struct('y', 100, 'x', 1) AS s", "'new' AS extra")
    append("2L AS id")
    assertViolated(t, "small", "s.x = 11, id = 3")(append("named_struct('y', 1, 'x', 11) AS s", "3 AS id"))
    assertViolated(t, "small", "s.x = null, id = 9")(append("9L AS id", "true AS other"))
    assert(count(t) == 2)
  }

  test("constraints on structs in arrays and maps check the fields by name in tables that accept any schema", Slow) {
    val t = newTable()
    sql(
      s"CREATE TABLE $t (a ARRAY<STRUCT<x: INT, y: INT>>, m MAP<STRUCT<x: INT, y: INT>, STRUCT<x: BIGINT, y: INT>>) " +
        "USING iceberg TBLPROPERTIES ('write.spark.accept-any-schema' = 'true', " +
        "'iceberg-lite.constraints.c' = 'forall(a, e -> e.x > 0) " +
        "AND forall(map_keys(m), k -> k.x > 0) AND forall(map_values(m), v -> v.x > 0)')"
    )
    def append(element: Int, key: Int, value: Int): Unit = spark.range(1).selectExpr(
      s"array(NULL, named_struct('y', ${-element}, 'x', $element)) AS a",
      s"map(named_struct('y', ${-key}, 'x', $key), named_struct('y', ${-value}, 'x', $value)) AS m"
    ).writeTo(t).append()
    append(1, 2, 3)
    Seq((-1, 2, 3), (1, -2, 3), (1, 2, -3)).foreach { case (element, key, value) =>
      assert(errorOf(append(element, key, value)).isInstanceOf[CheckViolated])
    }
    assert(sorted(s"SELECT a[1].x, map_keys(m)[0].x, map_values(m)[0].x FROM $t") == Seq("[1,2,3]"))
  }

  test("a MERGE that adds columns enforces a constraint") {
    val t = constrained("copy-on-write")
    val merge = s"MERGE WITH SCHEMA EVOLUTION INTO $t t USING (SELECT 6L AS id, -6L AS n, 1 AS w) s ON t.id = s.id"
    assertViolated(t, "positive", "n = -6")(sql(s"$merge WHEN NOT MATCHED THEN INSERT *"))
    sql(s"$merge WHEN NOT MATCHED THEN INSERT (id, w) VALUES (s.id, s.w)")
    assert(count(t, "w = 1 AND n IS NULL") == 1)
  }

  test("CREATE TABLE AS SELECT and REPLACE TABLE AS SELECT enforce the constraints of the table") {
    val t = newTable()
    val property = "TBLPROPERTIES ('iceberg-lite.constraints.small' = 'id < 3')"
    val error = errorOf(sql(s"CREATE TABLE $t USING iceberg $property AS SELECT id FROM range(4)"))
    assert(error == CheckViolated(t, "small", "id < 3", "id = 3"))
    assert(!spark.catalog.tableExists(t))
    sql(s"CREATE TABLE $t USING iceberg $property AS SELECT id FROM range(3)")
    assertViolated(t, "small", "id = 3")(sql(s"REPLACE TABLE $t USING iceberg AS SELECT id FROM range(4)"))
    assertViolated(t, "small", "id = 4")(sql(s"CREATE OR REPLACE TABLE $t USING iceberg AS SELECT 4L AS id"))
    val renamed = errorOf(sql(s"REPLACE TABLE $t USING iceberg AS SELECT id AS other FROM range(1)"))
    assert(renamed.asInstanceOf[InvalidArgument].name.contains("small"))
    val invalid = errorOf(sql(s"CREATE TABLE ${newTable()} (a INT) USING iceberg $property"))
    assert(invalid.asInstanceOf[InvalidArgument].name.contains("small"))
  }

  test("CREATE TABLE fails if a constraint that the catalog sets on new tables is invalid for the columns") {
    val key = "iceberg-lite.constraints.positive"
    for ((prefix, i) <- Seq("table-default", "table-override").zipWithIndex) {
      val catalog = s"constrained$i"
      val settings = SharedSession.catalogConf(
        catalog,
        classOf[SparkCatalog].getName,
        "type" -> "hadoop",
        "warehouse" -> newDirectory("constraints").toUri.toString,
        s"$prefix.$key" -> "n > 0"
      )
      withConf(settings.toSeq: _*) {
        sql(s"CREATE NAMESPACE $catalog.db")
        errorOf(sql(s"CREATE TABLE $catalog.db.t (id BIGINT) USING iceberg")) match {
          case _: InvalidArgument => assert(rows(s"SHOW TABLES IN $catalog.db").isEmpty)
          case other => fail(other)
        }
        sql(s"CREATE TABLE $catalog.db.t (n BIGINT) USING iceberg")
      }
    }
  }

  test("ADD CONSTRAINT fails if a row of any branch violates the condition, and stores nothing") {
    val t = create("id BIGINT, n BIGINT", 2, "copy-on-write")
    sql(s"INSERT INTO $t VALUES (1, 1)")
    sql(s"ALTER TABLE $t CREATE BRANCH work")
    sql(s"INSERT INTO $t.branch_work VALUES (2, -2)")
    val add = s"ALTER TABLE $t ADD CONSTRAINT positive CHECK (n > 0)"
    val error = intercept[StatementError](sql(add))
    assert(error.getErrorClass == "ICEBERG_LITE.CHECK_CONSTRAINT_VIOLATION")
    assert(error.error == CheckViolated(t, "positive", "n > 0", "n = -2"))
    assert(CheckConstraint.of(live(t).properties).isEmpty)
    sql(s"DELETE FROM $t.branch_work WHERE id = 2")
    sql(add)
    val branch = errorOf(sql(s"INSERT INTO $t.branch_work VALUES (3, -3)"))
    assert(branch == CheckViolated(t, "positive", "n > 0", "n = -3"))
    assert(errorOf(sql(add.replace("positive", "POSITIVE"))).isInstanceOf[AlreadyExists])
  }

  test("ADD CONSTRAINT does not read files whose bounds satisfy the condition") {
    val t = create("id BIGINT, n BIGINT", 2, "copy-on-write")
    sql(s"INSERT INTO $t VALUES (1, 1), (2, NULL), (3, 3)")
    rows(s"SELECT file_path FROM $t.files").foreach { file =>
      Files.delete(Paths.get(new Path(file.getString(0)).toUri.getPath))
    }
    sql(s"ALTER TABLE $t ADD CONSTRAINT positive CHECK (n > 0)")
    intercept[Exception](sql(s"ALTER TABLE $t ADD CONSTRAINT large CHECK (n > 1)"))
    assert(CheckConstraint.of(live(t).properties).map(_.name) == Vector("positive"))
  }

  test("a write that began before a constraint was added fails") {
    val t = filled(2, "copy-on-write")
    val commits = commitWhenCalled(t)(addConstraint)
    val error = errorOf(sql(s"INSERT INTO $t SELECT id, commit_and_return(-id) FROM range(5, 6)"))
    assert(error.isInstanceOf[CommitConflict] && commits() == 1 && count(t) == 1000)
  }

  test("rows that are committed while ADD CONSTRAINT reads the table are checked too") {
    val t = filled(2, "copy-on-write")
    val add = s"ALTER TABLE $t ADD CONSTRAINT positive CHECK (n >= 0)"
    duringQueryOf("n")(sql(s"INSERT INTO $t VALUES (5000, -1)")) {
      assert(errorOf(sql(add)) == CheckViolated(t, "positive", "n >= 0", "n = -1"))
    }
    assert(CheckConstraint.of(live(t).properties).isEmpty)
    sql(s"DELETE FROM $t WHERE id = 5000")
    duringQueryOf("n")(sql(s"INSERT INTO $t VALUES (5000, 1)"))(sql(add))
    assert(CheckConstraint.of(live(t).properties).size == 1 && count(t) == 1001)
  }

  /** Runs `statement`, and runs `concurrent` while Spark optimizes the first query whose only column is `column`. */
  private def duringQueryOf(column: String)(concurrent: => Any)(statement: => Any): Unit = {
    val isPending = new AtomicBoolean(true)
    val rule = new Rule[LogicalPlan] {
      override def apply(plan: LogicalPlan): LogicalPlan = {
        if (plan.output.map(_.name) == Seq(column) && isPending.getAndSet(false)) concurrent
        plan
      }
    }
    val experimental = spark.experimental
    experimental.extraOptimizations = experimental.extraOptimizations :+ rule
    try statement
    finally experimental.extraOptimizations = experimental.extraOptimizations.filterNot(_ == rule)
    assert(!isPending.get)
  }

  test("a DELETE during which a constraint is added succeeds, because it adds no rows", Slow) {
    for (mode <- Seq("copy-on-write", "merge-on-read")) {
      val t = filled(2, mode)
      val commits = commitWhenCalled(t)(addConstraint)
      sql(s"DELETE FROM $t WHERE CASE WHEN id = 3 THEN commit_and_return(n) = 3 ELSE n = 3 END")
      assert(commits() == 1 && count(t) == 900 && CheckConstraint.of(live(t).properties).size == 1)
    }
  }

  private def addConstraint(table: Table): Unit = {
    val constraint = CheckConstraint("positive", "n >= 0")
    table.transaction().add(new iceberglite.table.action.AddCheckConstraint(constraint, table.metadata)).commit()
    ()
  }

  test("DROP CONSTRAINT ends the enforcement, and fails without IF EXISTS if there is no such constraint") {
    val t = constrained("copy-on-write")
    assert(rows(s"SHOW TBLPROPERTIES $t").exists(_.toSeq == Seq("iceberg-lite.constraints.positive", "n > 0")))
    assert(rows(s"SHOW CREATE TABLE $t").head.getString(0).contains("'iceberg-lite.constraints.positive' = 'n > 0'"))
    assert(rows(s"DESCRIBE EXTENDED $t").exists(_.toString.contains("iceberg-lite.constraints.positive=n > 0")))
    assert(errorOf(sql(s"ALTER TABLE $t DROP CONSTRAINT other")).isInstanceOf[NotFound])
    sql(s"ALTER TABLE $t DROP CONSTRAINT IF EXISTS other")
    Seq(
      s"SET TBLPROPERTIES ('iceberg-lite.constraints.x' = 'true')",
      "UNSET TBLPROPERTIES ('iceberg-lite.constraints.positive')"
    )
      .foreach(change => assert(errorOf(sql(s"ALTER TABLE $t $change")).isInstanceOf[InvalidArgument]))
    sql(s"ALTER TABLE $t DROP CONSTRAINT Positive")
    sql(s"INSERT INTO $t VALUES (4, -4)")
    assert(count(t) == 4)
  }

  test("an invalid constraint in the metadata fails writes with its name, but not reads, DELETE and DROP CONSTRAINT") {
    val t = constrained("copy-on-write")
    val broken = Map("iceberg-lite.constraints.broken" -> "reflect('java.lang.System', 'exit', '1') = ''")
    live(t).transaction().add(new UpdateProperties(broken)).commit()
    Seq(s"INSERT INTO $t VALUES (4, 4)", s"UPDATE $t SET n = 5").foreach { write =>
      assert(errorOf(sql(write)).asInstanceOf[InvalidArgument].name.contains("broken"), write)
    }
    assert(count(t) == 3)
    sql(s"DELETE FROM $t WHERE id = 1")
    sql(s"ALTER TABLE $t ADD COLUMN extra INT")
    sql(s"ALTER TABLE $t DROP CONSTRAINT broken")
    sql(s"INSERT INTO $t VALUES (4, 4, 4)")
    assert(count(t) == 3)
  }

  test("a column that a constraint uses cannot be renamed or dropped, but other columns can") {
    val t = create("id BIGINT, s STRUCT<x: INT, y: INT>, o INT, a ARRAY<STRUCT<z: INT>>", 2, "copy-on-write")
    sql(s"ALTER TABLE $t ADD CONSTRAINT x_first CHECK (s.x < id AND exists(a.z, z -> z > 0))")
    Seq(
      "RENAME COLUMN id TO key",
      "DROP COLUMN s",
      "RENAME COLUMN s.x TO w",
      "DROP COLUMN a.element.z",
      "DROP COLUMNS o, id"
    )
      .foreach { change =>
        errorOf(sql(s"ALTER TABLE $t $change")) match {
          case Unsupported(what, advice, _) =>
            assert(what.contains("x_first") && advice.contains("DROP CONSTRAINT x_first"))
          case other => fail(s"$change: $other")
        }
      }
    sql(s"ALTER TABLE $t RENAME COLUMN s.y TO w")
    sql(s"ALTER TABLE $t DROP COLUMN o")
    sql(s"ALTER TABLE $t ALTER COLUMN s.x TYPE BIGINT")
    assertViolated(t, "x_first", "s.x = 5, id = 1, a = [{1}]") {
      sql(s"INSERT INTO $t SELECT 1, named_struct('x', 5L, 'w', 1), array(named_struct('z', 1))")
    }
  }

  test("a constraint with names in another case does not prevent changes of other columns") {
    val t = create("n BIGINT, s STRUCT<x: INT, y: INT>", 2, "copy-on-write")
    sql(s"ALTER TABLE $t ADD CONSTRAINT c CHECK (N > 0 AND S.X > 0)")
    sql(s"ALTER TABLE $t ADD COLUMN extra INT")
    sql(s"ALTER TABLE $t RENAME COLUMN s.y TO z")
    Seq("n TO m", "s.x TO w", "s TO r").foreach { renamed =>
      val error = errorOf(sql(s"ALTER TABLE $t RENAME COLUMN $renamed"))
      assert(error.asInstanceOf[Unsupported].what.contains("N > 0"), renamed)
    }
    assertViolated(t, "c", "n = 1, s.x = -1")(sql(s"INSERT INTO $t VALUES (1, named_struct('x', -1, 'z', 1), 1)"))
  }

  test("a constraint compares CHAR columns like the condition of a query, without regard to padding", Slow) {
    val t = create("id INT, c CHAR(5)", 2, "copy-on-write")
    sql(s"INSERT INTO $t VALUES (1, 'a')")
    sql(s"ALTER TABLE $t ADD CONSTRAINT letters CHECK (c IN ('a', 'b'))")
    sql(s"ALTER TABLE $t ADD CONSTRAINT equal CHECK (c = 'a' OR 'b' = c)")
    sql(s"INSERT INTO $t VALUES (2, 'b')")
    sql(s"UPDATE $t SET c = 'b' WHERE id = 1")
    val error = errorOf(sql(s"INSERT INTO $t VALUES (3, 'c')"))
    assert(error.isInstanceOf[CheckViolated] && count(t, "c = 'b'") == 2)
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')")
    spark.sql("SELECT 4 AS id, 'a' AS c").writeTo(t).append()
    assert(count(t) == 3)
  }

  test("add_files is rejected for a table with a constraint, because it does not check rows") {
    val t = constrained("copy-on-write")
    val directory = newDirectory()
    spark.range(3).selectExpr("id", "-id AS n").write.mode("overwrite").parquet(directory.toString)
    val error = errorOf(sql(s"CALL lite.system.add_files('$t', '`parquet`.`$directory`')"))
    assert(error.asInstanceOf[Unsupported].what.contains("positive") && count(t) == 3)
  }
}
