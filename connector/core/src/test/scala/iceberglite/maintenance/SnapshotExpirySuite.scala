package iceberglite.maintenance

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRoundsInSlowTier, Sampling}
import iceberglite.maintenance.expire.{
  ExpireResult,
  ExpiredReads,
  FileCounts,
  LocalUnreachableFiles,
  RunningReads,
  SnapshotExpiry,
  UnreachableFiles
}
import iceberglite.spec.FormatVersion
import iceberglite.catalog.FileIOWrapper
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, StorageFailed, UnreadableFile, ValidationFailed}
import iceberglite.spec.metadata.{StatisticsFile, TableMetadata}
import iceberglite.spec.types.Type.IntType
import iceberglite.storage.{FileIO, FileInfo}
import iceberglite.table._
import iceberglite.table.TestTables._
import iceberglite.table.action.{
  ExpireOptions,
  FastAppend,
  OverwriteFiles,
  SetStatistics,
  UpdateProperties,
  UpdateSchema,
  UpdatePartitionSpec
}
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue}
import iceberglite.tree.TreeReader

/** Tests which snapshots expire, and which files are then deleted or kept. */
@MoreRoundsInSlowTier
class SnapshotExpirySuite extends AnyFunSuite with ExpiryFixture {

  private def expiry(table: Table, options: ExpireOptions, files: UnreachableFiles = new LocalUnreachableFiles) =
    new SnapshotExpiry(table, options, files, Map.empty, environment)

  private def expireAll(table: Table): ExpireOptions =
    ExpireOptions(Some(table.metadata.snapshots.map(_.timestampMs).max + 1), Some(1))

  for (version <- FormatVersion.all)
    test(s"exactly the files that only expired snapshots need are deleted, version ${version.number}") {
      for (round <- 0 until Fuzz.slowRounds(6, 2)) {
        val seed = Fuzz.seed + 100L * version.number + round
        val actions = randomHistory(version, seed)
        val before = actions.table
        val orphans = actions.store.paths -- needed(before)
        val paths = actions.store.paths
        val options = randomOptions(before, new Random(seed))
        val planned = expiry(before, options).dryRun()
        assert(actions.store.paths == paths && actions.table.metadataLocation == before.metadataLocation)
        val (after, result) = expiry(before, options).run()
        val clue = s"seed $seed, $result"
        assert(after.metadataLocation == actions.table.metadataLocation, clue)
        assert(actions.store.paths == needed(after) ++ orphans, clue)
        assert(result == planned, clue)
        val expired = before.metadata.snapshots.map(_.snapshotId).toSet -- after.metadata.snapshots.map(_.snapshotId)
        assert(result.snapshotIds == expired && options.snapshotIds.subsetOf(expired), clue)
        val counts = result.deleted
        val newFiles = actions.store.paths -- paths
        assert(total(counts) == paths.size + newFiles.size - actions.store.paths.size, clue)
      }
    }

  private def total(counts: FileCounts): Long = counts.productIterator.map(_.asInstanceOf[Long]).sum

  test("the result does not depend on how many files are compared at a time") {
    val results = Seq(1, 3, 1000000).map { maxCandidates =>
      val actions = randomHistory(FormatVersion.V2, Fuzz.seed)
      val (_, result) = expiry(actions.table, expireAll(actions.table), new LocalUnreachableFiles(maxCandidates)).run()
      (result.deleted, actions.store.paths.size)
    }
    assert(results.distinct.size == 1 && results.head._1.dataFiles >= 3)
  }

  test("after a failure of any storage call, all needed files exist") {
    val calls = {
      val actions = randomHistory(FormatVersion.V2, Fuzz.seed)
      val counting = new FaultyFileIO(actions.store, Int.MaxValue, Fault.Refused)
      expiry(withStorage(actions.table, counting), expireAll(actions.table)).run()
      counting.calls
    }
    assert(calls > 20)
    val random = new Random(Fuzz.seed)
    val rounds = if (Sampling.isOff) calls else Fuzz.slowRounds(20, 4)
    for (at <- random.shuffle((1 to calls).toVector).take(rounds); fault <- Fault.all) {
      val actions = randomHistory(FormatVersion.V2, Fuzz.seed)
      val faulty = new FaultyFileIO(actions.store, at, fault)
      val outcome =
        try expiry(withStorage(actions.table, faulty), expireAll(actions.table)).run()
        catch { case e: Throwable => e }
      val missing = needed(actions.table) -- actions.store.paths
      assert(missing.isEmpty, s"$fault at call $at of $calls, $outcome")
    }
  }

  private def withStorage(table: Table, io: FileIO): Table =
    new Table(table.id, table.name, table.version, io, table.committer)

