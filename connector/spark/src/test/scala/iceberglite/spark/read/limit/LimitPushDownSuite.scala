package iceberglite.spark.read.limit

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.scan.{FileScanTask, ScanPlan, ScanReport}
import iceberglite.scan.deletes.DeleteFile
import iceberglite.spark.read.aggregate.PushedPlans
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{Content, ContentFile, FileFormat, Metrics}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}

/** Checks which files are skipped by queries with LIMIT, with and without ORDER BY. */
class LimitPushDownSuite extends AnyFunSuite with PushedPlans {

  /** Creates a table with ten files of ten rows, each in a manifest of its own. Ids ascend; every third `k` is null. */
  private def filledTable(clauses: String, properties: (String, String)*): String = {
    val allProperties = properties :+ ("commit.manifest-merge.enabled" -> "false")
    val table = create("id bigint, k int, x double, p string", clauses, allProperties: _*)
    for (file <- 0 until 10) sql(
      s"""INSERT INTO ${inApacheIceberg(table)} SELECT id, IF(id % 3 = 0, NULL, int(id)), id / 2, '${"ab".charAt(
          file % 2
        )}'
         |FROM range(${file * 10}, ${file * 10 + 10}, 1, 1)""".stripMargin
    )
    table
  }

  private lazy val table: String = filledTable("")

  private def description(df: DataFrame): String =
    collectFirst(df.queryExecution.executedPlan) { case s: BatchScanExec => s.scan.description }.get

  /** Returns the numbers of data files and of manifests that a query reads. @param queried the table in the query */
  private def read(query: String, queried: String = table): (Int, Int) = {
    sql(s"REFRESH TABLE $queried")
    val text = description(sql(query.replace("%s", queried)))
    val counts = """files=(\d+) of 10, manifests=(\d+) of 10""".r.findFirstMatchIn(text)
    counts.fold(fail(text))(m => (m.group(1).toInt, m.group(2).toInt))
  }

  private def ids(query: String, queried: String = table): Seq[Long] =
    rows(query.replace("%s", queried)).map(_.getLong(0))

  test("LIMIT plans only as many files as contain enough rows, and stops reading manifests after these files") {
    assert(read("SELECT * FROM %s LIMIT 1") == ((1, 1)))
    assert(read("SELECT id FROM %s LIMIT 10") == ((1, 1)))
    assert(read("SELECT id FROM %s LIMIT 11") == ((2, 2)))
    val (files, manifests) = read("SELECT id FROM %s LIMIT 25")
    assert(files == 3 && manifests < 10)
    assert(read("SELECT id FROM %s LIMIT 1000") == ((10, 10)))
    assert(ids("SELECT id FROM %s LIMIT 25").distinct.size == 25)
    assert(ids("SELECT id FROM %s LIMIT 1000").size == 100)
    assert(description(sql(s"SELECT id FROM $table LIMIT 7")).contains("limit=7"))
  }

  test("a server's plan whose files may have too few rows because of deletes is replaced by a plan of all files") {
    def file(name: String, content: Content): ContentFile =
      ContentFile(content, name, FileFormat.Parquet, 0, PartitionTuple.Empty, 10L, 100L, Metrics.Empty)
    def task(name: String, deletes: Content*): FileScanTask =
      FileScanTask.whole(file(name, Content.Data), 0L, PartitionSpec.Unpartitioned, AlwaysTrue)
        .copy(deletes = deletes.map(c => DeleteFile(file("deletes", c), 0L, Vector.empty)).toVector)
    def plan(tasks: FileScanTask*): ScanPlan =
      ScanPlan(tasks.toVector, AlwaysTrue, ScanReport("t", Some(1L), 0, 0, None, 0L, tasks.size.toLong, 0L, 0L))
    val (a, b) = (task("a"), task("b", Content.PositionDeletes))
    def read(limited: ScanPlan, limit: Long): String = {
      val all = plan(a, b, task("c"), task("d"))
      RowLimit.byServer(rows => if (rows.isEmpty) all else limited)(Some(limit)).tasks.map(_.file.path).mkString
    }
    assert(read(plan(a), 10) == "a" && read(plan(a), 20) == "a" && read(plan(a, b), 10) == "ab")
    assert(read(plan(b), 10) == "a" && read(plan(a, b), 20) == "abc" && read(plan(b, a), 1000) == "abcd")
  }

