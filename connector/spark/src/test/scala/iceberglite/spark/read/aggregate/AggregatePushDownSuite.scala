package iceberglite.spark.read.aggregate

import java.nio.file.{Files, Path}

import org.apache.iceberg.types.Types
import org.apache.iceberg.{FileFormat, PartitionSpec => PeerSpec, Schema => PeerSchema}
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.FilesBelow
import iceberglite.spark.SharedSession
import iceberglite.spark.read.deletes.PeerEqualityDeletes
import iceberglite.spark.types.JavaTables

/** COUNT, MIN and MAX from metadata: used exactly when the metadata gives the exact result. */
class AggregatePushDownSuite extends AnyFunSuite with PushedPlans with JavaTables {
  private val columns =
    """id bigint, i int, x double, name string, d date, ts timestamp, amount decimal(9,2), b boolean,
      |s struct<a: int, t: string>, p string""".stripMargin

  private def values(from: Int, until: Int, p: String): String =
    s"""SELECT id, IF(id % 5 = 0, NULL, int(id)), id / 4 + 1, concat('name ', id % 3),
       |date_add(DATE'2020-01-01', int(id)), TIMESTAMP'2020-01-01 00:00:00.123456' + make_interval(0, 0, 0, int(id)),
       |cast(id / 7 AS decimal(9,2)), id % 2 = 0, IF(id % 4 = 0, NULL, named_struct('a', int(id), 't', 'x')), $p
       |FROM range($from, $until, 1, 1)""".stripMargin

  private def filled(rest: String, properties: (String, String)*): String = {
    val table = create(columns, rest, properties: _*)
    sql(s"INSERT INTO ${peer(table)} ${values(1, 21, "'a'")}")
    sql(s"INSERT INTO ${peer(table)} ${values(21, 31, "'b'")}")
    sql(s"INSERT INTO ${peer(table)} ${values(31, 36, "CAST(NULL AS string)")}")
    table
  }

  private lazy val plain: String = filled("")
  private lazy val parted: String = filled("PARTITIONED BY (p)")

  private def dataFiles(table: String): Seq[Path] = {
    val parts = table.split('.')
    val data = SharedSession.warehouse.resolve(parts(1)).resolve(parts(2)).resolve("data")
    FilesBelow.of(data).filter(_.toString.endsWith(".parquet")).toVector
  }

  test("COUNT, MIN and MAX are answered for every type with exact bounds") {
    assert(answered(plain, "SELECT count(*) FROM %s") == Seq("[35]"))
    assert(answered(plain, "SELECT count(1), count(i), count(s.a), count(p), count(name) FROM %s") ==
      Seq("[35,28,27,30,35]"))
    val ordered = Seq("id", "i", "x", "d", "ts", "amount", "b", "s.a")
    answered(plain, s"SELECT ${ordered.map(c => s"min($c), max($c)").mkString(", ")} FROM %s")
    assert(answered(plain, "SELECT max(id) + 1, max(id) - min(id), count(*) * 2 FROM %s") == Seq("[36,34,70]"))
  }

  test("an aggregate from metadata opens no data file and runs no job") {
    val table = filled("PARTITIONED BY (p)")
    dataFiles(table).foreach(Files.delete)
    assert(dataFiles(table).isEmpty)
    // Spark collects the rows of such a plan without a job.
    def finished(df: DataFrame): Seq[String] = {
      assert(df.queryExecution.executedPlan.isInstanceOf[AggregateScanExec], df.queryExecution.executedPlan)
      df.collect().map(_.toString).sorted.toSeq
    }
    assert(finished(sql(s"SELECT count(*) AS n FROM $table")) == Seq("[35]"))
    assert(finished(spark.table(table).groupBy().count()) == Seq("[35]"))
    assert(finished(sql(s"SELECT p, max(id) + 1 FROM $table GROUP BY p HAVING count(*) > 5")) == Seq(
      "[a,21]",
      "[b,31]"
    ))
    assert(finished(sql(s"SELECT p FROM $table GROUP BY p HAVING p IS NULL")) == Seq("[null]"))
  }

