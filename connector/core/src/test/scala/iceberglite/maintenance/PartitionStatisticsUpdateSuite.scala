package iceberglite.maintenance

import java.util.UUID

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Fuzz
import iceberglite.scan.RandomHistory
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.FileFormat
import iceberglite.spec.partition.{Identity, PartitionTuple, UnboundPartitionField}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Literal.DecimalLiteral
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.DecimalType
import iceberglite.table.{Actions, TableCreation}
import iceberglite.table.Actions.tableByCategory
import iceberglite.table.TestTables.fileOf
import iceberglite.table.action.{ExpireOptions, ExpireSnapshots, RemoveFiles, RewriteManifests, SetPartitionStatistics}

/** Tests partition statistics that are computed from the statistics of an ancestor snapshot and the changes since. */
class PartitionStatisticsUpdateSuite extends AnyFunSuite {
  private def update(actions: Actions): Option[Vector[PartitionStatistics]] = {
    val metadata = actions.table.metadata
    metadata.currentSnapshot.flatMap(PartitionStatisticsUpdate.of(actions.store, metadata, _))
  }

  private def full(actions: Actions): Vector[PartitionStatistics] = {
    val metadata = actions.table.metadata
    metadata.currentSnapshot.fold(Vector.empty[PartitionStatistics])(s =>
      PartitionStatisticsFiles.compute(actions.store, metadata, s)
    )
  }

  private def register(actions: Actions, random: Random = new Random(1)): Unit = {
    val metadata = actions.table.metadata
    val unique = new UUID(random.nextLong(), random.nextLong())
    metadata.currentSnapshot.flatMap(PartitionStatisticsFiles.write(actions.store, metadata, _, unique))
      .foreach(file => actions.commit(new SetPartitionStatistics(file)))
  }

  private def newestUpdate(row: PartitionStatistics): Long = row.lastUpdatedAt.getOrElse(0L)

  /**
   * Checks that incrementally updated statistics have the same counts as fully computed ones, and that they do not give
   * an older time for the last update of a partition.
   */
  private def assertSame(updated: Vector[PartitionStatistics], computed: Vector[PartitionStatistics], clue: String) = {
    def key(row: PartitionStatistics) = (row.specId, row.partition)
    def counts(rows: Vector[PartitionStatistics]) = rows.filter(_.hasFiles).map(row => key(row) -> row.counts)
    assert(counts(updated) == counts(computed), clue)
    val times = computed.map(row => key(row) -> newestUpdate(row)).toMap
    updated.foreach(row => assert(newestUpdate(row) >= times.getOrElse(key(row), 0L), clue))
    assert(updated == updated.sorted(PartitionStatistics.ordering), clue)
  }

  test("updated statistics have the counts of a full computation after random commits of every kind", Slow) {
    val rounds = 10
    var updates = 0
    for (version <- FormatVersion.all.filter(_ <= FormatVersion.V3); round <- 0 until rounds) {
      val seed = Fuzz.seed + round
      val random = new Random(seed)
      val actions = new Actions(RandomHistory.creation(version, partitioned = true))
      val history = new RandomHistory(actions.empty, random, Vector(FileFormat.Avro))
      for (_ <- 0 until 12) {
        history.step(None)
        val clue = s"version $version, seed $seed"
        update(actions).foreach { updated =>
          updates += 1
          assertSame(updated, full(actions), clue)
        }
        if (random.nextInt(3) == 0) register(actions, random)
      }
    }
    assert(updates > rounds)
  }

  /** Returns a table with registered statistics of two partitions. */
  private def described: Actions = {
    val actions = tableByCategory(FormatVersion.V2)
    actions.append((1 to 3).map(i => fileOf("a", s"mem://t/data/a$i")): _*)
    actions.append(fileOf("b", "mem://t/data/b1"))
    register(actions)
    actions
  }

