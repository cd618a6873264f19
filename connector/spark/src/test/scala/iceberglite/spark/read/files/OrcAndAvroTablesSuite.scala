package iceberglite.spark.read.files

import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.spark.SharedSession

/** Checks that ORC and Avro files which Apache Iceberg or Spark wrote are read correctly, as columnar batches. */
class OrcAndAvroTablesSuite extends AnyFunSuite with SharedSession {
  private val formats = Seq("orc", "avro")

  private def create(columns: String, format: String, properties: (String, String)*): String = {
    val table = newTable()
    val assignments = (("write.format.default" -> format) +: properties).map { case (k, v) => s"'$k' = '$v'" }
    sql(
      s"CREATE TABLE ${inApacheIceberg(table)} ($columns) USING iceberg TBLPROPERTIES (${assignments.mkString(", ")})"
    )
    table
  }

  /**
   * Returns the rows of the query, after checking that Apache Iceberg returns the same rows. In the query, `%s` stands
   * for the table name.
   */
  private def sameRows(table: String, query: String): Seq[String] = {
    sql(s"REFRESH TABLE $table")
    val result = sorted(query.replace("%s", table))
    assert(result == sorted(query.replace("%s", inApacheIceberg(table))), query)
    result
  }

  private def scans(query: DataFrame): Seq[BatchScanExec] =
    query.queryExecution.executedPlan.collectLeaves().collect { case scan: BatchScanExec => scan }

  private def assertColumnar(query: String): Unit =
    assert(scans(sql(query)).map(_.supportsColumnar) == Seq(true), query)

  private val flat =
    """b boolean, i int, l bigint, f float, d double, dec9 decimal(9, 2), dec18 decimal(18, 4), dec38 decimal(38, 10),
      |day date, ts timestamp, ntz timestamp_ntz, s string, bin binary""".stripMargin.replace("\n", " ")
  private val flatValues =
    """VALUES (true, 1, 2L, 1.5f, 2.5d, 1.25bd, 12.3456bd, 1.0000000001bd, DATE'2013-01-01',
      |TIMESTAMP'2013-01-01 10:00:00', TIMESTAMP_NTZ'2013-01-01 10:00:00', 'größe', X'00FF'),
      |(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
      |(false, -1, -2L, float('NaN'), double('-Infinity'), -1.25bd, -12.3456bd, -1.0000000001bd, DATE'1500-01-01',
      |TIMESTAMP'1500-01-01 10:00:00', TIMESTAMP_NTZ'1500-01-01 10:00:00', '', X'')""".stripMargin.replace("\n", " ")

