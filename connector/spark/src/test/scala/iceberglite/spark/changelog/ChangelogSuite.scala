package iceberglite.spark.changelog

import java.io.RandomAccessFile
import java.net.URI
import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._
import scala.util.Random

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{Fuzz, MoreRoundsInSlowTierTag, Sampling}
import iceberglite.scan.{RandomHistory, SnapshotRange}
import iceberglite.spark.SharedSession
import iceberglite.spark.error.Causes
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.{V1, V2, V3}
import iceberglite.spec.file.FileFormat
import iceberglite.spec.metadata.Snapshot
import iceberglite.table.Table

/**
 * Checks the metadata table `changes` and incremental reads. The changes of random commits are compared with time
 * travel, and the changes of fixed commits with Apache Iceberg or with expected rows.
 */
class ChangelogSuite extends AnyFunSuite with SharedSession {
  private val formats = Vector(FileFormat.Parquet, FileFormat.Orc, FileFormat.Avro)
  private val columns = "id, category, note"
  private val changeColumns = "_change_type, _change_ordinal, _commit_snapshot_id"

  private def coreTable(name: String): Table = {
    val parts = name.split('.')
    spark.sessionState.catalogManager.catalog(parts.head).asInstanceOf[LiteCatalog]
      .sharedTable(Identifier.of(Array(parts(1)), parts(2))).current
  }

  private def create(version: FormatVersion, partitioned: Boolean): String = {
    val table = newTable()
    val partitioning = if (partitioned) "PARTITIONED BY (category)" else ""
    sql(s"CREATE TABLE $table (id bigint, category string, note string) USING iceberg $partitioning " +
      s"TBLPROPERTIES ('format-version' = '$version', 'commit.manifest.min-count-to-merge' = '3')")
    table
  }

  private def tableWithCommits(seed: Long, version: FormatVersion, fileFormats: IndexedSeq[FileFormat]): String = {
    val random = new Random(seed)
    val table = create(version, random.nextBoolean())
    val commits = new RandomHistory(coreTable(table), random, fileFormats)
    (0 until 9).foreach(_ => commits.step(None))
    sql(s"REFRESH TABLE $table")
    table
  }

  private def snapshots(table: String): Vector[Snapshot] = {
    val metadata = coreTable(table).metadata
    metadata.currentSnapshot.toVector.flatMap(metadata.ancestors(_)).reverse
  }

  private def changes(table: String, options: (String, String)*): DataFrame =
    spark.read.format("iceberg-lite").options(options.toMap).load(s"$table.changes")

  private def countsOfRows(rows: Seq[Row]): Map[Row, Int] = rows.groupBy(identity).mapValues(_.size).toMap

  /**
   * Checks for each commit that the rows before the commit, without the deleted rows and with the inserted rows, are
   * the rows after the commit.
   *
   * @param columns the selected columns of the table, separated by commas; each change starts with their values
   * @param changes all changes of the table, with these columns followed by the change columns
   */
  private def check(table: String, columns: String, changes: Seq[Row], clue: String): Unit = {
    val width = columns.split(',').length
    val changesByCommit = changes.groupBy(_.getLong(width + 2))
    val states = snapshots(table)
      .map(s => s.snapshotId -> rows(s"SELECT $columns FROM $table VERSION AS OF ${s.snapshotId}")).toMap
    val commits = snapshots(table).filterNot(SnapshotRange.isRewrite)
    commits.zipWithIndex.foreach { case (s, ordinal) =>
      val (inserted, deleted) = changesByCommit.getOrElse(s.snapshotId, Nil).partition(_.getString(width) == "INSERT")
      assert((inserted ++ deleted).forall(_.getInt(width + 1) == ordinal), clue)
      def tableColumns(rows: Seq[Row]): Seq[Row] = rows.map(r => Row.fromSeq(r.toSeq.take(width)))
      val before = s.parentSnapshotId.fold(Seq.empty[Row])(states)
      assert(tableColumns(deleted).diff(before).isEmpty, s"$clue, snapshot ${s.snapshotId}")
      val after = countsOfRows(before.diff(tableColumns(deleted)) ++ tableColumns(inserted))
      assert(after == countsOfRows(states(s.snapshotId)), s"$clue, snapshot ${s.snapshotId} ${s.summary}")
    }
    assert((changesByCommit.keySet -- commits.map(_.snapshotId)).isEmpty, clue)
  }

