package iceberglite.spark.read

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession

/** Checks that both connectors read the same rows from tables that Apache Iceberg wrote. */
class PeerTablesSuite extends AnyFunSuite with SharedSession {

  /**
   * Returns the rows of the query, after checking that Apache Iceberg returns the same rows. In the query, `%s` stands
   * for the table name.
   */
  private def sameRows(table: String, query: String): Seq[String] = {
    val result = sorted(query.replace("%s", table))
    assert(result == sorted(query.replace("%s", inApacheIceberg(table))), query)
    result
  }

  private def create(columns: String, clauses: String = ""): String = {
    val table = newTable()
    sql(s"CREATE TABLE ${inApacheIceberg(table)} ($columns) USING iceberg $clauses")
    table
  }

  private val allTypes =
    """b boolean, i int, l bigint, f float, d double, dec9 decimal(9, 2), dec18 decimal(18, 4), dec38 decimal(38, 10),
      |day date, ts timestamp, ntz timestamp_ntz, s string, bin binary""".stripMargin.replace("\n", " ")

  private val allValues =
    """VALUES (true, 1, 2L, 1.5f, 2.5d, 1.25bd, 12.3456bd, 1.0000000001bd, DATE'2013-01-01',
      |TIMESTAMP'2013-01-01 10:00:00', TIMESTAMP_NTZ'2013-01-01 10:00:00', 'größe', X'00FF'),
      |(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
      |(false, -1, -2L, float('NaN'), double('-Infinity'), -1.25bd, -12.3456bd, -1.0000000001bd, DATE'1500-01-01',
      |TIMESTAMP'1500-01-01 10:00:00', TIMESTAMP_NTZ'1500-01-01 10:00:00', '', X'')""".stripMargin.replace("\n", " ")

  test(
    "in versions 1 to 3, values of all primitive types are read as by Apache Iceberg, in batches and row by row",
    Slow
  ) {
    for (version <- Seq(1, 2, 3)) {
      val table = create(allTypes, s"TBLPROPERTIES ('format-version' = '$version')")
      sql(s"INSERT INTO ${inApacheIceberg(table)} $allValues")
      val columns = "b, i, l, f, d, dec9, dec18, dec38, day, ts, ntz, s, hex(bin)"
      val inBatches = sameRows(table, s"SELECT $columns FROM %s")
      assert(inBatches.size == 3)
      withConf("spark.sql.columnVector.offheap.enabled" -> "true") {
        assert(sorted(s"SELECT $columns FROM $table") == inBatches)
      }
      val rowWise = spark.read.option("vectorization-enabled", "false").table(table)
      assert(rowWise.selectExpr(columns.split(", "): _*).collect().map(_.toString).sorted.toSeq == inBatches)
    }
  }

  test("timestamps are the same in Apache Iceberg, in several session time zones", Slow) {
    val table = create("ts timestamp, ntz timestamp_ntz", "PARTITIONED BY (days(ts))")
    sql(
      s"INSERT INTO ${inApacheIceberg(table)} VALUES (TIMESTAMP'2013-03-10 02:30:00', " +
        "TIMESTAMP_NTZ'2013-03-10 02:30:00')"
    )
    for (zone <- Seq("UTC", "America/New_York", "Asia/Kathmandu")) withConf("spark.sql.session.timeZone" -> zone) {
      assert(sameRows(table, "SELECT CAST(ts AS bigint), CAST(ts AS string), CAST(ntz AS string) FROM %s").size == 1)
      assert(sameRows(table, "SELECT * FROM %s WHERE ts >= TIMESTAMP'2013-03-10 02:30:00 UTC'").size == 1)
      assert(sameRows(table, "SELECT * FROM %s WHERE ts > TIMESTAMP'2013-03-10 02:30:00 UTC'").isEmpty)
    }
  }

  private val nested =
    """id int, s struct<a: int, inner: struct<t: string, n: double>>, l array<struct<x: int, y: array<string>>>,
      |m map<string, struct<v: int, w: decimal(10, 2)>>""".stripMargin.replace("\n", " ")