  test("only the manifests that were written after the previous statistics are read") {
    val actions = described
    val old = actions.table.currentSnapshot.get
    actions.append(fileOf("a", "mem://t/data/a4"))
    val parts = iceberglite.tree.MetadataTree.at(old, actions.table.tree()).parts
    // A full computation would fail now, because it reads the manifests that are deleted here.
    parts.foreach(part => actions.store.delete(part.id))
    val rows = update(actions).get
    assert(rows.map(_.dataFileCount) == Vector(4, 1) && rows.map(_.dataRecordCount) == Vector(40L, 10L))
    val snapshots = rows.flatMap(_.lastUpdatedSnapshotId)
    assert(snapshots == Vector(actions.table.metadata.currentSnapshotId.get, old.snapshotId))
  }

  test("rewritten manifests do not change the statistics, and a partition without remaining files has zero counts") {
    val actions = described
    val before = full(actions)
    actions.commit(new RewriteManifests())
    assert(update(actions).contains(before))
    register(actions)
    actions.commit(new RemoveFiles(Set("mem://t/data/b1")))
    val removed = update(actions).get
    assert(removed.map(_.dataFileCount) == Vector(3, 0))
    assert(removed.last.lastUpdatedSnapshotId == actions.table.metadata.currentSnapshotId)
    register(actions)
    actions.append(fileOf("a", "mem://t/data/a9"))
    assert(update(actions).get.map(_.dataFileCount) == Vector(4))
  }

  private def withFile(actions: Actions)(change: Vector[PartitionStatistics] => Vector[PartitionStatistics]): Unit = {
    val metadata = actions.table.metadata
    val file = metadata.partitionStatistics.head
    val rows = change(PartitionStatisticsFiles.read(actions.store, metadata, file))
    val written = PartitionStatisticsFiles.write(actions.store, metadata, file.snapshotId, new UUID(5, 5), rows)
    actions.commit(new SetPartitionStatistics(written))
    ()
  }

  test("statistics are not updated, but computed from all files, if those of the ancestor cannot be used") {
    def after(name: String)(change: Actions => Unit): Unit = {
      val actions = described
      change(actions)
      actions.commit(new RemoveFiles(Set("mem://t/data/a1")))
      assert(update(actions).isEmpty && full(actions).map(_.dataFileCount) == Vector(2, 1), name)
    }
    after("no row for the partition")(withFile(_)(_.drop(1)))
    after("too few files")(withFile(_)(_.map(_.copy(dataFileCount = 0))))
    after("an unknown count")(withFile(_)(_.map(_.copy(equalityDeleteFileCount = None))))
    after("an unknown spec")(withFile(_)(_.map(_.copy(specId = 7))))
    after("two rows of a partition")(withFile(_)(rows => rows ++ rows))
    after("a damaged file") { actions =>
      val path = actions.table.metadata.partitionStatistics.head.statisticsPath
      actions.store.replace(path, Array[Byte](1, 2, 3))
    }
    after("an expired snapshot in between") { actions =>
      val between = actions.append(fileOf("c", "mem://t/data/c1")).metadata.currentSnapshotId
      actions.commit(new RemoveFiles(Set("mem://t/data/c1")))
      actions.commit(new ExpireSnapshots(ExpireOptions(snapshotIds = between.toSet)))
    }
  }

  test("statistics of decimal partitions are updated even if a value has fewer digits than its type") {
    val field = NestedField.optional(1, "amount", DecimalType(9, 2))
    val properties = Map("format-version" -> FormatVersion.V2.toString)
    val actions = new Actions(TableCreation(
      Schema(0, Vector(field)),
      Vector(UnboundPartitionField(Vector("amount"), Identity)),
      properties = properties
    ))
    def file(name: String) = fileOf("a", s"mem://t/data/$name").copy(partition =
      PartitionTuple(Vector(Some(DecimalLiteral(new java.math.BigDecimal("1.50")))))
    )
    actions.append(file("f1"))
    register(actions)
    actions.append(file("f2"))
    assert(update(actions).map(_.map(_.dataFileCount)).contains(Vector(2)))
  }

  test("the statistics of a snapshot are not updated from statistics of the same snapshot") {
    val actions = described
    assert(update(actions).isEmpty)
    assert(actions.table.metadata.partitionStatistics.map(_.snapshotId) ==
      actions.table.metadata.currentSnapshotId.toVector)
  }
}
