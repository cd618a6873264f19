package iceberglite.spark.view

import java.net.URI
import java.nio.file.{Files, Paths}

import org.apache.spark.sql.{AnalysisException, Row}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.table.TableIdentifier

/** Tests the statements on views. */
class ViewStatementsSuite extends AnyFunSuite with ViewTests {

  private def onEach(name: String)(body: String => Unit): Unit = catalogs.foreach(c => test(s"$name ($c)")(body(c)))

  private def text(statement: String): String = rows(statement).map(_.mkString(" | ")).mkString("\n")

  onEach("a view has the column names, comments and properties of its CREATE VIEW statement") { c =>
    val view = newView(c)
    sql(s"""CREATE VIEW $view (k COMMENT 'the key', total) COMMENT 'sums' TBLPROPERTIES ('owner-team' = 'x')
      AS SELECT name, sum(price) FROM $c.$ns.items GROUP BY name""")
    assert(rows(s"SELECT * FROM $view ORDER BY k") == Seq(Row("a", 1.5), Row("b", 6.0)))
    assert(spark.table(view).schema.map(f => (f.name, f.getComment())) == Seq(("k", Some("the key")), ("total", None)))
    assert(rows(s"DESCRIBE $view") == Seq(Row("k", "string", "the key"), Row("total", "double", null)))
    val details = rows(s"DESCRIBE EXTENDED $view").map(r => r.getString(0) -> r.getString(1)).toMap
    assert(details("Comment") == "sums" && details("Type") == "VIEW" && details("View Version") == "1")
    assert(details("View Query Output Columns") == "[name, sum(price)]")
    assert(rows(s"SHOW TBLPROPERTIES $view") == Seq(Row("comment", "sums"), Row("owner-team", "x")))
    assert(rows(s"SHOW TBLPROPERTIES $view ('owner-team')") == Seq(Row("owner-team", "x")))
    assert(rows(s"SHOW COLUMNS IN $view").map(_.getString(0)) == Seq("k", "total"))
  }

  onEach("the statement that SHOW CREATE TABLE returns creates an equal view") { c =>
    val view = newView(c)
    sql(s"""CREATE VIEW $view (`k` COMMENT 'it\\'s', `a b`) COMMENT 'x' TBLPROPERTIES ('p' = 'q')
      AS SELECT id, upper(name) AS n FROM $c.$ns.items WHERE name <> 'a'""")
    val statement = text(s"SHOW CREATE TABLE $view")
    val (before, expected) = (metadata(view), rows(s"SELECT * FROM $view ORDER BY 1"))
    sql(s"DROP VIEW $view")
    sql(statement)
    val after = metadata(view)
    assert(after.schema.sameColumns(before.schema) && after.properties == before.properties)
    assert(after.currentVersion.representations.map(_.toString.trim) ==
      before.currentVersion.representations.map(_.toString.trim))
    assert(rows(s"SELECT * FROM $view ORDER BY 1") == expected && text(s"SHOW CREATE TABLE $view") == statement)
  }

  onEach("CREATE VIEW rejects an existing view, IF NOT EXISTS keeps it, and OR REPLACE adds a version to it") { c =>
    val view = newView(c)
    sql(s"CREATE VIEW $view AS SELECT 1 AS a")
    assert(condition(s"CREATE VIEW $view AS SELECT 2 AS a") == "VIEW_ALREADY_EXISTS")
    sql(s"CREATE VIEW IF NOT EXISTS $view AS SELECT 3 AS a")
    assert(rows(s"SELECT a FROM $view") == Seq(Row(1)))
    sql(s"CREATE OR REPLACE VIEW $view TBLPROPERTIES ('x' = 'y') AS SELECT 'four' AS b")
    assert(rows(s"SELECT b FROM $view") == Seq(Row("four")))
    val replaced = metadata(view)
    assert(replaced.versions.map(_.versionId) == Vector(1, 2) && replaced.versionLog.map(_.versionId) == Vector(1, 2))
    assert(replaced.versions.flatMap(_.operation) == Vector("create", "replace") && replaced.properties("x") == "y")
  }