  test("EXPLAIN shows the aggregates, and the scan describes what it answered") {
    val df = sql(s"SELECT max(s.a) AS m, p FROM $parted WHERE p = 'a' GROUP BY p")
    val text = df.queryExecution.optimizedPlan.collect { case r: DataSourceV2ScanRelation => r.scan.description }.head
    assert(text.startsWith(s"iceberg-lite $parted (snapshot "))
    assert(text.endsWith("[aggregates=max(s.a), group by=p, filters=p IS NOT NULL AND p = 'a', files=0 opened]"), text)
    assert(df.queryExecution.optimizedPlan.toString.contains("max(s.a)"))
    for (how <- Seq("", "FORMATTED")) {
      val shown = rows(s"EXPLAIN $how SELECT count(*) FROM $parted").head.getString(0)
      assert(shown.contains("MetadataAnswer") && shown.contains("files=0 opened"), shown)
    }
  }

  test("groups of identity partitions are answered from metadata") {
    assert(answered(parted, "SELECT p, count(*) FROM %s GROUP BY p") == Seq("[a,20]", "[b,10]", "[null,5]"))
    assert(answered(parted, "SELECT min(id), p, count(i), max(ts) FROM %s GROUP BY p").size == 3)
    assert(answered(parted, "SELECT DISTINCT p FROM %s") == Seq("[a]", "[b]", "[null]"))
    assert(answered(parted, "SELECT upper(p), count(*) + 1 FROM %s GROUP BY p").head == "[A,21]")
    assert(answered(parted, "SELECT min(p), max(p), count(p) FROM %s") == Seq("[a,b,30]"))
    assert(answered(parted, "SELECT count(*), p, p FROM %s WHERE p > 'a' GROUP BY p") == Seq("[10,b,b]"))
    readFor(plain, "SELECT p, count(*) FROM %s GROUP BY p")
    readFor(parted, "SELECT p, b, count(*) FROM %s GROUP BY p, b")
    readFor(parted, "SELECT upper(p), count(*) FROM %s GROUP BY upper(p)")
  }

  test("groups of several columns are answered if all specs partition by them") {
    val table = create("id bigint, p string, q int, r date", "PARTITIONED BY (q, p)")
    val there = peer(table)
    def insert(from: Int): Unit = sql(
      s"INSERT INTO $there SELECT id, concat('p', id % 2), int(id % 3), DATE'2020-01-01' FROM range($from, ${from + 6})"
    )
    insert(0)
    sql(s"ALTER TABLE $there ADD PARTITION FIELD r")
    insert(6)
    answered(table, "SELECT p, q, count(*), max(id) FROM %s GROUP BY p, q")
    answered(table, "SELECT q, count(*), max(id) FROM %s GROUP BY q")
    readFor(table, "SELECT r, count(*) FROM %s GROUP BY r")
    sql(s"ALTER TABLE $there DROP PARTITION FIELD p")
    insert(12)
    answered(table, "SELECT q, min(id) FROM %s GROUP BY q")
    readFor(table, "SELECT p, q, count(*), max(id) FROM %s GROUP BY p, q")
    sql(s"ALTER TABLE $there ALTER COLUMN q TYPE bigint")
    sql(s"ALTER TABLE $there RENAME COLUMN q TO quantity")
    insert(18)
    assert(answered(table, "SELECT quantity, count(*) FROM %s GROUP BY quantity") == Seq("[0,8]", "[1,8]", "[2,8]"))
  }

