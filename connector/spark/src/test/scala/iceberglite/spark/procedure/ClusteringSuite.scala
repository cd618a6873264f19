package iceberglite.spark.procedure

import org.apache.spark.sql.{Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession
import iceberglite.spark.rowlevel.StatementFixture

/** Hilbert clustering in `CALL rewrite_data_files`, and `ALTER TABLE ... CLUSTER BY`. */
class ClusteringSuite extends AnyFunSuite with StatementFixture {
  // Only this session has procedures of Apache Iceberg.
  override lazy val spark: SparkSession = SharedSession.spark

  private val sizes = "'target-file-size-bytes', '20000'"

  private def call(table: String, arguments: String*): Row = {
    val Array(catalog, rest) = table.split("\\.", 2)
    val Seq(row) =
      rows(s"CALL $catalog.system.rewrite_data_files(${(s"table => '$rest'" +: arguments).mkString(", ")})")
    row
  }

  private def newPoints(version: Int = 2): String =
    create("id BIGINT, x BIGINT, y DOUBLE, s STRING", version, "merge-on-read", "write.distribution-mode" -> "none")

  /** Appends random points: `x` is uniform, and `y` is skewed. */
  private def append(t: String, rows: Int, files: Int, seed: Int): Unit = {
    spark.range(0L, rows.toLong, 1, files).selectExpr(
      s"id + ${seed * 10000000L} AS id",
      s"CAST(rand($seed) * 1000000 AS BIGINT) AS x",
      s"exp(randn(${seed + 1}) * 2) AS y",
      s"concat('prefix ', CAST(rand(${seed + 2}) * 1000 AS INT)) AS s"
    ).writeTo(t).append()
  }

  private def contents(t: String, lineage: String = ""): Seq[Row] = rows(s"SELECT *$lineage FROM $t ORDER BY id")

  private def result(row: Row): (Int, Int) = (row.getInt(0), row.getInt(1))

  private val ranges = for (x <- 0 until 10; low <- Seq(0.02, 0.2, 1.0, 3.0, 20.0))
    yield s"x BETWEEN ${x * 100000} AND ${x * 100000 + 50000} AND y BETWEEN $low AND ${low * 1.5}"

  /** Returns the average number of files whose bounds overlap a range of both columns. */
  private def filesPerQuery(t: String): Double = {
    val files = rows(s"SELECT readable_metrics.x.lower_bound, readable_metrics.x.upper_bound, " +
      s"readable_metrics.y.lower_bound, readable_metrics.y.upper_bound FROM $t.files")
    val number = """[\d.]+""".r
    val counts = ranges.map { range =>
      val Seq(fromX, toX, fromY, toY) = number.findAllIn(range).map(_.toDouble).toSeq
      files.count { f =>
        f.getLong(0) <= toX && f.getLong(1) >= fromX && f.getDouble(2) <= toY && f.getDouble(3) >= fromY
      }
    }
    counts.sum.toDouble / counts.size
  }

  private def files(t: String): Long = count(s"$t.files")

  test("a two-column range touches fewer files after sort, zorder, hilbert and CLUSTER BY, in this order", Slow) {
    def table(): String = {
      val t = newPoints()
      append(t, 200000, 50, 1)
      t
    }
    val all = s"options => map($sizes, 'rewrite-all', 'true')"
    val unclustered = filesPerQuery(table())
    val Seq(sorted, zordered, hilbert, twins) =
      Seq("x, y", "zorder(x, y)", "hilbert(x, y)", "zorder(x, y)").zipWithIndex.map { case (order, i) =>
        val t = table()
        val name = if (i == 3) peer(t) else t
        val row = call(name, "strategy => 'sort'", s"sort_order => '$order'", all)
        sql(s"REFRESH TABLE $t")
        info(s"$name $order: ${row.getInt(0)} files are replaced by ${files(t)}")
        filesPerQuery(t)
      }
    val t = table()
    sql(s"ALTER TABLE $t CLUSTER BY (x, y)")
    call(t, s"options => map($sizes)")
    val clustered = filesPerQuery(t)
    append(t, 20000, 5, 9)
    val appended = filesPerQuery(t)
    call(t, s"options => map($sizes)")
    val reclustered = filesPerQuery(t)
    info(
      f"files per query: unclustered $unclustered%.1f, sort $sorted%.1f, zorder $zordered%.1f (Apache Iceberg " +
        f"$twins%.1f), hilbert $hilbert%.1f, CLUSTER BY $clustered%.1f, after an append of 10 %% $appended%.1f, " +
        f"clustered again $reclustered%.1f"
    )
    assert(unclustered > sorted && sorted > zordered && zordered > hilbert && hilbert * 1.2 > clustered)
    assert(clustered < appended && reclustered < appended)
  }

  test("hilbert keeps all rows, row ids and sequence numbers") {
    for (version <- Seq(1, 2, 3)) {
      val t = newPoints(version)
      append(t, 1000, 3, 1)
      sql(s"INSERT INTO $t VALUES (-1, NULL, NULL, NULL), (-2, 5, double('NaN'), '')")
      val lineage = if (version == 3) ", _row_id, _last_updated_sequence_number" else ""
      val (before, filesBefore) = (contents(t, lineage), files(t).toInt)
      val arguments = Seq("sort_order => 'hilbert(y, s, x)'", "options => map('rewrite-all', 'true')")
      assert(result(call(t, arguments: _*)) == ((filesBefore, 1)) && contents(t, lineage) == before)
      sql(s"REFRESH TABLE ${peer(t)}")
      assert(contents(peer(t), lineage) == before)
    }
  }

  test("CLUSTER BY rewrites only what is not yet clustered, and deleted rows") {
    val t = newPoints()
    append(t, 20000, 20, 1)
    sql(s"ALTER TABLE $t CLUSTER BY (x, y)")
    val options = s"options => map($sizes, 'min-input-files', '2')"
    val planned = call(t, options, "dry_run => true")
    assert(planned.getSeq[Row](5).map(_.getString(3)) == Seq("20 files are not yet clustered by x, y"))
    val before = contents(t)
    assert(call(t, options).getInt(0) == 20 && contents(t) == before && files(t) > 8)
    assert(result(call(t, options)) == ((0, 0)))

    val clustered = rows(s"SELECT file_path FROM $t.files").toSet
    append(t, 2000, 2, 2)
    assert(call(t, options).getInt(0) == 2 && clustered.subsetOf(rows(s"SELECT file_path FROM $t.files").toSet))
    assert(result(call(t, options)) == ((0, 0)))

    sql(s"DELETE FROM $t WHERE x < 500000 AND y < 1")
    val live = contents(t)
    val threshold = s"options => map($sizes, 'min-input-files', '2', 'delete-file-threshold', '1')"
    val withDeletes = call(t, threshold)
    assert(withDeletes.getInt(0) > 0 && withDeletes.getInt(0) < files(t) && contents(t) == live)
    assert(result(call(t, threshold)) == ((0, 0)))
  }

  test("the clustering survives expired snapshots and commits of Apache Iceberg") {
    val t = newPoints()
    append(t, 40000, 30, 1)
    sql(s"ALTER TABLE $t CLUSTER BY (x, y)")
    val options = s"options => map($sizes)"
    assert(call(t, options).getInt(0) == 30)
    sql(s"REFRESH TABLE ${peer(t)}")
    sql(s"INSERT INTO ${peer(t)} SELECT -id, id, id, 'peer' FROM range(10)")
    val Array(_, name) = t.split("\\.", 2)
    sql(s"CALL ice.system.rewrite_manifests('$name')")
    sql(s"CALL ice.system.expire_snapshots(table => '$name', older_than => current_timestamp(), retain_last => 1)")
    sql(s"REFRESH TABLE $t")
    assert(count(s"$t.snapshots") == 1 && result(call(t, options)) == ((0, 0)))
    assert(rows(s"SHOW TBLPROPERTIES ${peer(t)}").exists(_ == Row("iceberg-lite.cluster-by", "2,3")))
  }

  test("each partition is clustered by itself, and columns can be renamed") {
    val t = newPoints()
    sql(s"ALTER TABLE $t ADD PARTITION FIELD bucket(2, id)")
    sql(s"ALTER TABLE $t CLUSTER BY (s, X)")
    append(t, 4000, 6, 1)
    sql(s"ALTER TABLE $t RENAME COLUMN x TO z")
    val before = contents(t)
    val result = call(t, "options => map('min-input-files', '3')")
    assert(result.getSeq[Row](5).map(_.getString(3)).distinct == Seq("6 files are not yet clustered by s, z"))
    assert(result.getSeq[Row](5).size == 2 && files(t) == 2 && contents(t) == before)
  }

  test("without a cluster column, the rewrite fails with advice; CLUSTER BY NONE and other strategies do not") {
    val t = newPoints()
    append(t, 100, 5, 1)
    sql(s"ALTER TABLE $t CLUSTER BY (x, y)")
    sql(s"ALTER TABLE $t DROP COLUMN y")
    val files = rows(s"SELECT file_path FROM $t.files").toSet
    val error = intercept[Exception](call(t))
    assert(messages(error).contains("field id 3 has been dropped") && messages(error).contains("CLUSTER BY NONE"))
    assert(rows(s"SELECT file_path FROM $t.files").toSet == files)
    assert(result(call(t, "strategy => 'binpack'")) == ((5, 1)))
    sql(s"ALTER TABLE $t CLUSTER BY NONE")
    assert(result(call(t)) == ((0, 0)))
    assert(!rows(s"SHOW TBLPROPERTIES $t").exists(_.getString(0).contains("cluster-by")))
  }

  test("invalid columns are rejected") {
    val t = create("id BIGINT, l ARRAY<INT>, s STRUCT<x: INT, y: STRING>, v VOID, u STRING", 3, "merge-on-read")
    for (
      (columns, message) <- Seq(
        "(nothing)" -> "nothing",
        "(l)" -> "no order",
        "(l.element)" -> "inside of l",
        "(s)" -> "no order",
        "(v)" -> "no order",
        "(id, ID)" -> "occurs twice",
        "(id" -> "expected ')'",
        "()" -> "expected a column",
        "id" -> "expected NONE or columns in parentheses",
        "NONE, id" -> "expected the end of the statement",
        "" -> "expected NONE or columns in parentheses"
      )
    ) {
      val error = intercept[Exception](sql(s"ALTER TABLE $t CLUSTER BY $columns"))
      assert(messages(error).contains(message), s"$columns: ${messages(error)}")
      if (columns.startsWith("(l") || columns.startsWith("(s") || columns.startsWith("(n")) {
        val order = intercept[Exception](call(t, s"sort_order => 'hilbert$columns'"))
        assert(messages(order).contains(message), s"$columns: ${messages(order)}")
      }
    }
    val many = intercept[Exception](call(t, "sort_order => 'hilbert(id), u'"))
    assert(messages(many).contains("hilbert cannot be combined"))
    assert(messages(intercept[Exception](call(t, "sort_order => 'hilbert(id + 1)'"))).contains("is not a column"))
    assert(messages(intercept[Exception](call(t, "sort_order => 'hilbert()'"))).contains("at least one column"))
    val property = intercept[Exception](sql(s"ALTER TABLE $t SET TBLPROPERTIES ('iceberg-lite.cluster-by' = 'id')"))
    assert(messages(property).contains("list of field ids"))
    sql(s"ALTER TABLE $t CLUSTER BY (s.y, `u`)")
    sql(s"INSERT INTO $t SELECT id, NULL, named_struct('x', 1, 'y', CAST(id AS STRING)), NULL, 'a' FROM range(5)")
    assert(call(t, "options => map('rewrite-all', 'true')").getInt(1) == 1)
    assert(rows(s"SELECT id FROM $t ORDER BY _pos").map(_.getLong(0)) == (0L until 5L))
  }
}