  onEach("ALTER VIEW AS adds a version, and an identical version is used again") { c =>
    val view = newView(c)
    sql(s"CREATE VIEW $view AS SELECT 1 AS a")
    sql(s"ALTER VIEW $view AS SELECT 2 AS a")
    assert(rows(s"SELECT a FROM $view") == Seq(Row(2)))
    sql(s"ALTER VIEW $view AS SELECT 1 AS a")
    val view3 = metadata(view)
    assert(view3.versions.map(_.versionId) == Vector(1, 2) && view3.currentVersionId == 1)
    assert(view3.versionLog.map(_.versionId) == Vector(1, 2, 1))
  }

  onEach("properties are set and unset, and a missing or reserved property is an error") { c =>
    val view = newView(c)
    sql(s"CREATE VIEW $view AS SELECT 1 AS a")
    sql(s"ALTER VIEW $view SET TBLPROPERTIES ('a' = '1', 'comment' = 'c')")
    sql(s"ALTER VIEW $view UNSET TBLPROPERTIES ('a')")
    sql(s"ALTER VIEW $view UNSET TBLPROPERTIES IF EXISTS ('a')")
    assert(rows(s"SHOW TBLPROPERTIES $view") == Seq(Row("comment", "c")))
    val missing = intercept[AnalysisException](sql(s"ALTER VIEW $view UNSET TBLPROPERTIES ('a')"))
    assert(missing.getMessage.contains("View property not found: a"))
    val reserved = intercept[AnalysisException](
      sql(s"ALTER VIEW $view SET TBLPROPERTIES ('spark.query-column-names' = 'x')")
    )
    assert(reserved.getMessage.contains("Invalid value for view property: spark.query-column-names"))
    assert(metadata(view).versions.size == 1)
  }

  onEach("SHOW VIEWS lists views, SHOW TABLES lists tables, and DROP VIEW drops views only") { c =>
    val (one, two) = (newView(c), newView(c))
    Seq(one, two).foreach(v => sql(s"CREATE VIEW $v AS SELECT 1 AS a"))
    def shown(statement: String): Seq[String] = rows(statement).filterNot(_.getBoolean(2)).map(_.getString(1))
    val (first, second) = (one.split('.').last, two.split('.').last)
    assert(Seq(first, second).forall(shown(s"SHOW VIEWS IN $c.$ns").contains))
    assert(shown(s"SHOW VIEWS IN $c.$ns LIKE '$first'") == Seq(first))
    val current: Seq[String] = inNamespace(c)(shown("SHOW VIEWS"))
    assert(current.contains(second))
    assert(shown(s"SHOW TABLES IN $c.$ns") == Seq("items"))
    assert(rows(s"SHOW NAMESPACES IN $c.$ns").isEmpty)
    sql(s"DROP VIEW $one")
    assert(!shown(s"SHOW VIEWS IN $c.$ns").contains(first))
    assert(condition(s"DROP VIEW $one") == "VIEW_NOT_FOUND")
    sql(s"DROP VIEW IF EXISTS $one")
    assert(condition(s"DROP VIEW $c.$ns.items") == "WRONG_COMMAND_FOR_OBJECT_TYPE")
    assert(condition(s"SELECT * FROM $one") == "TABLE_OR_VIEW_NOT_FOUND")
    assert(condition(s"ALTER VIEW $one AS SELECT 1 AS a") == "VIEW_NOT_FOUND")
    assert(condition(s"ALTER VIEW $one SET TBLPROPERTIES ('a' = 'b')") == "VIEW_NOT_FOUND")
  }