  for (format <- formats) {
    test(
      s"$format: values of all primitive types are read as by Apache Iceberg, in batches and row by row",
      Sampling.slowInSomeRunsUnless(format == "avro"): _*
    ) {
      val table = create(flat, format)
      sql(s"INSERT INTO ${inApacheIceberg(table)} $flatValues")
      val columns = "b, i, l, f, d, dec9, dec18, dec38, day, ts, ntz, s, hex(bin)"
      assertColumnar(s"SELECT $columns FROM $table")
      val inBatches = sameRows(table, s"SELECT $columns FROM %s")
      val rowWise = spark.read.option("vectorization-enabled", "false").table(table)
      assert(rowWise.selectExpr(columns.split(", "): _*).collect().map(_.toString).sorted.toSeq == inBatches)
    }

    test(
      s"$format: nested columns with nulls at each level are read in batches",
      Sampling.slowInSomeRuns(isAlwaysRun = format == "avro"): _*
    ) {
      val table = create(
        "id int, s struct<a: int, inner: struct<t: string, n: double>>, l array<struct<x: int, y: array<string>>>, " +
          "m map<string, struct<v: decimal(20, 3), w: date>>, mm map<int, map<string, array<bigint>>>",
        format
      )
      sql(s"""INSERT INTO ${inApacheIceberg(table)} VALUES
        (1, named_struct('a', 1, 'inner', named_struct('t', 'x', 'n', 0.5d)),
         array(named_struct('x', 1, 'y', array('p', NULL)), NULL, named_struct('x', NULL, 'y', NULL)),
         map('k', named_struct('v', 1.5bd, 'w', DATE'2020-01-01'), 'n', NULL), map(1, map('z', array(1L, NULL)))),
        (2, named_struct('a', NULL, 'inner', NULL), array(), map(), map(2, NULL)),
        (3, NULL, NULL, NULL, NULL),
        (4, named_struct('a', 4, 'inner', named_struct('t', NULL, 'n', NULL)), array(NULL), map('q', NULL), map())""")
      sql(s"INSERT INTO ${inApacheIceberg(table)} SELECT id + 10, s, l, m, mm FROM ${inApacheIceberg(table)}")
      val queries = Seq("*", "s.inner.t, l.x, id", "l[0].y, m['k'].w, mm[1]['z'], size(l), s IS NULL")
      queries.foreach { selected =>
        assertColumnar(s"SELECT $selected FROM $table")
        sameRows(table, s"SELECT $selected FROM %s")
      }
      sameRows(table, "SELECT id FROM %s WHERE s.a = 4 OR l[0].x = 1")
      // Apache Iceberg is not compared, because it can lose rows: it skips rows by ORC statistics, in which a field of
      // a null struct does not count as null.
      val withoutText = Seq("[12]", "[13]", "[14]", "[2]", "[3]", "[4]")
      assert(sorted(s"SELECT id FROM $table WHERE s.inner.t IS NULL") == withoutText)
    }

    test(
      s"$format: columns keep their values when they are renamed, swapped, dropped, added again and widened",
      Sampling.slowInSomeRuns(isAlwaysRun = format == "orc"): _*
    ) {
      val table = create("id int, a int, f float, d decimal(5, 2), s struct<x: int, y: string>", format)
      val peerTable = inApacheIceberg(table)
      sql(s"INSERT INTO $peerTable VALUES (1, 10, 1.5f, 1.25bd, named_struct('x', 1, 'y', 'one'))")
      sql(s"INSERT INTO $peerTable VALUES (2, NULL, NULL, NULL, NULL)")
      sql(s"ALTER TABLE $peerTable ALTER COLUMN a TYPE bigint")
      sql(s"ALTER TABLE $peerTable ALTER COLUMN f TYPE double")
      sql(s"ALTER TABLE $peerTable ALTER COLUMN d TYPE decimal(20, 2)")
      sql(s"ALTER TABLE $peerTable ALTER COLUMN s.x TYPE bigint")
      sql(s"ALTER TABLE $peerTable RENAME COLUMN a TO b")
      sql(s"ALTER TABLE $peerTable ADD COLUMN a string")
      sql(s"ALTER TABLE $peerTable RENAME COLUMN s.y TO z")
      sql(s"ALTER TABLE $peerTable ADD COLUMN s.y int")
      sql(s"INSERT INTO $peerTable VALUES " +
        "(3, 9999999999, 2.5d, 123456789012.25bd, named_struct('x', 9999999999, 'z', 'three', 'y', 3), 'new')")
      Seq("*", "b, f, s.y, s.z").foreach(selected => sameRows(table, s"SELECT $selected FROM %s"))
      Seq("b = 10 AND f = 1.5", "d > 2", "s.x = 1 AND a IS NULL", "s.y IS NOT NULL").foreach { filter =>
        sameRows(table, s"SELECT id FROM %s WHERE $filter")
      }
      sql(s"ALTER TABLE $peerTable DROP COLUMN s.x")
      sql(s"ALTER TABLE $peerTable DROP COLUMN d")
      assertColumnar(s"SELECT * FROM $table")
      sameRows(table, "SELECT * FROM %s")
    }

    test(
      s"$format: the tasks of one file read each row once, with its position in the file",
      Sampling.slowInSomeRuns(isAlwaysRun = format == "orc"): _*
    ) {
      val properties = Seq(
        "write.orc.stripe-size-bytes" -> "65536",
        "write.orc.block-size-bytes" -> "65536",
        "read.split.target-size" -> "65536",
        "read.split.open-file-cost" -> "1024",
        "write.delete.mode" -> "merge-on-read",
        "format-version" -> "3"
      )
      val table = create("id bigint, text string", format, properties: _*)
      sql(s"INSERT INTO ${inApacheIceberg(table)} SELECT /*+ COALESCE(1) */ id, repeat(md5(CAST(id AS string)), 2) " +
        "FROM range(0, 40000)")
      assert(sql(s"SELECT * FROM $table").rdd.getNumPartitions > 2)
      assert(sameRows(table, "SELECT count(*), count(DISTINCT id), min(id), max(id), sum(id) FROM %s").size == 1)
      assert(sql(s"SELECT * FROM $table WHERE id <> _pos OR _row_id <> id").count() == 0)
      sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id % 3 = 1")
      sameRows(table, "SELECT count(*), sum(id), sum(_row_id) FROM %s")
      assert(sorted(s"EXPLAIN SELECT * FROM $table").exists(_.contains("deleteFiles=1")))
      assert(sorted(s"SELECT id, text FROM $table WHERE id BETWEEN 20001 AND 20005").size == 3)
    }
  }

  test("in a scan of all formats, metadata columns and evolved partitions are as in Apache Iceberg", Slow) {
    val table = newTable()
    sql(s"CREATE TABLE ${inApacheIceberg(table)} (id int, cat string) USING iceberg PARTITIONED BY (cat)")
    (formats :+ "parquet").zipWithIndex.foreach { case (format, i) =>
      sql(s"ALTER TABLE ${inApacheIceberg(table)} SET TBLPROPERTIES ('write.format.default' = '$format')")
      sql(s"INSERT INTO ${inApacheIceberg(table)} SELECT id, concat('c', id % 2) FROM range(${i * 4}, ${i * 4 + 4})")
      if (i == 1) sql(s"ALTER TABLE ${inApacheIceberg(table)} ADD PARTITION FIELD bucket(2, id)")
    }
    assertColumnar(s"SELECT _file, id FROM $table")
    assert(sameRows(table, "SELECT id, cat, _spec_id, _pos, _partition FROM %s").size == 12)
    assert(sameRows(table, "SELECT DISTINCT _file FROM %s WHERE cat = 'c1'").size >= 3)
  }

