package iceberglite.spark

import java.nio.file.{Files, Path}

import org.apache.spark.sql.{AnalysisException, SaveMode, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/** Checks that file-system catalogs and the data source accept paths as table names, and other catalogs reject them. */
class PathNamesSuite extends AnyFunSuite with SharedSession {

  /**
   * A session whose session catalog stores Iceberg tables in a file-system catalog. The session catalog does not accept
   * paths as names, because its namespaces are the databases of Spark.
   */
  private lazy val sessionCatalog: SparkSession = {
    val session = spark.newSession()
    SharedSession.catalogConf(
      "spark_catalog",
      classOf[SparkSessionCatalog].getName,
      "type" -> "hadoop",
      "warehouse" -> newDirectory().toUri.toString
    ).foreach { case (key, value) => session.conf.set(key, value) }
    session
  }

  /** Creates a table at a path with a file-system catalog. */
  private def tableAtPath(): Path = {
    val path = newDirectory().resolve("t")
    sql(s"CREATE TABLE lite.`$path` USING iceberg AS SELECT 1 AS id")
    path
  }

  private def assertRejected(session: SparkSession)(statement: String): Unit = {
    val e = intercept[AnalysisException](session.sql(statement).collect())
    assert(
      e.getMessage.contains("does not support paths as table names") && e.getMessage.contains("format(iceberg-lite)"),
      statement
    )
  }

  /** Returns statements on a table at a path. @param prefix the catalog and optionally a namespace, with a dot */
  private def everyStatement(prefix: String, path: Path): Seq[String] = Seq(
    s"SELECT * FROM $prefix`$path`",
    s"SELECT * FROM $prefix`$path`.files",
    s"SELECT * FROM $prefix`$path#snapshots`",
    s"SELECT * FROM $prefix`file://$path`",
    s"INSERT INTO $prefix`$path` VALUES (2)",
    s"INSERT OVERWRITE $prefix`$path` VALUES (2)",
    s"DELETE FROM $prefix`$path` WHERE id = 1",
    s"UPDATE $prefix`$path` SET id = 2",
    s"MERGE INTO $prefix`$path` t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE",
    s"TRUNCATE TABLE $prefix`$path`",
    s"DESCRIBE TABLE $prefix`$path`",
    s"ALTER TABLE $prefix`$path` ADD COLUMN x INT",
    s"ALTER TABLE $prefix`$path` ADD PARTITION FIELD id",
    s"ALTER TABLE $prefix`$path` CREATE BRANCH b",
    s"ALTER TABLE $prefix`$path` RENAME TO ${prefix}renamed",
    s"CREATE OR REPLACE TABLE $prefix`$path` (x INT) USING iceberg",
    s"REPLACE TABLE $prefix`$path` (x INT) USING iceberg"
  )

  private def ids(path: Path): Seq[Int] =
    spark.read.format("iceberg-lite").load(path.toString).collect().map(_.getInt(0)).toSeq

  test("JDBC catalogs and the session catalog reject paths in queries, row changes and table changes", Slow) {
    val databases = Seq(s"litejdbc.$ns.", "litejdbc.nowhere.", "litejdbc.").map(spark -> _)
    (databases :+ sessionCatalog -> "spark_catalog.default.").foreach { case (session, prefix) =>
      val path = tableAtPath()
      everyStatement(prefix, path).foreach(assertRejected(session))
      assert(ids(path) == Seq(1) && metadataFiles(path) == 1, prefix)
      assert(!session.catalog.tableExists(s"$prefix`$path`"))
    }
  }

  private def metadataFiles(path: Path): Int =
    path.resolve("metadata").toFile.list().count(name => name.endsWith(".metadata.json") && !name.startsWith("."))

  test("CREATE TABLE and DROP TABLE reject paths in JDBC catalogs and in the session catalog") {
    val databases = Seq(s"litejdbc.$ns.", "litejdbc.nowhere.").map(spark -> _)
    (databases :+ sessionCatalog -> "spark_catalog.default.").foreach { case (session, prefix) =>
      val path = newDirectory().resolve("t")
      assertRejected(session)(s"CREATE TABLE $prefix`$path` (id INT) USING iceberg")
      assertRejected(session)(s"CREATE TABLE IF NOT EXISTS $prefix`$path` (id INT) USING iceberg")
      assertRejected(session)(s"CREATE TABLE $prefix`$path` USING iceberg AS SELECT 1 AS id")
      assert(!Files.exists(path), prefix)
      val table = tableAtPath()
      // For the session catalog, Spark rejects DROP TABLE with its own error.
      if (session eq spark) {
        assertRejected(session)(s"DROP TABLE $prefix`$table`")
        assertRejected(session)(s"DROP TABLE IF EXISTS $prefix`$table` PURGE")
      } else intercept[AnalysisException](session.sql(s"DROP TABLE $prefix`$table` PURGE"))
      assert(ids(table) == Seq(1), prefix)
    }
  }

  test("a JDBC catalog rejects paths in procedures and as the target of a rename") {
    val path = tableAtPath()
    val metadata = path.resolve("metadata").resolve("v1.metadata.json")
    assertRejected(spark)(s"CALL litejdbc.system.rollback_to_snapshot('`$path`', 1)")
    assertRejected(spark)(s"CALL litejdbc.system.register_table('`$path-new`', '$metadata')")
    val t = newTable(catalog = "litejdbc")
    sql(s"CREATE TABLE $t (id INT) USING iceberg")
    assertRejected(spark)(s"ALTER TABLE $t RENAME TO `$path-new`")
    assert(sql(s"SELECT * FROM $t").count() == 0)
  }

  test("the data source reads and writes paths regardless of the current catalog", Slow) {
    Seq(spark.newSession() -> s"litejdbc.$ns", sessionCatalog -> "spark_catalog.default").foreach {
      case (session, current) =>
        session.sql(s"USE $current")
        val path = newDirectory().resolve("t")
        inSession(session) { s =>
          s.range(1).write.format("iceberg-lite").save(path.toString)
          s.range(1).write.format("iceberg-lite").mode(SaveMode.Append).save(path.toString)
          assert(s.read.format("iceberg-lite").load(path.toString).count() == 2, current)
          assert(s.read.format("iceberg-lite").load(s"$path#snapshots").count() == 2, current)
        }
    }
  }

  test("tables at paths use the storage settings, but not the URI, of the current catalog") {
    val session = spark.newSession()
    val directory = newDirectory()
    SharedSession.catalogConf(
      "withsettings",
      classOf[SparkCatalog].getName,
      "type" -> "jdbc",
      "uri" -> s"jdbc:sqlite:$directory/c.db",
      "warehouse" -> directory.toUri.toString,
      "hadoop.fs.mine.impl" -> classOf[org.apache.hadoop.fs.LocalFileSystem].getName
    ).foreach { case (key, value) => session.conf.set(key, value) }
    session.sql("USE withsettings")
    inSession(session)(s => s.range(1).write.format("iceberg-lite").save(directory.resolve("t").toString))
    val prefix = "spark.sql.catalog.iceberg_lite_paths_withsettings"
    assert(session.conf.get(s"$prefix.hadoop.fs.mine.impl") == classOf[org.apache.hadoop.fs.LocalFileSystem].getName)
    assert(session.conf.getOption(s"$prefix.uri").isEmpty && session.conf.get(s"$prefix.type") == "hadoop")
  }

  test("files of other sources are read by path even if the current catalog rejects table paths", Slow) {
    val directory = newDirectory().resolve("out")
    spark.range(2).write.parquet(directory.toString)
    Seq(spark.newSession() -> s"litejdbc.$ns", sessionCatalog -> "spark_catalog.default").foreach {
      case (session, current) =>
        session.sql(s"USE $current")
        assert(session.sql(s"SELECT * FROM parquet.`$directory`").count() == 2)
    }
  }

  test("a file-system catalog accepts a path as a name; a namespace before the path must exist") {
    val path = newDirectory().resolve("t")
    val e = intercept[AnalysisException](sql(s"CREATE TABLE lite.nowhere.`$path` (id INT) USING iceberg"))
    assert(e.getMessage.contains("lite.nowhere") && !Files.exists(path))
    sql(s"CREATE TABLE lite.$ns.`$path` (id INT) USING iceberg")
    sql(s"INSERT INTO lite.`$path` VALUES (1)")
    assert(ids(path) == Seq(1))
  }
}
