package iceberglite.spark.view

import scala.util.control.NonFatal

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.{SharedSession, SparkSessionCatalog}

/**
 * Compares the statements about views in Spark's session catalog with those of Apache Iceberg 1.12: each statement runs
 * in a session of each connector, with its own catalog, and the results or the conditions of the errors are equal
 * unless the test lists both.
 */
class SessionViewsSuite extends AnyFunSuite with SharedSession {

  /** A session catalog of one connector, and Spark's own session catalog with the same databases. */
  final private class Connector(base: SparkSession, catalogClass: String, settings: Seq[(String, String)]) {
    private val session = base.newSession()
    private val plain = base.newSession()
    SharedSession.catalogConf("spark_catalog", catalogClass, settings: _*)
      .foreach { case (key, value) => session.conf.set(key, value) }

    /** Returns the rows, or the condition of the error, or the error's class if it has no condition. */
    def run(statement: String): String = run(session, statement)

    /** Runs a statement as a session without a connector does. */
    def runInSpark(statement: String): String = run(plain, statement)

    private def run(s: SparkSession, statement: String): String = inSession(s) { _ =>
      try s.sql(statement).collect().map(_.mkString("|")).mkString(";")
      catch {
        case e: SparkThrowable if e.getErrorClass != null => e.getErrorClass
        case NonFatal(e) => e.getClass.getSimpleName
      }
    }
  }

  private def jdbc(version: String): Seq[(String, String)] = {
    val directory = newDirectory()
    val uri = s"jdbc:sqlite:$directory/c.db"
    Seq("type" -> "jdbc", "uri" -> uri, "warehouse" -> directory.toUri.toString, "jdbc.schema-version" -> version)
  }

  final private class Pair(settings: () => Seq[(String, String)]) {
    val db = s"views_db${SharedSession.counter.incrementAndGet()}"
    private val lite = new Connector(SharedSession.liteExtensions, classOf[SparkSessionCatalog].getName, settings())
    private val apache =
      new Connector(SharedSession.peerExtensions, "org.apache.iceberg.spark.SparkSessionCatalog", settings())
    private val both = Seq(lite, apache)

    /** Checks that the statement has the given result in both connectors. */
    def same(statement: String, expected: String = ""): Unit = differ(statement, expected, expected)

    /** Checks the result of a statement for which the connectors differ. */
    def differ(statement: String, ours: String, theirs: String): Unit = {
      assert(lite.run(statement) == ours, statement)
      assert(apache.run(statement) == theirs, s"$statement in Apache Iceberg")
    }

    /** Returns whether Spark's own catalog contains the view, in each connector. */
    def inSpark(view: String): Seq[Boolean] =
      both.map(_.runInSpark(s"SHOW VIEWS IN $db").split(';').contains(s"$db|$view|false"))

    /** Creates a view of Spark, as in a session without a connector. */
    def createInSpark(view: String, query: String): Unit =
      both.foreach(c => assert(c.runInSpark(s"CREATE VIEW $db.$view AS $query") == ""))

    def drop(): Unit = both.foreach { c =>
      c.run("USE default")
      c.run(s"DROP DATABASE $db CASCADE")
      c.runInSpark(s"DROP DATABASE IF EXISTS $db CASCADE")
    }
  }

  private def onBoth(name: String, settings: => Seq[(String, String)] = jdbc("V1"))(body: Pair => Unit): Unit =
    test(name) {
      val pair = new Pair(() => settings)
      pair.same(s"CREATE DATABASE ${pair.db}")
      pair.same(s"USE ${pair.db}")
      try body(pair)
      finally pair.drop()
    }

