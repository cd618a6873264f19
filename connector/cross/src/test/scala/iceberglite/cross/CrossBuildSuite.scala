package iceberglite.cross

import java.nio.file.{Files, Path, Paths}

import scala.util.Properties

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.{IcebergTable, ScenarioRunner, SparkCatalog, SparkSessionExtensions, SqlScenario}
import iceberglite.table.action.ExpireOptions

/**
 * Tests the connector's jar for each Scala version, on Spark's artefacts for the same version. `make cross` runs this
 * suite with Scala 2.12 and then with Scala 2.13. The tables of both runs remain in `build/cross`, so that the second
 * run also reads the tables that the first one wrote.
 */
class CrossBuildSuite extends AnyFunSuite with BeforeAndAfterAll {
  import CrossBuildSuite._

  private val folder: Path = Files.createDirectories(Paths.get("build", "cross").toAbsolutePath)
  private val scenarioFolder: Path = Files.createDirectories(folder.resolve(s"scenarios-$scalaBinary"))

  private lazy val spark: SparkSession = {
    val settings = Map(
      "spark.ui.enabled" -> "false",
      "spark.sql.shuffle.partitions" -> "2",
      "spark.sql.session.timeZone" -> "UTC",
      "spark.sql.warehouse.dir" -> folder.resolve("spark-warehouse").toUri.toString,
      "spark.sql.catalogImplementation" -> "in-memory"
    ) ++ catalog("lite", folder)
    val builder = SparkSession.builder().master("local[2]").appName("iceberg-lite for each Scala version")
      .withExtensions(new SparkSessionExtensions)
    val session = settings.foldLeft(builder) { case (b, (key, value)) => b.config(key, value) }.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session
  }

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lite.db")
    ()
  }

  override protected def afterAll(): Unit =
    try spark.stop()
    finally super.afterAll()

  /** Returns the settings of a JDBC catalog, which supports all SQL scenarios. */
  private def catalog(name: String, directory: Path): Map[String, String] = Map(
    s"spark.sql.catalog.$name" -> classOf[SparkCatalog].getName,
    s"spark.sql.catalog.$name.type" -> "jdbc",
    s"spark.sql.catalog.$name.uri" -> s"jdbc:sqlite:$directory/catalog.db",
    s"spark.sql.catalog.$name.warehouse" -> directory.resolve("warehouse").toUri.toString
  )

  private def rows(query: String): Vector[Row] = spark.sql(query).collect().toVector

  test("the connector is the jar for the Scala version of Spark") {
    val jar = Paths.get(classOf[SparkCatalog].getProtectionDomain.getCodeSource.getLocation.toURI).getFileName.toString
    val sparkJar = Paths.get(classOf[SparkSession].getProtectionDomain.getCodeSource.getLocation.toURI).getFileName
    assert(jar.startsWith(s"iceberg-lite-spark-3.5_$scalaBinary-"))
    assert(sparkJar.toString.startsWith(s"spark-sql_$scalaBinary-3.5."))
  }

  test("SQL statements, the Scala API and procedures change a table") {
    val name = tableOf(scalaBinary)
    spark.sql(s"DROP TABLE IF EXISTS $name PURGE")
    spark.sql(
      s"CREATE TABLE $name (id BIGINT, s STRING, n STRUCT<a: INT, b: ARRAY<STRING>>) USING iceberg " +
        "PARTITIONED BY (bucket(4, id)) TBLPROPERTIES ('format-version' = '3', " +
        "'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read', " +
        "'write.merge.mode' = 'merge-on-read')"
    )
    spark.sql(
      s"INSERT INTO $name SELECT id, concat('s', id), named_struct('a', CAST(id AS INT), 'b', array('x', NULL)) " +
        "FROM range(0, 8, 1, 2)"
    )
    spark.range(8, 10).selectExpr("id", "concat('s', id) AS s", "named_struct('a', 0, 'b', array('y')) AS n")
      .writeTo(name).append()
    spark.sql(s"ALTER TABLE $name ADD COLUMN extra INT DEFAULT 5")
    spark.sql(s"DELETE FROM $name WHERE id = 3")
    spark.sql(s"UPDATE $name SET n.a = n.a + 1 WHERE s = 's7'")
    spark.sql(
      s"MERGE INTO $name t USING (SELECT 7L AS id UNION ALL SELECT 20L) s ON t.id = s.id " +
        "WHEN MATCHED THEN UPDATE SET s = 'merged' WHEN NOT MATCHED THEN INSERT (id, s) VALUES (s.id, 'new') " +
        "WHEN NOT MATCHED BY SOURCE AND t.id = 9 THEN DELETE"
    )
    val table = IcebergTable.forName(spark, name)
    val source = spark.range(4, 6).selectExpr("id", "'api' AS s")
    val merged = table.merge(source, "target.id = source.id").whenMatchedUpdate(Map("s" -> "source.s"))
      .whenNotMatchedBySourceDelete("target.id = 0").execute()
    assert((merged.inserted, merged.updated, merged.deleted) == ((0L, 2L, Some(1L))))
    assert(table.delete("id = 6").deleted.contains(1L))
    assert(rows(s"SELECT count(*) FROM $name.files WHERE content > 0").head.getLong(0) > 0)
    val rewritten = rows(
      s"CALL lite.system.rewrite_data_files(table => '${name.stripPrefix("lite.")}', strategy => 'sort', " +
        "sort_order => 'zorder(id, s)', where => 'id < 4', options => map('rewrite-all', 'true'))"
    )
    assert(rewritten.head.getAs[Int]("rewritten_data_files_count") > 0)
    spark.sql(s"ANALYZE TABLE $name COMPUTE STATISTICS FOR ALL COLUMNS")
    assert(rows(s"SELECT sum(n.a) FROM $name VERSION AS OF ${firstSnapshot(name)}") == Vector(Row(28L)))
    val snapshots = rows(s"SELECT * FROM $name.snapshots").size
    val expired = table.expireSnapshots(ExpireOptions(olderThanMs = Some(Long.MaxValue), retainLast = Some(1)))
    assert(expired.snapshotIds.size == snapshots - 1)
    assert(contents(name) == Expected)
  }

  test("a streaming query copies a table") {
    val (name, copy) = (tableOf(scalaBinary), s"lite.db.copy_${scalaBinary.replace('.', '_')}")
    spark.sql(s"DROP TABLE IF EXISTS $copy PURGE")
    spark.sql(s"CREATE TABLE $copy (id BIGINT, s STRING) USING iceberg")
    val query = spark.readStream.option("stream-from", "current").table(name).select("id", "s").writeStream
      .option("checkpointLocation", Files.createTempDirectory(folder, "checkpoint").toString)
      .trigger(Trigger.AvailableNow()).toTable(copy)
    query.awaitTermination()
    assert(rows(s"SELECT id, s FROM $copy ORDER BY id") == rows(s"SELECT id, s FROM $name ORDER BY id"))
  }

  test("tables that the connector for another Scala version wrote have the same rows") {
    val others = rows("SHOW TABLES IN lite.db LIKE 'of_*'").map(row => s"lite.db.${row.getString(1)}")
    if (scalaBinary != SparkOfPython) assert(others.contains(tableOf(SparkOfPython)), "run make cross")
    others.foreach(name => assert(contents(name) == Expected, name))
  }

  // SqlScenarioSuite runs the scenarios with the Scala version of PySpark.
  if (scalaBinary != SparkOfPython)
    SqlScenario.all(Paths.get("tests", "sql")).foreach { scenario =>
      test(s"the SQL scenario ${scenario.name}") {
        val directory = Files.createTempDirectory(scenarioFolder, "scenario")
        val session = spark.newSession()
        catalog(ScenarioRunner.CatalogName, directory).foreach { case (key, value) =>
          session.conf.set(key, value)
        }
        session.sql(s"CREATE NAMESPACE ${ScenarioRunner.CatalogName}.db")
        session.sql(s"USE ${ScenarioRunner.CatalogName}.db")
        val variables = Map("catalog" -> ScenarioRunner.CatalogName, "directory" -> directory.toString)
        new ScenarioRunner(session).run(scenario, variables)
      }
    }

  private def contents(table: String): Vector[String] =
    rows(s"SELECT to_json(struct(id, s, n, extra)) FROM $table ORDER BY id").map(_.getString(0))

  private def firstSnapshot(table: String): Long =
    rows(s"SELECT snapshot_id FROM $table.snapshots ORDER BY committed_at LIMIT 1").head.getLong(0)
}

object CrossBuildSuite {

  /** The Scala version of PySpark, of Spark's ordinary distribution and of all other tests. */
  private val SparkOfPython = "2.12"

  private val scalaBinary: String = Properties.versionNumberString.split('.').take(2).mkString(".")

  private def tableOf(version: String): String = s"lite.db.of_${version.replace('.', '_')}"

  /** The rows that the statements of the suite leave in the table of each Scala version. */
  private val Expected = Vector(
    """{"id":1,"s":"s1","n":{"a":1,"b":["x",null]},"extra":5}""",
    """{"id":2,"s":"s2","n":{"a":2,"b":["x",null]},"extra":5}""",
    """{"id":4,"s":"api","n":{"a":4,"b":["x",null]},"extra":5}""",
    """{"id":5,"s":"api","n":{"a":5,"b":["x",null]},"extra":5}""",
    """{"id":7,"s":"merged","n":{"a":8,"b":["x",null]},"extra":5}""",
    """{"id":8,"s":"s8","n":{"a":0,"b":["y"]},"extra":5}""",
    """{"id":20,"s":"new","extra":5}"""
  )
}
