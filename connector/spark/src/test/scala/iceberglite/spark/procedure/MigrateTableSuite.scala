package iceberglite.spark.procedure

import java.nio.file.{Files, Path, Paths}

import org.apache.spark.sql.{AnalysisException, DataFrame, SparkSession}
import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.{SharedSession, SparkSessionCatalog}

/** Tests `CALL migrate` in a session catalog without Hive. `HiveSessionCatalogSuite` tests it with Hive. */
class MigrateTableSuite extends AnyFunSuite with ImportFixture {

  private lazy val session: SparkSession = {
    val directory = newDirectory()
    val session = spark.newSession()
    SharedSession.catalogConf(
      "spark_catalog",
      classOf[SparkSessionCatalog].getName,
      "type" -> "jdbc",
      "uri" -> s"jdbc:sqlite:$directory/c.db",
      "warehouse" -> directory.toUri.toString
    ).foreach { case (key, value) => session.conf.set(key, value) }
    session
  }

  /** Registers a test that runs in a new database, which is dropped afterwards. */
  private def inDatabase(name: String, tags: Tag*)(body: SparkSession => Unit): Unit = test(name, tags: _*) {
    inSession(session) { s =>
      val db = s"migrate${SharedSession.counter.incrementAndGet()}"
      s.sql(s"CREATE DATABASE $db LOCATION '${newDirectory(db).toUri}'")
      s.sql(s"USE $db")
      try body(s)
      finally {
        s.sql("SHOW TABLES").collect().foreach { r =>
          val kind = if (s.catalog.getTable(r.getString(1)).tableType == "VIEW") "VIEW" else "TABLE"
          s.sql(s"DROP $kind ${r.getString(1)}")
        }
        s.sql("USE default")
        s.sql(s"DROP DATABASE $db")
      }
    }
  }

  private def rowsOf(frame: DataFrame): Seq[String] = frame.collect().map(_.toString).toSeq.sorted

  private def described(s: SparkSession, table: String, key: String): String =
    s.sql(s"DESCRIBE TABLE EXTENDED $table").collect().find(_.getString(0) == key).get.getString(1)

  private def migrate(s: SparkSession, table: String, arguments: String*): Long =
    s.sql(s"CALL system.migrate(${(s"table => '$table'" +: arguments).mkString(", ")})").collect().head.getLong(0)

  private def failure(s: SparkSession, table: String, arguments: String*): String =
    messages(intercept[AnalysisException](migrate(s, table, arguments: _*)))

  private def tables(s: SparkSession): Seq[String] =
    s.sql("SHOW TABLES").collect().map(_.getString(1)).toSeq.sorted

  private def directoryOf(s: SparkSession, table: String): Path =
    Paths.get(java.net.URI.create(described(s, table, "Location")))

  private def create(s: SparkSession, table: String, format: String, clauses: String): Unit = {
    s.sql(s"CREATE TABLE $table (id BIGINT, name STRING, p INT) USING $format $clauses TBLPROPERTIES ('k' = 'v')")
    s.sql(s"INSERT INTO $table SELECT id, concat('n', id), CAST(id % 3 AS INT) FROM range(0, 30, 1, 2)")
  }

  inDatabase("a table is replaced by an Iceberg table with its files, and the backup does not own the files", Slow) {
    s =>
      val external = newDirectory().toUri
      for (
        (table, format, clauses) <- Seq(
          ("managed", "parquet", ""),
          ("partitioned", "orc", "PARTITIONED BY (p)"),
          ("external", "parquet", s"PARTITIONED BY (p) LOCATION '$external'")
        )
      ) {
        create(s, table, format, clauses)
        val before = rowsOf(s.table(table))
        val migrated = migrate(s, table, "properties => map('mine', '1')")
        assert(migrated == filesIn(directoryOf(s, s"${table}_backup_"), format).size)
        assert(described(s, table, "Provider") == "iceberg" && rowsOf(s.table(table)) == before)
        val properties = s.sql(s"SHOW TBLPROPERTIES $table").collect().map(r => r.getString(0) -> r.getString(1)).toMap
        assert(Seq("migrated", "mine", "k").map(properties.get) == Seq(Some("true"), Some("1"), Some("v")))
        s.sql(s"INSERT INTO $table VALUES (100, 'new', 9)")
        s.sql(s"DELETE FROM $table WHERE id < 15")
        assert(rowsOf(s.table(s"${table}_BACKUP_")) == before)
        s.sql(s"DROP TABLE ${table}_BACKUP_")
        assert(s.table(table).count() == 16)
      }
  }

  inDatabase("the backup can have another name, and can be dropped") { s =>
    create(s, "t", "parquet", "")
    migrate(s, "t", "backup_table_name => 'original'")
    assert(tables(s) == Seq("original", "t"))
    create(s, "u", "parquet", "PARTITIONED BY (p)")
    migrate(s, "u", "drop_backup => true")
    assert(tables(s) == Seq("original", "t", "u") && s.table("u").count() == 30)
  }

  inDatabase("after a failure the table has its original name, rows and files", Slow) { s =>
    for ((table, clauses) <- Seq("managed" -> "", "external" -> s"LOCATION '${newDirectory().toUri}'")) {
      create(s, table, "parquet", clauses)
      val before = rowsOf(s.table(table))
      val damaged = directoryOf(s, table).resolve("damaged.parquet")
      Files.write(damaged, "text".getBytes)
      assert(failure(s, table).contains("damaged.parquet"))
      Files.delete(directoryOf(s, table).resolve("damaged.parquet"))
      s.sql(s"REFRESH TABLE $table")
      assert(described(s, table, "Provider") == "parquet" && rowsOf(s.table(table)) == before)
      assert(!tables(s).exists(_.equalsIgnoreCase(s"${table}_BACKUP_")))
      assert(failure(s, table, "properties => map('format-version', '9')").contains("format-version"))
      assert(rowsOf(s.table(table)) == before)
      assert(migrate(s, table) == 2)
    }
  }

  inDatabase("only Parquet, ORC and Avro tables whose backup name is free can be migrated") { s =>
    create(s, "t", "parquet", "")
    create(s, "t_BACKUP_", "parquet", "")
    s.sql("CREATE TABLE csv (id INT) USING csv")
    s.sql("CREATE TABLE ice (id INT) USING iceberg")
    spark.newSession().sql(s"CREATE VIEW ${s.catalog.currentDatabase}.v AS SELECT 1 AS id")
    for (
      (table, message) <- Seq(
        "t" -> "already exists",
        "csv" -> "whose format is csv",
        "ice" -> "It is an Iceberg table",
        "v" -> "It is a view",
        "nothing" -> "Table not found"
      )
    ) assert(failure(s, table).contains(message), table)
    assert(failure(s, "t", "parallelism => 0").contains("It must be 1 or more"))
    assert(tables(s).map(_.toLowerCase) == Seq("csv", "ice", "t", "t_backup_", "v"))
  }

  test("tables of other catalogs cannot be migrated") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg")
    val message = messages(intercept[AnalysisException](call("migrate", t)))
    assert(message.contains("Only tables of spark_catalog can be migrated"))
  }
}
