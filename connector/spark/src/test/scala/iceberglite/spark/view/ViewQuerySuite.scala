package iceberglite.spark.view

import org.apache.spark.sql.{AnalysisException, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.catalog.SettingWarnings
import iceberglite.spark.{LoggedWarnings, SharedSession, SparkCatalog}
import iceberglite.spec.update.MetadataUpdate.LastAdded
import iceberglite.spec.update.ViewUpdate.{AddViewVersion, SetCurrentViewVersion}
import iceberglite.spec.view.ViewRepresentation.Sql
import iceberglite.table.{TableIdentifier, ViewChange}

/** Tests queries on views. */
class ViewQuerySuite extends AnyFunSuite with ViewTests {
  private val items = s"lite.$ns.items"

  test("unqualified names refer to the catalog and namespace in which the view was created") {
    val (view, other) = (newView("lite"), newView("litejdbc"))
    inNamespace("lite") {
      sql(s"CREATE VIEW $view AS SELECT count(*) AS n FROM items")
      sql(s"CREATE VIEW $other AS SELECT max(id) AS n FROM items WHERE id IN (SELECT id FROM items WHERE id < 3)")
    }
    sql(s"INSERT INTO litejdbc.$ns.items VALUES (100, 'z', 0.0)")
    assert(rows(s"SELECT n FROM $view") == Seq(Row(3L)) && rows(s"SELECT n FROM $other") == Seq(Row(2)))
    inNamespace("litejdbc")(assert(rows(s"SELECT n FROM $view") == Seq(Row(3L))))
    assert(metadata(view).currentVersion.defaultCatalog.isEmpty)
    assert(metadata(other).currentVersion.defaultCatalog.contains("lite"))
  }

  test("common table expressions, subqueries, ordinals, windows and hints work in a view", Slow) {
    val view = newView("lite")
    sql(s"""CREATE VIEW $view AS
      WITH items AS (SELECT id, name, price FROM $items), big AS (SELECT * FROM items WHERE price > 2)
      SELECT /*+ BROADCAST(big) */ name, count(*) AS n, (SELECT max(id) FROM $items) AS top,
        max(rank() OVER w) AS r
      FROM (SELECT *, id % 2 AS odd FROM big) big WHERE EXISTS (SELECT 1 FROM items i WHERE i.id = big.id)
      GROUP BY 1, odd WINDOW w AS (ORDER BY count(*)) ORDER BY 2, 1""".replace("max(rank() OVER w)", "rank() OVER w"))
    assert(rows(s"SELECT name, n, top FROM $view") == Seq(Row("b", 1L, 3), Row("b", 1L, 3)))
    assert(rows(s"SELECT count(*) FROM $view a JOIN $view b ON a.name = b.name") == Seq(Row(4L)))
    assert(rows(s"SELECT v.name FROM $view v WHERE v.n IN (SELECT n FROM $view) LIMIT 1") == Seq(Row("b")))
  }

  test("conditions and columns of a query on a view reach the scan of the table") {
    val view = newView("lite")
    sql(s"CREATE VIEW $view (k, label) AS SELECT id, name FROM $items")
    val plan = sql(s"SELECT k FROM $view WHERE k > 1").queryExecution.executedPlan.toString
    assert(plan.contains("id > 1") && !plan.contains("price"))
  }

  test("views can be nested, and the nested view uses its own default namespace") {
    val (inner, outer) = (newView("litejdbc"), newView("lite"))
    inNamespace("litejdbc")(sql(s"CREATE VIEW $inner AS SELECT id FROM items WHERE id < 100"))
    inNamespace("lite")(sql(s"CREATE VIEW $outer AS SELECT v.id, i.name FROM $inner v JOIN items i ON v.id = i.id"))
    assert(rows(s"SELECT * FROM $outer ORDER BY id") == Seq(Row(1, "a"), Row(2, "b"), Row(3, "b")))
  }

  test("a view that uses itself is rejected with the path of the cycle") {
    val Seq(a, b, c) = Seq.fill(3)(newView("lite"))
    sql(s"CREATE VIEW $a AS SELECT 1 AS x")
    sql(s"CREATE VIEW $b AS SELECT x FROM $a")
    sql(s"CREATE VIEW $c AS SELECT x FROM $b")
    assert(condition(s"CREATE OR REPLACE VIEW $a AS SELECT x FROM $a") == "RECURSIVE_VIEW")
    val error = intercept[AnalysisException](sql(s"ALTER VIEW $a AS SELECT x FROM (SELECT * FROM $c)"))
    assert(error.getErrorClass == "RECURSIVE_VIEW")
    val path = Seq(a, c, b, a).map(name => name.split('.').map(p => s"`$p`").mkString(".")).mkString(" -> ")
    assert(error.getMessageParameters.get("newPath") == path)
    assert(rows(s"SELECT * FROM $c") == Seq(Row(1)))
  }

  test("a cycle through another catalog with the same storage is rejected with its path") {
    val settings = SharedSession.catalogConf(
      "samefiles",
      classOf[SparkCatalog].getName,
      "type" -> "hadoop",
      "warehouse" -> SharedSession.warehouse.toUri.toString
    )
    withConf(settings.toSeq: _*) {
      val Seq(a, b) = Seq.fill(2)(newView("lite"))
      sql(s"CREATE VIEW $a AS SELECT 1 AS x")
      sql(s"CREATE VIEW $b AS SELECT x FROM samefiles${a.stripPrefix("lite")}")
      assert(condition(s"ALTER VIEW $a AS SELECT x FROM samefiles${a.stripPrefix("lite")}") == "RECURSIVE_VIEW")
      val error = intercept[AnalysisException](sql(s"ALTER VIEW $a AS SELECT x FROM samefiles${b.stripPrefix("lite")}"))
      assert(error.getErrorClass == "RECURSIVE_VIEW")
      assert(error.getMessageParameters.get("newPath").contains("`samefiles`"))
      assert(rows(s"SELECT * FROM $b") == Seq(Row(1)))
    }
  }

  test("a view may use another view both directly and through another catalog, but a cycle of them is rejected") {
    val Seq(a, c) = Seq.fill(2)(newView("lite"))
    val b = newView("litejdbc")
    sql(s"CREATE VIEW $a AS SELECT 1 AS x")
    sql(s"CREATE VIEW $b AS SELECT x FROM $a")
    sql(s"CREATE VIEW $c AS SELECT p.x FROM $b p JOIN $a q ON p.x = q.x")
    assert(rows(s"SELECT * FROM $c") == Seq(Row(1)))
    val path = intercept[AnalysisException](sql(s"ALTER VIEW $a AS SELECT x FROM $c"))
    assert(path.getErrorClass == "RECURSIVE_VIEW")
    replaceQuery(a, Sql(s"SELECT x FROM $c", "spark"))
    Seq(a, b, c).foreach(view => assert(condition(s"SELECT * FROM $view") == "RECURSIVE_VIEW", view))
  }

  test("a cycle that another engine created is reported when the view is queried") {
    val Seq(a, b) = Seq.fill(2)(newView("lite"))
    sql(s"CREATE VIEW $a AS SELECT 1 AS x")
    sql(s"CREATE VIEW $b AS SELECT x FROM $a")
    replaceQuery(a, Sql(s"SELECT x FROM $b", "spark"))
    assert(condition(s"SELECT * FROM $b") == "RECURSIVE_VIEW")
  }

  test("temporary views and functions are rejected in a view, and a temporary view never replaces its tables") {
    val view = newView("lite")
    spark.range(1).createOrReplaceTempView("items")
    sql("CREATE OR REPLACE TEMPORARY FUNCTION shout AS 'org.apache.hadoop.hive.ql.udf.generic.GenericUDFUpper'")
    spark.udf.register("shout", (text: String) => text + "!")
    try {
      assert(condition(s"CREATE VIEW $view AS SELECT * FROM items") == "INVALID_TEMP_OBJ_REFERENCE")
      assert(condition(s"CREATE VIEW $view AS SELECT shout('a') AS a") == "INVALID_TEMP_OBJ_REFERENCE")
      inNamespace("lite")(sql(s"CREATE VIEW $view AS SELECT count(*) AS n FROM $ns.items"))
      replaceQuery(view, Sql("SELECT count(*) AS n FROM items", "spark"))
      assert(rows(s"SELECT n FROM $view") == Seq(Row(3L)))
    } finally {
      spark.catalog.dropTempView("items")
      sql("DROP TEMPORARY FUNCTION shout")
    }
  }

  test("a temporary view hides a view of the same name, unless a query qualifies the name with a namespace") {
    inNamespace("lite") {
      val name = newView("lite").split('.').last
      sql(s"CREATE VIEW $name AS SELECT 'permanent' AS x")
      sql(s"CREATE TEMPORARY VIEW $name AS SELECT 'temporary' AS x")
      assert(rows(s"SELECT x FROM $name") == Seq(Row("temporary")))
      assert(rows(s"SELECT x FROM $ns.$name") == Seq(Row("permanent")))
      sql(s"DROP VIEW $name")
      assert(rows(s"SELECT x FROM $name") == Seq(Row("permanent")))
    }
  }

  test("a view keeps its columns when columns are added to its tables") {
    val (table, view) = (newTable(), newView("lite"))
    sql(s"CREATE TABLE $table (a INT, b INT) USING iceberg")
    sql(s"CREATE VIEW $view AS SELECT * FROM $table")
    sql(s"ALTER TABLE $table ADD COLUMN c INT FIRST")
    sql(s"INSERT INTO $table VALUES (3, 1, 2)")
    assert(rows(s"SELECT * FROM $view") == Seq(Row(1, 2)))
  }

  test("names of the query's columns may contain commas, and columns are still found by name") {
    val (table, view) = (newTable(), newView("lite"))
    sql(s"CREATE TABLE $table (a INT, b INT) USING iceberg")
    sql(s"CREATE VIEW $view AS SELECT coalesce(a, b), *, round(b, 1) AS `r, s` FROM $table")
    sql(s"ALTER TABLE $table ADD COLUMN c INT FIRST")
    sql(s"INSERT INTO $table VALUES (3, 1, 2)")
    assert(spark.table(view).columns.toSeq == Seq("coalesce(a, b)", "a", "b", "r, s"))
    assert(rows(s"SELECT * FROM $view") == Seq(Row(1, 1, 2, 2)))
    sql(s"ALTER VIEW $view AS SELECT 7 AS x")
    sql(s"CALL lite.system.rollback_view('$ns.${view.split('.').last}', 1)")
    assert(rows(s"SELECT * FROM $view") == Seq(Row(1, 1, 2, 2)))
    val described = rows(s"DESCRIBE EXTENDED $view").map(r => r.getString(0) -> r.getString(1)).toMap
    assert(described("View Query Output Columns") == "[coalesce(a, b), a, b, r, s]")
  }

  test("a missing column or an incompatible type of a table is an error that names the column") {
    val (table, view) = (newTable(), newView("lite"))
    sql(s"CREATE TABLE $table (a INT, b INT) USING iceberg")
    sql(s"CREATE VIEW $view (x, y) AS SELECT * FROM $table")
    sql(s"ALTER TABLE $table ALTER COLUMN b TYPE BIGINT")
    val widened = intercept[AnalysisException](sql(s"SELECT * FROM $view"))
    assert(widened.getErrorClass == "CANNOT_UP_CAST_DATATYPE")
    assert(widened.getMessage.contains(s"column y of view $view"))
    sql(s"ALTER TABLE $table RENAME COLUMN b TO c")
    val missing = intercept[AnalysisException](sql(s"SELECT * FROM $view"))
    assert(missing.getErrorClass == "INCOMPATIBLE_VIEW_SCHEMA_CHANGE")
    assert(missing.getMessageParameters.get("colName") == "b")
  }

  test("time travel on a view, writes to a view and streaming reads of a view are rejected") {
    val view = newView("lite")
    sql(s"CREATE VIEW $view AS SELECT * FROM $items")
    assert(condition(s"SELECT * FROM $view VERSION AS OF 1") == "UNSUPPORTED_FEATURE.TIME_TRAVEL")
    assert(condition(s"SELECT * FROM $view TIMESTAMP AS OF '2020-01-01'") == "UNSUPPORTED_FEATURE.TIME_TRAVEL")
    Seq(
      s"INSERT INTO $view VALUES (1, 'a', 1.0)",
      s"DELETE FROM $view WHERE id = 1",
      s"UPDATE $view SET id = 1",
      s"MERGE INTO $view t USING $items s ON t.id = s.id WHEN MATCHED THEN DELETE"
    ).foreach(statement => assert(condition(statement) == "UNSUPPORTED_FEATURE.TABLE_OPERATION", statement))
    val stream = intercept[AnalysisException](spark.readStream.table(view))
    assert(stream.getErrorClass == "UNSUPPORTED_FEATURE.TABLE_OPERATION")
    val options = Seq("snapshot-id", "branch", "AS-OF-TIMESTAMP", "versionAsOf", "start-snapshot-id", "end-timestamp")
    for (option <- options.map(_ -> "1")) {
      val error = intercept[AnalysisException](spark.read.option(option._1, option._2).table(view).count())
      assert(error.getErrorClass == "UNSUPPORTED_FEATURE.TIME_TRAVEL", option)
    }
  }

  test("a read option that the query of a view cannot use is named in a warning, and a misspelled one is rejected") {
    val view = newView("lite")
    sql(s"CREATE VIEW $view AS SELECT * FROM $items")
    def warnings(key: String): Seq[String] = LoggedWarnings.of(SettingWarnings.LoggerName) {
      assert(spark.read.option(key, "1000").table(view).count() == 3)
    }
    assert(warnings("split-size") == Seq(
      s"The read option split-size has no effect on the view $view. Set the corresponding session setting or table " +
        "property"
    ))
    assert(warnings("split-size").isEmpty)
    assert(warnings("write-format").exists(_.startsWith("The read option write-format has no effect on the view")))
    val Seq(unknown) = warnings(s"unknown.${view.split('.').last}")
    assert(unknown.endsWith("has no effect on iceberg-lite tables. There is no such option"))
    val misspelled = intercept[AnalysisException](spark.read.option("split-sizes", "1000").table(view))
    assert(misspelled.getErrorClass == "INVALID_PARAMETER_VALUE")
    assert(misspelled.getMessageParameters.get("value") == "split-sizes")
    val rejected = intercept[AnalysisException](spark.read.option("scan-task-set-id", "1").table(view))
    assert(rejected.getErrorClass == "ICEBERG_LITE.UNSUPPORTED")
  }

  test("a query on a view without Spark's dialect fails and names the dialects, which an ALTER VIEW keeps") {
    val view = newView("lite")
    sql(s"CREATE VIEW $view TBLPROPERTIES ('replace.drop-dialect.allowed' = 'true') AS SELECT 1 AS x")
    replaceQuery(view, Sql("SELECT 2 x", "trino"))
    sql(s"ALTER VIEW $view SET TBLPROPERTIES ('replace.drop-dialect.allowed' = 'false')")
    assert(intercept[AnalysisException](sql(s"SELECT * FROM $view")).getMessage.contains("Its dialects are trino"))
    sql(s"ALTER VIEW $view AS SELECT 2 AS x")
    assert(metadata(view).currentVersion.dialects == Vector("spark", "trino"))
    assert(rows(s"SELECT * FROM $view") == Seq(Row(2)))
  }

  test("a view whose text is not valid SQL fails when it is queried, and the error contains the text") {
    val view = newView("lite")
    sql(s"CREATE VIEW $view AS SELECT 1 AS x")
    replaceQuery(view, Sql("SELEC 1", "spark"))
    val error = intercept[AnalysisException](sql(s"SELECT * FROM $view"))
    assert(error.getErrorClass == "INVALID_VIEW_TEXT" && error.getMessageParameters.get("viewText") == "SELEC 1")
  }

  /** Replaces the query of a view, as another engine would do. */
  private def replaceQuery(view: String, query: Sql): Unit = {
    val Array(catalog, namespace, name) = view.split('.')
    val id = TableIdentifier(Vector(namespace), name)
    val base = viewCatalog(catalog).loadView(id)
    val version = base.metadata.currentVersion.copy(representations = Vector(query))
    val updates = Vector(AddViewVersion(version), SetCurrentViewVersion(LastAdded))
    viewCatalog(catalog).commitView(id, Some(base), ViewChange(updates, Vector.empty))
  }
}