  onBoth("CREATE VIEW creates an Iceberg view, which is read, replaced, changed and dropped") { p =>
    p.same("CREATE VIEW first AS SELECT 1 AS a")
    p.same("DROP VIEW first")
    p.same("CREATE TABLE t USING iceberg AS SELECT 1 AS id, 'a' AS name")
    p.same("CREATE VIEW v (k COMMENT 'key') COMMENT 'c' TBLPROPERTIES ('a' = 'b') AS SELECT id FROM t")
    assert(p.inSpark("v") == Seq(false, false))
    p.same("SELECT * FROM v", "1")
    p.same("DESCRIBE v", "k|int|key")
    p.same("SHOW TBLPROPERTIES v ('a')", "a|b")
    p.same("SHOW VIEWS", s"${p.db}|v|false")
    p.same("CREATE VIEW v AS SELECT 1 AS a", "VIEW_ALREADY_EXISTS")
    p.same("CREATE VIEW IF NOT EXISTS v AS SELECT 1 AS a")
    p.same("CREATE OR REPLACE VIEW v AS SELECT id + 1 AS n FROM t")
    p.same("SELECT n FROM v", "2")
    p.same("ALTER VIEW v SET TBLPROPERTIES ('x' = 'y')")
    p.same("ALTER VIEW v UNSET TBLPROPERTIES ('x')")
    p.same("ALTER VIEW v RENAME TO w")
    p.differ("ALTER VIEW w AS SELECT 9 AS id", "", "ExtendedAnalysisException")
    p.differ("SELECT * FROM w", "9", "2")
    p.same("DROP TABLE w", "TABLE_OR_VIEW_NOT_FOUND")
    p.same("DROP VIEW w")
    p.same("DROP VIEW w", "VIEW_NOT_FOUND")
    p.same("DROP VIEW IF EXISTS w")
    // Apache Iceberg lists no tables of a JDBC catalog.
    p.differ("SHOW TABLES", s"${p.db}|t|false", "")
  }

  onBoth("the name of a new view can be a parameter; Apache Iceberg then creates a view of Spark") { p =>
    p.same("CREATE VIEW IDENTIFIER('v') AS SELECT 1 AS a")
    assert(p.inSpark("v") == Seq(false, true))
    p.same("SELECT * FROM v", "1")
    p.same("DROP VIEW IDENTIFIER('v')")
  }

  onBoth("views of Spark are read, listed, replaced and dropped; Apache Iceberg only reads and alters them") { p =>
    p.same("CREATE TABLE t (id INT) USING iceberg")
    p.createInSpark("old", "SELECT 5 AS id")
    p.same("SELECT * FROM old", "5")
    p.same("DESCRIBE old", "id|int|null")
    p.differ("SHOW VIEWS", s"${p.db}|old|false", "")
    p.same("ALTER VIEW old SET TBLPROPERTIES ('x' = 'y')")
    p.same("ALTER VIEW old AS SELECT 6 AS id")
    p.same("ALTER VIEW old RENAME TO older")
    p.differ("DROP VIEW older", "", "VIEW_NOT_FOUND")
    p.createInSpark("replaced", "SELECT 1 AS id")
    p.same("CREATE OR REPLACE VIEW replaced AS SELECT 2 AS id")
    // The new view of Apache Iceberg has the same name as the view of Spark, which is read.
    p.differ("SELECT * FROM replaced", "2", "1")
    p.same("SHOW VIEWS LIKE 'r*'", s"${p.db}|replaced|false")
    assert(p.inSpark("replaced") == Seq(true, true))
    p.same("DROP VIEW replaced")
    assert(p.inSpark("replaced") == Seq(false, true))
  }

  onBoth("an Iceberg view and a view of Spark read each other") { p =>
    p.createInSpark("old", "SELECT 5 AS id")
    p.same("CREATE VIEW new AS SELECT id + 1 AS id FROM old")
    p.same("ALTER VIEW old AS SELECT 7 AS id")
    p.same("SELECT * FROM new", "8")
    p.createInSpark("outermost", "SELECT 1 AS id")
    p.same("ALTER VIEW outermost AS SELECT id + 1 AS id FROM new")
    p.same("SELECT * FROM outermost", "9")
    p.same("USE default")
    // Apache Iceberg resolves the names in a view of Spark in the current database.
    p.differ(s"SELECT * FROM ${p.db}.outermost", "9", "TABLE_OR_VIEW_NOT_FOUND")
  }

  private val exists = "TABLE_OR_VIEW_ALREADY_EXISTS"

  onBoth("a view cannot have the name of a table or of a view of Spark, which Apache Iceberg does not check") { p =>
    p.same("CREATE TABLE mine (id INT) USING iceberg")
    p.same("CREATE TABLE theirs (id INT) USING parquet")
    p.createInSpark("old", "SELECT 5 AS id")
    p.differ("CREATE VIEW mine AS SELECT 1 AS a", exists, "VIEW_ALREADY_EXISTS")
    p.differ("CREATE OR REPLACE VIEW mine AS SELECT 1 AS a", exists, "AlreadyExistsException")
    p.differ("CREATE VIEW theirs AS SELECT 1 AS a", exists, "")
    p.differ("CREATE OR REPLACE VIEW theirs AS SELECT 1 AS a", exists, "")
    p.differ("CREATE VIEW old AS SELECT 1 AS a", exists, "")
    p.differ("CREATE VIEW old TBLPROPERTIES ('provider' = 'iceberg') AS SELECT 1 AS a", exists, "VIEW_ALREADY_EXISTS")
    Seq("mine", "theirs", "old").foreach(name => p.same(s"CREATE VIEW IF NOT EXISTS $name AS SELECT 1 AS a"))
    p.same("CREATE VIEW v AS SELECT 1 AS a")
    p.same("CREATE TABLE v (id INT) USING iceberg", exists)
    p.differ("ALTER VIEW v RENAME TO mine", exists, "VIEW_ALREADY_EXISTS")
    p.differ("ALTER VIEW old RENAME TO v", exists, "")
    p.differ("DROP VIEW mine", "WRONG_COMMAND_FOR_OBJECT_TYPE", "VIEW_NOT_FOUND")
    p.same("SELECT * FROM mine JOIN v ON true")
  }

