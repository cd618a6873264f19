package iceberglite.spark.procedure

import scala.util.Random

import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike
import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Fuzz
import iceberglite.scan.RandomHistory
import iceberglite.spark.SharedSession
import iceberglite.spark.error.StatementError
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.file.FileFormat
import iceberglite.spec.metadata.Snapshot
import iceberglite.table.Table

/** Compares the views of `CALL create_changelog_view` with those of Apache Iceberg, and with the rows of snapshots. */
class CreateChangelogViewSuite extends AnyFunSuite with SharedSession with AdaptiveSparkPlanHelper {
  private val counter = Iterator.from(1)

  private def coreTable(table: String): Table = {
    val Array(catalog, namespace, name) = table.split('.')
    spark.sessionState.catalogManager.catalog(catalog).asInstanceOf[LiteCatalog]
      .sharedTable(Identifier.of(Array(namespace), name)).current
  }

  private def snapshots(table: String): Vector[Snapshot] = {
    val metadata = coreTable(table).metadata
    metadata.currentSnapshot.toVector.flatMap(metadata.ancestors(_)).reverse
  }

  /** Creates a changelog view. @param arguments further arguments of the procedure, in SQL */
  private def view(table: String, arguments: String*): DataFrame = {
    val name = s"changes_${counter.next()}"
    val Array(catalog, tableName) = table.split("\\.", 2)
    val allArguments = Seq(s"table => '$tableName'", s"changelog_view => '$name'") ++ arguments
    assert(rows(s"CALL $catalog.system.create_changelog_view(${allArguments.mkString(", ")})") == Seq(Row(name)))
    spark.table(name)
  }

  private def asText(frame: DataFrame): Seq[String] = frame.collect().map(_.toString).sorted.toSeq

  private def range(start: Option[Snapshot], end: Snapshot): String = {
    val from = start.fold("")(s => s"'start-snapshot-id', '${s.snapshotId}', ")
    s"options => map($from'end-snapshot-id', '${end.snapshotId}')"
  }

  /** Creates a table with random commits: appends, overwrites, and copy-on-write updates, deletes and merges. */
  private def randomTable(random: Random): String = {
    val table = newTable()
    sql(s"CREATE TABLE $table (id INT, part STRING, d DOUBLE, s STRUCT<a: INT>, l ARRAY<INT>) USING iceberg " +
      "PARTITIONED BY (part)")
    val columns = "part, IF(id % 5 = 0, NULL, id / 4), IF(id % 3 = 0, NULL, named_struct('a', id % 2)), array(id, NULL)"
    def source(from: Int, until: Int): String =
      s"SELECT id, $columns FROM (SELECT CAST(id AS INT) id, concat('p', id % 2) part FROM range($from, $until, 1, 1))"
    sql(s"INSERT INTO $table ${source(0, 8)}")
    // No random DELETE or MERGE selects this row by its id. An UPDATE may change it, but only an overwrite can remove
    // it, together with its partition.
    sql(s"INSERT INTO $table ${source(1002, 1003)}")
    (0 until 5).foreach { step =>
      val (from, divisor) = (random.nextInt(10), 2 + random.nextInt(3))
      random.nextInt(5) match {
        case 0 => sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id % $divisor = 1")
        case 1 => sql(s"UPDATE ${inApacheIceberg(table)} SET d = d + 1 WHERE id % $divisor = 0")
        case 2 => sql(s"UPDATE ${inApacheIceberg(table)} SET s = NULL WHERE id IN ($from, ${from + 1})")
        case 3 =>
          sql(s"MERGE INTO ${inApacheIceberg(table)} t USING (SELECT INT(id) id FROM range($from, ${from + 4})) s " +
            "ON t.id = s.id WHEN MATCHED AND t.id % 3 = 0 THEN DELETE " +
            s"WHEN MATCHED THEN UPDATE SET d = $step " +
            "WHEN NOT MATCHED THEN INSERT (id, part, d, s, l) VALUES (s.id, 'p0', -0.5, NULL, NULL)")
        case 4 => sql(s"INSERT OVERWRITE ${inApacheIceberg(table)} ${source(from, from + 5)}")
      }
    }
    sql(s"INSERT INTO $table ${source(2000, 2001)}")
    sql(s"REFRESH TABLE $table")
    table
  }

  test("on copy-on-write tables, all views are the same as in Apache Iceberg", Slow) {
    (0 until Fuzz.slowRounds(1)).foreach { round =>
      val random = new Random(Fuzz.seed + round)
      val table = randomTable(random)
      val all = snapshots(table)
      val part = range(Some(all.head), all(all.size - 2))
      for (mode <- Seq("net_changes => false", "net_changes => true", "identifier_columns => array('id')")) {
        val result = asText(view(table, mode, part))
        val clue = s"seed ${Fuzz.seed + round} $mode ${all.map(_.operation)}"
        assert(result == asText(view(inApacheIceberg(table), mode, part)), clue)
        assert(result.nonEmpty)
      }
    }
  }