  test("the OFFSET of a query is added to its LIMIT") {
    assert(read("SELECT id FROM %s LIMIT 10 OFFSET 5")._1 == 2)
    assert(ids("SELECT id FROM %s LIMIT 10 OFFSET 5").distinct.size == 10)
    assert(ids("SELECT id FROM %s LIMIT 10 OFFSET 95").size == 5)
    assert(ids("SELECT id FROM %s ORDER BY id LIMIT 3 OFFSET 9") == Seq(9L, 10L, 11L))
    assert(read("SELECT id FROM %s ORDER BY id LIMIT 3 OFFSET 9")._1 == 2)
    assert(ids("SELECT id FROM %s OFFSET 98").size == 2)
  }

  test("with a filter that Spark evaluates on rows, a limit skips no files that can match", Slow) {
    assert(read("SELECT id FROM %s WHERE k > 1 LIMIT 1")._1 == 10)
    assert(read("SELECT id FROM %s WHERE x > 9 LIMIT 1")._1 == 9)
    assert(ids("SELECT id FROM %s WHERE k > 12 LIMIT 3").size == 3)
    assert(read("SELECT id FROM %s WHERE id >= 30 LIMIT 12")._1 == 2)
    assert(ids("SELECT id FROM %s WHERE id >= 30 LIMIT 12").forall(_ >= 30))
    val parted = filledTable("PARTITIONED BY (p)")
    assert(read("SELECT id FROM %s WHERE p = 'b' LIMIT 12", parted)._1 == 2)
    assert(rows(s"SELECT p FROM $parted WHERE p = 'b' LIMIT 12").map(_.getString(0)).toSet == Set("b"))
  }

  test("deleted rows do not count towards the LIMIT of a query", Slow) {
    val vectors = filledTable("", mergeOnRead(3): _*)
    sql(s"DELETE FROM ${inApacheIceberg(vectors)} WHERE id % 2 = 0")
    assert(read("SELECT id FROM %s LIMIT 5", vectors)._1 == 1)
    assert(read("SELECT id FROM %s LIMIT 6", vectors)._1 == 2)
    assert(ids("SELECT id FROM %s LIMIT 50", vectors).size == 50)
    val positions = filledTable("", mergeOnRead(2): _*)
    sql(s"DELETE FROM ${inApacheIceberg(positions)} WHERE id % 10 = 0 AND id >= 50")
    val files = read("SELECT id FROM %s LIMIT 45", positions)._1
    assert(files >= 5 && files <= 10 && ids("SELECT id FROM %s LIMIT 45", positions).size == 45)
    assert(ids("SELECT id FROM %s ORDER BY id DESC LIMIT 11", positions).last == 88L)
    assert(ids("SELECT id FROM %s LIMIT 100", positions).size == 95)
  }

  test("ORDER BY with LIMIT skips files outside the range of the first rows") {
    assert(read("SELECT * FROM %s ORDER BY id LIMIT 3")._1 == 1)
    assert(read("SELECT * FROM %s ORDER BY id DESC LIMIT 3")._1 == 1)
    assert(read("SELECT * FROM %s ORDER BY id DESC, x LIMIT 11")._1 == 2)
    assert(ids("SELECT id FROM %s ORDER BY id DESC LIMIT 3") == Seq(99L, 98L, 97L))
    assert(ids("SELECT id FROM %s ORDER BY x, id LIMIT 12") == (0L until 12L))
    assert(description(sql(s"SELECT id FROM $table ORDER BY id DESC LIMIT 7")).contains("first 7 by id DESC"))
    assert(read("SELECT * FROM %s ORDER BY id + 1 LIMIT 3")._1 == 10)
    assert(read("SELECT * FROM %s WHERE k > 3 ORDER BY id DESC LIMIT 3")._1 == 10)
  }

