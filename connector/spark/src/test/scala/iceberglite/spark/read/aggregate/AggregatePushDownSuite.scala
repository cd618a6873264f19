package iceberglite.spark.read.aggregate

import java.nio.file.{Files, Path}

import org.apache.iceberg.types.Types
import org.apache.iceberg.{FileFormat, PartitionSpec => PeerSpec, Schema => PeerSchema}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.FilesBelow
import iceberglite.spark.SharedSession
import iceberglite.spark.read.deletes.PeerEqualityDeletes
import iceberglite.spark.types.JavaTables

/** Checks that COUNT, MIN and MAX are answered from metadata if, and only if, metadata gives the exact result. */
class AggregatePushDownSuite extends AnyFunSuite with PushedPlans with JavaTables {
  private val columns =
    """id bigint, i int, x double, name string, d date, ts timestamp, amount decimal(9,2), b boolean,
      |s struct<a: int, t: string>, p string""".stripMargin

  private def values(from: Int, until: Int, p: String): String =
    s"""SELECT id, IF(id % 5 = 0, NULL, int(id)), id / 4 + 1, concat('name ', id % 3),
       |date_add(DATE'2020-01-01', int(id)), TIMESTAMP'2020-01-01 00:00:00.123456' + make_interval(0, 0, 0, int(id)),
       |cast(id / 7 AS decimal(9,2)), id % 2 = 0, IF(id % 4 = 0, NULL, named_struct('a', int(id), 't', 'x')), $p
       |FROM range($from, $until, 1, 1)""".stripMargin

  private def filledTable(clauses: String, properties: (String, String)*): String = {
    val table = create(columns, clauses, properties: _*)
    sql(s"INSERT INTO ${inApacheIceberg(table)} ${values(1, 21, "'a'")}")
    sql(s"INSERT INTO ${inApacheIceberg(table)} ${values(21, 31, "'b'")}")
    sql(s"INSERT INTO ${inApacheIceberg(table)} ${values(31, 36, "CAST(NULL AS string)")}")
    table
  }

  private lazy val unpartitioned: String = filledTable("")
  private lazy val partitioned: String = filledTable("PARTITIONED BY (p)")

  private def dataFiles(table: String): Seq[Path] = {
    val parts = table.split('.')
    val data = SharedSession.warehouse.resolve(parts(1)).resolve(parts(2)).resolve("data")
    FilesBelow.of(data).filter(_.toString.endsWith(".parquet")).toVector
  }

  test("COUNT, MIN and MAX are answered from metadata for every type with exact bounds") {
    assert(fromMetadata(unpartitioned, "SELECT count(*) FROM %s") == Seq("[35]"))
    assert(fromMetadata(unpartitioned, "SELECT count(1), count(i), count(s.a), count(p), count(name) FROM %s") ==
      Seq("[35,28,27,30,35]"))
    val ordered = Seq("id", "i", "x", "d", "ts", "amount", "b", "s.a")
    fromMetadata(unpartitioned, s"SELECT ${ordered.map(c => s"min($c), max($c)").mkString(", ")} FROM %s")
    val expressions = "SELECT max(id) + 1, max(id) - min(id), count(*) * 2 FROM %s"
    assert(fromMetadata(unpartitioned, expressions) == Seq("[36,34,70]"))
  }

  test("an aggregate that is answered from metadata opens no data file and runs no job", Slow) {
    val table = filledTable("PARTITIONED BY (p)")
    dataFiles(table).foreach(Files.delete)
    assert(dataFiles(table).isEmpty)
    // If the physical plan consists only of an `AggregateScanExec`, Spark collects its rows without a job.
    def collected(df: DataFrame): Seq[String] = {
      assert(df.queryExecution.executedPlan.isInstanceOf[AggregateScanExec], df.queryExecution.executedPlan)
      df.collect().map(_.toString).sorted.toSeq
    }
    assert(collected(sql(s"SELECT count(*) AS n FROM $table")) == Seq("[35]"))
    assert(collected(spark.table(table).groupBy().count()) == Seq("[35]"))
    assert(collected(sql(s"SELECT p, max(id) + 1 FROM $table GROUP BY p HAVING count(*) > 5")) == Seq(
      "[a,21]",
      "[b,31]"
    ))
    assert(collected(sql(s"SELECT p FROM $table GROUP BY p HAVING p IS NULL")) == Seq("[null]"))
  }

