package iceberglite.spark.procedure

import java.nio.file.{Files, Path}

import org.apache.spark.sql.DataFrame
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/** Tests `CALL add_files`, and compares the results with Apache Iceberg. */
class AddFilesSuite extends AnyFunSuite with ImportFixture {

  private val columns = "b BOOLEAN, i INT, l BIGINT, f FLOAT, d DOUBLE, c DECIMAL(9, 2), m DECIMAL(18, 4), " +
    "w DECIMAL(30, 5), s STRING, bin BINARY, dt DATE, st STRUCT<x: INT, y: STRING>, a ARRAY<INT>, " +
    "mp MAP<STRING, BIGINT>"

  private def allTypes: DataFrame = sql(
    """SELECT id % 2 = 0 AS b, CAST(id AS INT) AS i, IF(id % 5 = 0, NULL, id * 1000000000) AS l,
      |CAST((id + 1) / 3 AS FLOAT) AS f, (id + 1) / 7D AS d, CAST(id AS DECIMAL(9, 2)) AS c,
      |CAST(id / 8 AS DECIMAL(18, 4)) AS m,
      |CAST(id * 1.5 AS DECIMAL(30, 5)) AS w, concat('a rather long text for truncation ', id) AS s,
      |CAST(concat('bytes ', id) AS BINARY) AS bin, date_add(DATE '1969-12-01', CAST(id AS INT)) AS dt,
      |IF(id = 3, NULL, named_struct('x', CAST(id AS INT), 'y', 'text')) AS st, array(CAST(id AS INT), NULL) AS a,
      |map('k', id) AS mp FROM range(0, 100, 1, 2)""".stripMargin
  )