  test("files with nulls are read or skipped according to the null order of ORDER BY") {
    assert(read("SELECT * FROM %s ORDER BY k LIMIT 2")._1 == 10)
    assert(rows(s"SELECT k FROM $table ORDER BY k LIMIT 34").forall(_.isNullAt(0)))
    assert(rows(s"SELECT k FROM $table ORDER BY k LIMIT 36").last.getInt(0) == 2)
    assert(read("SELECT * FROM %s ORDER BY k NULLS LAST LIMIT 2")._1 == 1)
    assert(rows(s"SELECT k FROM $table ORDER BY k NULLS LAST LIMIT 2").map(_.getInt(0)) == Seq(1, 2))
    assert(read("SELECT * FROM %s ORDER BY k DESC LIMIT 2")._1 == 1)
    assert(read("SELECT * FROM %s ORDER BY k DESC NULLS FIRST LIMIT 2")._1 == 10)
  }

  test("files with the same bound are all read, because another column can order their rows") {
    val ties = create("a int, b int", "")
    (0 until 3).foreach(b => sql(s"INSERT INTO ${inApacheIceberg(ties)} VALUES (1, ${2 - b}), (2, 9)"))
    sql(s"REFRESH TABLE $ties")
    assert(rows(s"SELECT a, b FROM $ties ORDER BY a, b LIMIT 1").map(_.toString) == Seq("[1,0]"))
    assert(rows(s"SELECT a, b FROM $ties ORDER BY a DESC, b LIMIT 1").map(_.toString) == Seq("[2,9]"))
  }

  test("NaN, which bounds do not contain, is the greatest value") {
    val nan = create("id bigint, x double", "")
    sql(s"INSERT INTO ${inApacheIceberg(nan)} VALUES (1, 1.0), (2, double('NaN'))")
    sql(s"INSERT INTO ${inApacheIceberg(nan)} VALUES (3, 100.0), (4, 200.0)")
    sql(s"INSERT INTO ${inApacheIceberg(nan)} VALUES (5, -0.0), (6, 0.0)")
    sql(s"REFRESH TABLE $nan")
    assert(ids(s"SELECT id FROM $nan ORDER BY x DESC LIMIT 1") == Seq(2L))
    assert(ids(s"SELECT id FROM $nan ORDER BY x DESC LIMIT 3") == Seq(2L, 4L, 3L))
    assert(ids(s"SELECT id FROM $nan ORDER BY x, id LIMIT 3") == Seq(5L, 6L, 1L))
  }

  test("row groups outside the range of the first rows are skipped in the files that are read") {
    val big = create("id bigint", "", "write.parquet.row-group-size-bytes" -> "8192")
    sql(s"INSERT INTO ${inApacheIceberg(big)} SELECT id FROM range(0, 200000, 1, 1) ORDER BY id")
    // The two small files have more rows than the limit, one at the beginning and one near the end of the order. A row
    // group of the large file cannot contain result rows if all its rows come after those of a small file.
    sql(s"INSERT INTO ${inApacheIceberg(big)} SELECT id FROM range(50, 60, 1, 1)")
    sql(s"INSERT INTO ${inApacheIceberg(big)} SELECT id FROM range(199940, 199950, 1, 1)")
    sql(s"REFRESH TABLE $big")
    assert(rows(s"SELECT max(size(split_offsets)) FROM $big.files").head.getInt(0) > 10)
    val orders = Seq("id" -> (0L until 5L), "id DESC" -> (199999L until 199994L by -1))
    for ((order, expected) <- orders) {
      val df = sql(s"SELECT id FROM $big ORDER BY $order LIMIT 5")
      assert(df.collect().map(_.getLong(0)).toSeq == expected)
      val scan = collectFirst(df.queryExecution.executedPlan) { case s: BatchScanExec => s }.get
      assert(scan.scan.description.contains("files=2 of 3"), scan.scan.description)
      val read = scan.metrics("numOutputRows").value
      assert(read >= 15 && read < 20000, s"$read rows by $order")
    }
  }

  test("each limit below a join or in a subquery is applied only there") {
    val limited = s"(SELECT id FROM $table LIMIT 5)"
    assert(rows(s"SELECT count(*) FROM $limited a JOIN $table b ON a.id = b.id").head.getLong(0) == 5)
    val subqueries = s"SELECT (SELECT count(*) FROM $limited), (SELECT count(*) FROM (SELECT id FROM $table LIMIT 15))"
    assert(rows(subqueries).map(_.toString) == Seq("[5,15]"))
    val sample = s"(SELECT * FROM $table TABLESAMPLE (50 PERCENT) LIMIT 100)"
    assert(rows(s"SELECT count(*) FROM $sample").head.getLong(0) < 100)
  }
}