  test("filters are answered if partitions or bounds decide them for every file") {
    assert(answered(parted, "SELECT count(*), max(id) FROM %s WHERE p = 'a'") == Seq("[20,20]"))
    assert(answered(parted, "SELECT count(*) FROM %s WHERE p IS NULL OR p = 'b'") == Seq("[15]"))
    assert(answered(plain, "SELECT count(*), min(d) FROM %s WHERE id > 20") == Seq("[15,2020-01-22]"))
    assert(answered(plain, "SELECT count(*) FROM %s WHERE id <= 20 AND d IS NOT NULL AND id > 0") == Seq("[20]"))
    assert(answered(plain, "SELECT count(*), max(id), min(name) FROM %s WHERE id > 1000") == Seq("[0,null,null]"))
    assert(answered(parted, "SELECT p, count(*) FROM %s WHERE id > 1000 GROUP BY p").isEmpty)
    readFor(plain, "SELECT count(*) FROM %s WHERE id > 19")
    readFor(plain, "SELECT count(*) FROM %s WHERE i > 0")
    readFor(plain, "SELECT count(*) FROM %s WHERE name LIKE '%a%'")
  }

  test("strings and binaries are answered only if every file has a single value: bounds can be truncated") {
    readFor(plain, "SELECT max(name) FROM %s")
    readFor(plain, "SELECT min(name) FROM %s")
    assert(answered(plain, "SELECT min(p), max(p), min(s.t) FROM %s") == Seq("[a,b,x]"))
    val table = create("t string, h binary", "")
    sql(s"INSERT INTO ${peer(table)} VALUES ('${"long" * 10}', X'${"0F" * 40}'), ('${"long" * 10}', X'${"0F" * 40}')")
    readFor(table, "SELECT max(t) FROM %s")
    readFor(table, "SELECT min(hex(h)) FROM %s")
    readFor(table, "SELECT min(t) FROM %s")
    assert(!isAnswered(sql(s"SELECT max(h) FROM $table")))
    val single = create("h binary", "")
    Seq("0102", "0103").foreach(h => sql(s"INSERT INTO ${peer(single)} VALUES (X'$h'), (X'$h')"))
    sql(s"REFRESH TABLE $single")
    val greatest = sql(s"SELECT max(h) FROM $single")
    assert(isAnswered(greatest) && greatest.collect().head.getAs[Array[Byte]](0).toSeq == Seq[Byte](1, 3))
  }

  test("UUIDs are not answered from bounds, because writers order them differently, but from partitions") {
    val (low, high) = ("00000000-0000-0000-0000-000000000001", "f0000000-0000-0000-0000-000000000000")
    val schema = new PeerSchema(Types.NestedField.optional(1, "u", Types.UUIDType.get))
    for (isPartitioned <- Seq(false, true)) {
      val table = newTable()
      val spec = PeerSpec.builderFor(schema)
      javaTable(table, schema, _ => (if (isPartitioned) spec.identity("u") else spec).build())
      Seq(low, high).foreach(u => sql(s"INSERT INTO $table VALUES ('$u'), ('$u')"))
      for (query <- Seq("SELECT max(u) FROM %s", "SELECT min(u) FROM %s")) {
        val expected = if (query.contains("max")) high else low
        assert((if (isPartitioned) answered(table, query) else readFor(table, query)) == Seq(s"[$expected]"))
      }
      assert(answered(table, "SELECT count(u) FROM %s") == Seq("[4]"))
    }
  }

  test("columns with NaN, with zeros or without metrics are read from files") {
    val table = create("x double, y float, z double, n int", "", "write.metadata.metrics.column.n" -> "counts")
    sql(
      s"""INSERT INTO ${peer(table)} SELECT IF(id = 3, double('NaN'), id), float(id),
         |IF(id % 2 = 0, -0.0D, 0.0D), int(id) FROM range(0, 6, 1, 1)""".stripMargin
    )
    readFor(table, "SELECT max(x) FROM %s")
    readFor(table, "SELECT min(z) FROM %s")
    readFor(table, "SELECT min(n), max(n) FROM %s")
    assert(answered(table, "SELECT max(y), count(n), count(x) FROM %s") == Seq("[5.0,6,6]"))
    sql(s"ALTER TABLE ${peer(table)} SET TBLPROPERTIES ('write.metadata.metrics.default' = 'none')")
    sql(s"INSERT INTO ${peer(table)} VALUES (1, 1, 1, 1)")
    readFor(table, "SELECT max(y) FROM %s")
    readFor(table, "SELECT count(y) FROM %s")
    assert(answered(table, "SELECT count(*) FROM %s") == Seq("[7]"))
  }