  onEach("a table and a view cannot have the same name") { c =>
    val view = newView(c)
    sql(s"CREATE VIEW $view AS SELECT 1 AS a")
    intercept[AnalysisException](sql(s"CREATE TABLE $view (a INT) USING iceberg"))
    assert(condition(s"CREATE VIEW $c.$ns.items AS SELECT 1 AS a") == "TABLE_OR_VIEW_ALREADY_EXISTS")
    sql(s"CREATE VIEW IF NOT EXISTS $c.$ns.items AS SELECT 1 AS a")
    intercept[AnalysisException](sql(s"CREATE OR REPLACE VIEW $c.$ns.items AS SELECT 1 AS a"))
    assert(spark.table(s"$c.$ns.items").count() == 3 && rows(s"SELECT * FROM $view") == Seq(Row(1)))
  }

  test("RENAME TO gives a view another name, except in a file-system catalog") {
    val (view, renamed) = (newView("litejdbc"), newView("litejdbc"))
    sql(s"CREATE VIEW $view AS SELECT 1 AS a")
    sql(s"ALTER VIEW $view RENAME TO ${renamed.split('.').tail.mkString(".")}")
    assert(rows(s"SELECT * FROM $renamed") == Seq(Row(1)))
    assert(condition(s"SELECT * FROM $view") == "TABLE_OR_VIEW_NOT_FOUND")
    assert(condition(s"ALTER VIEW $view RENAME TO x") == "VIEW_NOT_FOUND")
    sql(s"ALTER VIEW $renamed RENAME TO ${view.split('.').last}")
    assert(rows(s"SELECT * FROM $view") == Seq(Row(1)))
    val inFiles = newView("lite")
    sql(s"CREATE VIEW $inFiles AS SELECT 1 AS a")
    val error = intercept[AnalysisException](sql(s"ALTER VIEW $inFiles RENAME TO $ns.other"))
    assert(error.getMessage.contains("the directory determines the name of a view"))
  }

  test("RENAME TO does not read the metadata of the view") {
    val (view, renamed) = (newView("litejdbc"), newView("litejdbc"))
    sql(s"CREATE VIEW $view AS SELECT 1 AS a")
    val Array(_, namespace, name) = view.split('.')
    val state = viewCatalog("litejdbc").loadView(TableIdentifier(Vector(namespace), name))
    val file = Paths.get(URI.create(state.metadataLocation))
    val moved = Files.move(file, file.resolveSibling("moved"))
    try sql(s"ALTER VIEW $view RENAME TO ${renamed.split('.').tail.mkString(".")}")
    finally Files.move(moved, file)
    assert(rows(s"SELECT * FROM $renamed") == Seq(Row(1)))
  }

  test("RENAME TO moves a view to another namespace, and never replaces a table or a view") {
    val (view, other) = (newView("litejdbc"), newView("litejdbc"))
    val (namespace, name) = (s"${ns}_more", view.split('.').last)
    sql(s"CREATE NAMESPACE litejdbc.$namespace")
    inNamespace("litejdbc")(sql(s"CREATE VIEW $view AS SELECT count(*) AS n FROM items"))
    sql(s"CREATE VIEW $other AS SELECT 2 AS n")
    sql(s"ALTER VIEW $view RENAME TO $namespace.$name")
    val moved = s"litejdbc.$namespace.$name"
    // The query still refers to the namespace in which the view was created.
    assert(rows(s"SELECT * FROM $moved") == Seq(Row(3L)))
    val existing = Seq(s"$ns.items", s"$ns.${other.split('.').last}")
    (existing ++ Seq(s"${namespace}_none.$name", s"lite.$ns.$name")).foreach { target =>
      intercept[AnalysisException](sql(s"ALTER VIEW $moved RENAME TO $target"))
    }
    assert(rows(s"SELECT * FROM $moved") == Seq(Row(3L)) && rows(s"SELECT n FROM $other") == Seq(Row(2)))
    assert(spark.table(s"litejdbc.$ns.items").count() == 3)
    sql(s"DROP VIEW $moved")
    sql(s"DROP NAMESPACE litejdbc.$namespace")
  }

