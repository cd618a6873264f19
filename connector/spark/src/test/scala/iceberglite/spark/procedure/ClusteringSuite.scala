package iceberglite.spark.procedure

import org.apache.spark.sql.{Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.maintenance.compact.RewriteOptions
import iceberglite.spark.SharedSession
import iceberglite.spark.maintenance.{DataFileRewrite, RowOrdering}
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spec.IcebergError
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.table.SnapshotTarget

/** Tests Hilbert clustering in `CALL rewrite_data_files`, and `ALTER TABLE ... CLUSTER BY`. */
class ClusteringSuite extends AnyFunSuite with StatementFixture {
  // Apache Iceberg's procedures need its SQL extensions. This session has them, unlike that of StatementFixture.
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

  /** Appends rows with random values: `x` has a uniform distribution, and `y` a skewed one. */
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

  /**
   * The part of a table that queries have to read.
   *
   * @param files average number of files
   * @param share average share of the table's rows in these files, 0 to 1
   */
  private case class Cost(files: Double, share: Double) {
    override def toString: String = f"$files%.1f (${share * 100}%.1f %%)"
  }

  private type Range = Map[String, (Any, Any)]

  private def ordering[A](values: Seq[A]): Ordering[Any] = values.head match {
    case _: Long => Ordering.by[Any, Long](_.asInstanceOf[Long])
    case _: Double => Ordering.by[Any, Double](_.asInstanceOf[Double])
    case _: String => Ordering.by[Any, String](_.asInstanceOf[String])
  }

  /** Returns ten filters for each column. Each filter is a range that matches 5 % of the rows. */
  private def selective(t: String, columns: Seq[String]): Map[String, Seq[Range]] = columns.map { column =>
    val values = rows(s"SELECT $column FROM $t").map(_.get(0))
    val sorted = values.sorted(ordering(values))
    column -> (0 until 10).map { i =>
      Map(column -> ((sorted(i * values.size / 10), sorted(i * values.size / 10 + values.size / 20))))
    }
  }.toMap

  /** Returns the part of the table that queries with these filters have to read according to the files' bounds. */
  private def cost(t: String, filters: Seq[Range]): Cost = {
    val columns = filters.head.keys.toSeq
    val bounds = columns.map(c => s"readable_metrics.$c.lower_bound, readable_metrics.$c.upper_bound")
    val files = rows(s"SELECT record_count, ${bounds.mkString(", ")} FROM $t.files")
    val read = filters.map { filter =>
      files.filter { file =>
        columns.zipWithIndex.forall { case (column, i) =>
          val (from, to) = filter(column)
          val order = ordering(Seq(from))
          order.lteq(file.get(2 * i + 1), to) && order.gteq(file.get(2 * i + 2), from)
        }
      }
    }
    val total = files.map(_.getLong(0)).sum.toDouble
    Cost(
      read.map(_.size).sum.toDouble / filters.size,
      read.map(_.map(_.getLong(0)).sum).sum / total / filters.size
    )
  }

  private def files(t: String): Long = count(s"$t.files")

  for (columns <- Seq(Seq("x", "y"), Seq("x", "y", "s")))
    test(
      s"on average, filters on one column read less after hilbert than after sort or zorder: ${columns.mkString(", ")}",
      Sampling.slowInSomeRuns(isAlwaysRun = columns.size == 2): _*
    ) {
      val (commits, list) = (7, columns.mkString(", "))
      val table = newPoints()
      append(table, 100000, 50, 1)
      val single = selective(table, columns)
      val pairs = for (x <- single("x"); y <- single("y")) yield x ++ y
      def measure(name: String, t: String): (Map[String, Cost], Cost) = {
        val (each, both) = (single.map { case (column, filters) => column -> cost(t, filters) }, cost(t, pairs))
        val texts = columns.map(c => s"$c ${each(c)}") :+ s"x and y $both"
        info(s"$name, ${files(t)} files: ${texts.mkString(", ")}")
        (each, both)
      }
      def average(costs: (Map[String, Cost], Cost)): Double = costs._1.values.map(_.share).sum / columns.size

      val all = s"options => map($sizes, 'rewrite-all', 'true')"
      def rewritten(name: String, order: String, byPeer: Boolean = false): (Map[String, Cost], Cost) = {
        sql(s"REFRESH TABLE ${inApacheIceberg(table)}")
        call(if (byPeer) inApacheIceberg(table) else table, "strategy => 'sort'", s"sort_order => '$order'", all)
        sql(s"REFRESH TABLE $table")
        measure(name, table)
      }
      val unclustered = measure("unclustered", table)
      val sorted = rewritten("sort", list)
      val zordered = rewritten("zorder", s"zorder($list)")
      rewritten("zorder of Apache Iceberg", s"zorder($list)", byPeer = true)
      val hilbert = rewritten("hilbert", s"hilbert($list)")

      val t = newPoints()
      sql(s"ALTER TABLE $t CLUSTER BY ($list)")
      val calls = (1 to commits).map { i =>
        append(t, 100000 / commits, 6, i)
        call(t, s"options => map($sizes)").getInt(0)
      }
      val appended = measure(s"CLUSTER BY, $commits appends that are each followed by a call", t)
      info(s"files rewritten by each call: ${calls.mkString(", ")}")
      val others = Seq(unclustered, sorted, zordered).map(average)
      assert(others.forall(_ > 1.5 * average(hilbert)) && others.forall(_ > 1.3 * average(appended)))
      assert(hilbert._1.values.forall(_.share < 0.5) && appended._1.values.forall(_.share < 0.5))
      assert(columns.size > 2 || sorted._2.share > 1.2 * hilbert._2.share && zordered._2.share > 1.2 * hilbert._2.share)
    }

  test("hilbert keeps all rows, row ids and sequence numbers", Slow) {
    for (version <- Seq(2, 3)) {
      val t = newPoints(version)
      append(t, 1000, 3, 1)
      sql(s"INSERT INTO $t VALUES (-1, NULL, NULL, NULL), (-2, 5, double('NaN'), '')")
      val lineage = if (version == 3) ", _row_id, _last_updated_sequence_number" else ""
      val (before, filesBefore) = (contents(t, lineage), files(t).toInt)
      val arguments = Seq("sort_order => 'hilbert(y, s, x)'", "options => map('rewrite-all', 'true')")
      assert(result(call(t, arguments: _*)) == ((filesBefore, 1)) && contents(t, lineage) == before)
      sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
      assert(contents(inApacheIceberg(t), lineage) == before)
    }
  }

  test("hilbert with one column sorts the rows by its values, including long strings and binaries", Slow) {
    val values = Seq(
      "BOOLEAN" -> "id % 2 = 0",
      "DECIMAL(38, 10)" -> "-id / 7",
      "TIMESTAMP_NTZ" -> "timestamp_seconds(1000000 - id * 997)",
      "STRING" -> "concat(id * 37 % 100, repeat('\u00e9', 1000))",
      "BINARY" -> "concat(id * 37 % 100, repeat('x', 1000))"
    )
    val columns = values.indices.map(i => s"c$i")
    val definitions = columns.zip(values).map { case (column, (dataType, _)) => s"$column $dataType" }
    val t = create(s"id BIGINT, ${definitions.mkString(", ")}", 2, "merge-on-read")
    val row = values.map { case (dataType, value) => s"IF(id % 10 = 0, NULL, CAST($value AS $dataType))" }
    sql(s"INSERT INTO $t SELECT id, ${row.mkString(", ")} FROM range(0, 100, 1, 2)")
    columns.foreach { column =>
      assert(result(call(t, s"sort_order => 'hilbert($column)'", "options => map('rewrite-all', 'true')"))._2 == 1)
      val stored = rows(s"SELECT CAST($column AS STRING) FROM $t ORDER BY _pos")
      assert(stored == rows(s"SELECT CAST($column AS STRING) FROM $t ORDER BY $t.$column NULLS FIRST"), column)
    }
  }

  test("after CLUSTER BY, only files that are not yet clustered or have deleted rows are rewritten", Slow) {
    val t = newPoints()
    append(t, 10000, 10, 1)
    sql(s"ALTER TABLE $t CLUSTER BY (x, y)")
    val options = s"options => map($sizes, 'min-input-files', '2')"
    val planned = call(t, options, "dry_run => true")
    assert(planned.getSeq[Row](5).map(_.getString(3)) == Seq("10 files are not yet clustered by x, y"))
    val before = contents(t)
    assert(call(t, options).getInt(0) == 10 && contents(t) == before && files(t) > 5)
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

  test("the clustering survives expired snapshots and commits of Apache Iceberg", Slow) {
    val t = newPoints()
    append(t, 40000, 30, 1)
    sql(s"ALTER TABLE $t CLUSTER BY (x, y)")
    val options = s"options => map($sizes)"
    assert(call(t, options).getInt(0) == 30)
    sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
    sql(s"INSERT INTO ${inApacheIceberg(t)} SELECT -id, id, id, 'peer' FROM range(10)")
    val Array(_, name) = t.split("\\.", 2)
    sql(s"CALL ice.system.rewrite_manifests('$name')")
    sql(
      s"CALL ice.system.expire_snapshots(table => '$name', older_than => TIMESTAMP '2100-01-01 00:00:00', " +
        "retain_last => 1)"
    )
    sql(s"REFRESH TABLE $t")
    assert(count(s"$t.snapshots") == 1 && result(call(t, options)) == ((0, 0)))
    assert(rows(s"SHOW TBLPROPERTIES ${inApacheIceberg(t)}").exists(_ == Row("iceberg-lite.cluster-by", "2,3")))
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

  test("if a cluster column was dropped, a rewrite fails with advice; binpack and CLUSTER BY NONE succeed") {
    val t = newPoints()
    append(t, 100, 5, 1)
    sql(s"ALTER TABLE $t CLUSTER BY (x, y)")
    sql(s"ALTER TABLE $t DROP COLUMN y")
    val files = rows(s"SELECT file_path FROM $t.files").toSet
    val error = intercept[Exception](call(t))
    assert(messages(error).contains("no column with the field id 3") && messages(error).contains("CLUSTER BY NONE"))
    assert(rows(s"SELECT file_path FROM $t.files").toSet == files)
    assert(result(call(t, "strategy => 'binpack'")) == ((5, 1)))
    sql(s"ALTER TABLE $t CLUSTER BY NONE")
    assert(result(call(t)) == ((0, 0)))
    assert(!rows(s"SHOW TBLPROPERTIES $t").exists(_.getString(0).contains("cluster-by")))
  }

  private def planned(t: String): DataFileRewrite = {
    val table = live(t)
    val options = RewriteOptions.of(Map("target-file-size-bytes" -> "20000"), table.metadata, RowOrdering.optionNames)
    val ordering = RowOrdering.of(spark, table, None, None, Map.empty)
    new DataFileRewrite(spark, table, SnapshotTarget.Main, AlwaysTrue, options, ordering)
  }

  test("rows that are appended while a clustering rewrite runs are clustered by the next call", Slow) {
    val t = newPoints()
    append(t, 10000, 5, 1)
    sql(s"ALTER TABLE $t CLUSTER BY (x, y)")
    val rewrite = planned(t)
    assert(rewrite.groups.map(_.tasks.size) == Seq(5))
    append(t, 2000, 5, 2)
    val (before, concurrent) = (contents(t), dataFilesOf(t))
    assert(rewrite.run()._2.rewrittenFiles == 5)
    sql(s"REFRESH TABLE $t")
    assert(contents(t) == before)
    val clustered = dataFilesOf(t) -- concurrent
    val next = call(t, s"options => map($sizes)")
    assert(next.getInt(0) == 5 && contents(t) == before && clustered.subsetOf(dataFilesOf(t)))
    assert(result(call(t, s"options => map($sizes)")) == ((0, 0)))
  }

  test("OPTIMIZE and maintain cluster the files of a clustered table", Slow) {
    val t = newPoints()
    sql(s"ALTER TABLE $t CLUSTER BY (x, y)")
    for (statement <- Seq(s"OPTIMIZE $t", s"CALL lite.system.maintain('${t.stripPrefix("lite.")}')")) {
      append(t, 1000, 5, 1)
      val before = contents(t)
      sql(statement)
      sql(s"REFRESH TABLE $t")
      val summary = rows(s"SELECT summary['iceberg-lite.clustered-by'] FROM $t.snapshots ORDER BY committed_at").last
      assert(summary == Row("2,3") && contents(t) == before, statement)
      assert(result(call(t)) == ((0, 0)), statement)
    }
  }

  test("maintain clusters unclustered files even if they have the target size, and then has nothing to do", Slow) {
    val t = newPoints()
    append(t, 20000, 10, 1)
    val size = rows(s"SELECT avg(file_size_in_bytes) FROM $t.files").head.getDouble(0).toLong
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.target-file-size-bytes' = '$size')")
    def health(): (Boolean, Long) = {
      val Seq(row) = rows(s"SELECT is_due, files FROM $t.health WHERE action = 'rewrite_data_files'")
      (row.getBoolean(0), row.getLong(1))
    }
    assert(health() == ((false, 0L)))
    sql(s"ALTER TABLE $t CLUSTER BY (x, y)")
    assert(health() == ((true, 10L)))
    val before = contents(t)
    def maintained(): (String, Long) = {
      val Seq(row) = rows(s"CALL lite.system.maintain('${t.stripPrefix("lite.")}')")
        .filter(_.getString(0) == "rewrite_data_files")
      sql(s"REFRESH TABLE $t")
      (row.getString(1), row.getLong(3))
    }
    assert(maintained() == (("done", 10L)) && health() == ((false, 0L)) && maintained() == (("skipped", 0L)))
    sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
    assert(contents(t) == before && contents(inApacheIceberg(t)) == before)
    // Clustered files are not rewritten, even if they are smaller than the target size.
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.target-file-size-bytes' = '${size * 4}')")
    assert(health() == ((false, 0L)) && maintained() == (("skipped", 0L)))
  }

  test("a clustering rewrite fails if its files are deleted while it runs, and leaves no file") {
    val t = newPoints()
    append(t, 2000, 5, 1)
    sql(s"ALTER TABLE $t CLUSTER BY (x, y)")
    val (rewrite, filesBefore) = (planned(t), dataFilesOf(t))
    assert(rewrite.groups.nonEmpty && filesBefore.size == 5)
    sql(s"DELETE FROM $t WHERE id IS NOT NULL")
    intercept[IcebergError](rewrite.run())
    sql(s"REFRESH TABLE $t")
    assert(count(t) == 0 && dataFilesOf(t) == filesBefore)
  }

  test("a rewrite rejects a clustering property with invalid columns, and CLUSTER BY replaces the property", Slow) {
    val t = create("id BIGINT, l ARRAY<INT>, s STRUCT<a: INT>", 2, "merge-on-read")
    sql(s"INSERT INTO $t VALUES (1, array(1), named_struct('a', 1)), (2, NULL, NULL)")
    val key = "iceberg-lite.cluster-by"
    for (
      (value, message) <- Seq(
        "id" -> "list of field ids",
        "" -> "list of field ids",
        "1,99999999999" -> "list of field ids",
        "1,99" -> "no column with the field id 99",
        "-1" -> "no column with the field id -1",
        "1,1" -> "occurs twice",
        "2" -> "no order",
        "3" -> "no order",
        "4" -> "inside l",
        (1 to 100000).mkString(",") -> "at most 8 columns"
      )
    ) {
      sql(s"ALTER TABLE ${inApacheIceberg(t)} SET TBLPROPERTIES ('$key' = '$value')")
      sql(s"REFRESH TABLE $t")
      val error = messages(intercept[Exception](call(t)))
      assert(error.contains(message) && error.contains(key) && error.length < 5000, s"$value: $error")
      assert(count(t) == 2)
    }
    assert(result(call(t, "strategy => 'binpack'")) == ((0, 0)))
    sql(s"ALTER TABLE $t CLUSTER BY (s.a, id)")
    assert(rows(s"SHOW TBLPROPERTIES $t ('$key')").map(_.getString(1)) == Seq("5,1"))
    assert(result(call(t, "options => map('rewrite-all', 'true')"))._2 == 1)
  }

  test("invalid columns of CLUSTER BY and of hilbert are rejected", Slow) {
    val t = create("id BIGINT, l ARRAY<INT>, s STRUCT<x: INT, y: STRING>, v VOID, u STRING", 3, "merge-on-read")
    for (
      (columns, message) <- Seq(
        "(nothing)" -> "nothing",
        "(l)" -> "no order",
        "(l.element)" -> "inside l",
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