  onBoth("Spark creates tables of its own sources without asking the catalog for Iceberg views") { p =>
    p.same("CREATE VIEW v AS SELECT 1 AS a")
    p.same("SELECT * FROM v", "1")
    p.same("CREATE TABLE v (id INT) USING parquet")
    p.same("DROP VIEW v")
    p.same("DROP TABLE v")
  }

  onBoth("an Iceberg view is not renamed to the name of an object of Spark") { p =>
    p.createInSpark("old", "SELECT 5 AS id")
    p.same("CREATE VIEW v AS SELECT 1 AS a")
    p.differ("ALTER VIEW v RENAME TO old", exists, "")
    p.differ("SELECT * FROM v", "1", "TABLE_OR_VIEW_NOT_FOUND")
  }

  onBoth("a view is created only in a database of Spark, which Apache Iceberg does not check") { p =>
    p.differ("CREATE VIEW no_such_db.v AS SELECT 1 AS a", "SCHEMA_NOT_FOUND", "")
    p.differ("CREATE VIEW a.b.v AS SELECT 1 AS a", "REQUIRES_SINGLE_PART_NAMESPACE", "")
    p.differ("CREATE VIEW global_temp.v AS SELECT 1 AS a", "SCHEMA_NOT_FOUND", "")
    p.differ("SHOW VIEWS IN no_such_db", "SCHEMA_NOT_FOUND", "no_such_db|v|false")
  }

  onBoth("temporary views come before permanent views, and a permanent view cannot use them") { p =>
    p.same("CREATE VIEW v AS SELECT 1 AS a")
    p.same("CREATE TEMPORARY VIEW v AS SELECT 100 AS t")
    p.same("CREATE TEMPORARY VIEW other AS SELECT 100 AS t")
    p.same("SELECT * FROM v", "100")
    p.same("SHOW VIEWS", s"${p.db}|v|false;|other|true;|v|true")
    p.differ("CREATE VIEW uses AS SELECT * FROM other", "INVALID_TEMP_OBJ_REFERENCE", "AnalysisException")
    p.same("ALTER VIEW v AS SELECT 102 AS t")
    p.same("SELECT * FROM v", "102")
    p.same("DROP VIEW v")
    p.same("SELECT * FROM v", "1")
    p.same("CREATE GLOBAL TEMPORARY VIEW g AS SELECT 1 AS a")
    p.same("SHOW VIEWS IN global_temp", "global_temp|g|true;|other|true")
    p.same("DROP VIEW global_temp.g")
    Seq("other", "v").foreach(view => p.same(s"DROP VIEW $view"))
  }

  onBoth("without storage for views, CREATE VIEW creates a view of Spark, which Apache Iceberg rejects", jdbc("V0")) {
    p =>
      p.same("CREATE TABLE mine (id INT) USING iceberg")
      p.differ("CREATE VIEW v AS SELECT 1 AS a", "", "UnsupportedOperationException")
      assert(p.inSpark("v") == Seq(true, false))
      p.differ("SELECT * FROM v", "1", "UnsupportedOperationException")
      p.differ("DROP VIEW v", "", "UnsupportedOperationException")
      p.differ("CREATE OR REPLACE VIEW mine AS SELECT 1 AS a", exists, "UnsupportedOperationException")
  }

  private def files = Seq("type" -> "hadoop", "warehouse" -> newDirectory().toUri.toString)

  onBoth("a file-system catalog stores Iceberg views, and Apache Iceberg's rejects them", files) { p =>
    p.differ("CREATE VIEW v AS SELECT 1 AS a", "", "UnsupportedOperationException")
    assert(p.inSpark("v") == Seq(false, false))
    p.differ("DROP VIEW v", "", "VIEW_NOT_FOUND")
  }
}