  test("deletion vectors reduce counts, and invalidate a bound unless another file has a greater or smaller one") {
    val table = filled("PARTITIONED BY (p)", mergeOnRead(3): _*)
    sql(s"DELETE FROM ${peer(table)} WHERE id IN (3, 20, 25)")
    assert(answered(table, "SELECT count(*), count(id), min(p), max(p) FROM %s") == Seq("[32,32,a,b]"))
    assert(answered(table, "SELECT p, count(*) FROM %s GROUP BY p") == Seq("[a,18]", "[b,9]", "[null,5]"))
    assert(answered(table, "SELECT max(id) FROM %s") == Seq("[35]"))
    readFor(table, "SELECT min(id) FROM %s")
    readFor(table, "SELECT count(i) FROM %s")
    readFor(table, "SELECT p, max(id) FROM %s GROUP BY p")
    sql(s"DELETE FROM ${peer(table)} WHERE p IS NULL AND id % 2 = 0")
    readFor(table, "SELECT max(id) FROM %s")
    assert(answered(table, "SELECT count(*), count(id), count(p) FROM %s WHERE p IS NULL") == Seq("[3,3,0]"))
  }

  test("with position deletes or equality deletes, counts are read from files") {
    for (granularity <- Seq("file", "partition")) {
      val table = filled("PARTITIONED BY (p)", mergeOnRead(2) :+ ("write.delete.granularity" -> granularity): _*)
      sql(s"DELETE FROM ${peer(table)} WHERE id IN (25, 26)")
      readFor(table, "SELECT count(*) FROM %s")
      readFor(table, "SELECT p, count(*) FROM %s GROUP BY p")
      assert(answered(table, "SELECT count(*) FROM %s WHERE p = 'a'") == Seq("[20]"))
      assert(answered(table, "SELECT min(id), max(id) FROM %s") == Seq("[1,35]"))
      readFor(table, "SELECT min(id) FROM %s WHERE p = 'b'")
    }
    val table = filled("", "format-version" -> "2")
    new PeerEqualityDeletes(spark, peer(table)).commit(Seq("id"), FileFormat.PARQUET)(Seq(1L), Seq(2L))
    readFor(table, "SELECT count(*) FROM %s")
    readFor(table, "SELECT min(id) FROM %s")
    assert(answered(table, "SELECT count(*), max(id) FROM %s WHERE id > 20") == Seq("[15,35]"))
  }

  test("a column added after a file was written is null there, or has its default") {
    val table = create("id bigint", "", "format-version" -> "3")
    sql(s"INSERT INTO ${peer(table)} VALUES (1), (2)")
    sql(s"ALTER TABLE $table ADD COLUMN late int")
    sql(s"ALTER TABLE $table ADD COLUMN given int DEFAULT 7")
    sql(s"INSERT INTO $table VALUES (3, 30, 5)")
    assert(answered(table, "SELECT count(late), min(late), max(late) FROM %s") == Seq("[1,30,30]"))
    assert(answered(table, "SELECT count(given), min(given), max(given) FROM %s") == Seq("[3,5,7]"))
    sql(s"ALTER TABLE $table SET TBLPROPERTIES ('schema.name-mapping.default' = '[]')")
    readFor(table, "SELECT max(late) FROM %s")
    val old = create("id bigint", "", "format-version" -> "1")
    sql(s"INSERT INTO ${peer(old)} VALUES (1), (2)")
    sql(s"ALTER TABLE $old ADD COLUMN late int")
    readFor(old, "SELECT max(late) FROM %s")
    readFor(old, "SELECT count(late) FROM %s")
  }

