package iceberglite.spark

import java.lang.reflect.{Method, Proxy}

import scala.collection.JavaConverters._

import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.sql.{AnalysisException, DataFrame, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.error.Causes

/** Checks a session catalog that contains iceberg-lite tables and tables of Spark. */
class SparkSessionCatalogSuite extends AnyFunSuite with SharedSession {

  private def session(settings: (String, String)*): SparkSession = {
    val session = spark.newSession()
    SharedSession.catalogConf("spark_catalog", classOf[SparkSessionCatalog].getName, settings: _*)
      .foreach { case (key, value) => session.conf.set(key, value) }
    session
  }

  private lazy val fileSession: SparkSession =
    session("type" -> "hadoop", "warehouse" -> newDirectory().toUri.toString)

  private lazy val databaseSession: SparkSession = {
    val directory = newDirectory()
    session("type" -> "jdbc", "uri" -> s"jdbc:sqlite:$directory/c.db", "warehouse" -> directory.toUri.toString)
  }

  private def forBothSessions(body: SparkSession => Unit): Unit = Seq(fileSession, databaseSession).foreach { s =>
    val db = s"db${SharedSession.counter.incrementAndGet()}"
    s.sql(s"CREATE DATABASE $db")
    s.sql(s"USE $db")
    try body(s)
    finally {
      s.sql("SHOW TABLES").collect().foreach(r => s.sql(s"DROP TABLE ${r.getString(1)}"))
      s.sql("USE default")
      s.sql(s"DROP DATABASE $db")
    }
  }

  private def values(frame: DataFrame): Seq[Any] = frame.collect().map(_.get(0)).toSeq.sortBy(_.toString)

  private def provider(s: SparkSession, table: String): String =
    s.sql(s"DESCRIBE TABLE EXTENDED $table").collect().find(_.getString(0) == "Provider").get.getString(1)

  test("DROP DATABASE keeps the iceberg-lite tables of the default database, and finds those of any spelling") {
    forBothSessions { s =>
      val db = s.catalog.currentDatabase
      val t = s"in_default_${SharedSession.counter.incrementAndGet()}"
      s.sql(s"CREATE TABLE default.$t (id INT) USING iceberg")
      try {
        intercept[AnalysisException](s.sql("DROP DATABASE Default CASCADE"))
        assert(s.table(s"default.$t").count() == 0)
      } finally s.sql(s"DROP TABLE default.$t")
      s.sql("CREATE TABLE mine (id INT) USING iceberg")
      intercept[AnalysisException](s.sql(s"DROP DATABASE ${db.toUpperCase}"))
      assert(values(s.sql("SHOW TABLES").select("tableName")) == Seq("mine"))
      s.sql(s"DROP DATABASE ${db.toUpperCase} CASCADE")
      s.sql(s"CREATE DATABASE $db")
      assert(s.sql("SHOW TABLES").isEmpty)
    }
  }

  test("iceberg-lite tables and Spark's own tables coexist") {
    forBothSessions { s =>
      s.sql("CREATE TABLE mine (id INT) USING iceberg PARTITIONED BY (bucket(2, id))")
      s.sql("CREATE TABLE theirs (id INT) USING parquet")
      s.sql("INSERT INTO mine VALUES (1)")
      s.sql("INSERT INTO theirs VALUES (2)")
      assert(values(s.sql("SELECT id FROM mine UNION ALL SELECT id FROM theirs")) == Seq(1, 2))
      assert(values(s.sql("SHOW TABLES").select("tableName")) == Seq("mine", "theirs"))
      assert(provider(s, "mine") == "iceberg" && provider(s, "theirs") == "parquet")
      s.sql("ALTER TABLE mine ADD COLUMN x STRING")
      s.sql("ALTER TABLE theirs ADD COLUMN x STRING")
      s.sql("ALTER TABLE mine ADD PARTITION FIELD x")
      assert(s.table("mine").columns.toSeq == s.table("theirs").columns.toSeq)
      val snapshots = s"spark_catalog.${s.catalog.currentDatabase}.mine.snapshots"
      assert(values(s.sql(s"SELECT operation FROM $snapshots")) == Seq("append"))
      s.sql("TRUNCATE TABLE mine")
      assert(s.table("mine").count() == 0)
    }
  }

  test("Iceberg views and Spark's own views coexist", Slow) {
    forBothSessions { s =>
      s.sql("CREATE TABLE mine (id INT) USING iceberg")
      s.sql("INSERT INTO mine VALUES (1), (2)")
      spark.newSession().sql(s"CREATE VIEW ${s.catalog.currentDatabase}.theirs AS SELECT 0 AS id")
      s.sql("ALTER VIEW theirs AS SELECT id FROM mine WHERE id = 1")
      s.sql("CREATE VIEW ours AS SELECT id FROM mine WHERE id = 2")
      s.sql("CREATE VIEW nested AS SELECT id FROM ours UNION ALL SELECT id FROM theirs")
      assert(values(s.sql("SELECT id FROM nested")) == Seq(1, 2))
      assert(values(s.sql("SHOW VIEWS").select("viewName")) == Seq("nested", "ours", "theirs"))
      s.sql("CREATE OR REPLACE VIEW ours AS SELECT id + 5 AS id FROM mine WHERE id = 2")
      s.sql("ALTER VIEW theirs AS SELECT id + 10 AS id FROM mine WHERE id = 1")
      assert(values(s.sql("SELECT id FROM nested")) == Seq(11, 7).sortBy(_.toString))
      val db = s.catalog.currentDatabase
      s.sql("USE default")
      assert(values(s.sql(s"SELECT id FROM $db.ours")) == Seq(7))
      s.sql(s"USE $db")
      val details = s.sql("DESCRIBE EXTENDED ours").collect().map(r => r.getString(0) -> r.getString(1)).toMap
      assert(details("View Version") == "2")
      val inUse = intercept[AnalysisException](s.sql("CREATE VIEW mine AS SELECT 1 AS a"))
      assert(inUse.getErrorClass == "TABLE_OR_VIEW_ALREADY_EXISTS")
      Seq("nested", "ours", "theirs").foreach(v => s.sql(s"DROP VIEW $v"))
      assert(s.sql("SHOW VIEWS").isEmpty)
    }
  }

  test("the session catalog rejects the name of an Iceberg view for a table of Spark") {
    forBothSessions { s =>
      try {
        s.sql("CREATE TABLE theirs (id INT) USING parquet")
        s.sql("CREATE VIEW v AS SELECT 1 AS id")
        val Seq(theirs, view) = Seq("theirs", "v").map(Identifier.of(Array(s.catalog.currentDatabase), _))
        inSession(s)(_.sessionState.catalogManager.currentCatalog) match {
          case catalog: SparkSessionCatalog =>
            val parquet = Map(TableCatalog.PROP_PROVIDER -> "parquet").asJava
            intercept[TableAlreadyExistsException](catalog.renameTable(theirs, view))
            intercept[TableAlreadyExistsException](
              catalog.createTable(view, new StructType, Array.empty[Transform], parquet)
            )
          case other => fail(s"$other is not a catalog of the connector")
        }
        assert(values(s.table("v")) == Seq(1))
      } finally s.sql("DROP VIEW IF EXISTS v")
    }
  }

  test("SHOW VIEWS lists Spark's views if the Iceberg catalog cannot store views") {
    val directory = newDirectory()
    val s = session(
      "type" -> "jdbc",
      "uri" -> s"jdbc:sqlite:$directory/old.db",
      "warehouse" -> directory.toUri.toString,
      "jdbc.schema-version" -> "V0"
    )
    s.sql("CREATE DATABASE without_views")
    s.sql("CREATE VIEW without_views.theirs AS SELECT 1 AS id")
    assert(values(s.sql("SHOW VIEWS IN without_views").select("viewName")) == Seq("theirs"))
    s.sql("DROP VIEW without_views.theirs")
    s.sql("DROP DATABASE without_views")
  }

  test("an iceberg-lite table cannot be created with the name of a table of Spark") {
    forBothSessions { s =>
      s.sql("CREATE TABLE mine (id INT) USING iceberg")
      s.sql("CREATE TABLE theirs (id INT) USING parquet")
      intercept[TableAlreadyExistsException](s.sql("CREATE TABLE theirs (id INT) USING iceberg"))
      intercept[TableAlreadyExistsException](s.sql("CREATE OR REPLACE TABLE theirs (id INT) USING iceberg"))
      assert(provider(s, "mine") == "iceberg" && provider(s, "theirs") == "parquet")
    }
  }

  test("CTAS creates tables of both kinds, and a failed RTAS leaves an iceberg-lite table unchanged", Slow) {
    forBothSessions { s =>
      s.sql("CREATE TABLE mine USING iceberg AS SELECT 1 AS id")
      s.sql("CREATE OR REPLACE TABLE mine USING iceberg AS SELECT id + 1 AS id FROM mine")
      s.sql("CREATE TABLE theirs USING parquet AS SELECT id FROM mine")
      assert(values(s.table("mine")) == Seq(2) && values(s.table("theirs")) == Seq(2))
      val error = intercept[Exception] {
        s.sql("CREATE OR REPLACE TABLE mine USING iceberg AS SELECT int(raise_error('on purpose')) AS id")
      }
      assert(Causes.of(error).mkString("\n").contains("on purpose"))
      assert(values(s.table("mine")) == Seq(2))
      s.range(3).write.format("iceberg-lite").saveAsTable("saved")
      assert(provider(s, "saved") == "iceberg" && s.table("saved").count() == 3)
    }
  }

  test("reads and DROP TABLE fail for a table that does not exist, and DROP TABLE IF EXISTS succeeds") {
    forBothSessions { s =>
      val e = intercept[AnalysisException](s.table("nothing"))
      assert(e.getErrorClass == "TABLE_OR_VIEW_NOT_FOUND")
      intercept[AnalysisException](s.sql("DROP TABLE nothing"))
      s.sql("DROP TABLE IF EXISTS nothing")
    }
  }

  test("an iceberg-lite table can only be created in a database of Spark, and Spark's functions are available") {
    intercept[AnalysisException](fileSession.sql("CREATE TABLE no_such_database.t (id INT) USING iceberg"))
    assert(values(fileSession.sql("SELECT upper('a')")) == Seq("A"))
  }

  test("a database with an iceberg-lite table is not empty and is not dropped") {
    forBothSessions { s =>
      s.sql("CREATE TABLE mine (id INT) USING iceberg")
      val db = s.catalog.currentDatabase
      val error = intercept[Exception](s.sql(s"DROP DATABASE $db"))
      assert(error.getMessage.contains("not empty") || error.getMessage.contains("NOT_EMPTY"))
      assert(values(s.sql("SHOW TABLES").select("tableName")) == Seq("mine"))
    }
  }

  test("an iceberg-lite table that is stored in a JDBC catalog can be renamed") {
    val s = databaseSession
    s.sql("CREATE TABLE default.old_name (id INT) USING iceberg")
    s.sql("ALTER TABLE default.old_name RENAME TO default.new_name")
    assert(s.table("default.new_name").columns.toSeq == Seq("id"))
    intercept[AnalysisException](s.table("default.old_name"))
    assert(inSession(s)(_.read.format("iceberg-lite").load("default.new_name").columns.toSeq) == Seq("id"))
    s.sql("DROP TABLE default.new_name")
  }

  test("statements for branches, and procedures, work for iceberg-lite tables and fail for tables of Spark", Slow) {
    forBothSessions { s =>
      val db = s.catalog.currentDatabase
      s.sql("CREATE TABLE mine (id INT) USING iceberg")
      s.sql("CREATE TABLE theirs (id INT) USING parquet")
      s.sql("INSERT INTO mine VALUES (1)")
      s.sql("ALTER TABLE mine CREATE BRANCH work")
      s.sql(s"INSERT INTO spark_catalog.$db.mine.branch_work VALUES (2)")
      assert(values(s.sql("SELECT * FROM mine VERSION AS OF 'work'")) == Seq(1, 2))
      assert(values(s.table("mine")) == Seq(1))
      val moved = s.sql("CALL system.fast_forward('mine', 'main', 'work')").collect().head
      assert(moved.getString(0) == "main" && values(s.table("mine")) == Seq(1, 2))
      assert(s.sql(s"CALL spark_catalog.system.ancestors_of(table => '$db.mine')").count() == 2)
      intercept[AnalysisException](s.sql("CALL system.ancestors_of('theirs')"))
      intercept[AnalysisException](s.sql("ALTER TABLE theirs CREATE BRANCH work"))
    }
  }

  test("the session catalog has the functions of the connector, and filters with them skip files", Slow) {
    val s = fileSession
    assert(values(s.sql("SELECT spark_catalog.system.bucket(16, 34)")) == Seq(3))
    assert(values(s.sql("SELECT spark_catalog.System.Truncate(3, id) FROM range(5, 6)")) == Seq(3L))
    Seq("days(timestamp_seconds(id))", "zorder(id, 3)", "hilbert(id, 'a')", "bucket(4, cast(id AS STRING))").foreach {
      call =>
        val Seq(own, other) = Seq("spark_catalog", "lite").map { catalog =>
          values(s.sql(s"SELECT hex(cast($catalog.system.$call AS STRING)) FROM range(10)"))
        }
        assert(own == other, call)
    }
    val error = intercept[AnalysisException](s.sql("SELECT spark_catalog.system.bucket('4', 1)"))
    assert(error.getMessage.contains("bucket(number, value)"))
    s.sql("CREATE TABLE default.f (id BIGINT) USING iceberg PARTITIONED BY (bucket(4, id))")
    try {
      s.sql("INSERT INTO default.f SELECT id FROM range(100)")
      val bucket = s.sql("SELECT id FROM default.f WHERE spark_catalog.system.bucket(4, id) = 1")
      assert(bucket.queryExecution.executedPlan.toString.contains("files=1 of 4") && bucket.count() > 0)
    } finally s.sql("DROP TABLE default.f")
  }

  test("register_table requires a new table name in an existing database") {
    val s = databaseSession
    s.sql("CREATE TABLE default.first (id INT) USING iceberg")
    s.sql("CREATE TABLE default.plain (id INT) USING parquet")
    try {
      val file = s.sql("SELECT file FROM spark_catalog.default.first.metadata_log_entries").head().getString(0)
      s.sql(s"CALL spark_catalog.system.register_table('default.second', '$file')")
      assert(values(s.sql("SHOW TABLES IN default").select("tableName")) == Seq("first", "plain", "second"))
      intercept[TableAlreadyExistsException](s.sql(s"CALL system.register_table('default.plain', '$file')"))
      intercept[AnalysisException](s.sql(s"CALL system.register_table('nothing.third', '$file')"))
    } finally Seq("second", "first", "plain").foreach(t => s.sql(s"DROP TABLE IF EXISTS default.$t"))
  }

  /** Returns a catalog of Spark whose methods all fail, as during an outage of the Metastore. */
  private def failingCatalog: CatalogPlugin = Proxy.newProxyInstance(
    getClass.getClassLoader,
    Array[Class[_]](classOf[TableCatalog], classOf[SupportsNamespaces], classOf[FunctionCatalog]),
    (_: Any, _: Method, _: Array[AnyRef]) => throw new IllegalStateException("The Metastore does not respond")
  ).asInstanceOf[CatalogPlugin]

  test("during an outage of Spark's catalog, no table is created whose name may exist in that catalog") {
    val catalog = new SparkSessionCatalog
    val settings = Map("type" -> "hadoop", "warehouse" -> newDirectory().toUri.toString)
    catalog.initialize("spark_catalog", new CaseInsensitiveStringMap(settings.asJava))
    catalog.setDelegateCatalog(failingCatalog)
    val name = Identifier.of(Array("db"), "t")
    assert(intercept[IllegalStateException](catalog.tableExists(name)).getMessage.contains("does not respond"))
    val create = Map(TableCatalog.PROP_PROVIDER -> "iceberg").asJava
    val error =
      intercept[IllegalStateException](catalog.createTable(name, new StructType, Array.empty[Transform], create))
    assert(error.getMessage.contains("does not respond"))
  }
}