  onEach("statements accept an IDENTIFIER clause with an expression or a parameter as the name of a view") { c =>
    val view = newView(c)
    val (namespace, name) = (s"$c.$ns", view.split('.').last)
    val expression = s"'$namespace.' || lower('${name.toUpperCase}')"
    sql(s"CREATE VIEW IDENTIFIER($expression) AS WITH q AS (SELECT 1 AS a) SELECT * FROM q")
    sql(s"CREATE VIEW IF NOT EXISTS IDENTIFIER('$view') AS SELECT 2 AS a")
    assert(rows(s"SELECT * FROM IDENTIFIER('$view')") == Seq(Row(1)))
    sql(s"CREATE OR REPLACE VIEW IDENTIFIER('$view') (k) AS SELECT 3 AS a")
    sql(s"ALTER VIEW IDENTIFIER('$view') SET TBLPROPERTIES ('x' = 'y')")
    sql(s"ALTER VIEW IDENTIFIER('$view') UNSET TBLPROPERTIES ('x')")
    assert(metadata(view).versions.size == 2 && !metadata(view).properties.contains("x"))
    sql(s"ALTER VIEW IDENTIFIER('$view') AS SELECT 4 AS a")
    assert(rows(s"SELECT a FROM $view") == Seq(Row(4)))
    assert(rows(s"DESCRIBE IDENTIFIER('$view')") == Seq(Row("a", "int", null)))
    assert(text(s"SHOW CREATE TABLE IDENTIFIER('$view')") == text(s"SHOW CREATE TABLE $view"))
    spark.sql("DROP VIEW IDENTIFIER(:name)", Map("name" -> view))
    assert(condition(s"DROP VIEW IDENTIFIER('$view')") == "VIEW_NOT_FOUND")
  }

  test("the property location sets the location of a view, which in a file-system catalog cannot be changed") {
    val (view, inFiles) = (newView("litejdbc"), newView("lite"))
    val location = newDirectory("views").toUri.toString + "v"
    sql(s"CREATE VIEW $view TBLPROPERTIES ('location' = '$location') AS SELECT 1 AS a")
    assert(metadata(view).location == location && !metadata(view).properties.contains("location"))
    assert(rows(s"SELECT * FROM $view") == Seq(Row(1)))
    val error = intercept[AnalysisException](
      sql(s"CREATE VIEW $inFiles TBLPROPERTIES ('location' = '$location') AS SELECT 1 AS a")
    )
    assert(error.getMessage.contains(s"the location $location for $inFiles"))
    assert(error.getMessage.contains("Omit the location"))
    assert(condition(s"SELECT * FROM $inFiles") == "TABLE_OR_VIEW_NOT_FOUND")
    sql(s"CREATE VIEW $inFiles AS SELECT 1 AS a")
    val own = metadata(inFiles).location
    sql(s"CREATE OR REPLACE VIEW $inFiles TBLPROPERTIES ('location' = '$own') AS SELECT 2 AS a")
    assert(rows(s"SELECT * FROM $inFiles") == Seq(Row(2)) && metadata(inFiles).location == own)
  }

  test("the number of columns and duplicate column names are checked as in Spark") {
    val view = newView("lite")
    val query = "AS SELECT 1 AS a, 2 AS b"
    assert(condition(s"CREATE VIEW $view (x) $query") == "CREATE_VIEW_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS")
    assert(condition(s"CREATE VIEW $view (x, y, z) $query") ==
      "CREATE_VIEW_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS")
    assert(condition(s"CREATE VIEW $view AS SELECT 1 AS a, 2 AS A") == "COLUMN_ALREADY_EXISTS")
    assert(condition(s"SELECT * FROM $view") == "TABLE_OR_VIEW_NOT_FOUND")
  }
}