  test("a file that a commit after the expiration adds again is kept") {
    val actions = new Actions(unpartitioned())
    val reused = file("mem://t/data/a.parquet")
    Seq(reused.path, "mem://t/data/b.parquet").foreach(actions.store.replace(_, Array.emptyByteArray))
    actions.append(reused)
    val table =
      actions.commit(new OverwriteFiles(AlwaysFalse, Vector(file("mem://t/data/b.parquet")), removed = Vector(reused)))
    // The expiration loads the table again after its commit. Before this second load, another commit adds the file.
    actions.committer.loads = Vector(
      () => (),
      () => {
        actions.committer.current
        val current = new Table(table.id, table.name, actions.committer.current, table.io, table.committer)
        current.transaction(Map.empty, environment).add(new FastAppend(Vector(reused))).commit()
        ()
      }
    )
    val (_, result) = expiry(table, expireAll(table)).run()
    assert(result.snapshotIds.size == 1 && result.deleted.dataFiles == 0)
    assert(actions.store.exists(reused.path) && liveFiles(actions.table).contains(reused.path))
  }

  test("a file whose path a remaining snapshot spells differently is kept") {
    val spellings = Seq("s3a://b/t/data/a" -> "s3://b//t/data/a", "file:/t/data/a" -> "file:///t//data/a")
    for ((removed, remaining) <- spellings) {
      val actions = new Actions(unpartitioned())
      actions.append(file(removed))
      actions.commit(new OverwriteFiles(AlwaysFalse, Vector(file(remaining)), removed = Vector(file(removed))))
      val (_, result) = expiry(actions.table, expireAll(actions.table)).run()
      // If the file were a candidate for deletion, it would be reported as a file outside of the table's directories.
      assert(result.snapshotIds.size == 1 && result.deleted.dataFiles == 0 && result.kept.isEmpty)
    }
  }

  test("files are kept, and the other files are deleted, if it cannot be checked whether their directory is a table") {
    val actions = new Actions(unpartitioned())
    val (plain, unchecked) = (file("mem://t/data/a.parquet"), file("mem://t/data/locked/a.parquet"))
    Seq(plain, unchecked).foreach(f => actions.store.replace(f.path, Array.emptyByteArray))
    actions.append(plain, unchecked)
    val table = actions.commit(new OverwriteFiles(AlwaysFalse, Vector.empty, removed = Vector(plain, unchecked)))
    val forbidden = new FileIOWrapper(table.io) {
      override def list(directory: String): Vector[FileInfo] =
        if (directory.startsWith("mem://t/data/locked")) throw StorageFailed.at("list", directory, "Access denied")
        else super.list(directory)
    }
    val (_, result) = expiry(withStorage(table, forbidden), expireAll(table)).run()
    assert(!actions.store.exists(plain.path) && actions.store.exists(unchecked.path))
    assert(result.deleted.dataFiles == 1 && result.kept.map(_.example) == Vector(unchecked.path))
    assert(result.kept.head.reason.isInstanceOf[KeptReason.Unchecked])
  }

  test("files outside of the table's directories are kept and reported") {
    val actions = new Actions(unpartitioned())
    val (own, foreign) = (file("mem://t/data/a.parquet"), file("mem://victim/data/a.parquet"))
    Seq(own, foreign).foreach(f => actions.store.replace(f.path, Array.emptyByteArray))
    actions.append(own, foreign)
    val table = actions.commit(new OverwriteFiles(AlwaysFalse, Vector.empty, removed = Vector(own, foreign)))
    val (_, result) = expiry(table, expireAll(table)).run()
    assert(!actions.store.exists(own.path) && actions.store.exists(foreign.path))
    assert(result.deleted.dataFiles == 1)
    assert(result.kept.map(k => (k.reason, k.count, k.example)) == Vector((KeptReason.Outside, 1L, foreign.path)))
  }

  test("statistics files of expired snapshots are deleted") {
    val actions = new Actions(unpartitioned())
    val statistics = (1 to 2).map { i =>
      val table = actions.append(file(s"mem://t/data/$i.parquet"))
      val path = s"mem://t/metadata/$i.stats"
      actions.store.replace(path, Array.emptyByteArray)
      actions.commit(new SetStatistics(StatisticsFile(
        table.currentSnapshot.get.snapshotId,
        path,
        0,
        0,
        None,
        Vector.empty
      )))
      path
    }
    val (after, result) = expiry(actions.table, expireAll(actions.table)).run()
    assert(result.deleted.statisticsFiles == 1 && after.metadata.statistics.map(_.statisticsPath) == statistics.tail)
    assert(statistics.map(actions.store.exists) == Seq(false, true))
  }