  for (version <- Seq(V1, V2, V3))
    test(
      s"the changes of a commit turn the rows before the commit into the rows after it, v$version",
      MoreRoundsInSlowTierTag +: Sampling.slowInSomeRunsUnless(version == V3): _*
    ) {
      (0 until Fuzz.rounds(if (version == V1) 1 else 2)).foreach { round =>
        val clue = s"seed ${Fuzz.seed + 100 + round}"
        val table = tableWithCommits(Fuzz.seed + 100 + round, version, if (round % 2 == 0) formats.take(1) else formats)
        val columnsWithLineage = columns + (if (version == V3) ", _row_id, _last_updated_sequence_number" else "")
        val query = s"SELECT $columnsWithLineage, $changeColumns FROM $table.changes"
        val allChanges = rows(query)
        check(table, columnsWithLineage, allChanges, clue)
        withConf("spark.sql.iceberg.vectorization.enabled" -> "false")(assert(
          countsOfRows(rows(query)) == countsOfRows(allChanges),
          clue
        ))
        val notes = countsOfRows(allChanges.map(r => Row(r(2))))
        assert(countsOfRows(rows(s"SELECT note FROM $table.changes")) == notes, clue)
        val matching =
          allChanges.filter(r => !r.isNullAt(1) && r.getString(1) == "a" || !r.isNullAt(0) && r.getLong(0) > 6)
        assert(countsOfRows(rows(s"$query WHERE category = 'a' OR id > 6")) == countsOfRows(matching), clue)
      }
    }

  test("for a table without delete files, the metadata table `changes` has the same rows as in Apache Iceberg", Slow) {
    val table = newTable()
    sql(s"CREATE TABLE $table (id bigint, category string) USING iceberg PARTITIONED BY (category)")
    sql(s"INSERT INTO $table SELECT id, concat('c', id % 3) FROM range(20)")
    sql(s"INSERT INTO $table SELECT id, concat('c', id % 3) FROM range(20, 30)")
    sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id % 5 = 1")
    sql(s"UPDATE ${inApacheIceberg(table)} SET id = id + 100 WHERE category = 'c1'")
    val name = table.stripPrefix("lite.")
    sql(s"CALL ice.system.rewrite_data_files(table => '$name', options => map('rewrite-all', 'true'))")
    sql(s"INSERT OVERWRITE ${inApacheIceberg(table)} VALUES (1, 'c1')")
    sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE category = 'c1'")
    sql(s"REFRESH TABLE $table")
    val query = s"SELECT id, category, $changeColumns FROM %s.changes"
    assert(sorted(query.format(table)) == sorted(query.format(inApacheIceberg(table))))
    def read(format: String, name: String, options: Map[String, String]): Seq[String] =
      spark.read.format(format).options(options).load(name).collect().map(_.toString).sorted.toSeq
    snapshots(table).map(_.snapshotId.toString).sliding(3).foreach { part =>
      val options = Map("start-snapshot-id" -> part.head, "end-snapshot-id" -> part.last)
      assert(read("iceberg-lite", table, options) == read("iceberg", inApacheIceberg(table), options))
      assert(read("iceberg-lite", s"$table.changes", options) == read(
        "iceberg",
        s"${inApacheIceberg(table)}.changes",
        options
      ))
    }
  }

  private def longs(frame: DataFrame): Seq[Long] = frame.select("id").collect().map(_.getLong(0)).sorted.toSeq

  private def scanOf(frame: DataFrame): BatchScanExec =
    frame.queryExecution.sparkPlan.collectFirst { case b: BatchScanExec => b }.get

  private def appendedTable(): (String, Vector[Long]) = {
    val table = newTable()
    sql(s"CREATE TABLE $table (id bigint, s struct<a: int>) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    (0 until 40 by 10).foreach { first =>
      sql(s"INSERT INTO $table SELECT id, named_struct('a', 1) FROM range($first, ${first + 10}, 1, 1)")
    }
    (table, snapshots(table).map(_.snapshotId))
  }

