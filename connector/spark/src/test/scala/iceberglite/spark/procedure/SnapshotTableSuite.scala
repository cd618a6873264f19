package iceberglite.spark.procedure

import java.nio.file.Files

import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession

/** Tests `CALL snapshot`, and compares the results with Apache Iceberg. */
class SnapshotTableSuite extends AnyFunSuite with ImportFixture {

  /** Sets `gc.enabled=true` on all created tables, so that they can be dropped. */
  override protected def afterAll(): Unit =
    try for (catalog <- Seq("lite", "litejdbc"); row <- rows(s"SHOW TABLES IN $catalog.$ns"))
        sql(s"ALTER TABLE $catalog.$ns.${row.getString(1)} SET TBLPROPERTIES ('gc.enabled' = 'true')")
    finally super.afterAll()

  /** Creates a table in the session catalog, runs `body` with its name, and drops the table. */
  private def withSource(format: String, clauses: String = "")(body: String => Unit): Unit = {
    val name = s"spark_catalog.default.src_${SharedSession.counter.incrementAndGet()}"
    sql(s"CREATE TABLE $name (id BIGINT COMMENT 'key', s STRING, p DATE) USING $format $clauses " +
      s"COMMENT 'a table' LOCATION '${newDirectory().toUri}'")
    try {
      sql(s"INSERT INTO $name SELECT id, concat('s', id), date_add(DATE '2024-01-01', CAST(id % 3 AS INT)) " +
        "FROM range(0, 30, 1, 2)")
      body(name)
    } finally sql(s"DROP TABLE IF EXISTS $name")
  }

  private def snapshot(source: String, table: String, arguments: String*): Long = {
    val all = Seq(s"source_table => '$source'", s"table => '$table'") ++ arguments
    rows(s"CALL ${table.takeWhile(_ != '.')}.system.snapshot(${all.mkString(", ")})").head.getLong(0)
  }

  test("a snapshot has the columns, partitions, properties and rows of its source, as in Apache Iceberg", Slow) {
    for (format <- Seq("parquet", "orc"); clauses <- Seq("", "PARTITIONED BY (p) TBLPROPERTIES ('k' = 'v')"))
      withSource(format, clauses) { source =>
        val (ours, theirs) = (newTable(), newTable())
        assert(snapshot(source, ours, "properties => map('mine', '1')") ==
          snapshot(source, inApacheIceberg(theirs), "properties => map('mine', '1')"))
        assert(sorted(s"SELECT * FROM $ours") == sorted(s"SELECT * FROM $source"))
        assert(sorted(s"SELECT * FROM ${inApacheIceberg(ours)}") == sorted(s"SELECT * FROM ${inApacheIceberg(theirs)}"))
        assert(fileEntries(ours, "spec_id", "value_counts") == fileEntries(theirs, "spec_id", "value_counts"))
        val (table, expected) = (live(ours), live(theirs))
        assert(table.schema.fields == expected.schema.fields && table.spec.compatibleWith(expected.spec))
        val keys = Seq("gc.enabled", "snapshot", "mine", "k")
        assert(keys.map(table.properties.get) == keys.map(expected.properties.get))
        assert(Seq(table, expected).forall(_.properties.contains("schema.name-mapping.default")))
        assert(table.properties("gc.enabled") == "false" && table.properties("snapshot") == "true")
      }
  }

  test("a snapshot can be changed, and its source remains unchanged") {
    withSource("parquet", "PARTITIONED BY (p)") { source =>
      val t = newTable()
      val before = sorted(s"SELECT * FROM $source")
      snapshot(source, t)
      sql(s"DELETE FROM $t WHERE id < 10")
      sql(s"INSERT INTO $t VALUES (100, 'new', DATE '2030-01-01')")
      assert(count(t) == 21 && sorted(s"SELECT * FROM $source") == before)
      assert(messages(intercept[AnalysisException](sql(s"DROP TABLE $t PURGE"))).contains("gc.enabled"))
      sql(s"ALTER TABLE $t SET TBLPROPERTIES ('gc.enabled' = 'true')")
      sql(s"DROP TABLE $t PURGE")
      assert(sorted(s"SELECT * FROM $source") == before)
    }
  }

  test("a snapshot can have its own location, which does not overlap that of its source") {
    withSource("parquet") { source =>
      val directory = newDirectory()
      val t = newTable(catalog = "litejdbc")
      snapshot(source, t, s"location => '${directory.toUri}t'")
      assert(live(t).location.endsWith(s"$directory/t") && count(t) == 30)
      val location = rows(s"DESCRIBE EXTENDED $source").find(_.getString(0) == "Location").get.getString(1)
      val u = newTable(catalog = "litejdbc")
      val message = messages(intercept[AnalysisException](snapshot(source, u, s"location => '$location/nested'")))
      assert(message.contains("It overlaps the location of the source"))
      assert(!spark.catalog.tableExists(u))
    }
  }

  test("after a failure there is no table, and the files of the source remain") {
    withSource("parquet") { source =>
      val location = rows(s"DESCRIBE EXTENDED $source").find(_.getString(0) == "Location").get.getString(1)
      val directory = java.nio.file.Paths.get(java.net.URI.create(location))
      Files.write(directory.resolve("damaged.parquet"), "text".getBytes)
      val t = newTable()
      assert(messages(intercept[AnalysisException](snapshot(source, t))).contains("damaged.parquet"))
      assert(!spark.catalog.tableExists(t) && filesIn(directory, ".parquet").size == 3)
      Files.delete(directory.resolve("damaged.parquet"))
      assert(snapshot(source, t) == 2)
      assert(messages(intercept[AnalysisException](snapshot(source, t))).contains("already exists"))
    }
  }

  test("missing partitions are an error unless they are ignored") {
    withSource("parquet", "PARTITIONED BY (p)") { source =>
      val missing = newDirectory()
      sql(s"ALTER TABLE $source ADD PARTITION (p = DATE '2030-01-01') LOCATION '${missing.toUri}'")
      Files.delete(missing)
      val t = newTable()
      assert(messages(intercept[AnalysisException](snapshot(source, t))).contains("ignore_missing_files"))
      snapshot(source, t, "ignore_missing_files => true")
      assert(count(t) == 30)
    }
  }

  test("only Parquet, ORC and Avro tables of the session catalog can be sources") {
    val csv = s"spark_catalog.default.csv_${SharedSession.counter.incrementAndGet()}"
    sql(s"CREATE TABLE $csv (id INT) USING csv")
    val ice = newTable()
    sql(s"CREATE TABLE $ice (id INT) USING iceberg")
    try for (
        (source, message) <- Seq(
          csv -> "whose format is csv",
          ice -> "must be a table of the catalog spark_catalog",
          "default.nothing" -> "Table not found",
          "parquet.`/data`" -> "Table not found"
        )
      ) assert(messages(intercept[AnalysisException](snapshot(source, newTable()))).contains(message), source)
    finally sql(s"DROP TABLE $csv")
  }
}