  private val nestedValues =
    """SELECT 1, named_struct('a', 1, 'inner', named_struct('t', 'one', 'n', 1.5d)),
      |array(named_struct('x', 1, 'y', array('p', NULL)), NULL, named_struct('x', NULL, 'y', array())),
      |map('k', named_struct('v', 1, 'w', 1.25bd), 'none', NULL)
      |UNION ALL SELECT 2, NULL, NULL, NULL
      |UNION ALL SELECT 3, named_struct('a', NULL, 'inner', NULL), array(), map()""".stripMargin.replace("\n", " ")

  test("nested columns and their fields are read as by Apache Iceberg", Slow) {
    val table = create(nested)
    sql(s"INSERT INTO ${inApacheIceberg(table)} $nestedValues")
    assert(sameRows(table, "SELECT * FROM %s").size == 3)
    Seq(
      "SELECT s.inner.t FROM %s",
      "SELECT s.inner FROM %s WHERE s.a IS NULL",
      "SELECT id FROM %s WHERE s IS NULL",
      "SELECT id, s IS NULL, s.inner IS NULL FROM %s",
      "SELECT l.x FROM %s",
      "SELECT id, e.y FROM %s LATERAL VIEW explode(l) AS e",
      "SELECT m['k'].w, map_keys(m) FROM %s",
      "SELECT id FROM %s WHERE s.inner.n > 1.0",
      "SELECT count(*) FROM %s"
    ).foreach(sameRows(table, _))
  }

  test("columns keep their values when they are renamed, swapped, moved, dropped and added again", Slow) {
    val table = create("a int, b int, c string, s struct<x: int, y: int>")
    val peerTable = inApacheIceberg(table)
    sql(s"INSERT INTO $peerTable VALUES (1, 10, 'old', named_struct('x', 1, 'y', 2))")
    sql(s"ALTER TABLE $peerTable RENAME COLUMN a TO tmp")
    sql(s"ALTER TABLE $peerTable RENAME COLUMN b TO a")
    sql(s"ALTER TABLE $peerTable RENAME COLUMN tmp TO b")
    sql(s"ALTER TABLE $peerTable DROP COLUMN c")
    sql(s"ALTER TABLE $peerTable ADD COLUMN c string FIRST")
    sql(s"ALTER TABLE $peerTable RENAME COLUMN s.x TO z")
    sql(s"ALTER TABLE $peerTable ADD COLUMN s.x int")
    sql(s"ALTER TABLE $peerTable DROP COLUMN s.y")
    sql(s"INSERT INTO $peerTable VALUES ('new', 2, 20, named_struct('z', 3, 'x', 4))")
    assert(sameRows(table, "SELECT * FROM %s") == Seq("[new,2,20,[3,4]]", "[null,1,10,[1,null]]"))
    // If filters found columns by name, they would read the values of a former column with the same name in old files.
    Seq("a = 10", "b = 1", "a = 1", "c IS NULL", "c = 'old'", "s.x IS NULL", "s.x = 1", "s.z = 1", "s.x = 4")
      .foreach(filter => sameRows(table, s"SELECT * FROM %s WHERE $filter"))
    assert(sameRows(table, "SELECT s.x FROM %s WHERE s IS NOT NULL").size == 2)
  }

  test("widened columns keep the values that were written before, and filters apply to these values", Slow) {
    val columns = "i int, f float, d decimal(5, 2), s struct<i: int>, l array<float>, m map<string, decimal(4, 1)>"
    val table = create(columns)
    val peerTable = inApacheIceberg(table)
    sql(
      s"""INSERT INTO $peerTable VALUES (7, 0.5, 1.25, named_struct('i', 7), array(0.5f), map('k', 1.5bd)),
         |(NULL, NULL, NULL, NULL, NULL, NULL)""".stripMargin
    )
    val changes = Seq("i TYPE bigint", "f TYPE double", "d TYPE decimal(38, 2)", "s.i TYPE bigint") ++
      Seq("l.element TYPE double", "m.value TYPE decimal(12, 1)")
    changes.foreach(change => sql(s"ALTER TABLE $peerTable ALTER COLUMN $change"))
    sql(
      s"""INSERT INTO $peerTable VALUES (5000000000, 0.1, 12345678901234567890.25, named_struct('i', 5000000000),
         |array(0.1d), map('k', 12345678901.5bd))""".stripMargin
    )
    assert(sameRows(table, "SELECT * FROM %s").size == 3)
    val filters = Seq("i = 7", "i > 6", "i IN (7, 5000000000)", "f = 0.5", "f < 0.3", "f > 0.3", "d = 1.25", "d > 2") ++
      Seq("s.i = 7", "s.i >= 5000000000", "i IS NULL")
    filters.foreach(filter => sameRows(table, s"SELECT * FROM %s WHERE $filter"))
  }

