package iceberglite.spark

import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException
import org.apache.spark.sql.{AnalysisException, DataFrame, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

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
        s.sql("SHOW TABLES").collect().foreach { r =>
          val drop = if (s.catalog.getTable(r.getString(1)).tableType == "VIEW") "VIEW" else "TABLE"
          s.sql(s"DROP $drop `${r.getString(1)}`")
        }
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

  inDatabase("the procedures snapshot and migrate convert tables of Spark and Hive") { s =>
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