  test("EXPLAIN shows the aggregates, and the scan describes the aggregates that it answered") {
    val df = sql(s"SELECT max(s.a) AS m, p FROM $partitioned WHERE p = 'a' GROUP BY p")
    val text = df.queryExecution.optimizedPlan.collect { case r: DataSourceV2ScanRelation => r.scan.description }.head
    assert(text.startsWith(s"iceberg-lite $partitioned (snapshot "))
    assert(text.endsWith("[aggregates=max(s.a), group by=p, filters=p IS NOT NULL AND p = 'a', files=0 opened]"), text)
    assert(df.queryExecution.optimizedPlan.toString.contains("max(s.a)"))
    for (mode <- Seq("", "FORMATTED")) {
      val explained = rows(s"EXPLAIN $mode SELECT count(*) FROM $partitioned").head.getString(0)
      assert(explained.contains("MetadataAnswer") && explained.contains("files=0 opened"), explained)
    }
  }

  test("aggregates grouped by identity partition columns are answered from metadata", Slow) {
    assert(fromMetadata(partitioned, "SELECT p, count(*) FROM %s GROUP BY p") == Seq("[a,20]", "[b,10]", "[null,5]"))
    assert(fromMetadata(partitioned, "SELECT min(id), p, count(i), max(ts) FROM %s GROUP BY p").size == 3)
    assert(fromMetadata(partitioned, "SELECT DISTINCT p FROM %s") == Seq("[a]", "[b]", "[null]"))
    assert(fromMetadata(partitioned, "SELECT upper(p), count(*) + 1 FROM %s GROUP BY p").head == "[A,21]")
    assert(fromMetadata(partitioned, "SELECT min(p), max(p), count(p) FROM %s") == Seq("[a,b,30]"))
    assert(fromMetadata(partitioned, "SELECT count(*), p, p FROM %s WHERE p > 'a' GROUP BY p") == Seq("[10,b,b]"))
    fromFiles(unpartitioned, "SELECT p, count(*) FROM %s GROUP BY p")
    fromFiles(partitioned, "SELECT p, b, count(*) FROM %s GROUP BY p, b")
    fromFiles(partitioned, "SELECT upper(p), count(*) FROM %s GROUP BY upper(p)")
  }

  test(
    "aggregates grouped by several columns are answered from metadata if all specs partition by these columns",
    Slow
  ) {
    val table = create("id bigint, p string, q int, r date", "PARTITIONED BY (q, p)")
    val peerTable = inApacheIceberg(table)
    def insert(from: Int): Unit = sql(
      s"""INSERT INTO $peerTable SELECT id, concat('p', id % 2), int(id % 3), DATE'2020-01-01'
         |FROM range($from, ${from + 6})""".stripMargin
    )
    insert(0)
    sql(s"ALTER TABLE $peerTable ADD PARTITION FIELD r")
    insert(6)
    fromMetadata(table, "SELECT p, q, count(*), max(id) FROM %s GROUP BY p, q")
    fromMetadata(table, "SELECT q, count(*), max(id) FROM %s GROUP BY q")
    fromFiles(table, "SELECT r, count(*) FROM %s GROUP BY r")
    sql(s"ALTER TABLE $peerTable DROP PARTITION FIELD p")
    insert(12)
    fromMetadata(table, "SELECT q, min(id) FROM %s GROUP BY q")
    fromFiles(table, "SELECT p, q, count(*), max(id) FROM %s GROUP BY p, q")
    sql(s"ALTER TABLE $peerTable ALTER COLUMN q TYPE bigint")
    sql(s"ALTER TABLE $peerTable RENAME COLUMN q TO quantity")
    insert(18)
    assert(fromMetadata(table, "SELECT quantity, count(*) FROM %s GROUP BY quantity") == Seq("[0,8]", "[1,8]", "[2,8]"))
  }

