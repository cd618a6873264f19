package iceberglite.maintenance

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRoundsInSlowTier}
import iceberglite.maintenance.expire.{LocalUnreachableFiles, SnapshotExpiry}
import iceberglite.maintenance.relocate._
import iceberglite.puffin.PuffinFile
import iceberglite.scan.{RandomHistory, TableRows, TableScan}
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{InvalidArgument, ValidationFailed}
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue}
import iceberglite.spec.file.{ContentFile, FileFormat}
import iceberglite.spec.metadata.{BlobProperty, Snapshot, SnapshotRef, StatisticsFile, TableMetadata}
import iceberglite.storage.{FileIO, MetadataFiles}
import iceberglite.table._
import iceberglite.table.TestTables._
import iceberglite.table.action.{ExpireOptions, OverwriteFiles, SetRef, SetStatistics, UpdateProperties, UpgradeVersion}
import iceberglite.tree.{ManifestCache, TreeReader, TreeTable}

/** Tests that the files which `rewrite_table_path` lists and writes form a copy of the table in another location. */
@MoreRoundsInSlowTier
class TablePathRewriteSuite extends AnyFunSuite {
  private val source = "mem://t"
  private val target = "mem://elsewhere/u"
  private val prefixes = PathPrefixes.of(source, target)

  private def randomHistory(version: FormatVersion, seed: Long): (Actions, RandomHistory) = {
    val random = new Random(seed)
    val actions = new Actions(RandomHistory.creation(version, partitioned = random.nextBoolean()))
    val history =
      new RandomHistory(actions.empty, random, Vector(FileFormat.Avro, FileFormat.Parquet, FileFormat.Orc))
    history.everyChange()
    extend(history, 10)
    (actions, history)
  }

  private def extend(history: RandomHistory, steps: Int): Unit =
    (0 until steps).foreach(i => history.step(if (i % 4 == 3) Some("branch") else None))

  private def rewrite(table: Table, options: PathRewriteOptions): PathRewriteResult =
    new TablePathRewrite(table, options, LocalDeleteFileCopies, environment).run()

  /** Returns the source path and the target path in each line of the file list. */
  private def listed(io: FileIO, result: PathRewriteResult): Vector[(String, String)] =
    new String(io.read(result.fileList.get), UTF_8).split("\n").toVector.map { line =>
      val Array(from, to) = line.split(",")
      from -> to
    }

  private def copyFiles(io: MemoryFileIO, result: PathRewriteResult): Unit =
    listed(io, result).foreach { case (from, to) => io.replace(to, io.read(from)) }

  private def copied(io: FileIO, result: PathRewriteResult): TableMetadata =
    MetadataFiles.read(io, s"$target/metadata/${result.latestVersion}")

  private def rowsOf(io: FileIO, metadata: TableMetadata, snapshot: Snapshot): Vector[String] = {
    val table = TreeTable("t", io, metadata)
    val projection = metadata.schema.fields ++ RandomHistory.lineage
    val rows = new TableRows(io, metadata.specsById, None, metadata.schema, projection, filtered = false)
    val scan = TableScan(table, Some(snapshot), AlwaysTrue, caseSensitive = true, ManifestCache.Disabled)
    scan.plan().tasks.flatMap(rows.of(_).map(_.toString)).sorted
  }

  /** Checks that all snapshots of a copy have the rows of the original, and refer only to files of the copy. */
  private def checkCopy(io: MemoryFileIO, original: TableMetadata, copy: TableMetadata, clue: String): Unit = {
    assert(copy.snapshots.map(_.snapshotId) == original.snapshots.map(_.snapshotId), clue)
    assert(copy.refs == original.refs && copy.uuid == original.uuid && copy.location == target, clue)
    val tree = new TreeReader(io, copy)
    copy.snapshots.zip(original.snapshots).foreach { case (snapshot, before) =>
      assert(rowsOf(io, copy, snapshot) == rowsOf(io, original, before), s"$clue, snapshot ${snapshot.snapshotId}")
      tree.files(snapshot).parts.foreach(part => assert(part.path.startsWith(target) && io.exists(part.path), clue))
      tree.live(snapshot).map(_.file).foreach { file =>
        assert(file.path.startsWith(target) && file.referencedDataFile.forall(_.startsWith(target)), clue)
        assert(io.read(file.path).length == file.fileSizeInBytes, clue)
        if (file.isDeletionVector) PuffinFile.open(io, file.path).blobs.foreach { blob =>
          assert(blob.metadata.properties(BlobProperty.ReferencedDataFile).startsWith(target), clue)
        }
      }
    }
  }

