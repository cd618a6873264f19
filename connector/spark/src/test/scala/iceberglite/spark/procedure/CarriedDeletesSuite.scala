package iceberglite.spark.procedure

import java.io.InputStream

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{Fuzz, Sampling}
import iceberglite.catalog.FileIOWrapper
import iceberglite.maintenance.compact.{RewriteOptions, RewriteResult}
import iceberglite.spark.SharedSession
import iceberglite.spark.maintenance.{DataFileRewrite, RowOrdering}
import iceberglite.spark.read.deletes.PeerEqualityDeletes
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spec.IcebergError.ConcurrentChange
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.Content
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.Literal
import iceberglite.table.{Change, Committer, SnapshotTarget, Table, TableIdentifier, TableVersion}
import iceberglite.table.action.{FastAppend, RemoveFiles}
import iceberglite.tree.TreeReader

/** Tests rewrites of data files during which other commits delete rows of these files. */
class CarriedDeletesSuite extends AnyFunSuite with StatementFixture {
  private val columns = "id BIGINT, p INT, s STRING"

  /** Runs a statement in the session with Apache Iceberg's SQL extensions, which its row-level statements need. */
  private def sqlOfPeer(statement: String): DataFrame = SharedSession.spark.sql(statement)

  /** Creates a table with several files per partition and deleted rows. */
  private def written(version: Int, properties: (String, String)*): String = {
    val t = create(columns, version, "merge-on-read", ("write.distribution-mode" -> "none") +: properties: _*)
    sql(s"ALTER TABLE $t ADD PARTITION FIELD p")
    for (range <- Seq("0, 1000, 1, 1", "1000, 3000, 1, 2"))
      sql(s"INSERT INTO $t SELECT id, id % 2, concat('s', id) FROM range($range)")
    sql(s"DELETE FROM $t WHERE id % 7 = 1")
    t
  }

  /** Rewrites the data files of `table`, which may be an older version than the current one. */
  private def rewrite(table: Table, ordering: RowOrdering, options: (String, String)*): RewriteResult = {
    val all = Map("rewrite-all" -> "true") ++ options
    val parsed = RewriteOptions.of(all, table.metadata, RowOrdering.optionNames)
    new DataFileRewrite(spark, table, SnapshotTarget.Main, AlwaysTrue, parsed, ordering).run()._2
  }

  private def ordering(t: String, order: String): RowOrdering =
    RowOrdering.of(spark, live(t), Some("sort"), Some(order), Map.empty)

  private def contents(t: String, version: Int): Seq[Row] = {
    val lineage = if (version == 3) ", _row_id, _last_updated_sequence_number" else ""
    sql(s"REFRESH TABLE $t")
    rows(s"SELECT *$lineage FROM $t ORDER BY id")
  }

  private def assertSame(t: String, version: Int, expected: Seq[Row], replaced: Set[String]): Unit = {
    assert(contents(t, version) == expected, "rows read by iceberg-lite")
    assert(contents(inApacheIceberg(t), version) == expected, "rows read by Apache Iceberg")
    assert(dataFiles(live(t)).intersect(replaced).isEmpty, "replaced files that are still in the table")
  }