  test(
    "aggregates with a filter are answered from metadata if partitions or bounds decide the filter for every file",
    Slow
  ) {
    assert(fromMetadata(partitioned, "SELECT count(*), max(id) FROM %s WHERE p = 'a'") == Seq("[20,20]"))
    assert(fromMetadata(partitioned, "SELECT count(*) FROM %s WHERE p IS NULL OR p = 'b'") == Seq("[15]"))
    assert(fromMetadata(unpartitioned, "SELECT count(*), min(d) FROM %s WHERE id > 20") == Seq("[15,2020-01-22]"))
    val conjunction = "SELECT count(*) FROM %s WHERE id <= 20 AND d IS NOT NULL AND id > 0"
    assert(fromMetadata(unpartitioned, conjunction) == Seq("[20]"))
    val noMatch = "SELECT count(*), max(id), min(name) FROM %s WHERE id > 1000"
    assert(fromMetadata(unpartitioned, noMatch) == Seq("[0,null,null]"))
    assert(fromMetadata(partitioned, "SELECT p, count(*) FROM %s WHERE id > 1000 GROUP BY p").isEmpty)
    fromFiles(unpartitioned, "SELECT count(*) FROM %s WHERE id > 19")
    fromFiles(unpartitioned, "SELECT count(*) FROM %s WHERE i > 0")
    fromFiles(unpartitioned, "SELECT count(*) FROM %s WHERE name LIKE '%a%'")
  }

  test("MIN and MAX of strings and binaries use bounds only if all rows of a file have one value", Slow) {
    fromFiles(unpartitioned, "SELECT max(name) FROM %s")
    fromFiles(unpartitioned, "SELECT min(name) FROM %s")
    assert(fromMetadata(unpartitioned, "SELECT min(p), max(p), min(s.t) FROM %s") == Seq("[a,b,x]"))
    val table = create("t string, h binary", "")
    sql(
      s"INSERT INTO ${inApacheIceberg(table)} VALUES ('${"long" * 10}', X'${"0F" * 40}'), ('${"long" * 10}', " +
        s"X'${"0F" * 40}')"
    )
    fromFiles(table, "SELECT max(t) FROM %s")
    fromFiles(table, "SELECT min(hex(h)) FROM %s")
    fromFiles(table, "SELECT min(t) FROM %s")
    assert(!isFromMetadata(sql(s"SELECT max(h) FROM $table")))
    val single = create("h binary", "")
    Seq("0102", "0103").foreach(h => sql(s"INSERT INTO ${inApacheIceberg(single)} VALUES (X'$h'), (X'$h')"))
    sql(s"REFRESH TABLE $single")
    val greatest = sql(s"SELECT max(h) FROM $single")
    assert(isFromMetadata(greatest) && greatest.collect().head.getAs[Array[Byte]](0).toSeq == Seq[Byte](1, 3))
  }

  test("MIN and MAX of UUIDs use partition values, but not bounds, because writers order UUIDs differently", Slow) {
    val (low, high) = ("00000000-0000-0000-0000-000000000001", "f0000000-0000-0000-0000-000000000000")
    val schema = new PeerSchema(Types.NestedField.optional(1, "u", Types.UUIDType.get))
    for (isPartitioned <- Seq(false, true)) {
      val table = newTable()
      val spec = PeerSpec.builderFor(schema)
      javaTable(table, schema, _ => (if (isPartitioned) spec.identity("u") else spec).build())
      Seq(low, high).foreach(u => sql(s"INSERT INTO $table VALUES ('$u'), ('$u')"))
      for (query <- Seq("SELECT max(u) FROM %s", "SELECT min(u) FROM %s")) {
        val expected = if (query.contains("max")) high else low
        assert((if (isPartitioned) fromMetadata(table, query) else fromFiles(table, query)) == Seq(s"[$expected]"))
      }
      assert(fromMetadata(table, "SELECT count(u) FROM %s") == Seq("[4]"))
    }
  }

  test("MIN and MAX of columns with NaN, zero bounds or no bounds, and COUNT without metrics, read files", Slow) {
    val table = create("x double, y float, z double, n int", "", "write.metadata.metrics.column.n" -> "counts")
    sql(
      s"""INSERT INTO ${inApacheIceberg(table)} SELECT IF(id = 3, double('NaN'), id), float(id),
         |IF(id % 2 = 0, -0.0D, 0.0D), int(id) FROM range(0, 6, 1, 1)""".stripMargin
    )
    fromFiles(table, "SELECT max(x) FROM %s")
    fromFiles(table, "SELECT min(z) FROM %s")
    fromFiles(table, "SELECT min(n), max(n) FROM %s")
    assert(fromMetadata(table, "SELECT max(y), count(n), count(x) FROM %s") == Seq("[5.0,6,6]"))
    sql(s"ALTER TABLE ${inApacheIceberg(table)} SET TBLPROPERTIES ('write.metadata.metrics.default' = 'none')")
    sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (1, 1, 1, 1)")
    fromFiles(table, "SELECT max(y) FROM %s")
    fromFiles(table, "SELECT count(y) FROM %s")
    assert(fromMetadata(table, "SELECT count(*) FROM %s") == Seq("[7]"))
  }

