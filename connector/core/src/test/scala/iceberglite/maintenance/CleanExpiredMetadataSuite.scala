package iceberglite.maintenance

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.maintenance.expire.{LocalUnreachableFiles, SnapshotExpiry}
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.{PartitionStatisticsFile, StatisticsFile, TableMetadata}
import iceberglite.spec.types.Type.IntType
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate.{SetPartitionStatistics, SetStatistics}
import iceberglite.table._
import iceberglite.table.TestTables._
import iceberglite.table.action.{ExpireOptions, RowDelta, UpdateSchema}

/** Tests the removal of unused schemas and statistics by `clean_expired_metadata`, when snapshots expire. */
class CleanExpiredMetadataSuite extends AnyFunSuite {
  private val data = file("mem://t/data/a.parquet")

  private def expiry(table: Table, clean: Boolean): SnapshotExpiry =
    new SnapshotExpiry(
      table,
      ExpireOptions(Some(table.metadata.snapshots.map(_.timestampMs).max + 1), Some(1), cleanMetadata = clean),
      new LocalUnreachableFiles,
      Map.empty,
      environment
    )

  /** Expires snapshots of a table with a delete file and an unused schema, and returns the number of schemas left. */
  private def schemasLeft(deletes: ContentFile): Int = {
    val actions = Actions.unpartitionedTable(FormatVersion.V2)
    actions.append(data)
    actions.commit(new UpdateSchema(_.addColumn(Vector.empty, "x", IntType)))
    actions.commit(new RowDelta(Vector(deletes)))
    val (after, _) = expiry(actions.table, clean = true).run()
    assert(after.metadata.snapshots.size == 1)
    after.metadata.schemas.size
  }

  test("an expiration does not keep schemas for position deletes, because they refer to no column of the table") {
    assert(schemasLeft(Actions.positionDeletes("mem://t/data/p.parquet", data)) == 1)
  }

  test("an expiration keeps all schemas for equality deletes, because only an old schema may have their columns") {
    assert(schemasLeft(Actions.equalityDeletes("mem://t/data/e.parquet", data, (1, 2))) == 2)
  }

  /** Adds statistics files to the metadata without checking that their snapshots exist, as other engines may do. */
  final private class RegisterStatistics(updates: MetadataUpdate*) extends MetadataAction {
    override def changeFor(base: TableMetadata, context: CommitContext): Change =
      Change(updates.toVector, Vector.empty)
  }

  test("statistics of snapshots that the table does not have are removed on request, with their files") {
    for (clean <- Seq(false, true)) {
      val actions = Actions.unpartitionedTable(FormatVersion.V2)
      val current = actions.append(data).currentSnapshot.get.snapshotId
      def pathsOf(name: String) = Vector(s"mem://t/metadata/$name.stats", s"mem://t/metadata/$name.parquet")
      val (gone, kept) = (pathsOf("gone"), pathsOf("kept"))
      (gone ++ kept).foreach(actions.store.replace(_, Array.emptyByteArray))
      def registered(id: Long, paths: Vector[String]): Seq[MetadataUpdate] = Seq(
        SetStatistics(StatisticsFile(id, paths(0), 0, 0, None, Vector.empty)),
        SetPartitionStatistics(PartitionStatisticsFile(id, paths(1), 0))
      )
      actions.commit(new RegisterStatistics(registered(42L, gone) ++ registered(current, kept): _*))
      val planned = expiry(actions.table, clean).dryRun()
      val (after, result) = expiry(actions.table, clean).run()
      assert(result.deleted == planned.deleted && result.deleted.statisticsFiles == (if (clean) 2 else 0))
      val ids = after.metadata.statistics.map(_.snapshotId) ++ after.metadata.partitionStatistics.map(_.snapshotId)
      assert(ids.toSet == (if (clean) Set(current) else Set(current, 42L)))
      assert(gone.forall(actions.store.exists(_) == !clean) && kept.forall(actions.store.exists))
    }
  }
}