  /** Returns a copy of the table that calls `beforeCommit` before each of its commit attempts. */
  private def withCommitter(table: Table)(beforeCommit: () => Unit): Table = {
    val committer = new Committer {
      override def load(id: TableIdentifier): TableVersion = table.committer.load(id)
      override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
        beforeCommit()
        table.committer.commit(id, base, change)
      }
    }
    new Table(table.id, table.name, table.version, table.io, committer)
  }

  /** Returns the rows as sorted texts. All NaN values have the same text, but -0.0 and 0.0 have different texts. */
  private def texts(t: String): Seq[String] =
    rows(s"SELECT ${EqualRows.texts} FROM $t").map(_.toString).sorted

  private def snapshotBefore(t: String): Long = {
    sql(s"REFRESH TABLE $t")
    live(t).currentSnapshot.flatMap(_.parentSnapshotId).get
  }

  private def dataFiles(table: Table): Set[String] = {
    val tree = new TreeReader(table.io, table.metadata)
    table.currentSnapshot.toVector.flatMap(tree.manifests).flatMap(tree.entries(_).toVector)
      .filter(e => e.isLive && e.file.content == Content.Data).map(_.file.path).toSet
  }

  for (version <- Seq(2, 3); granularity <- Seq("file", "partition"))
    test(
      s"deletes and updates during a rewrite apply to the new files, version $version, granularity $granularity",
      Sampling.slowInSomeRuns(isAlwaysRun = version == 3 && granularity == "file"): _*
    ) {
      val t = written(version, "write.delete.granularity" -> granularity)
      val before = live(t)
      sql(s"DELETE FROM $t WHERE id % 5 = 2")
      sqlOfPeer(s"REFRESH TABLE ${inApacheIceberg(t)}")
      sqlOfPeer(s"UPDATE ${inApacheIceberg(t)} SET s = 'updated' WHERE id % 11 = 3")
      sql(s"REFRESH TABLE $t")
      sql(s"DELETE FROM $t WHERE id BETWEEN 1500 AND 1510")
      val expected = contents(t, version)
      val result = rewrite(before, RowOrdering.Kept)
      assert(result.rewrittenFiles == 6 && result.addedFiles == 2)
      assertSame(t, version, expected, dataFiles(before))
      sql(s"DELETE FROM $t WHERE id = 4")
      assert(contents(t, version) == expected.filter(_.getLong(0) != 4))
    }

  test("deleted rows are found in the new files if several tasks read parts of one file", Slow) {
    val t = create(columns, 3, "merge-on-read", "write.parquet.row-group-size-bytes" -> "2000")
    sql(s"INSERT INTO $t SELECT id, 1, uuid() FROM range(0, 3000, 1, 1)")
    sql(s"INSERT INTO $t SELECT id, 1, uuid() FROM range(3000, 4000, 1, 1)")
    sql(s"DELETE FROM $t WHERE id % 13 = 5")
    val before = live(t)
    sql(s"DELETE FROM $t WHERE id % 17 = 2 OR id BETWEEN 2000 AND 2300")
    val expected = contents(t, 3)
    val result = rewrite(before, RowOrdering.Kept, "target-file-size-bytes" -> "20000")
    assert(result.addedFiles > 3)
    assertSame(t, 3, expected, dataFiles(before))
  }

  for (version <- Seq(2, 3))
    test(
      s"deleted rows are found if the replaced files have rows of several partitions, version $version",
      Sampling.slowUnless(version == 3): _*
    ) {
      val t = create("id BIGINT, ts TIMESTAMP", version, "merge-on-read", "write.distribution-mode" -> "none")
      for (i <- 0 until 2)
        sql(s"INSERT INTO $t SELECT id, timestamp_seconds(IF(id % 3 = 0, 1000, -1000)) " +
          s"FROM range(${i * 1000}, ${i * 1000 + 1000}, 1, 1)")
      val files = new TreeReader(live(t).io, live(t).metadata).live.map(_.file)
      sql(s"ALTER TABLE $t ADD PARTITION FIELD days(ts)")
      // The files get the partition in which Apache Iceberg before 0.12 stored them: it rounded times before 1970
      // toward zero, so the rows of day -1 are in the partition of day 0.
      val day0 = PartitionTuple(Vector(Some(Literal.DateLiteral(0))))
      val moved = files.map(_.copy(specId = live(t).metadata.defaultSpecId, partition = day0, firstRowId = None))
      live(t).transaction().add(new RemoveFiles(files.map(_.path).toSet)).commit()
      sql(s"REFRESH TABLE $t")
      live(t).transaction().add(new FastAppend(moved)).commit()
      sql(s"REFRESH TABLE $t")
      // Files with deleted rows are not copied column by column, so each row is written to its own partition.
      sql(s"DELETE FROM $t WHERE id % 7 = 1")
      val before = live(t)
      sql(s"DELETE FROM $t WHERE id BETWEEN 100 AND 1300")
      val expected = contents(t, version)
      assert(expected.map(_.getLong(0)) == (0L until 2000L).filter(i => i % 7 != 1 && (i < 100 || i > 1300)))
      rewrite(before, RowOrdering.Kept)
      assertSame(t, version, expected, dataFiles(before))
      assert(count(s"$t.data_files", "partition.ts_day = DATE'1969-12-31'") > 0)
    }

  test("a rewrite keeps all rows of a file that is twice in the table", Slow) {
    val t = create(columns, 2, "merge-on-read")
    sql(s"INSERT INTO $t SELECT id, 1, 'a' FROM range(0, 100, 1, 1)")
    val files = new TreeReader(live(t).io, live(t).metadata).live.map(_.file)
    live(t).transaction().add(new FastAppend(files)).commit()
    sql(s"REFRESH TABLE $t")
    val expected = contents(t, 2)
    assert(expected.size == 200)
    val message =
      intercept[ConcurrentChange](rewrite(live(t), RowOrdering.Kept, "max-files-to-rewrite" -> "1")).getMessage
    assert(message.contains("entries of the file is now 2 in the table"))
    assert(contents(t, 2) == expected)
    val replaced = dataFiles(live(t))
    rewrite(live(t), RowOrdering.Kept)
    assertSame(t, 2, expected, replaced)
  }

  test("deleted rows are found by their row ids if a rewrite sorts them or changes their partition spec", Slow) {
    val t = written(3)
    val before = live(t)
    sql(s"DELETE FROM $t WHERE id % 5 = 2")
    rewrite(before, ordering(t, "s DESC"))
    assert(contents(t, 3).map(_.getLong(0)) == (0L until 3000L).filter(i => i % 7 != 1 && i % 5 != 2))
    sql(s"ALTER TABLE $t ADD PARTITION FIELD bucket(2, id)")
    val evolved = live(t)
    sql(s"DELETE FROM $t WHERE id % 3 = 0")
    val expected = contents(t, 3)
    rewrite(evolved, RowOrdering.Kept)
    assertSame(t, 3, expected, dataFiles(evolved))
  }

  test("deleted rows without row ids are found by their values if a rewrite sorts rows or changes the spec", Slow) {
    val t = written(2)
    val before = live(t)
    sql(s"DELETE FROM $t WHERE id % 5 = 2")
    rewrite(before, ordering(t, "s DESC"))
    val ids = contents(t, 2).map(_.getLong(0))
    assert(ids == (0L until 3000L).filter(i => i % 7 != 1 && i % 5 != 2))
    assert(dataFiles(live(t)).intersect(dataFiles(before)).isEmpty)
    sql(s"ALTER TABLE $t ADD PARTITION FIELD bucket(2, id)")
    val evolved = live(t)
    sql(s"DELETE FROM $t WHERE id % 3 = 0")
    val expected = contents(t, 2)
    rewrite(evolved, RowOrdering.Kept)
    assertSame(t, 2, expected, dataFiles(evolved))
  }

  for (version <- Seq(2, 3))
    test(s"a sort commits even if rows are deleted before each of its first five attempts, version $version", Slow) {
      val t = written(version, "commit.retry.num-retries" -> "1", "commit.retry.min-wait-ms" -> "1")
      val before = live(t)
      val (rounds, seen) = (5, dataFiles(before))
      var round = 0
      val interrupted = withCommitter(before) { () =>
        if (round < rounds) {
          round += 1
          // Each round deletes rows of every file.
          sql(s"DELETE FROM $t WHERE id % 11 = $round")
        }
      }
      rewrite(interrupted, ordering(t, "s DESC"))
      assert(round == rounds)
      val expected = (0L until 3000L).filter(i => i % 7 != 1 && !(1 to rounds).contains(i % 11))
      assert(contents(t, version).map(_.getLong(0)) == expected)
      assert(contents(inApacheIceberg(t), version).map(_.getLong(0)) == expected)
      assert(dataFiles(live(t)).intersect(seen).isEmpty)
    }

  test("files of a rewrite are removed if the search for deleted rows fails with an unexpected error", Slow) {
    val t = written(3)
    val before = live(t)
    sql(s"DELETE FROM $t WHERE id % 5 = 2")
    val expected = (contents(t, 3), dataFilesOf(t))
    val io = new FileIOWrapper(before.io) {
      override def open(path: String): InputStream =
        if (path.endsWith(".puffin")) throw new IllegalStateException("an unexpected error") else super.open(path)
    }
    val failing = new Table(before.id, before.name, before.version, io, before.committer)
    for (order <- Seq(RowOrdering.Kept, ordering(t, "s DESC"))) {
      assert(messages(intercept[IllegalStateException](rewrite(failing, order))).contains("an unexpected error"))
      assert((contents(t, 3), dataFilesOf(t)) == expected, order)
    }
  }

  for (order <- Seq("s DESC, d", "zorder(id, d)", "hilbert(id, d)", "a changed partition spec"))
    test(s"a rewrite applies random concurrent deletes to equal rows with values of all types, v2, $order", Slow) {
      for (round <- 0 until Fuzz.slowRounds(4)) {
        val random = new Random(Fuzz.seed + round * 31L + order.hashCode)
        def format(): String = Seq("parquet", "orc", "avro")(random.nextInt(3))
        val t = create(EqualRows.columns, 2, "merge-on-read", "write.format.default" -> format())
        def change(): Unit = {
          random.nextInt(4) match {
            case 0 => sql(s"DELETE FROM $t WHERE _pos % ${3 + random.nextInt(20)} = ${random.nextInt(3)}")
            case 1 => sql(s"DELETE FROM $t WHERE id = ${random.nextInt(40)}")
            case 2 => sql(s"DELETE FROM $t WHERE _pos < ${random.nextInt(30)} AND d IS NOT NULL")
            case _ =>
              sqlOfPeer(s"REFRESH TABLE ${inApacheIceberg(t)}")
              sqlOfPeer(s"DELETE FROM ${inApacheIceberg(t)} WHERE id = ${random.nextInt(40)}")
          }
          Seq(t, inApacheIceberg(t)).foreach(n => sql(s"REFRESH TABLE $n"))
        }
        (0 until 3).foreach { i =>
          sql(EqualRows.insert(t, i))
          sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.format.default' = '${format()}')")
        }
        if (order.startsWith("a changed")) {
          // The last file already has the new partition spec, so its rows keep their order. They are equal to rows of
          // the other files, whose partition spec changes in the rewrite.
          sql(s"ALTER TABLE $t ADD PARTITION FIELD bucket(2, id)")
          sql(EqualRows.insert(t, 3))
        }
        if (random.nextBoolean()) sql(s"ALTER TABLE $t ADD COLUMN later STRING")
        if (random.nextBoolean()) change()
        val before = live(t)
        (0 to random.nextInt(3)).foreach(_ => change())
        val expected = texts(t)
        var changes = random.nextInt(3)
        val table = withCommitter(before) { () =>
          if (changes > 0) change()
          changes -= 1
        }
        rewrite(table, if (order.startsWith("a changed")) RowOrdering.Kept else ordering(t, order))
        withClue(s"round $round, seed ${Fuzz.seed}") {
          assert(texts(t).diff(expected).isEmpty, "rows that were deleted")
          assert(texts(t) == texts(inApacheIceberg(t)), "rows read by Apache Iceberg")
          assert(dataFiles(live(t)).intersect(dataFiles(before)).isEmpty)
          assert(texts(t) == texts(s"$t VERSION AS OF ${snapshotBefore(t)}"), "rows before the rewrite")
        }
      }
    }

  for (version <- Seq(2, 3))
    test(s"a rewrite applies random deletes that are committed before and during it, version $version", Slow) {
      for (round <- 0 until Fuzz.slowRounds(6)) {
        val random = new Random(Fuzz.seed + round)
        val granularity = if (random.nextBoolean()) "file" else "partition"
        val t = written(version, "write.delete.granularity" -> granularity)
        def change(): Unit = random.nextInt(4) match {
          case 0 =>
            val partition = random.nextInt(2)
            val ids = Seq.fill(20)(random.nextInt(3000).toLong)
            new PeerEqualityDeletes(spark, inApacheIceberg(t)).commit(Seq("id"), partition = Seq(partition))(
              ids.map(Seq(_)): _*
            )
          case 1 => sql(s"UPDATE $t SET s = 'u$round' WHERE id % ${10 + random.nextInt(50)} = 3")
          case 2 => sqlOfPeer(s"DELETE FROM ${inApacheIceberg(t)} WHERE id % ${10 + random.nextInt(50)} = 4")
          case _ => sql(s"DELETE FROM $t WHERE id > ${random.nextInt(3000)} AND id % 4 = ${random.nextInt(4)}")
        }
        def refreshed(): Unit = {
          Seq(t, inApacheIceberg(t)).foreach(name => sql(s"REFRESH TABLE $name"))
          sqlOfPeer(s"REFRESH TABLE ${inApacheIceberg(t)}")
          ()
        }
        (0 until random.nextInt(3)).foreach { _ => change(); refreshed() }
        val before = live(t)
        (0 to random.nextInt(3)).foreach { _ => change(); refreshed() }
        val expected = contents(t, version)
        rewrite(before, RowOrdering.Kept, "target-file-size-bytes" -> (4000 + random.nextInt(20000)).toString)
        withClue(s"round $round, seed ${Fuzz.seed}")(assertSame(t, version, expected, dataFiles(before)))
      }
    }
}