  test(
    "deletion vectors reduce counts, and MIN and MAX are read from files if the extreme value may be deleted",
    Slow
  ) {
    val table = filledTable("PARTITIONED BY (p)", mergeOnRead(3): _*)
    sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id IN (3, 20, 25)")
    assert(fromMetadata(table, "SELECT count(*), count(id), min(p), max(p) FROM %s") == Seq("[32,32,a,b]"))
    assert(fromMetadata(table, "SELECT p, count(*) FROM %s GROUP BY p") == Seq("[a,18]", "[b,9]", "[null,5]"))
    assert(fromMetadata(table, "SELECT max(id) FROM %s") == Seq("[35]"))
    fromFiles(table, "SELECT min(id) FROM %s")
    fromFiles(table, "SELECT count(i) FROM %s")
    fromFiles(table, "SELECT p, max(id) FROM %s GROUP BY p")
    sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE p IS NULL AND id % 2 = 0")
    fromFiles(table, "SELECT max(id) FROM %s")
    assert(fromMetadata(table, "SELECT count(*), count(id), count(p) FROM %s WHERE p IS NULL") == Seq("[3,3,0]"))
  }

  test("with position deletes or equality deletes, counts are read from files", Slow) {
    for (granularity <- Seq("file", "partition")) {
      val table = filledTable("PARTITIONED BY (p)", mergeOnRead(2) :+ ("write.delete.granularity" -> granularity): _*)
      sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id IN (25, 26)")
      fromFiles(table, "SELECT count(*) FROM %s")
      fromFiles(table, "SELECT p, count(*) FROM %s GROUP BY p")
      assert(fromMetadata(table, "SELECT count(*) FROM %s WHERE p = 'a'") == Seq("[20]"))
      assert(fromMetadata(table, "SELECT min(id), max(id) FROM %s") == Seq("[1,35]"))
      fromFiles(table, "SELECT min(id) FROM %s WHERE p = 'b'")
    }
    val table = filledTable("", "format-version" -> "2")
    new PeerEqualityDeletes(spark, inApacheIceberg(table)).commit(Seq("id"), FileFormat.PARQUET)(Seq(1L), Seq(2L))
    fromFiles(table, "SELECT count(*) FROM %s")
    fromFiles(table, "SELECT min(id) FROM %s")
    assert(fromMetadata(table, "SELECT count(*), max(id) FROM %s WHERE id > 20") == Seq("[15,35]"))
  }

  test(
    "aggregates of an added column use null or its default, but read files in version 1 or with a name mapping",
    Slow
  ) {
    val table = create("id bigint", "", "format-version" -> "3")
    sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (1), (2)")
    sql(s"ALTER TABLE $table ADD COLUMN late int")
    sql(s"ALTER TABLE $table ADD COLUMN given int DEFAULT 7")
    sql(s"INSERT INTO $table VALUES (3, 30, 5)")
    assert(fromMetadata(table, "SELECT count(late), min(late), max(late) FROM %s") == Seq("[1,30,30]"))
    assert(fromMetadata(table, "SELECT count(given), min(given), max(given) FROM %s") == Seq("[3,5,7]"))
    sql(s"ALTER TABLE $table SET TBLPROPERTIES ('schema.name-mapping.default' = '[]')")
    fromFiles(table, "SELECT max(late) FROM %s")
    val old = create("id bigint", "", "format-version" -> "1")
    sql(s"INSERT INTO ${inApacheIceberg(old)} VALUES (1), (2)")
    sql(s"ALTER TABLE $old ADD COLUMN late int")
    fromFiles(old, "SELECT max(late) FROM %s")
    fromFiles(old, "SELECT count(late) FROM %s")
  }