  test("an incremental read returns the rows that were appended after the start snapshot up to the end snapshot") {
    val (table, ids) = appendedTable()
    def read(options: (String, String)*): DataFrame =
      spark.read.format("iceberg-lite").options(options.toMap).load(table)
    val range = Seq("start-snapshot-id" -> ids(0).toString, "end-snapshot-id" -> ids(2).toString)
    assert(longs(read(range: _*)) == (10L until 30L))
    assert(longs(read(range.take(1): _*)) == (10L until 40L))
    assert(longs(read(range: _*).where("id >= 25 AND s.a = 1")) == (25L until 30L))
    assert(read(range: _*).count() == 20 && read(range: _*).agg(Map("id" -> "max")).head.getLong(0) == 29L)
    assert(read(range: _*).limit(15).count() == 15)
    assert(longs(read("start-snapshot-id" -> ids(3).toString)) == Nil)
    val scan = scanOf(read(range: _*).where("id >= 25"))
    val description = scan.scan.description
    assert(scan.supportsColumnar)
    assert(description.contains(s"appends of snapshots after ${ids(0)} until ${ids(2)}"), description)
    assert(description.contains("files=1 of 2"), description)
  }

  test("timestamps can bound an incremental read: the start is exclusive, and the end is inclusive", Slow) {
    val (table, _) = appendedTable()
    val times = snapshots(table).map(_.timestampMs)
    assert(times.distinct == times)
    def read(name: String, options: (String, Long)*): Seq[Long] = longs(
      spark.read.format("iceberg-lite").options(options.map { case (k, v) => k -> v.toString }.toMap).load(name)
    )
    for (name <- Seq(table, s"$table.changes")) {
      assert(read(name, "start-timestamp" -> times(0)) == (10L until 40L))
      assert(read(name, "start-timestamp" -> times(0), "end-timestamp" -> times(2)) == (10L until 30L))
      assert(read(name, "start-timestamp" -> (times(0) - 1), "end-timestamp" -> (times(2) - 1)) == (0L until 20L))
      assert(read(name, "start-timestamp" -> (times(3) + 1)) == Nil)
      assert(read(name, "start-timestamp" -> 0L, "end-timestamp" -> 1L) == Nil)
    }
  }

  test("conditions on change columns exclude commits, and the files of these commits are not read") {
    val (table, ids) = appendedTable()
    val frame = sql(s"SELECT id FROM $table.changes WHERE _commit_snapshot_id = ${ids(1)} AND _change_type = 'INSERT'")
    assert(longs(frame) == (10L until 20L))
    val plan = frame.queryExecution.sparkPlan
    assert(scanOf(frame).scan.description.contains("files=1 of 1"), plan)
    assert(plan.collectFirst { case f: FilterExec => f }.isEmpty, plan)
    assert(rows(s"SELECT id FROM $table.changes WHERE _change_type = 'DELETE'").isEmpty)
    assert(longs(sql(s"SELECT id FROM $table.changes WHERE _change_ordinal > 2 OR id = 5")) == (5L +: (30L until 40L)))
    assert(rows(s"SELECT count(*) FROM $table.changes").head.getLong(0) == 40L)
    assert(rows(s"SELECT * FROM $table.changes LIMIT 3").size == 3)
  }

  test("the changes up to a branch or an older snapshot include only the commits in its history", Slow) {
    val (table, ids) = appendedTable()
    sql(s"ALTER TABLE $table CREATE BRANCH b AS OF VERSION ${ids(1)}")
    sql(s"INSERT INTO $table.branch_b SELECT 99, NULL")
    def read(name: String, options: (String, String)*): Seq[Long] =
      longs(spark.read.format("iceberg-lite").options(options.toMap).load(name))
    assert(longs(sql(s"SELECT id FROM $table.branch_b.changes")) == ((0L until 20L) :+ 99L))
    assert(read(s"$table.changes", "branch" -> "b", "start-snapshot-id" -> ids(1).toString) == Seq(99L))
    assert(read(table, "branch" -> "b", "start-snapshot-id" -> ids(0).toString) == ((10L until 20L) :+ 99L))
    assert(longs(sql(s"SELECT id FROM $table.changes VERSION AS OF ${ids(0)}")) == (0L until 10L))
    assert(longs(sql(s"SELECT id FROM $table.snapshot_id_${ids(1)}.changes")) == (0L until 20L))
    val otherBranch = Seq("branch" -> "b", "start-snapshot-id" -> s"${ids(0)}", "end-snapshot-id" -> s"${ids(3)}")
    val e = intercept[Exception](read(table, otherBranch: _*))
    assert(e.getMessage.contains("not in the history of b"), e.getMessage)
  }