  test("net changes of rows that are written repeatedly are the same as in Apache Iceberg", Slow) {
    val table = newTable()
    sql(s"CREATE TABLE $table (id INT, v STRING) USING iceberg")
    Seq("(1, 'a'), (1, 'a'), (2, 'b')", "(1, 'a'), (3, 'c')", "(2, 'b'), (2, 'b')", "(1, 'a')").foreach { values =>
      sql(s"INSERT INTO $table SELECT /*+ COALESCE(1) */ * FROM VALUES $values")
      sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id = 3")
      sql(s"REFRESH TABLE $table")
    }
    sql(s"INSERT OVERWRITE $table SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a'), (2, 'b'), (2, 'b')")
    for (start <- None +: Seq(0, 3).map(i => Some(snapshots(table)(i)))) {
      val options = Seq("net_changes => true", range(start, snapshots(table).last))
      assert(asText(view(table, options: _*)) == asText(view(inApacheIceberg(table), options: _*)), options)
    }
    assert(asText(view(table)) == asText(view(inApacheIceberg(table))))
  }

  private val columns = "id, category, note"

  /** Checks that the view with `net_changes` has exactly the rows that exist in only one of the two snapshots. */
  private def checkNetChanges(table: String, start: Option[Snapshot], end: Snapshot, clue: String): Unit = {
    def state(s: Snapshot): Seq[Row] = rows(s"SELECT $columns FROM $table VERSION AS OF ${s.snapshotId}")
    val (rowsBefore, rowsAfter) = (start.fold(Seq.empty[Row])(state), state(end))
    val (added, removed) = (rowsAfter.diff(rowsBefore), rowsBefore.diff(rowsAfter))
    val expected = added.map(r => s"$r INSERT") ++ removed.map(r => s"$r DELETE")
    val net = view(table, "net_changes => true", range(start, end)).collect()
    assert(net.map(r => s"${Row.fromSeq(r.toSeq.take(3))} ${r.getString(3)}").sorted.toSeq == expected.sorted, clue)
  }

  test("net changes of random commits, with all forms of deletes, are the rows that one of two snapshots lacks", Slow) {
    for (version <- Seq(2, 3); round <- 0 until Fuzz.slowRounds(1)) {
      val random = new Random(Fuzz.seed + 10 * version + round)
      val table = newTable()
      sql(s"CREATE TABLE $table (id BIGINT, category STRING, note STRING) USING iceberg PARTITIONED BY (category) " +
        s"TBLPROPERTIES ('format-version' = '$version')")
      val history = new RandomHistory(coreTable(table), random, Vector(FileFormat.Parquet))
      history.everyChange()
      (0 until 14).foreach(_ => history.step(None))
      sql(s"REFRESH TABLE $table")
      val clue = s"seed ${Fuzz.seed + 10 * version + round}"
      val all = snapshots(table)
      assert(all.exists(_.summary.contains("added-delete-files")), clue)
      checkNetChanges(table, None, all.last, clue)
      checkNetChanges(table, Some(all(1)), all(all.size - 2), clue)
      checkCommits(table, clue)
    }
  }

  /**
   * Checks that no commit in the view both inserts and deletes the same row, and that the changes to each row have the
   * same sum as in the metadata table `changes`.
   */
  private def checkCommits(table: String, clue: String): Unit = {
    def counts(frame: DataFrame): Map[Row, Int] = frame.collect().groupBy(r => Row.fromSeq(r.toSeq.patch(3, Nil, 1)))
      .mapValues(_.map(r => if (r.getString(3) == "INSERT") 1 else -1).sum).filter(_._2 != 0).toMap
    val byCommit = view(table)
    assert(counts(byCommit) == counts(spark.table(s"$table.changes")), clue)
    val changesByRow = byCommit.collect().groupBy(r => Row.fromSeq(r.toSeq.patch(3, Nil, 1))).values
    assert(changesByRow.forall(_.map(_.getString(3)).distinct.length == 1), clue)
  }

  private def tableWithKeys(properties: String = ""): String = {
    val table = newTable()
    sql(s"CREATE TABLE $table (id INT NOT NULL, v STRING, `a.b` INT, s STRUCT<k: INT>, l ARRAY<STRUCT<k: INT>>, " +
      s"m MAP<STRING, DOUBLE>) USING iceberg $properties")
    table
  }

  test(
    "updates are computed for merge-on-read tables, by the table's identifier fields, and for rows with maps",
    Slow
  ) {
    val table = tableWithKeys("TBLPROPERTIES ('format-version' = '3', 'write.update.mode' = 'merge-on-read')")
    sql(s"INSERT INTO $table SELECT /*+ COALESCE(1) */ id, 'old', id, NULL, NULL, map('a', 0.0) FROM " +
      "(SELECT CAST(id AS INT) id FROM range(4))")
    sql(s"ALTER TABLE $table SET IDENTIFIER FIELDS id")
    sql(s"UPDATE ${inApacheIceberg(table)} SET m = map('a', double('-0')) WHERE id IN (1, 2)")
    sql(s"REFRESH TABLE $table")
    val updates = view(table, "compute_updates => true").where("_change_ordinal > 0")
    val rowsAfter = Seq(1, 2).map(i => s"[$i,Map(a -> -0.0),UPDATE_AFTER]")
    val rowsBefore = Seq(1, 2).map(i => s"[$i,Map(a -> 0.0),UPDATE_BEFORE]")
    assert(asText(updates.select("id", "m", "_change_type")) == (rowsAfter ++ rowsBefore).sorted)
    val withoutUpdates = view(table, "identifier_columns => array('ID', 'a.b')", "compute_updates => false")
    assert(asText(withoutUpdates) == asText(view(table)))
    val withThreeKeys = view(table, "identifier_columns => array('id', '`a.b`', 's.k')")
    assert(withThreeKeys.where("_change_type LIKE 'UPDATE%'").count() == 4)
  }