/** Test rows with nulls, special numbers and nested values. Each row occurs several times. */
private object EqualRows {
  val columns: String =
    "id BIGINT, s STRING, d DOUBLE, f FLOAT, dec DECIMAL(20, 3), day DATE, t TIMESTAMP, b BINARY, " +
      "n STRUCT<a: INT, l: ARRAY<STRING>>, m MAP<STRING, INT>, flag BOOLEAN, c CHAR(5), v VARCHAR(5)"

  /**
   * Expressions that have equal texts for equal values of the columns: binaries are hexadecimal text, and maps are
   * sorted entries.
   */
  val texts: String = "id, s, d, f, dec, day, t, hex(b), n, array_sort(map_entries(m)), flag, c, v"

  private val numbers = Seq("double('NaN')", "-0.0D", "0.0D", "double('-Infinity')", "NULL", "1.5D", "2.5D")

  def insert(t: String, file: Int): String = {
    val number = numbers.zipWithIndex.map { case (n, i) => s"WHEN $i THEN $n" }.mkString(
      s"CASE id % ${numbers.size} ",
      " ",
      " END"
    )
    s"INSERT INTO $t SELECT /*+ COALESCE(1) */ id % 30, IF(id % 5 = 0, NULL, concat('s', id % 3)), $number, " +
      s"CAST($number AS FLOAT), CAST(id % 2 AS DECIMAL(20, 3)) / 8, DATE'2020-01-01', " +
      "IF(id % 6 = 0, NULL, TIMESTAMP'2020-01-01 00:00:01.5'), CAST(concat('b', id % 2) AS BINARY), " +
      "CASE id % 3 WHEN 0 THEN NULL WHEN 1 THEN named_struct('a', CAST(NULL AS INT), 'l', CAST(NULL AS " +
      "ARRAY<STRING>)) ELSE named_struct('a', 1, 'l', array('x', NULL)) END, " +
      "IF(id % 2 = 0, map('k', 1, 'l', NULL), map('l', NULL, 'k', 1)), id % 2 = 0, concat('c', id % 2), " +
      s"concat('v', id % 2) FROM range(0, ${200 + file * 30}, 1, 1)"
  }
}