  test("an int widened to long, and tables without files or rows, are answered") {
    val table = create("i int, f float", "")
    sql(s"INSERT INTO ${peer(table)} VALUES (7, 1.5), (-3, 2.5)")
    sql(s"ALTER TABLE ${peer(table)} ALTER COLUMN i TYPE bigint")
    sql(s"ALTER TABLE ${peer(table)} ALTER COLUMN f TYPE double")
    sql(s"INSERT INTO ${peer(table)} VALUES (5000000000, 0.25)")
    assert(answered(table, "SELECT min(i), max(i), min(f), max(f) FROM %s") == Seq("[-3,5000000000,0.25,2.5]"))
    val empty = create("i int, p string", "PARTITIONED BY (p)")
    assert(answered(empty, "SELECT count(*), count(i), min(i), max(p) FROM %s") == Seq("[0,0,null,null]"))
    assert(answered(empty, "SELECT p, count(*) FROM %s GROUP BY p").isEmpty)
    sql(s"INSERT INTO ${peer(empty)} VALUES (1, 'a')")
    sql(s"DELETE FROM ${peer(empty)}")
    assert(answered(empty, "SELECT count(*), count(i), min(i), max(p) FROM %s") == Seq("[0,0,null,null]"))
  }

  test("timestamps in ORC files, which can be rounded, and metrics that Avro files lack are read from files") {
    val orc = filled("", "write.format.default" -> "orc")
    readFor(orc, "SELECT max(ts) FROM %s")
    answered(orc, "SELECT count(*), count(i), min(id), max(d), max(amount) FROM %s")
    val avro = filled("", "write.format.default" -> "avro")
    assert(answered(avro, "SELECT count(*) FROM %s") == Seq("[35]"))
    readFor(avro, "SELECT max(id) FROM %s")
  }

  test("null structs are counted even if the counts of an ORC file leave them out") {
    val table = create("id bigint, s struct<a: int>", "", "write.format.default" -> "orc")
    sql(
      s"""INSERT INTO ${peer(table)}
         |SELECT id, IF(id % 2 = 0, NULL, named_struct('a', int(id))) FROM range(0, 10, 1, 1)""".stripMargin
    )
    assert(readFor(table, "SELECT count(s.a) FROM %s") == Seq("[5]"))
    // Apache Iceberg skips the file.
    assert(sorted(s"SELECT id FROM $table WHERE s.a IS NULL") == Seq("[0]", "[2]", "[4]", "[6]", "[8]"))
    assert(same(table, "SELECT count(*) FROM %s WHERE s.a IS NOT NULL") == Seq("[5]"))
  }

  test("aggregates that metadata cannot answer are left to Spark") {
    Seq(
      "SELECT count(DISTINCT p) FROM %s",
      "SELECT sum(id), count(*) FROM %s",
      "SELECT count(*) FILTER (WHERE id > 3) FROM %s",
      "SELECT max(id + 1) FROM %s",
      "SELECT max(s) FROM %s",
      "SELECT max(_pos) FROM %s",
      "SELECT count(*) FROM %s TABLESAMPLE (100 PERCENT)",
      "SELECT count(*) FROM (SELECT * FROM %s LIMIT 7)"
    ).foreach(readFor(parted, _))
  }

  test("an option and a setting disable push-down, and an old snapshot is answered with its own metadata") {
    val off = spark.read.option("aggregate-push-down-enabled", "false").table(parted).groupBy().count()
    assert(!isAnswered(off) && off.collect().head.getLong(0) == 35)
    withConf("spark.sql.iceberg.aggregate-push-down.enabled" -> "false") {
      assert(!isAnswered(sql(s"SELECT count(*) FROM $parted")))
    }
    val first = rows(s"SELECT snapshot_id FROM ${peer(parted)}.snapshots ORDER BY committed_at").head.getLong(0)
    val before = sql(s"SELECT count(*), max(id) FROM $parted VERSION AS OF $first")
    assert(isAnswered(before) && before.collect().head.toString == "[20,20]")
  }

  test("answers from metadata work in joins, subqueries and unions") {
    val query =
      """SELECT id FROM %s WHERE id = (SELECT max(id) FROM %s) OR id IN (SELECT min(id) FROM %s GROUP BY p)
        |UNION ALL SELECT count(*) FROM %s""".stripMargin
    assert(same(parted, query) == Seq("[1]", "[21]", "[31]", "[35]", "[35]"))
  }
}
