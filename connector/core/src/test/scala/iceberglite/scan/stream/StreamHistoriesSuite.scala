package iceberglite.scan.stream

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRoundsInSlowTier}
import iceberglite.data.Record
import iceberglite.scan.{
  ChangelogScan,
  CommitChange,
  FileScanTask,
  IncrementalScan,
  RandomHistory,
  RangeEnd,
  RangeStart,
  SnapshotRange,
  TableScan
}
import iceberglite.scan.stream.StreamContent.{Appends, Changes}
import iceberglite.scan.stream.StreamPosition.Empty
import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.{V1, V2, V3, V4}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.FileFormat
import iceberglite.spec.metadata.Snapshot
import iceberglite.table.{Actions, Table}
import iceberglite.tree.ManifestCache

/** Compares the files and rows that streams of randomly changed tables read with those of batch reads. */
@MoreRoundsInSlowTier
class StreamHistoriesSuite extends AnyFunSuite {
  private val skipping = Appends(skipsDeletes = true, skipsOverwrites = true)

  private def history(random: Random, version: FormatVersion): RandomHistory = {
    val actions = new Actions(RandomHistory.creation(version, partitioned = random.nextBoolean()))
    new RandomHistory(actions.empty, random, Vector(FileFormat.Avro))
  }

  private def randomLimit(random: Random): StreamLimit = {
    def maybe(max: Int): Option[Long] = if (random.nextBoolean()) Some(1L + random.nextInt(max)) else None
    StreamLimit(maybe(4), maybe(12), maybe(4000))
  }

  /**
   * A stream that reads batches with random limits. Some batches are planned in advance, and some are planned again by
   * a new planner, as by a restarted query.
   */
  final private class Reader(content: StreamContent, random: Random, start: StreamOffset = StreamOffset(Empty)) {
    private var planner = restarted
    private var offset = start
    private var read = Vector.empty[FileScanTask]

    private def restarted: StreamPlanner = new StreamPlanner(content, ManifestCache.Disabled)

    /** Reads batches until nothing is left. */
    def readAll(table: Table): Unit = {
      val state = StreamState(table.tree(), table.currentSnapshot)
      def next(): Option[StreamBatch] = planner.next(state, offset, randomLimit(random))
      Iterator.continually(next()).takeWhile(_.isDefined).flatten.foreach { batch =>
        if (random.nextInt(4) == 0) planner = restarted
        val to = StreamOffset.parse(StreamOffset.toJson(batch.to))
        read ++= planner.tasks(state, offset, to)
        offset = to
        if (random.nextBoolean()) planner.prepare(state, offset, randomLimit(random))
      }
    }

    /** The files that were read so far. */
    def tasks: Vector[FileScanTask] = read
  }

  private def paths(tasks: Vector[FileScanTask]): Vector[String] = tasks.map(_.file.path)

  private def range(table: Table, start: RangeStart): SnapshotRange =
    SnapshotRange.of(table.metadata, table.currentSnapshot, None, start, RangeEnd.Newest)

  private def appends(table: Table, start: RangeStart): Vector[FileScanTask] = {
    val cache = ManifestCache.Disabled
    IncrementalScan(table.tree(), range(table, start), AlwaysTrue, caseSensitive = true, cache).plan().tasks
  }

  private def rowsOf(table: Table, snapshot: Snapshot): Vector[FileScanTask] =
    TableScan(table.tree(), Some(snapshot), AlwaysTrue, caseSensitive = true, ManifestCache.Disabled).plan().tasks

  private def withDeletes(tasks: Vector[FileScanTask]): Vector[(String, Vector[String])] =
    tasks.map(t => t.file.path -> t.deletes.map(_.location.toString).sorted)

  /** The rows of each file, with row ids since version 3. Rows of changes have the kind and number of the change. */
  private def rows(
      table: Table,
      tasks: Vector[FileScanTask]
  ): Vector[(String, Option[CommitChange], Vector[Record])] = {
    val lineage = if (table.metadata.formatVersion >= V3) RandomHistory.lineage else Vector.empty
    tasks.zip(RandomHistory.rows(table, tasks, table.schema.fields ++ lineage)).map { case (task, read) =>
      (task.file.path, task.change.map(_.copy(deletesOfChangedRows = None)), read)
    }
  }

  for (version <- Seq(V1, V2, V3, V4)) {
    test(s"a stream of appends reads the rows of an incremental read, in any division into batches, v$version") {
      (0 until Fuzz.rounds(8, 2)).foreach { round =>
        val random = new Random(Fuzz.seed + round)
        val h = history(random, version)
        val read = new Reader(skipping, random)
        (0 until 5).foreach { _ =>
          (0 until random.nextInt(5)).foreach(_ => h.step(None))
          read.readAll(h.table)
        }
        val batch = appends(h.table, RangeStart.Oldest)
        assert(paths(read.tasks) == paths(batch), s"seed ${Fuzz.seed + round}")
        assert(rows(h.table, read.tasks) == rows(h.table, batch), s"seed ${Fuzz.seed + round}")
      }
    }

    test(s"a stream that begins with a snapshot reads its rows, and then the later appends, v$version") {
      (0 until Fuzz.rounds(8, 2)).foreach { round =>
        val random = new Random(Fuzz.seed + 1000 + round)
        val h = history(random, version)
        (0 until 8).foreach(_ => h.step(None))
        h.table.currentSnapshot.foreach { first =>
          val state = StreamState(h.table.tree(), Some(first))
          val start = StreamStart.Current.offset(state, skipping)
          (0 until 5).foreach(_ => h.step(None))
          val reader = new Reader(skipping, random, start)
          reader.readAll(h.table)
          val read = reader.tasks
          val whole = rowsOf(h.table, first)
          assert(withDeletes(read.take(whole.size)) == withDeletes(whole), s"seed ${Fuzz.seed + 1000 + round}")
          assert(rows(h.table, read.take(whole.size)) == rows(h.table, whole))
          val later = appends(h.table, RangeStart.After(first.snapshotId))
          assert(paths(read.drop(whole.size)) == paths(later))
          assert(rows(h.table, read.drop(whole.size)) == rows(h.table, later))
        }
      }
    }

    test(s"a stream of changes reads the rows of the batch changelog with their ordinals, v$version") {
      var withDeletes = Set.empty[String]
      (0 until Fuzz.rounds(8, 2)).foreach { round =>
        val random = new Random(Fuzz.seed + 2000 + round)
        val h = history(random, version)
        val read = new Reader(Changes, random)
        if (round == 0) h.everyChange()
        (0 until 4).foreach { _ =>
          (0 until random.nextInt(5)).foreach(_ => h.step(None))
          read.readAll(h.table)
        }
        val batch = changelog(h.table)
        assert(rows(h.table, read.tasks) == rows(h.table, batch), s"seed ${Fuzz.seed + 2000 + round}")
        if (batch.exists(_.deletes.nonEmpty)) withDeletes += "of unchanged rows"
        if (batch.exists(_.change.exists(_.deletesOfChangedRows.isDefined))) withDeletes += "of changed rows"
      }
      assert(version == V1 || withDeletes.size == 2, withDeletes)
    }
  }

  private def changelog(table: Table): Vector[FileScanTask] = {
    val all = range(table, RangeStart.Oldest)
    ChangelogScan(table.tree(), all, AlwaysTrue, _ => true, caseSensitive = true, ManifestCache.Disabled).plan().tasks
  }
}