  test("schemas and partition specs that no remaining snapshot uses are removed on request") {
    for (clean <- Seq(false, true)) {
      val actions = new Actions(byCategory())
      actions.append(fileOf("a", "mem://t/data/a.parquet"))
      actions.commit(
        new UpdateSchema(_.addColumn(Vector.empty, "x", IntType)),
        new UpdatePartitionSpec(_.removeField("category")),
        new OverwriteFiles(AlwaysTrue, Vector.empty)
      )
      val last = file("mem://t/data/last.parquet").copy(specId = actions.table.metadata.defaultSpecId)
      val table = actions.append(last)
      val (after, _) = expiry(table, expireAll(table).copy(cleanMetadata = clean)).run()
      def isCurrentOnly(metadata: TableMetadata) =
        metadata.schemas.map(_.schemaId) == Vector(metadata.currentSchemaId) &&
          metadata.specs.map(_.specId) == Vector(metadata.defaultSpecId)
      assert(isCurrentOnly(after.metadata) == clean && liveFiles(after) == Vector(last.path))
    }
  }

  test("expiring a referenced or unknown snapshot, retaining no snapshot, and gc.enabled=false are rejected") {
    val actions = randomHistory(FormatVersion.V2, Fuzz.seed)
    val table = actions.table
    val paths = actions.store.paths
    val tagged = table.metadata.refs("tag").snapshotId
    val referenced = intercept[ValidationFailed](expiry(table, ExpireOptions(snapshotIds = Set(tagged))).run())
    assert(referenced.getMessage.contains("the tag tag refers to it"))
    val unknown = intercept[NotFound](expiry(table, ExpireOptions(snapshotIds = Set(42L))).run())
    assert(unknown.getMessage.contains("42"))
    intercept[InvalidArgument](ExpireOptions(retainLast = Some(0)))
    actions.commit(new UpdateProperties(Map("gc.enabled" -> "false")))
    val noGc = intercept[ValidationFailed](expiry(table, expireAll(table)).run())
    assert(noGc.getMessage.contains("gc.enabled"))
    assert((paths -- actions.store.paths).isEmpty)
  }

  test("the result counts the running queries that read expired snapshots, and counts each of these snapshots once") {
    val actions = new Actions(unpartitioned())
    val ids = (1 to 4).map(i => actions.append(file(s"mem://t/data/$i.parquet")).currentSnapshot.get.snapshotId)
    val reads: RunningReads = _ => Vector(Set(ids(0), ids(3)), Set(ids(0), ids(1)), Set(ids(3)), Set(42L))
    def counted =
      new SnapshotExpiry(actions.table, expireAll(actions.table), new LocalUnreachableFiles, reads = reads)
    val planned = counted.dryRun().reads
    assert(planned == ExpiredReads(queries = 2, snapshotsRead = 2, snapshotsExpired = 3))
    assert(planned.warning.exists(_.startsWith("2 running queries read 2 of the 3 snapshots that expire")))
    assert(counted.run()._2.reads == planned && counted.run()._2.reads == ExpiredReads.None)
  }

  test("nothing is committed if no snapshot expires") {
    val actions = randomHistory(FormatVersion.V3, Fuzz.seed)
    val (after, result) = expiry(actions.table, ExpireOptions(olderThanMs = Some(0L))).run()
    assert(after.metadataLocation == actions.table.metadataLocation)
    assert(result == ExpireResult(Set.empty, Set.empty, FileCounts(), Vector.empty))
  }

  test("if a manifest cannot be read, the snapshots are expired, and the error contains the path of the manifest") {
    val actions = new Actions(unpartitioned())
    actions.append(file("mem://t/data/a.parquet"))
    val first = actions.table
    val lost = new TreeReader(first.io, first.metadata).manifests(first.currentSnapshot.get).head.path
    actions.commit(new OverwriteFiles(AlwaysFalse, Vector.empty, removed = Vector(file("mem://t/data/a.parquet"))))
    actions.store.delete(lost)
    val error = intercept[UnreadableFile](expiry(actions.table, expireAll(actions.table)).run())
    assert(error.file == lost && actions.table.metadata.snapshots.size == 1)
  }

  test("if the manifest list of an expired snapshot cannot be read, the error says that the snapshot has expired") {
    val actions = new Actions(unpartitioned())
    val lost = actions.append(file("mem://t/data/a.parquet")).currentSnapshot.get.manifestList.get
    actions.append(file("mem://t/data/b.parquet"))
    actions.store.delete(lost)
    val error = intercept[UnreadableFile](expiry(actions.table, expireAll(actions.table)).run())
    assert(error.file == lost && error.reason.endsWith("remove_orphan_files deletes these files"))
    assert(actions.table.metadata.snapshots.size == 1)
    assert(expiry(actions.table, expireAll(actions.table)).run()._2.snapshotIds.isEmpty)
  }
}