  test("a scan of ORC, Avro and Parquet files returns batches") {
    val table = create("id int, s struct<a: int, b: string>", "parquet")
    (formats :+ "parquet").zipWithIndex.foreach { case (format, i) =>
      sql(s"ALTER TABLE ${inApacheIceberg(table)} SET TBLPROPERTIES ('write.format.default' = '$format')")
      sql(
        s"INSERT INTO ${inApacheIceberg(table)} SELECT id + ${i * 10}, named_struct('a', id, 'b', '$format') " +
          "FROM range(0, 10)"
      )
    }
    assertColumnar(s"SELECT * FROM $table WHERE s.a > 3")
    assert(sameRows(table, "SELECT * FROM %s WHERE s.a > 3").size == 18)
    assert(sameRows(table, "SELECT id, _pos FROM %s WHERE s.b <> 'orc'").size == 20)
  }

  test("row groups of ORC files without a matching row are not read") {
    val table = create("id bigint, s struct<name: string>, at timestamp", "orc")
    sql(
      s"""INSERT INTO ${inApacheIceberg(table)} SELECT /*+ COALESCE(1) */ id,
         |named_struct('name', lpad(CAST(id AS string), 9, '0')), timestamp_seconds(id)
         |FROM range(0, 50000)""".stripMargin
    )
    def rowsRead(filter: String): Long = {
      val query = sql(s"SELECT * FROM $table WHERE $filter")
      assert(query.collect().length == 1, filter)
      scans(query).map(_.metrics("numOutputRows").value).sum
    }
    assert(rowsRead("id = 25000") <= 10000)
    assert(rowsRead("s.name = '000044444'") <= 10000)
    assert(rowsRead("at = timestamp_seconds(12345)") <= 10000)
  }

  test(
    "ORC files of Spark, which have no field ids, are read with the table's name mapping and partition values",
    Slow
  ) {
    val directory = newDirectory("imported").resolve("o").toUri.toString
    sql(
      """SELECT id, CAST(id AS short) AS small, DATE'1600-02-03' AS old, named_struct('x', id, 'y', 'ä') AS s,
        |array(id) AS l, map('k', CAST(id AS decimal(25, 3))) AS m, id % 2 AS part FROM range(4)""".stripMargin
    ).write.partitionBy("part").orc(directory)
    val columns = "id bigint, small int, old date, s struct<x: bigint, y: string>, l array<bigint>, " +
      "m map<string, decimal(25, 3)>, part bigint"
    val table = newTable()
    sql(s"CREATE TABLE ${inApacheIceberg(table)} ($columns) USING iceberg PARTITIONED BY (part)")
    val name = inApacheIceberg(table).stripPrefix("ice.")
    sql(s"CALL ice.system.add_files(table => '$name', source_table => '`orc`.`$directory`')")
    sql(s"ALTER TABLE ${inApacheIceberg(table)} RENAME COLUMN s.x TO z")
    assertColumnar(s"SELECT * FROM $table")
    val result = sorted(s"SELECT id, small, old, s, l, m, part FROM $table")
    val read = "SELECT id, small, old, s, l, m, CAST(part AS bigint) AS part"
    assert(result == sorted(s"$read FROM orc.`$directory`"))
    assert(sorted(s"SELECT s.z FROM $table WHERE part = 1 AND s.z > 1") == Seq("[3]"))
  }

  test("the error for a damaged file contains the file name and the table") {
    for (format <- formats) {
      val table = create("id bigint, text string", format)
      sql(s"INSERT INTO ${inApacheIceberg(table)} SELECT /*+ COALESCE(1) */ id, repeat('x', 50) FROM range(0, 20000)")
      val path = sorted(s"SELECT DISTINCT _file FROM $table").head.stripPrefix("[").stripSuffix("]")
      val file = Paths.get(new java.net.URI(if (path.startsWith("/")) s"file:$path" else path))
      truncate(file)
      val message = intercept[Exception](sql(s"SELECT sum(id) FROM $table").collect()).getMessage
      assert(message.contains(file.getFileName.toString) && message.contains(s"data file of table $table"), format)
    }
  }

  private def truncate(file: Path): Unit = {
    val content = Files.readAllBytes(file)
    Files.write(file, content.take(content.length / 2))
    Files.list(file.getParent).iterator.asScala.filter(_.getFileName.toString.endsWith(".crc")).foreach(Files.delete)
  }
}