  test("filters of a query are pushed into the scan, and a view needs one shuffle", Slow) {
    val table = newTable()
    sql(s"CREATE TABLE $table (id INT, v STRING) USING iceberg")
    (0 until 4).foreach(i => sql(s"INSERT INTO $table SELECT /*+ COALESCE(1) */ $i, 'x'"))
    def files(frame: DataFrame): String = {
      frame.collect()
      val scans = collect(frame.queryExecution.executedPlan) { case b: BatchScanExec => b.scan.description }
      "files=[0-9]+ of [0-9]+".r.findFirstIn(scans.mkString).getOrElse(scans.mkString)
    }
    val views = Seq(view(table), view(table, "identifier_columns => array('id')"), view(table, "net_changes => true"))
    views.foreach(v => assert(files(v.where("id = 2")) == "files=1 of 4" && v.where("id = 2").count() == 1))
    views.take(2).foreach(v => assert(files(v.where("_change_ordinal < 2")) == "files=2 of 2"))
    views.foreach { v =>
      assert(v.where("_change_type = 'DELETE'").count() == 0)
      v.collect()
      assert(collect(v.queryExecution.executedPlan) { case e: ShuffleExchangeLike => e }.size == 1)
    }
  }

  test("the view has a default name, replaces a view with the same name, and includes new commits if no end is given") {
    val table = newTable("odd")
    sql(s"CREATE TABLE $table (id INT) USING iceberg")
    val name = table.split('.').last
    def call(arguments: String): String =
      rows(s"CALL lite.system.create_changelog_view('$table'$arguments)").head.getString(0)
    assert(call("") == s"`${name}_changes`" && rows(s"SELECT * FROM ${name}_changes").isEmpty)
    sql(s"INSERT INTO $table VALUES (1)")
    assert(rows(s"SELECT id FROM ${name}_changes") == Seq(Row(1)))
    val first = snapshots(table).head.snapshotId
    assert(call(s", '`my changes`', map('end-snapshot-id', $first)") == "`my changes`")
    sql(s"INSERT INTO $table VALUES (2)")
    assert(rows("SELECT id FROM `my changes`") == Seq(Row(1)))
    assert(call(s", '`my changes`', map('start-snapshot-id', $first), false, NULL, true") == "`my changes`")
    assert(rows("SELECT id FROM `my changes`") == Seq(Row(2)))
  }

  test("the error for invalid arguments of the call says what to do", Slow) {
    val table = tableWithKeys()
    sql(s"INSERT INTO $table VALUES (1, 'a', 1, NULL, NULL, NULL)")
    def message(arguments: String): String =
      intercept[StatementError](
        sql(s"CALL lite.system.create_changelog_view(table => '$table', $arguments)")
      ).getMessage
    Seq(
      "identifier_columns => array('idd')" -> "Column not found: idd. The columns are id, v, a.b",
      "identifier_columns => array('s.x')" -> "The fields of s are k",
      "identifier_columns => array('l.element.k')" -> "inside a list or map",
      "identifier_columns => array('not a name!')" -> "Column not found: not a name!",
      "identifier_columns => array('_change_type')" -> "Column not found: _change_type",
      "identifier_columns => array('id', NULL)" -> "NULL",
      "identifier_columns => array()" -> "SET IDENTIFIER FIELDS",
      "compute_updates => true" -> "Invalid value for argument identifier_columns: (not set)",
      "identifier_columns => array('id'), net_changes => true" -> "Net changes have no updates",
      "compute_updates => true, net_changes => true" -> "Net changes have no updates",
      "changelog_view => 'a.b'" -> "Invalid value for argument changelog_view: a.b. It must be a single identifier",
      "changelog_view => 'my changes'" -> "such as changes or `my changes`",
      "changelog_view => ''" -> "It must be a single identifier",
      "options => map('start-snapshot-id', '7')" -> "Snapshot not found: 7 (start-snapshot-id)",
      "options => map('start-snapshotid', '7')" -> "start-snapshot-id",
      "options => map('end-timestamp', NULL)" -> "NULL",
      "compute_updates => 'perhaps'" -> "It must be BOOLEAN"
    ).foreach { case (arguments, expected) =>
      assert(message(arguments).contains(expected), arguments)
    }
    val error = intercept[AnalysisException](sql("CALL lite.system.create_changelog_view('nowhere.t')"))
    assert(error.getMessage.contains("nowhere.t"), error.getMessage)
  }
}