  for (version <- FormatVersion.all)
    test(s"a copied table has the same snapshots, rows and row ids, version ${version.number}") {
      for (round <- 0 until Fuzz.slowRounds(5, 2)) {
        val seed = Fuzz.seed + 100L * version.number + round
        val (actions, _) = randomHistory(version, seed)
        val before = actions.store.paths.map(path => path -> actions.store.read(path).toVector).toMap
        val result = rewrite(actions.table, PathRewriteOptions(prefixes, stagingLocation = Some("mem://staging")))
        val original = actions.table.metadata
        assert(before.forall { case (path, bytes) => actions.store.read(path).toVector == bytes }, s"seed $seed")
        assert(listed(actions.store, result).forall { case (from, to) =>
          to.startsWith(s"$target/") && (from.startsWith("mem://staging/") || from.startsWith(s"$source/data/"))
        })
        copyFiles(actions.store, result)
        val copy = copied(actions.store, result)
        checkCopy(actions.store, original, copy, s"seed $seed")
        val current = copy.currentSnapshot.get
        new TreeReader(actions.store, copy).files(current).parts.filterNot(p => current.manifestList.contains(p.path))
          .foreach(part => assert(part.length == actions.store.read(part.path).length, s"seed $seed"))
      }
    }

  test("the file list has each data file that is live in a remaining snapshot, and no other data files") {
    val actions = Actions.unpartitionedTable(FormatVersion.V3)
    val files = "abcdef".toVector.map(name => file(s"$source/data/$name"))
    def remove(removed: ContentFile): Unit = {
      actions.commit(new OverwriteFiles(AlwaysFalse, Vector.empty, removed = Vector(removed)))
      ()
    }
    actions.append(files.init: _*)
    actions.commit(new UpgradeVersion(FormatVersion.V4))
    remove(files(0))
    actions.commit(new SetRef("kept", SnapshotRef.Branch(actions.table.currentSnapshot.get.snapshotId)))
    remove(files(1))
    actions.append(files.last)
    remove(files.last)
    val options = ExpireOptions(Some(Long.MaxValue), Some(1))
    new SnapshotExpiry(actions.table, options, new LocalUnreachableFiles, Map.empty, environment).run()
    val copied = listed(actions.store, rewrite(actions.table, PathRewriteOptions(prefixes))).map(_._1)
    assert(copied.filter(_.startsWith(s"$source/data/")).sorted == files.slice(1, 5).map(_.path))
  }

  for (version <- FormatVersion.all)
    test(s"versions after a start version are copied, even if snapshots have expired, version ${version.number}") {
      for (round <- 0 until Fuzz.slowRounds(4, 1)) {
        val seed = Fuzz.seed + 1000L + 100L * version.number + round
        val (actions, history) = randomHistory(version, seed)
        val first = rewrite(actions.table, PathRewriteOptions(prefixes))
        copyFiles(actions.store, first)
        extend(history, 8)
        val options =
          ExpireOptions(Some(actions.table.metadata.snapshots.map(_.timestampMs).max), Some(4), Set.empty)
        new SnapshotExpiry(actions.table, options, new LocalUnreachableFiles, Map.empty, environment).run()
        extend(history, 3)
        val table = actions.table
        val second = rewrite(table, PathRewriteOptions(prefixes, startVersion = Some(first.latestVersion)))
        val (old, added) = (listed(actions.store, first).map(_._2).toSet, listed(actions.store, second).map(_._2))
        assert(added.forall(path => !path.contains("/data/") || !old(path)), s"seed $seed")
        copyFiles(actions.store, second)
        checkCopy(actions.store, table.metadata, copied(actions.store, second), s"seed $seed")
      }
    }

  test("with an end version, the copy ends at that version") {
    val (actions, history) = randomHistory(FormatVersion.V2, Fuzz.seed)
    val earlier = actions.table
    extend(history, 4)
    val name = earlier.metadataLocation.split('/').last
    val result = rewrite(actions.table, PathRewriteOptions(prefixes, endVersion = Some(name)))
    assert(result.latestVersion == name)
    copyFiles(actions.store, result)
    checkCopy(actions.store, earlier.metadata, copied(actions.store, result), "")
  }

  test("statistics files and locations in table properties get the new paths") {
    val actions = new Actions(unpartitioned("write.data.path" -> s"$source/data", "a" -> s"$source/data"))
    val table = actions.append(file(s"$source/data/1.parquet"))
    val snapshotId = table.currentSnapshot.get.snapshotId
    val statistics = StatisticsFile(snapshotId, s"$source/metadata/1.stats", 0, 0, None, Vector())
    actions.commit(new SetStatistics(statistics))
    val result = rewrite(actions.table, PathRewriteOptions(prefixes))
    val lines = listed(actions.store, result)
    assert(lines.contains(s"$source/metadata/1.stats" -> s"$target/metadata/1.stats"))
    val metadata = lines.collectFirst { case (from, to) if to.endsWith(result.latestVersion) => from }.get
    val copy = MetadataFiles.read(actions.store, metadata)
    assert(copy.properties("write.data.path") == s"$target/data" && copy.properties("a") == s"$source/data")
    assert(copy.statistics.map(_.statisticsPath) == Vector(s"$target/metadata/1.stats"))
  }

