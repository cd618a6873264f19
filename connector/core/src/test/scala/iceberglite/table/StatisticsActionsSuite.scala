package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.CatalogFixture
import iceberglite.conformance.StatisticsRules
import iceberglite.puffin.{NewBlob, PuffinFile, PuffinWriter}
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.metadata.{BlobMetadata, PartitionStatisticsFile, Snapshot, StatisticsFile, TableMetadata}
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate.RemoveSnapshots
import iceberglite.table.action.{
  FastAppend,
  RemovePartitionStatistics,
  RemoveStatistics,
  SetPartitionStatistics,
  SetStatistics
}

/** Tests actions that add statistics files to the metadata or remove them. */
class StatisticsActionsSuite extends AnyFunSuite {
  private def commit(table: Table, action: Action): Table =
    table.transaction(Map.empty, TestTables.environment).add(action).commit()

  /** Runs `body` with a table that has two snapshots. */
  private def withTable(body: Table => Unit): Unit = CatalogFixture.Hadoop.withStore { store =>
    val empty = CatalogFixture.Hadoop.open(store, store.files).create(CatalogFixture.Id, TestTables.byCategory())
    val first = commit(empty, new FastAppend(Vector(TestTables.fileOf("a", "a1"))))
    body(commit(first, new FastAppend(Vector(TestTables.fileOf("b", "b1")))))
  }

  private def puffin(table: Table, snapshot: Snapshot, name: String): StatisticsFile = {
    val metadata = BlobMetadata("x", snapshot.snapshotId, snapshot.sequenceNumber, Vector(1), Map("k" -> name))
    val blob = NewBlob(metadata, name.getBytes("UTF-8"))
    PuffinWriter.write(table.io, s"${table.location}/metadata/$name.puffin", Iterator(blob)).statistics(
      snapshot.snapshotId
    )
  }

  private def expire(table: Table, id: Long): TableMetadata =
    MetadataUpdate.applyAll(table.metadata, Seq(RemoveSnapshots(Set(id))), table.metadata.lastUpdatedMs)

  test(
    "the statistics of a snapshot can be registered, replaced and removed",
    StatisticsRules.statisticsOfASnapshot,
    StatisticsRules.tableStatistics
  ) {
    withTable { table =>
      val Vector(old, current) = table.metadata.snapshots
      val (a, b, c) = (puffin(table, old, "a"), puffin(table, current, "b"), puffin(table, current, "c"))
      val both = commit(commit(table, new SetStatistics(a)), new SetStatistics(b))
      assert(both.metadata.statistics == Vector(a, b))
      val replaced = commit(both, new SetStatistics(c))
      assert(replaced.metadata.statistics.toSet == Set(a, c))
      val read = PuffinFile.open(replaced.io, c.statisticsPath, Some(c.fileSizeInBytes))
      assert(read.footerSizeInBytes == c.fileFooterSizeInBytes && read.blobs.map(_.metadata) == c.blobMetadata)
      val removed = commit(replaced, new RemoveStatistics(current.snapshotId))
      assert(removed.metadata.statistics == Vector(a) && removed.io.exists(c.statisticsPath))
    }
  }

  test("statistics that are already registered or removed cause no commit") {
    withTable { table =>
      val file = puffin(table, table.currentSnapshot.get, "a")
      val set = commit(table, new SetStatistics(file))
      assert(commit(set, new SetStatistics(file)).metadataLocation == set.metadataLocation)
      assert(commit(set, new RemoveStatistics(77L)).metadataLocation == set.metadataLocation)
      assert(commit(set, new RemovePartitionStatistics(77L)).metadataLocation == set.metadataLocation)
    }
  }

  test("statistics of an unknown snapshot are rejected", StatisticsRules.statisticsOfASnapshot) {
    withTable { table =>
      val file = puffin(table, table.currentSnapshot.get, "a").copy(snapshotId = 77L)
      assert(intercept[NotFound](commit(table, new SetStatistics(file))).name == "77")
      intercept[NotFound](commit(table, new SetPartitionStatistics(PartitionStatisticsFile(77L, "p.parquet", 1L))))
    }
  }

  test(
    "the statistics of a snapshot are removed when it expires",
    StatisticsRules.statisticsOfASnapshot,
    StatisticsRules.onePartitionFileOfASnapshot
  ) {
    withTable { table =>
      val Vector(old, current) = table.metadata.snapshots
      val (a, b) = (puffin(table, old, "a"), puffin(table, current, "b"))
      val (p, q) = (
        PartitionStatisticsFile(old.snapshotId, "p.parquet", 1L),
        PartitionStatisticsFile(current.snapshotId, "q.parquet", 1L)
      )
      val actions = Seq(
        new SetStatistics(a),
        new SetStatistics(b),
        new SetPartitionStatistics(p),
        new SetPartitionStatistics(q)
      )
      val all = actions.foldLeft(table)(commit)
      assert(all.metadata.statistics == Vector(a, b) && all.metadata.partitionStatistics == Vector(p, q))
      val expired = expire(all, old.snapshotId)
      assert(expired.statistics == Vector(b) && expired.partitionStatistics == Vector(q))
      val cleared = commit(all, new RemovePartitionStatistics(current.snapshotId))
      assert(cleared.metadata.partitionStatistics == Vector(p))
    }
  }
}