  test("filters on partitions with different transforms return the same rows as Apache Iceberg", Slow) {
    val table = create(
      "id bigint, ts timestamp, s string, cat string, day date",
      "PARTITIONED BY (cat, days(ts), bucket(4, id), truncate(2, s))"
    )
    sql(
      s"""INSERT INTO ${inApacheIceberg(
          table
        )} SELECT id, TIMESTAMP'2013-01-01 00:00:00' + make_interval(0, 0, 0, 0, id * 7),
         |concat('s', id % 10, 'x'), IF(id % 5 = 0, NULL, concat('c', id % 3)),
         |date_add(DATE'1969-12-20', CAST(id AS int)) FROM range(50)""".stripMargin
    )
    sql(s"ALTER TABLE ${inApacheIceberg(table)} DROP PARTITION FIELD truncate(2, s)")
    sql(s"ALTER TABLE ${inApacheIceberg(table)} ADD PARTITION FIELD months(day)")
    sql(
      s"""INSERT INTO ${inApacheIceberg(
          table
        )} SELECT id, TIMESTAMP'2013-01-05 00:00:00', 'later', 'c1', DATE'1970-01-31'
         |FROM range(50, 60)""".stripMargin
    )
    for (
      filter <- Seq(
        "cat = 'c1'",
        "cat IS NULL",
        "cat <=> NULL",
        "NOT (cat = 'c1')",
        "cat <> 'c1' OR cat IS NULL",
        "cat IN ('c0', 'c2', NULL)",
        "cat NOT IN ('c0', 'c2')",
        "cat LIKE 'c%'",
        "ts >= TIMESTAMP'2013-01-05 00:00:00'",
        "ts > TIMESTAMP'2013-01-05 00:00:00'",
        "ts < TIMESTAMP'2013-01-03 12:00:00' AND cat = 'c2'",
        "id = 17",
        "id IN (3, 17, 55)",
        "s = 's7x'",
        "s LIKE 's7%'",
        "s LIKE 'la%'",
        "day = DATE'1969-12-31'",
        "day < DATE'1970-01-01'",
        "lite.system.days(ts) = DATE'2013-01-05'",
        "lite.system.bucket(4, id) = 1",
        "lite.system.truncate(2, s) <> 'la'",
        "cat = 'c1' AND (id = 1 OR s LIKE '%x')",
        "length(cat) = 2 AND ts >= TIMESTAMP'2013-01-05 00:00:00'"
      )
    ) sameRows(table, s"SELECT * FROM %s WHERE $filter")
  }

  test("an identity partition column is read correctly in files written before and after partition evolution") {
    val table = create("id int, cat string")
    sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (1, 'a')")
    sql(s"ALTER TABLE ${inApacheIceberg(table)} ADD PARTITION FIELD cat")
    sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (2, 'b'), (3, NULL)")
    assert(sameRows(table, "SELECT * FROM %s").size == 3)
  }

  test("an old snapshot is read with its own schema") {
    val table = create("a int, b string")
    sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (1, 'x')")
    val old = rows(s"SELECT snapshot_id FROM ${inApacheIceberg(table)}.snapshots").head.getLong(0)
    sql(s"ALTER TABLE ${inApacheIceberg(table)} RENAME COLUMN a TO renamed")
    sql(s"ALTER TABLE ${inApacheIceberg(table)} DROP COLUMN b")
    sql(s"ALTER TABLE ${inApacheIceberg(table)} ADD COLUMN c int")
    sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (2, 3)")
    assert(sameRows(table, s"SELECT a, b FROM %s VERSION AS OF $old WHERE a = 1") == Seq("[1,x]"))
    assert(sameRows(table, "SELECT * FROM %s") == Seq("[1,null]", "[2,3]"))
  }

