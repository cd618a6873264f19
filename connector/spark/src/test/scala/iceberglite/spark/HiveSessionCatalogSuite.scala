package iceberglite.spark

import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException
import org.apache.spark.sql.{AnalysisException, DataFrame, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import iceberglite.servers.Servers

/** Checks iceberg-lite tables and Hive tables in the session catalog of Spark, with a real Hive Metastore. */
@Slow
class HiveSessionCatalogSuite extends AnyFunSuite with HiveSession {
  private def inDatabase(name: String)(body: SparkSession => Unit): Unit = test(name) {
    val db = s"hive_db${SharedSession.counter.incrementAndGet()}"
    inSession(hive) { s =>
      s.sql(s"CREATE DATABASE $db LOCATION '${newDirectory(db).toUri}'")
      s.sql(s"USE $db")
      try body(s)
      finally {
        s.sql("SHOW VIEWS").collect().foreach(r => s.sql(s"DROP VIEW `${r.getString(1)}`"))
        s.sql("SHOW TABLES").collect().foreach(r => s.sql(s"DROP TABLE `${r.getString(1)}`"))
        s.sql("USE default")
        s.sql(s"DROP DATABASE $db")
      }
    }
  }

  private def values(frame: DataFrame): Seq[Any] = frame.collect().map(_.get(0)).toSeq.sortBy(_.toString)

  private def provider(s: SparkSession, table: String): String =
    s.sql(s"DESCRIBE TABLE EXTENDED $table").collect().find(_.getString(0) == "Provider").get.getString(1)

  inDatabase("iceberg-lite tables, Spark tables, Hive tables and views coexist") { s =>
    s.sql("CREATE TABLE mine (id INT, day DATE) USING iceberg PARTITIONED BY (months(day))")
    s.sql("CREATE TABLE parquet_table (id INT) USING parquet")
    s.sql("CREATE TABLE orc_table (id INT) USING orc")
    s.sql("CREATE TABLE hive_table (id INT) STORED AS PARQUET")
    s.sql("INSERT INTO mine VALUES (1, DATE'2024-01-01')")
    Seq("parquet_table", "orc_table", "hive_table").foreach(t => s.sql(s"INSERT INTO $t VALUES (2)"))
    s.sql("CREATE VIEW both_kinds AS SELECT id FROM mine UNION ALL SELECT id FROM parquet_table")
    assert(values(s.table("both_kinds")) == Seq(1, 2))
    assert(values(s.sql("SHOW TABLES").select("tableName")) ==
      Seq("both_kinds", "hive_table", "mine", "orc_table", "parquet_table"))
    assert(provider(s, "mine") == "iceberg" && provider(s, "orc_table") == "orc" && provider(s, "hive_table") == "hive")
    assert(values(s.sql("SELECT m.id + h.id FROM mine m JOIN hive_table h ON m.id < h.id")) == Seq(3))
  }

  inDatabase("iceberg-lite tables and Spark tables can be changed, renamed and dropped") { s =>
    s.sql("CREATE TABLE mine USING iceberg AS SELECT 1 AS id")
    s.sql("CREATE TABLE theirs USING parquet AS SELECT 2 AS id")
    s.sql("ALTER TABLE mine ADD COLUMN x STRING FIRST")
    s.sql("ALTER TABLE theirs ADD COLUMN x STRING")
    assert(s.table("mine").columns.toSeq == Seq("x", "id") && s.table("theirs").columns.toSeq == Seq("id", "x"))
    s.sql("ALTER TABLE mine ADD PARTITION FIELD bucket(2, id)")
    s.sql("ALTER TABLE mine SET TBLPROPERTIES ('a' = 'b')")
    s.sql("ALTER TABLE theirs SET TBLPROPERTIES ('a' = 'b')")
    s.sql("ALTER TABLE mine RENAME TO mine_too")
    s.sql("ALTER TABLE theirs RENAME TO theirs_too")
    assert(values(s.sql("SHOW TABLES").select("tableName")) == Seq("mine_too", "theirs_too"))
    intercept[TableAlreadyExistsException](s.sql("ALTER TABLE mine_too RENAME TO theirs_too"))
    intercept[TableAlreadyExistsException](s.sql("CREATE TABLE theirs_too (id INT) USING iceberg"))
    intercept[AnalysisException](s.sql("CREATE TABLE mine_too (id INT) USING parquet"))
    s.sql("CREATE OR REPLACE TABLE mine_too USING iceberg AS SELECT id + 1 AS id FROM mine_too")
    assert(values(s.table("mine_too")) == Seq(2))
    s.sql("DELETE FROM mine_too WHERE id = 2")
    assert(s.table("mine_too").count() == 0)
    s.sql("DROP TABLE mine_too PURGE")
    s.sql("DROP TABLE theirs_too")
    assert(s.sql("SHOW TABLES").count() == 0)
  }

  inDatabase("a statement of the extensions on a table that is not an Iceberg table fails with the reason") { s =>
    s.sql("CREATE TABLE theirs (id INT, x INT) USING parquet")
    Seq("ADD PARTITION FIELD x", "DROP PARTITION FIELD x").foreach { change =>
      val error = intercept[Exception](s.sql(s"ALTER TABLE theirs $change"))
      assert(error.getMessage.contains("not an Iceberg table"))
    }
  }

  inDatabase("a database with an iceberg-lite table is not dropped, even with CASCADE") { s =>
    s.sql("CREATE TABLE mine (id INT) USING iceberg")
    val db = s.catalog.currentDatabase
    Seq("", "CASCADE").foreach { clause =>
      val error = intercept[AnalysisException](s.sql(s"DROP DATABASE $db $clause"))
      assert(error.getMessage.contains(db), clause)
    }
    assert(values(s.sql("SHOW TABLES").select("tableName")) == Seq("mine"))
  }

  inDatabase("a database with Iceberg views only is dropped with CASCADE") { s =>
    val db = s"${s.catalog.currentDatabase}_views"
    s.sql(s"CREATE DATABASE $db")
    s.sql(s"CREATE VIEW $db.v AS SELECT 1 AS a")
    assert(intercept[AnalysisException](s.sql(s"DROP DATABASE $db")).getErrorClass == "SCHEMA_NOT_EMPTY")
    assert(values(s.table(s"$db.v")) == Seq(1))
    s.sql(s"DROP DATABASE $db CASCADE")
    assert(!s.catalog.databaseExists(db))
  }

  inDatabase("iceberg-lite tables are visible in other catalogs and to Apache Iceberg, and vice versa") { s =>
    val db = s.catalog.currentDatabase
    s.sql("CREATE TABLE mine (id INT) USING iceberg")
    s.sql("INSERT INTO mine VALUES (1)")
    s.sql(s"INSERT INTO ice.$db.mine VALUES (2)")
    s.sql("REFRESH TABLE mine")
    assert(values(s.table("mine")) == Seq(1, 2) && values(s.table(s"other.$db.mine")) == Seq(1, 2))
    s.sql(s"CREATE TABLE ice.$db.theirs (id INT) USING iceberg")
    s.sql("INSERT INTO theirs VALUES (3)")
    assert(values(s.table(s"ice.$db.theirs")) == Seq(3) && provider(s, "theirs") == "iceberg")
    assert(values(s.sql(s"SHOW TABLES IN other.$db").select("tableName")) == Seq("mine", "theirs"))
  }

  /**
   * Creates a view of Spark, as a session without the connector does. That session cannot read Iceberg tables, so this
   * session sets the query.
   */
  private def createInSpark(s: SparkSession, view: String, query: String): Unit = {
    val plain = s.newSession()
    plain.conf.unset("spark.sql.catalog.spark_catalog")
    plain.sql(s"CREATE VIEW ${s.catalog.currentDatabase}.$view AS SELECT 0 AS id")
    s.sql(s"ALTER VIEW $view AS $query")
  }

  /** Runs the body with Apache Iceberg's catalog of the Hive Metastore, in a session with its extensions. */
  private def withPeer[A](db: String)(body: String => A): A = {
    val catalog = "iceviews"
    val server = Seq("uri" -> Servers.hive.uri, "warehouse" -> Servers.hive.warehouse)
    val settings = Seq("type" -> "hive", "cache-enabled" -> "false") ++ server
    withConf(SharedSession.catalogConf(catalog, SharedSession.PeerCatalog, settings: _*).toSeq: _*) {
      inSession(spark)(_ => body(s"$catalog.$db"))
    }
  }

  private def names(s: SparkSession, statement: String): Seq[String] =
    s.sql(statement).collect().map(_.getString(1)).toSeq.sorted

  inDatabase("an Iceberg view is created, read, replaced and dropped, and is not stored as a view of Spark") { s =>
    val db = s.catalog.currentDatabase
    s.sql("CREATE TABLE items USING iceberg AS SELECT 1 AS id")
    createInSpark(s, "sparks", "SELECT id FROM items")
    s.sql("CREATE VIEW mine (k COMMENT 'key') AS SELECT id FROM items")
    assert(values(s.table("mine")) == Seq(1) && values(s.table("sparks")) == Seq(1))
    assert(names(s, "SHOW VIEWS") == Seq("mine", "sparks"))
    assert(names(s, "SHOW TABLES") == Seq("items", "mine", "sparks"))
    val details = s.sql("DESCRIBE EXTENDED mine").collect().map(r => r.getString(0) -> r.getString(1)).toMap
    assert(details("View Version") == "1" && details("View Dialects") == "spark")
    s.sql("CREATE OR REPLACE VIEW mine AS SELECT id + 1 AS n FROM items")
    assert(values(s.table("mine")) == Seq(2) && s.table("mine").columns.toSeq == Seq("n"))
    s.sql("ALTER VIEW mine AS SELECT id + 2 AS m FROM items")
    assert(values(s.table(s"other.$db.mine")) == Seq(3))
    assert(withPeer(db)(peer => values(sql(s"SELECT * FROM $peer.mine"))) == Seq(3))
    assert(s.sql("CALL spark_catalog.system.rollback_view('mine', 1)").head().getInt(1) == 1)
    assert(s.table("mine").columns.toSeq == Seq("k"))
    Seq("CREATE TABLE mine (id INT) USING iceberg", "CREATE TABLE mine (id INT) USING parquet").foreach { statement =>
      assert(intercept[AnalysisException](s.sql(statement)).getErrorClass == "TABLE_OR_VIEW_ALREADY_EXISTS", statement)
    }
    s.sql("DROP VIEW mine")
    assert(names(s, "SHOW VIEWS") == Seq("sparks"))
    assert(withPeer(db)(peer => names(spark, s"SHOW VIEWS IN $peer")).isEmpty)
    assert(intercept[AnalysisException](s.table("mine")).getErrorClass == "TABLE_OR_VIEW_NOT_FOUND")
  }

  inDatabase("unqualified names in an Iceberg view of the Hive Metastore refer to the view's own database") { s =>
    val db = s.catalog.currentDatabase
    s.sql("CREATE TABLE items USING iceberg AS SELECT 1 AS id")
    s.sql("CREATE VIEW mine AS SELECT id FROM items")
    createInSpark(s, "sparks", "SELECT id FROM mine")
    s.sql("USE default")
    try {
      intercept[AnalysisException](s.table("items"))
      assert(values(s.table(s"$db.mine")) == Seq(1) && values(s.table(s"spark_catalog.$db.mine")) == Seq(1))
      assert(values(s.table(s"$db.sparks")) == Seq(1))
    } finally s.sql(s"USE $db")
  }

  inDatabase("a view that Apache Iceberg created in the Hive Metastore is read, replaced and dropped") { s =>
    val db = s.catalog.currentDatabase
    s.sql("CREATE TABLE items USING iceberg AS SELECT 1 AS id")
    withPeer(db) { peer =>
      sql(s"USE $peer")
      try sql("CREATE VIEW theirs (k COMMENT 'key') AS SELECT id FROM items")
      finally sql("USE spark_catalog.default")
    }
    assert(values(s.table("theirs")) == Seq(1) && s.table("theirs").schema.head.getComment().contains("key"))
    assert(names(s, "SHOW VIEWS") == Seq("theirs") && names(s, "SHOW TABLES") == Seq("items", "theirs"))
    s.sql("CREATE OR REPLACE VIEW theirs AS SELECT id + 1 AS n FROM items")
    assert(values(s.table("theirs")) == Seq(2))
    assert(withPeer(db)(peer => values(sql(s"SELECT * FROM $peer.theirs"))) == Seq(2))
    s.sql("DROP VIEW theirs")
    assert(withPeer(db)(peer => names(spark, s"SHOW VIEWS IN $peer")).isEmpty)
  }

  inDatabase("the procedure snapshot copies a table of Spark or Hive, and migrate converts it") { s =>
    for (
      (table, clauses) <- Seq("spark_table" -> "USING parquet PARTITIONED BY (P)", "hive_table" -> "STORED AS ORC")
    ) {
      s.sql(s"CREATE TABLE $table (id BIGINT, Name STRING, P INT) $clauses")
      s.sql(s"INSERT INTO $table SELECT id, concat('n', id), CAST(id % 3 AS INT) FROM range(30)")
      val before = values(s.table(table).selectExpr("concat_ws(',', id, name, p)"))
      s.sql(s"CALL system.snapshot('$table', 'copy_of_$table')")
      assert(values(s.table(s"copy_of_$table").selectExpr("concat_ws(',', id, name, p)")) == before)
      assert(provider(s, table) != "iceberg")
      s.sql(s"CALL system.migrate('$table')")
      assert(provider(s, table) == "iceberg")
      s.sql(s"DELETE FROM $table WHERE id < 10")
      s.sql(s"DROP TABLE ${table}_backup_")
      assert(values(s.table(table).select("id")) == (10L until 30L).sortBy(_.toString))
    }
  }
}