  test(
    "a range that starts at an expired snapshot is readable only if all commits after the start are retained",
    Slow
  ) {
    val (table, ids) = appendedTable()
    val name = table.stripPrefix("lite.")
    sql(s"CALL ice.system.expire_snapshots(table => '$name', snapshot_ids => array(${ids(0)}, ${ids(1)}))")
    sql(s"REFRESH TABLE $table")
    def read(options: (String, String)*): Seq[Long] = longs(changes(table, options: _*))
    assert(read("start-snapshot-id" -> ids(1).toString) == (20L until 40L))
    assert(read() == (20L until 40L))
    val expiredStart = intercept[Exception](read("start-snapshot-id" -> ids(0).toString)).getMessage
    assert(expiredStart.contains("It has expired or never existed"), expiredStart)
    val expiredTimestamp = intercept[Exception](read("start-timestamp" -> "1")).getMessage
    assert(expiredTimestamp.contains("have expired; the oldest existing snapshot"), expiredTimestamp)
  }

  test("invalid ranges are rejected with the reason") {
    val (table, ids) = appendedTable()
    def failure(name: String, options: (String, String)*): String = intercept[Exception](
      spark.read.format("iceberg-lite").options(options.toMap).load(name).collect()
    ).getMessage
    assert(failure(table, "start-snapshot-id" -> "7").contains("Snapshot not found: 7 (start-snapshot-id)"))
    assert(failure(s"$table.changes", "end-snapshot-id" -> "7").contains("Snapshot not found: 7 (end-snapshot-id)"))
    assert(failure(table, "end-snapshot-id" -> ids(1).toString).contains("The range has no start"))
    assert(failure(table, "start-snapshot-id" -> s"${ids(2)}", "end-snapshot-id" -> s"${ids(1)}").contains("swap"))
    assert(failure(table, "start-snapshot-id" -> "1", "start-timestamp" -> "1").contains("Only one of these options"))
    assert(failure(table, "start-timestamp" -> "5", "end-timestamp" -> "4").contains("later than end-timestamp=4"))
    assert(failure(table, "start-snapshot-id" -> "x").contains("It must be a whole number"))
    assert(failure(s"$table.files", "start-snapshot-id" -> s"${ids(0)}").contains("Only a table itself"))
    val range = Seq("start-snapshot-id" -> s"${ids(0)}", "end-snapshot-id" -> s"${ids(1)}")
    val message = failure(table, range :+ ("snapshot-id" -> s"${ids(2)}"): _*)
    assert(message.contains("Both select the end of the range"), message)
    sql(s"ALTER TABLE $table ADD COLUMN _change_type int")
    assert(failure(s"$table.changes").contains("rename the column of the table"))
  }

  test("row lineage distinguishes rewritten rows from changed rows", Slow) {
    val table = newTable()
    sql(s"CREATE TABLE $table (id bigint, v string) USING iceberg TBLPROPERTIES ('format-version' = '3')")
    sql(s"INSERT INTO $table SELECT id, 'old' FROM range(0, 6, 1, 1)")
    sql(s"UPDATE ${inApacheIceberg(table)} SET v = 'new' WHERE id = 2")
    sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id = 3")
    sql(s"REFRESH TABLE $table")
    val query = s"SELECT id, v, $changeColumns FROM %s.changes"
    assert(sorted(query.format(table)) == sorted(query.format(inApacheIceberg(table))))
    assert(rows(s"SELECT * FROM $table.changes WHERE _change_ordinal = 1").size == 12)
    val changed = sorted(
      s"""SELECT id, v, _change_type, _change_ordinal FROM (
         |  SELECT *, count(*) OVER (PARTITION BY _change_ordinal, _row_id, _last_updated_sequence_number) AS times
         |  FROM (SELECT *, _row_id, _last_updated_sequence_number FROM $table.changes)
         |) WHERE times = 1 AND _change_ordinal > 0""".stripMargin
    )
    assert(changed == Seq("[2,new,INSERT,1]", "[2,old,DELETE,1]", "[3,old,DELETE,2]"))
  }