  test("aggregates of widened columns, and of tables without files or rows, are answered from metadata", Slow) {
    val table = create("i int, f float", "")
    sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (7, 1.5), (-3, 2.5)")
    sql(s"ALTER TABLE ${inApacheIceberg(table)} ALTER COLUMN i TYPE bigint")
    sql(s"ALTER TABLE ${inApacheIceberg(table)} ALTER COLUMN f TYPE double")
    sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (5000000000, 0.25)")
    assert(fromMetadata(table, "SELECT min(i), max(i), min(f), max(f) FROM %s") == Seq("[-3,5000000000,0.25,2.5]"))
    val empty = create("i int, p string", "PARTITIONED BY (p)")
    assert(fromMetadata(empty, "SELECT count(*), count(i), min(i), max(p) FROM %s") == Seq("[0,0,null,null]"))
    assert(fromMetadata(empty, "SELECT p, count(*) FROM %s GROUP BY p").isEmpty)
    sql(s"INSERT INTO ${inApacheIceberg(empty)} VALUES (1, 'a')")
    sql(s"DELETE FROM ${inApacheIceberg(empty)}")
    assert(fromMetadata(empty, "SELECT count(*), count(i), min(i), max(p) FROM %s") == Seq("[0,0,null,null]"))
  }

  test(
    "MAX of timestamps in ORC files, whose bounds can be rounded, and of columns in Avro files is read from files",
    Slow
  ) {
    val orc = filledTable("", "write.format.default" -> "orc")
    fromFiles(orc, "SELECT max(ts) FROM %s")
    fromMetadata(orc, "SELECT count(*), count(i), min(id), max(d), max(amount) FROM %s")
    val avro = filledTable("", "write.format.default" -> "avro")
    assert(fromMetadata(avro, "SELECT count(*) FROM %s") == Seq("[35]"))
    fromFiles(avro, "SELECT max(id) FROM %s")
  }

  test("fields of null structs count as null even if the null counts of an ORC file do not include these fields") {
    val table = create("id bigint, s struct<a: int>", "", "write.format.default" -> "orc")
    sql(
      s"""INSERT INTO ${inApacheIceberg(table)}
         |SELECT id, IF(id % 2 = 0, NULL, named_struct('a', int(id))) FROM range(0, 10, 1, 1)""".stripMargin
    )
    assert(fromFiles(table, "SELECT count(s.a) FROM %s") == Seq("[5]"))
    // Apache Iceberg is not compared, because it skips the file although some of its rows match.
    assert(sorted(s"SELECT id FROM $table WHERE s.a IS NULL") == Seq("[0]", "[2]", "[4]", "[6]", "[8]"))
    assert(sameRows(table, "SELECT count(*) FROM %s WHERE s.a IS NOT NULL") == Seq("[5]"))
  }

  test("Spark computes aggregates that metadata cannot answer", Slow) {
    Seq(
      "SELECT count(DISTINCT p) FROM %s",
      "SELECT sum(id), count(*) FROM %s",
      "SELECT count(*) FILTER (WHERE id > 3) FROM %s",
      "SELECT max(id + 1) FROM %s",
      "SELECT max(s) FROM %s",
      "SELECT max(_pos) FROM %s",
      "SELECT count(*) FROM %s TABLESAMPLE (100 PERCENT)",
      "SELECT count(*) FROM (SELECT * FROM %s LIMIT 7)"
    ).foreach(fromFiles(partitioned, _))
  }

  test("an option or a setting disables push-down, and an old snapshot is answered from its own metadata") {
    val off = spark.read.option("aggregate-push-down-enabled", "false").table(partitioned).groupBy().count()
    assert(!isFromMetadata(off) && off.collect().head.getLong(0) == 35)
    withConf("spark.sql.iceberg.aggregate-push-down.enabled" -> "false") {
      assert(!isFromMetadata(sql(s"SELECT count(*) FROM $partitioned")))
    }
    val first =
      rows(s"SELECT snapshot_id FROM ${inApacheIceberg(partitioned)}.snapshots ORDER BY committed_at").head.getLong(0)
    val before = sql(s"SELECT count(*), max(id) FROM $partitioned VERSION AS OF $first")
    assert(isFromMetadata(before) && before.collect().head.toString == "[20,20]")
  }

  test("a query with aggregates in subqueries and a union returns the rows of Apache Iceberg") {
    val query =
      """SELECT id FROM %s WHERE id = (SELECT max(id) FROM %s) OR id IN (SELECT min(id) FROM %s GROUP BY p)
        |UNION ALL SELECT count(*) FROM %s""".stripMargin
    assert(sameRows(partitioned, query) == Seq("[1]", "[21]", "[31]", "[35]", "[35]"))
  }
}