  test("after a failure of any storage call, no new files remain and the table is unchanged") {
    def table(io: FileIO, original: Table) =
      new Table(original.id, original.name, original.version, io, original.committer)
    val (actions, _) = randomHistory(FormatVersion.V3, Fuzz.seed)
    val before = actions.store.paths
    val options = PathRewriteOptions(prefixes, stagingLocation = Some("mem://staging"))
    val counting = new FaultyFileIO(actions.store, Int.MaxValue, Fault.Refused)
    rewrite(table(counting, actions.table), options)
    (actions.store.paths -- before).foreach(actions.store.delete)
    assert(counting.calls > 20)
    val random = new Random(Fuzz.seed)
    val sample = random.shuffle((1 to counting.calls).toVector).take(Fuzz.slowRounds(40, 15))
    for (at <- sample; fault <- Seq(Fault.Refused, Fault.ResponseLost)) {
      intercept[IcebergError](rewrite(table(new FaultyFileIO(actions.store, at, fault), actions.table), options))
      assert(actions.store.paths == before, s"$fault at call $at of ${counting.calls}")
    }
  }

  test("wrong arguments are rejected before a file is written") {
    val (actions, _) = randomHistory(FormatVersion.V2, Fuzz.seed)
    val before = actions.store.paths
    val name = actions.table.metadataLocation.split('/').last
    val older = actions.table.metadata.metadataLog.last.metadataFile.split('/').last
    val all = PathRewriteOptions(prefixes)
    for (
      (options, message) <- Seq(
        all.copy(startVersion = Some("v999.metadata.json")) -> "argument start_version",
        all.copy(endVersion = Some("v999.metadata.json")) -> "argument end_version",
        all.copy(startVersion = Some(name)) -> "must be an older version",
        all.copy(startVersion = Some(name), endVersion = Some(older)) -> "must be an older version",
        all.copy(stagingLocation = Some(source)) -> "The directory is not empty",
        all.copy(stagingLocation = Some(" ")) -> "argument staging_location",
        all.copy(prefixes = PathPrefixes.of("mem://tt", target)) -> s"table location $source",
        all.copy(prefixes = PathPrefixes.of(s"$source/data", target)) -> s"table location $source"
      )
    ) {
      val error = intercept[IcebergError](rewrite(actions.table, options))
      assert(error.getMessage.contains(message), options)
    }
    assert(actions.store.paths == before)
  }

  test("a file outside of the source prefix is an error that names the file") {
    for (outside <- Seq("mem://t2/data/a.parquet", "mem://other/a.parquet")) {
      val actions = new Actions(unpartitioned())
      actions.append(file(outside))
      val before = actions.store.paths
      val error = intercept[ValidationFailed](rewrite(actions.table, PathRewriteOptions(prefixes)))
      assert(error.getMessage.contains(outside) && error.getMessage.contains("source prefix mem://t/"))
      assert(actions.store.paths == before)
    }
  }

  test("a missing metadata file in the log is an error, unless the start version is newer") {
    val (actions, _) = randomHistory(FormatVersion.V2, Fuzz.seed)
    actions.commit(new UpdateProperties(Map("a" -> "b"), Set.empty))
    val log = actions.table.metadata.metadataLog.map(_.metadataFile)
    actions.store.delete(log.head)
    val error = intercept[ValidationFailed](rewrite(actions.table, PathRewriteOptions(prefixes)))
    assert(error.getMessage.contains(log.head))
    val start = log(1).split('/').last
    assert(rewrite(actions.table, PathRewriteOptions(prefixes, startVersion = Some(start))).fileList.isDefined)
  }

  test("prefixes are compared by whole path elements, and must differ") {
    assert(prefixes("file", "mem://t/data/a") == s"$target/data/a")
    assert(prefixes("file", "mem://t/") == target)
    val slashes = PathPrefixes.of("mem://t/", s"$target/")
    assert(slashes("file", "mem://t/data/a") == s"$target/data/a")
    Seq("mem://t2/a", "s3://t/a", "/t/a").foreach(path => intercept[ValidationFailed](prefixes("file", path)))
    intercept[InvalidArgument](PathPrefixes.of(source, s"$source/"))
    intercept[InvalidArgument](PathPrefixes.of(" ", target))
    intercept[InvalidArgument](PathPrefixes.of(source, ""))
  }

  test("a path with a comma or a quote is quoted in the file list") {
    val actions = new Actions(unpartitioned())
    actions.append(file(s"""$source/data/a,"b".parquet"""))
    val result = rewrite(actions.table, PathRewriteOptions(prefixes))
    val text = new String(actions.store.read(result.fileList.get), UTF_8)
    assert(text.contains(s""""$source/data/a,""b"".parquet","$target/data/a,""b"".parquet""""))
  }

  test("without a file list, only the rewritten files are written") {
    val (actions, _) = randomHistory(FormatVersion.V2, Fuzz.seed)
    val options = PathRewriteOptions(prefixes, stagingLocation = Some("mem://staging/"), createFileList = false)
    assert(rewrite(actions.table, options).fileList.isEmpty)
    assert(actions.store.paths.exists(_.startsWith("mem://staging/metadata/")))
    assert(!actions.store.exists("mem://staging/file-list"))
  }
}