  test("metadata columns are the same as in Apache Iceberg") {
    val table = create("id int, cat string", "PARTITIONED BY (cat) TBLPROPERTIES ('format-version' = '3')")
    sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (1, 'a'), (2, 'a'), (3, 'b')")
    sql(s"ALTER TABLE ${inApacheIceberg(table)} ADD PARTITION FIELD bucket(2, id)")
    sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (4, 'a')")
    assert(sameRows(table, "SELECT *, _file, _pos, _spec_id, _partition FROM %s").size == 4)
    assert(sameRows(table, "SELECT id, _row_id, _last_updated_sequence_number FROM %s").size == 4)
    assert(rows(s"SELECT count(DISTINCT _row_id) FROM $table").head.getLong(0) == 4)
    assert(rows(s"SELECT id FROM $table WHERE _pos = 1").size == 1)
    assert(rows(s"SELECT input_file_name() = _file FROM $table").forall(_.getBoolean(0)))
  }

  test("names with dots, spaces and non-ASCII letters are read and filtered", Slow) {
    val table = create("`a.b` int, `a b` int, `größe` string, a struct<c: int, `d.e`: int>")
    sql(
      s"""INSERT INTO ${inApacheIceberg(table)} VALUES (1, 2, 'x', named_struct('c', 3, 'd.e', 4)),
         |(10, 20, 'y', named_struct('c', 30, 'd.e', 40))""".stripMargin
    )
    Seq("`a.b` = 1", "`a b` = 20", "`größe` = 'y'", "a.c = 3", "`a.b` > 1 AND a.c > 3", "a.`d.e` = 40")
      .foreach(filter => assert(sameRows(table, s"SELECT * FROM %s WHERE $filter").size == 1))
  }

  test("columns that differ only in case are distinguished in case-sensitive mode") {
    withConf("spark.sql.caseSensitive" -> "true") {
      val table = create("id int, ID int")
      sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (1, 2)")
      assert(sameRows(table, "SELECT ID, id FROM %s WHERE ID = 2 AND id = 1") == Seq("[2,1]"))
      withConf("spark.sql.caseSensitive" -> "false")(
        assert(rows(s"SELECT * FROM $table").map(_.toString) == Seq("[1,2]"))
      )
    }
    val table = create("Id int")
    sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (1), (2)")
    assert(sameRows(table, "SELECT iD FROM %s WHERE ID = 2") == Seq("[2]"))
  }

  test("imported files without field ids are read with the table's name mapping and their partition values", Slow) {
    val directory = newDirectory("imported").resolve("p").toUri.toString
    val rows = sql(
      """SELECT id, TIMESTAMP'2013-01-01 10:00:00' AS ts, named_struct('x', id) AS s, array(id) AS l, id % 2 AS part
        |FROM range(4)""".stripMargin
    )
    rows.write.partitionBy("part").parquet(directory)
    val columns = "id bigint, ts timestamp, s struct<x: bigint>, l array<bigint>, part bigint"
    val table = create(columns, "PARTITIONED BY (part)")
    val name = inApacheIceberg(table).stripPrefix("ice.")
    sql(s"CALL ice.system.add_files(table => '$name', source_table => '`parquet`.`$directory`')")
    sql(s"ALTER TABLE ${inApacheIceberg(table)} RENAME COLUMN s.x TO y")
    assert(sameRows(table, "SELECT * FROM %s").size == 4)
    val filter = "part = 1 AND s.y > 1 AND ts = TIMESTAMP'2013-01-01 10:00:00'"
    assert(sameRows(table, s"SELECT s.y, l[0] FROM %s WHERE $filter").size == 1)
  }

  test("a table without snapshots has no rows") {
    val table = create("id int")
    assert(rows(s"SELECT * FROM $table").isEmpty)
    assert(rows(s"SELECT count(*) FROM $table").head.getLong(0) == 0)
  }
}