  test("rows deleted by deletion vectors are returned in batches, and can be filtered by values and commits", Slow) {
    val table = newTable()
    val properties = "'format-version' = '3', 'write.delete.mode' = 'merge-on-read'"
    sql(s"CREATE TABLE $table (id bigint, s struct<a: int>) USING iceberg TBLPROPERTIES ($properties)")
    sql(s"INSERT INTO $table SELECT id, named_struct('a', CAST(id AS int)) FROM range(0, 100, 1, 1)")
    Seq(7, 8, 9).foreach(digit => sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id % 10 = $digit"))
    sql(s"REFRESH TABLE $table")
    val frame = sql(s"SELECT id, s.a, _change_ordinal FROM $table.changes WHERE _change_type = 'DELETE'")
    val expected = for (digit <- 7 to 9; tens <- 0 until 10) yield Row(tens * 10L + digit, tens * 10 + digit, digit - 6)
    assert(countsOfRows(frame.collect().toSeq) == countsOfRows(expected) && scanOf(frame).supportsColumnar)
    assert(longs(sql(s"SELECT id FROM $table.changes WHERE _change_ordinal = 2 AND id < 20")) == Seq(8L, 18L))
    // The second deletion vector replaces the first: rows of the first are not deleted again and do not reappear.
    assert(rows(s"SELECT count(*) FROM $table.changes WHERE _change_ordinal > 0").head.getLong(0) == 30L)
  }

  /**
   * Overwrites with zeros the row groups of a Parquet file that contain none of the given row positions.
   *
   * @return the number of overwritten row groups
   */
  private def damageRowGroupsWithout(rows: Seq[Long], path: String): Int = {
    val reader = ParquetFileReader.open(HadoopInputFile.fromPath(new HadoopPath(path), new Configuration()))
    val groups =
      try reader.getFooter.getBlocks.asScala.toVector
      finally reader.close()
    val others = groups.filterNot { group =>
      rows.exists(row => row >= group.getRowIndexOffset && row < group.getRowIndexOffset + group.getRowCount)
    }
    val local = Paths.get(URI.create(path))
    // The checksum file is deleted. Otherwise, an undamaged row group could not be read if one of its checksums also
    // covers a part of a damaged row group.
    Files.deleteIfExists(local.resolveSibling(s".${local.getFileName}.crc"))
    val file = new RandomAccessFile(local.toFile, "rw")
    try others.foreach { group =>
        file.seek(group.getStartingPos)
        file.write(new Array[Byte](group.getCompressedSize.toInt))
      }
    finally file.close()
    others.size
  }

  test("for the changes of a DELETE, only the row groups that contain deleted rows are read", Slow) {
    val table = newTable()
    val properties = Seq("format-version" -> "3", "write.delete.mode" -> "merge-on-read") ++
      Seq("size-bytes" -> "20000", "check-min-record-count" -> "100", "check-max-record-count" -> "100")
        .map { case (key, value) => s"write.parquet.row-group-$key" -> value }
    val assignments = properties.map { case (key, value) => s"'$key' = '$value'" }.mkString(", ")
    sql(s"CREATE TABLE $table (id bigint, v string) USING iceberg TBLPROPERTIES ($assignments)")
    sql(s"INSERT INTO ${inApacheIceberg(table)} SELECT id, uuid() FROM range(0, 5000, 1, 1)")
    sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id IN (0, 2500, 2501, 4999)")
    sql(s"REFRESH TABLE $table")
    val file = rows(s"SELECT file_path, size(split_offsets) FROM $table.files WHERE content = 0").head
    val damagedGroups = damageRowGroupsWithout(Seq(0L, 2500L, 2501L, 4999L), file.getString(0))
    assert(damagedGroups >= file.getInt(1) - 4 && file.getInt(1) > 5)
    val frame = sql(s"SELECT id, _pos FROM $table.changes WHERE _change_type = 'DELETE'")
    assert(frame.collect().map(_.toString).sorted.toSeq == Seq(0, 2500, 2501, 4999).map(i => s"[$i,$i]"))
    // The inserted rows cannot be read, because the other row groups are damaged.
    val inserts = sql(s"SELECT id, _pos FROM $table.changes WHERE _change_type = 'INSERT'")
    val error = intercept[Exception](inserts.collect())
    assert(Causes.of(error).exists(_.getMessage.contains(file.getString(0))), error)
  }

  test("the plan of an incremental read of an overwritten table shows the number of skipped commits") {
    val (table, ids) = appendedTable()
    sql(s"INSERT OVERWRITE $table SELECT 1, NULL")
    val frame = spark.read.format("iceberg-lite").option("start-snapshot-id", ids(2)).load(table)
    assert(longs(frame) == (30L until 40L))
    assert(scanOf(frame).scan.description.contains("1 other commit skipped"), scanOf(frame).scan.description)
  }

  test("a table without snapshots has no changes") {
    val table = create(V2, partitioned = false)
    assert(rows(s"SELECT * FROM $table.changes").isEmpty)
    assert(changes(table).columns.toSeq == (columns + ", " + changeColumns).split(", ").toSeq)
  }
}