  private def created(columns: String, clauses: String = ""): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t ($columns) USING iceberg $clauses")
    t
  }

  private def allRows(table: String): Seq[String] = sorted(s"SELECT to_json(struct(*)) FROM $table")

  /** Adds the files to two equal tables, one with each connector, and compares the tables. */
  private def compareWithPeer(columns: String, clauses: String, source: String, compared: Seq[String])(
      arguments: String*
  ): String = {
    val (ours, theirs) = (created(columns, clauses), created(columns, clauses))
    val result = addFiles(ours, source, arguments: _*)
    val expected = addFiles(inApacheIceberg(theirs), source, arguments: _*)
    assert(result.map(_.getLong(0)) == expected.map(_.getLong(0)))
    assert(fileEntries(ours, compared: _*) == fileEntries(theirs, compared: _*))
    assert(allRows(ours) == allRows(inApacheIceberg(theirs)) && allRows(inApacheIceberg(ours)) == allRows(
      inApacheIceberg(theirs)
    ))
    ours
  }

  private def sortedMap(column: String): String =
    s"to_json(map_from_entries(array_sort(map_entries($column)))) AS $column"

  private val bounds: Seq[String] = Seq("lower_bounds", "upper_bounds").map(sortedMap)
  private val metrics: Seq[String] = Seq("value_counts", "null_value_counts").map(sortedMap) ++ bounds

  test(
    "Parquet files have the metrics that Apache Iceberg reads from the footers, and both engines read their rows",
    Slow
  ) {
    val t = compareWithPeer(
      columns,
      "",
      source("parquet", written("parquet")(allTypes)),
      sortedMap("column_sizes") +: metrics
    )()
    assert(rows(s"SELECT i, st.x FROM $t WHERE i = 42 AND s LIKE '%42'").map(_.toString) == Seq("[42,42]"))
    assert(rows(s"SELECT count(*) FROM $t WHERE st IS NULL").head.getLong(0) == 1)
    assert(allRows(t) == allTypes.selectExpr("to_json(struct(*))").collect().map(_.toString).toSeq.sorted)
  }

  test("Avro files have only a record count, as in Apache Iceberg, and damaged Avro files are rejected", Slow) {
    val directory = writtenAvro(10)
    val columns = "id BIGINT, s STRING"
    val t = compareWithPeer(columns, "", source("avro", directory), metrics)()
    assert(count(t, "id < 5 AND s = 'x'") == 5)
    assert(failed(created("id BOOLEAN"), source("avro", directory)).contains("Column id"))
    assert(failed(created("x INT"), source("avro", directory)).contains("None of its columns (id, s)"))
    val file = filesIn(directory, ".avro").head
    Files.write(file, Files.readAllBytes(file).dropRight(20))
    assert(failed(created(columns), source("avro", directory)).contains(file.getFileName.toString))
    Files.write(file, "id,s".getBytes)
    assert(failed(created(columns), source("avro", directory)).contains(file.getFileName.toString))
  }

  test("ORC files have the counts and bounds that Apache Iceberg reads from the footers", Slow) {
    val source = this.source("orc", written("orc")(allTypes))
    val (ours, theirs) = (created(columns), created(columns))
    assert(addFiles(ours, source).map(_.getLong(0)) == addFiles(inApacheIceberg(theirs), source).map(_.getLong(0)))
    assert(fileEntries(ours) == fileEntries(theirs))
    // Only columns outside of structs are compared. Apache Iceberg also has counts for structs themselves, and does not
    // count the fields of a null struct as null.
    val leaves = Seq("i", "l", "f", "d", "c", "m", "w", "s", "dt")
    val compared = for (c <- leaves; m <- Seq("value_count", "null_value_count", "lower_bound", "upper_bound"))
      yield s"readable_metrics.$c.$m"
    assert(fileEntries(ours, compared: _*) == fileEntries(theirs, compared: _*))
    assert(fileEntries(ours, "readable_metrics.i.upper_bound").forall(!_.contains("null")))
    assert(allRows(ours) == allRows(inApacheIceberg(theirs)))
  }

  test("bounds of floating point columns in ORC files are not used if a value is NaN") {
    val directory = written("orc")(sql("SELECT * FROM VALUES (double('NaN'), 1D), (-5D, -5D), (7D, 0D) AS t(x, y)")
      .coalesce(1))
    val t = created("x DOUBLE, y DOUBLE")
    addFiles(t, source("orc", directory))
    assert(rows(s"SELECT readable_metrics.x.lower_bound, readable_metrics.y.lower_bound FROM $t.files")
      .map(_.toString) == Seq("[null,-5.0]"))
    assert(count(t, "x = -5") == 1 && count(t, "isnan(x)") == 1)
  }

  test("timestamps that Spark stored as INT96, microseconds or milliseconds are read, without wrong bounds", Slow) {
    for (physical <- Seq("INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS")) {
      withConf("spark.sql.parquet.outputTimestampType" -> physical) {
        val times =
          sql("SELECT timestamp_millis(id * 8640000012L) AS ts, TIMESTAMP_NTZ '2020-02-29 23:59:59' AS ntz " +
            "FROM range(-200, 200, 50)")
        val t = compareWithPeer(
          "ts TIMESTAMP, ntz TIMESTAMP_NTZ",
          "",
          source("parquet", written("parquet")(times)),
          // Bounds are not compared for milliseconds, because Apache Iceberg reads the numbers as microseconds.
          if (physical == "TIMESTAMP_MILLIS") Nil else bounds
        )()
        assert(sorted(s"SELECT * FROM $t") == times.collect().map(_.toString).toSeq.sorted)
        assert(count(t, "ts < TIMESTAMP '1970-01-01 00:00:00'") == 4)
      }
    }
  }

  test("ORC timestamps of Spark, which have no zone, cannot be added as timestamps with zone") {
    val directory = written("orc")(sql("SELECT TIMESTAMP '2024-01-01 00:00:00' AS ts"))
    assert(failed(created("ts TIMESTAMP"), source("orc", directory)).contains("Column ts: The ORC type timestamp"))
  }

  private def partitioned: DataFrame = sql(
    """SELECT id, CASE id % 4 WHEN 0 THEN NULL WHEN 1 THEN 'a b/c%=d:e' WHEN 2 THEN 'ü' ELSE '007' END AS p,
      |CAST(id % 3 AS INT) AS q FROM range(0, 40, 1, 1)""".stripMargin
  )

  test("partition values are parsed from directory names, with escaped characters and null", Slow) {
    for (format <- Seq("parquet", "orc")) {
      val directory = written(format, "p", "q")(partitioned)
      val t = compareWithPeer(
        "id BIGINT, p STRING, q INT",
        "PARTITIONED BY (p, q)",
        source(format, directory),
        "partition" +: bounds
      )()
      assert(sorted(s"SELECT id, p, q FROM $t") == partitioned.collect().map(_.toString).toSeq.sorted)
      assert(count(t, "p IS NULL AND q = 1") == 3 && count(t, "p = '007'") == 10)
    }
  }

  test("partition values have the types of the table's columns") {
    val values = sql("SELECT id, DATE '2024-02-29' AS d, CAST(12.5 AS DECIMAL(10, 2)) AS c, true AS b, 1.5D AS x, " +
      "TIMESTAMP '2024-01-01 10:11:12.345' AS ts FROM range(3)")
    val directory = written("parquet", "d", "c", "b", "x", "ts")(values)
    val t = created(
      "id BIGINT, d DATE, c DECIMAL(12, 2), b BOOLEAN, x DOUBLE, ts TIMESTAMP",
      "PARTITIONED BY (ts, d, c, b, x)"
    )
    addFiles(t, source("parquet", directory))
    assert(sorted(s"SELECT * FROM $t") == values.collect().map(_.toString).toSeq.sorted)
    assert(count(t, "ts = TIMESTAMP '2024-01-01 10:11:12.345' AND c = 12.5") == 3)
    val ints = created("id BIGINT, d INT", "PARTITIONED BY (d)")
    val message = failed(ints, source("parquet", written("parquet", "d")(values.select("id", "d"))))
    assert(message.contains("partition column d of the source: 2024-02-29") && message.contains("type int"))
  }

  test("a filter selects partitions by values of the column's type", Slow) {
    val directory = written("parquet", "p", "q")(partitioned)
    val definition = ("id BIGINT, p STRING, q INT", "PARTITIONED BY (p, q)")
    compareWithPeer(definition._1, definition._2, source("parquet", directory), Seq("partition"))(
      "partition_filter => map('p', '007')"
    )
    val t = created(definition._1, definition._2)
    assert(
      addFiles(t, source("parquet", directory), "partition_filter => map('Q', '01', 'p', 'ü')").head.getLong(0) > 0
    )
    assert(sorted(s"SELECT DISTINCT p, q FROM $t") == Seq("[ü,1]"))
    assert(failed(t, source("parquet", directory), "partition_filter => map('id', '1')").contains(
      "The partition columns of the source are p, q"
    ))
    assert(
      failed(t, source("parquet", directory), "partition_filter => map('q', '9')").contains("no matching partition")
    )
  }

  test("the partitions of a source table are those in the session catalog, even in other directories", Slow) {
    val name = s"spark_catalog.default.src_${System.nanoTime}"
    for (format <- Seq("parquet", "orc")) {
      val elsewhere = written(format)(sql("SELECT id FROM range(100, 103)"))
      sql(s"CREATE TABLE $name (id BIGINT, p INT) USING $format PARTITIONED BY (p) LOCATION '${newDirectory().toUri}'")
      try {
        sql(s"INSERT INTO $name SELECT id, id % 2 FROM range(10)")
        sql(s"ALTER TABLE $name ADD PARTITION (p = 7) LOCATION '${elsewhere.toUri}'")
        val t = compareWithPeer("id BIGINT, p INT", "PARTITIONED BY (p)", name, Seq("partition"))()
        assert(count(t, "p = 7") == 3 && count(t) == 13)
        val filtered = created("id BIGINT, p INT", "PARTITIONED BY (p)")
        assert(addFiles(filtered, name, "partition_filter => map('p', '7')").head.getLong(0) > 0)
        assert(count(filtered) == 3)
        val missing = newDirectory()
        sql(s"ALTER TABLE $name ADD PARTITION (p = 8) LOCATION '${missing.toUri}'")
        Files.delete(missing)
        assert(failed(filtered, name, "check_duplicate_files => false").contains("does not exist"))
      } finally sql(s"DROP TABLE $name")
    }
  }

  test("a file that is damaged or cannot be read with the table's types is rejected with its name and column", Slow) {
    val t = created("id INT, s STRUCT<a: INT>")
    def directoryWith(format: String)(change: Path => Unit): Path = {
      val directory = written(format)(sql("SELECT CAST(id AS INT) AS id, named_struct('a', 1) AS s FROM range(9)"))
      change(filesIn(directory, "." + format).head)
      directory
    }
    for (format <- Seq("parquet", "orc")) {
      val truncated = directoryWith(format) { f =>
        val bytes = Files.readAllBytes(f)
        Files.write(f, bytes.take(bytes.length - 20))
      }
      assert(failed(t, source(format, truncated)).contains("Cannot read file"), format)
      val text = directoryWith(format)(f => Files.write(f, "id,s\n1,2\n".getBytes))
      assert(failed(t, source(format, text)).contains("." + format), format)
      val wrongType = written(format)(sql("SELECT 'text' AS id"))
      val message = failed(t, source(format, wrongType))
      assert(message.contains("." + format) && message.contains("Column id") && message.contains("as int"), format)
      val nested = written(format)(sql("SELECT 1 AS id, named_struct('a', 'x') AS s"))
      assert(failed(t, source(format, nested)).contains("Column s.a"), format)
      val otherNames = written(format)(sql("SELECT 1 AS ID, 'x' AS other"))
      assert(failed(t, source(format, otherNames)).contains("None of its columns (ID, other)"), format)
    }
  }

  test("a file is rejected if a column has the field id of another column of the table") {
    val other = created("x INT, id INT")
    sql(s"INSERT INTO $other VALUES (1, 2)")
    val file = rows(s"SELECT file_path FROM $other.files").head.getString(0)
    val t = created("id INT, x INT")
    val message = failed(t, s"parquet.`$file`")
    assert(message.contains("Column x has the field id 1, which is the id of the table's column id"))
    val same = created("x INT, id INT")
    assert(addFiles(same, s"parquet.`$file`").head.getLong(0) == 1 && sorted(s"SELECT * FROM $same") == Seq("[1,2]"))
  }

  test("a file is added twice only if the check for duplicates is turned off", Slow) {
    val directory = written("parquet")(sql("SELECT id FROM range(0, 10, 1, 2)"))
    val t = created("id BIGINT")
    addFiles(t, source("parquet", directory))
    assert(failed(t, source("parquet", directory)).contains("2 of the files are already in the table"))
    assert(failed(t, s"parquet.`${directory.toUri}`").contains("2 of the files are already in the table"))
    assert(addFiles(t, source("parquet", directory), "check_duplicate_files => false").head.getLong(0) == 2)
    assert(count(t) == 20)
    // Duplicates of files that Apache Iceberg has added are found too.
    val theirs = created("id BIGINT")
    addFiles(inApacheIceberg(theirs), source("parquet", directory))
    sql(s"REFRESH TABLE $theirs")
    assert(failed(theirs, source("parquet", directory)).contains("already in the table"))
  }

  test("hidden files and files of 0 bytes are skipped, and files without rows are added") {
    val directory = written("parquet")(sql("SELECT id FROM range(0)"))
    Seq("_SUCCESS", ".part.crc", "_metadata", "empty.parquet").foreach { name =>
      Files.write(directory.resolve(name), if (name == "empty.parquet") Array.emptyByteArray else "hidden".getBytes)
    }
    Files.write(Files.createDirectories(directory.resolve("_temporary")).resolve("x.parquet"), "hidden".getBytes)
    val t = created("id BIGINT")
    assert(addFiles(t, source("parquet", directory)).head.getLong(0) == 1)
    assert(count(t) == 0 && rows(s"SELECT record_count FROM $t.files").map(_.getLong(0)) == Seq(0L))
    val empty = newDirectory()
    assert(addFiles(t, source("parquet", empty)).head.getLong(0) == 0)
    assert(rows(s"SELECT * FROM $t.snapshots").size == 1)
  }

  test("add_files creates a name mapping or keeps the existing one, so that renamed columns are read") {
    val directory = written("parquet")(sql("SELECT id, 'x' AS old FROM range(3)"))
    val t = created("id BIGINT, old STRING")
    addFiles(t, source("parquet", directory))
    sql(s"ALTER TABLE $t RENAME COLUMN old TO new")
    assert(rows(s"SELECT new FROM $t WHERE new = 'x'").size == 3)
    val mapping = """[{"field-id": 1, "names": ["key", "id"]}]"""
    val mapped = created("key BIGINT", s"TBLPROPERTIES ('schema.name-mapping.default' = '$mapping')")
    addFiles(mapped, source("parquet", directory))
    assert(live(mapped).properties("schema.name-mapping.default") == mapping)
    assert(sorted(s"SELECT key FROM $mapped") == Seq("[0]", "[1]", "[2]"))
  }

  test("the metrics modes of the table apply", Slow) {
    val directory = written("parquet")(sql("SELECT id, 'text' AS s, id AS n FROM range(3)"))
    compareWithPeer(
      "id BIGINT, s STRING, n BIGINT",
      "TBLPROPERTIES ('write.metadata.metrics.default' = 'counts', 'write.metadata.metrics.column.s' = " +
        "'truncate(2)', 'write.metadata.metrics.column.n' = 'none')",
      source("parquet", directory),
      metrics
    )()
  }

  test("the counts in versions 1 and 2 equal those of Apache Iceberg, and rows have row ids in version 3", Slow) {
    val directory = written("parquet", "p", "q")(partitioned)
    def table(version: Int) =
      created("id BIGINT, p STRING, q INT", s"PARTITIONED BY (p, q) TBLPROPERTIES ('format-version' = '$version')")
    for (version <- Seq(1, 2)) {
      val (ours, theirs) = (table(version), table(version))
      assert(addFiles(ours, source("parquet", directory)) == addFiles(
        inApacheIceberg(theirs),
        source("parquet", directory)
      ))
    }
    val t = table(3)
    assert(addFiles(t, source("parquet", directory)).map(_.isNullAt(1)) == Seq(true))
    assert(sorted(s"SELECT _row_id FROM $t") == (0 until 40).map(i => s"[$i]").sorted)
    assert(sorted(s"SELECT id, p, q FROM ${inApacheIceberg(t)}") == partitioned.collect().map(_.toString).toSeq.sorted)
  }

  test("50 files are added with the metrics of Apache Iceberg, and the error for a damaged one names it", Slow) {
    val directory = written("parquet")(sql("SELECT id FROM range(0, 100, 1, 50)"))
    compareWithPeer("id BIGINT", "", source("parquet", directory), metrics)()
    Files.write(filesIn(directory, ".parquet")(40), "text".getBytes)
    val message = failed(created("id BIGINT"), source("parquet", directory))
    assert(
      message.contains(filesIn(directory, ".parquet")(40).getFileName.toString) && !message.contains("Job aborted")
    )
  }

  test("expire_snapshots and DROP TABLE PURGE do not delete imported files") {
    val directory = written("parquet")(sql("SELECT id FROM range(0, 10, 1, 2)"))
    val t = created("id BIGINT")
    addFiles(t, source("parquet", directory))
    sql(s"DELETE FROM $t")
    call("expire_snapshots", t, "older_than => current_timestamp()", "retain_last => 1")
    assert(filesIn(directory, ".parquet").size == 2)
    val u = created("id BIGINT")
    addFiles(u, source("parquet", directory))
    sql(s"DROP TABLE $u PURGE")
    assert(filesIn(directory, ".parquet").size == 2)
  }

  test("sources that do not fit the table are rejected before anything is changed") {
    val plain = written("parquet")(sql("SELECT id FROM range(3)"))
    val withPartitions = written("parquet", "p")(sql("SELECT id, 1 AS p FROM range(3)"))
    val t = created("id BIGINT, p INT")
    sql(s"INSERT INTO $t VALUES (1, 1)")
    val byP = created("id BIGINT, p INT", "PARTITIONED BY (p)")
    val byBucket = created("id BIGINT, p INT", "PARTITIONED BY (bucket(4, id))")
    val view = s"spark_catalog.default.v_${System.nanoTime}"
    sql(s"CREATE VIEW $view AS SELECT 1L AS id")
    try for (
        (table, source, arguments, message) <- Seq(
          (t, this.source("parquet", withPartitions), Nil, "Cannot add partitioned files to an unpartitioned table"),
          (byP, this.source("parquet", plain), Nil, "the source has no partitions"),
          (byBucket, this.source("parquet", plain), Nil, "partition transform bucket[4] of column id"),
          (t, this.source("parquet", plain), Seq("partition_filter => map('p', '1')"), "The source has no partitions"),
          (t, this.source("parquet", plain), Seq("parallelism => 0"), "It must be 1 or more"),
          (t, this.source("parquet", plain.resolve("missing")), Nil, "There is no such file or directory"),
          (t, s"parquet.`${live(t).location}/data`", Nil, "itself has written"),
          (t, "default.nothing", Nil, "Table not found: default.nothing"),
          (t, inApacheIceberg(t), Nil, "The source must be a table of the catalog spark_catalog"),
          (t, view, Nil, "It is a view"),
          (t, "csv.`/data`", Nil, "not found")
        )
      ) {
        val found = failed(table, source, arguments: _*)
        assert(found.contains(message), s"$source $arguments: $found")
      }
    finally sql(s"DROP VIEW $view")
    Files.copy(filesIn(plain, ".parquet").head, withPartitions.resolve("stray.parquet"))
    assert(failed(byP, source("parquet", withPartitions)).contains("also the file stray.parquet"))
  }
}
