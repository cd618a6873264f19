package iceberglite.maintenance

import java.io.InputStream
import java.util.UUID

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spec.TestMetadata._
import iceberglite.{Fuzz, MoreRoundsInSlowTier, Sampling}
import iceberglite.catalog.FileIOWrapper
import iceberglite.maintenance.expire.{LocalUnreachableFiles, SnapshotExpiry}
import iceberglite.maintenance.orphan._
import iceberglite.scan.RandomHistory
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.{InvalidArgument, ValidationFailed}
import iceberglite.spec.expr.Expression.AlwaysFalse
import iceberglite.spec.file.FileFormat
import iceberglite.spec.property.MetadataCompression
import iceberglite.storage.MetadataFiles
import iceberglite.table._
import iceberglite.table.TestTables._
import iceberglite.table.action.{ExpireOptions, FastAppend, OverwriteFiles, UpdateProperties}

/** Tests which of the listed files the removal of orphan files deletes, and which it keeps. */
@MoreRoundsInSlowTier
class OrphanRemovalSuite extends AnyFunSuite {
  private val later = OrphanOptions(olderThanMs = 1000L)

  private def removal(table: Table, options: OrphanOptions = later, search: OrphanSearch = new LocalOrphanSearch) =
    new OrphanRemoval(table, OrphanRemoval.directory(None), search, options)

  /** Runs the removal. @return the paths of the orphan files, each with the reason if the file was kept */
  private def run(removal: OrphanRemoval): Map[String, Option[KeptReason]] = {
    val found = mutable.Map.empty[String, Option[KeptReason]]
    removal.run(file => found.synchronized { found += file.path -> file.kept })
    found.toMap
  }

  private def randomTable(seed: Long, version: FormatVersion = FormatVersion.V2): Actions = {
    val random = new Random(seed)
    val actions = new Actions(RandomHistory.creation(version, partitioned = random.nextBoolean()))
    val history = new RandomHistory(actions.empty, random, Vector(FileFormat.Avro))
    (0 until 12).foreach(i => history.step(if (i % 5 == 4) Some("branch") else None))
    actions
  }

  private def addOrphans(actions: Actions): Set[String] = {
    val paths = Set("data/x.parquet", "data/category=a/y.parquet", "metadata/snap-1.avro", "metadata/old-m0.avro")
      .map(name => s"mem://t/$name")
    paths.foreach(actions.store.replace(_, Array.emptyByteArray))
    paths
  }

  test("all files that the table does not need are deleted, and no other files") {
    for (version <- FormatVersion.all; round <- 0 until Fuzz.slowRounds(4)) {
      val actions = randomTable(Fuzz.seed + round, version)
      val table = actions.table
      run(removal(table))
      val needed = actions.store.paths
      assert(ReachableFiles.of(table.io, table.version).toSet.subsetOf(needed))
      val orphans = addOrphans(actions)
      assert(run(removal(table)) == orphans.map(_ -> None).toMap)
      assert(actions.store.paths == needed)
      assert(run(removal(table)).isEmpty)
    }
  }

  test("a listing by prefix finds the same orphan files as a listing of directories") {
    val actions = randomTable(Fuzz.seed)
    run(removal(actions.table))
    val orphans = addOrphans(actions)
    val listing = OrphanRemoval.directory(None, byPrefix = true) _
    assert(run(new OrphanRemoval(actions.table, listing, new LocalOrphanSearch, later)).keySet == orphans)
  }

  test("a dry run finds exactly the orphan files and deletes none") {
    val actions = randomTable(Fuzz.seed)
    run(removal(actions.table))
    val orphans = addOrphans(actions)
    val paths = actions.store.paths
    val found = mutable.Set.empty[String]
    val report = removal(actions.table).dryRun(found += _.path)
    assert(found == orphans && report.deleted == orphans.size && actions.store.paths == paths)
  }

  test("the result does not depend on how many files are compared at a time", Slow) {
    for (maxCandidates <- Seq(1, 2, 5)) {
      val actions = randomTable(Fuzz.seed)
      run(removal(actions.table))
      val orphans = addOrphans(actions)
      assert(run(removal(actions.table, search = new LocalOrphanSearch(maxCandidates))).keySet == orphans)
    }
  }

  test("files that are not older than olderThanMs are kept, because a writer may still commit them") {
    val actions = randomTable(Fuzz.seed)
    run(removal(actions.table))
    addOrphans(actions)
    assert(run(removal(actions.table, later.copy(olderThanMs = 0L))).isEmpty)
  }

  test("a file that another program commits during the search is kept") {
    val actions = new Actions(unpartitioned())
    val table = actions.append(file("mem://t/data/a.parquet"))
    val (committed, orphan) = ("mem://t/data/late.parquet", "mem://t/data/orphan.parquet")
    Seq("mem://t/data/a.parquet", committed, orphan).foreach(actions.store.replace(_, Array.emptyByteArray))
    val committing: FileListing = (consume: ListedFile => Unit) => {
      OrphanRemoval.directory(None)(table).foreach(consume)
      actions.commit(new FastAppend(Vector(file(committed))))
      ()
    }
    val found = run(new OrphanRemoval(table, _ => committing, new LocalOrphanSearch, later))
    assert(found.keySet == Set(orphan) && actions.store.exists(committed) && !actions.store.exists(orphan))
  }

  test("the search starts from the newest version of the table, not from the loaded one") {
    val actions = new Actions(unpartitioned())
    val old = actions.append(file("mem://t/data/a.parquet"))
    actions.store.replace("mem://t/data/b.parquet", Array.emptyByteArray)
    actions.append(file("mem://t/data/b.parquet"))
    run(removal(old))
    assert(actions.store.exists("mem://t/data/b.parquet"))
  }

  private def listed(paths: String*): FileListing =
    (consume: ListedFile => Unit) => paths.foreach(path => consume(ListedFile(path, 0L)))

  private def found(listing: FileListing, options: OrphanOptions, table: Table): Set[String] = {
    val paths = mutable.Set.empty[String]
    new OrphanRemoval(table, _ => listing, new LocalOrphanSearch, options).dryRun(paths += _.path)
    paths.toSet
  }

  test("s3, s3a and s3n, and paths without a scheme, name the same files") {
    val actions = new Actions(unpartitioned())
    val table = actions.append(file("s3://b/t/a.parquet"), file("/t/b.parquet"), file("s3n://b//t//c.parquet"))
    val listing = listed("s3a://b/t/a.parquet", "s3a://b/t/b.parquet", "s3a://b/t/c.parquet", "s3a://b/t/d.parquet")
    assert(found(listing, later, table) == Set("s3a://b/t/d.parquet"))
  }

  test(
    "prefix_mismatch_mode determines whether a file with another scheme or authority is an error, kept or deleted"
  ) {
    val actions = new Actions(unpartitioned())
    val table = actions.append(file("hdfs://one/t/a.parquet"), file("oss://b/t/b.parquet"))
    val listing = listed("hdfs://two/t/a.parquet", "s3://b/t/b.parquet", "s3://b/t/c.parquet")
    val error = intercept[ValidationFailed](found(listing, later, table))
    assert(error.getMessage.contains("prefix_mismatch_mode") && error.getMessage.contains("equal_schemes"))
    def mode(mismatch: PrefixMismatch) = found(listing, later.copy(mismatch = mismatch), table)
    assert(mode(PrefixMismatch.Keep) == Set("s3://b/t/c.parquet"))
    assert(mode(PrefixMismatch.Delete) == Set("hdfs://two/t/a.parquet", "s3://b/t/b.parquet", "s3://b/t/c.parquet"))
    val equal = EqualPrefixes.of(Map("oss" -> "s3"), Map("one, three" -> "two"))
    assert(found(listing, later.copy(prefixes = equal), table) == Set("s3://b/t/c.parquet"))
    assert(PrefixMismatch.parse("ignore") == PrefixMismatch.Keep)
    intercept[InvalidArgument](PrefixMismatch.parse("SKIP"))
  }

  test("a file with another scheme or authority is an error before any file is deleted") {
    val actions = new Actions(unpartitioned())
    val table = actions.append(file("hdfs://one/t/a.parquet"))
    val orphans = (0 until 20).map(i => s"mem://t/data/$i.parquet")
    orphans.foreach(actions.store.replace(_, Array.emptyByteArray))
    for (position <- Seq(0, 10, 20); maxCandidates <- Seq(1, 3, 100)) {
      val (before, after) = orphans.splitAt(position)
      val listing = listed(before ++ Seq("hdfs://two/t/a.parquet") ++ after: _*)
      val removal = new OrphanRemoval(table, _ => listing, new LocalOrphanSearch(maxCandidates), later)
      assert(intercept[ValidationFailed](run(removal)).getMessage.contains("hdfs://two/t/a.parquet"))
      assert(orphans.forall(actions.store.exists))
    }
  }

  test("hidden files and directories are not listed, except those of partitions") {
    val actions = new Actions(RandomHistory.creation(FormatVersion.V2, partitioned = true))
    val table = actions.table
    val names = Seq("_SUCCESS", ".part.crc", "_temporary/a.parquet", "data/_category=b/a.parquet", "data/_category/b")
    names.foreach(name => actions.store.replace(s"mem://t/$name", Array.emptyByteArray))
    val metadata = table.metadata
    val renamed =
      metadata.edited(specs = metadata.specs.map(s => s.copy(fields = s.fields.map(_.copy(name = "_category")))))
    val paths = mutable.Set.empty[String]
    DirectoryListing.of(actions.store, "mem://t", renamed).foreach(file => paths.synchronized { paths += file.path })
    assert(paths.filterNot(_.contains("/metadata/")) == Set("mem://t/data/_category=b/a.parquet"))
    val byPrefix = mutable.Set.empty[String]
    PrefixListing.of(actions.store, "mem://t", renamed).foreach(byPrefix += _.path)
    assert(byPrefix == paths)
  }

  test("files of another table in the directory, and files outside of the table, are kept with the reason") {
    val actions = new Actions(unpartitioned())
    val nested = Seq("nested", "category=a", "0110").map(name => s"mem://t/data/$name")
    val foreign = nested.flatMap(table => Seq(s"$table/metadata/v1.metadata.json", s"$table/data/a.parquet"))
    (foreign :+ "mem://t/data/x.parquet").foreach(actions.store.replace(_, Array.emptyByteArray))
    val result = run(removal(actions.table))
    assert(result("mem://t/data/x.parquet").isEmpty && foreign.forall(result(_).isDefined))
    assert(foreign.forall(actions.store.exists))
    val outside = intercept[InvalidArgument](OrphanRemoval.directory(Some("mem://victim"))(actions.table))
    assert(outside.getMessage.contains("mem://victim"))
    val byView = run(new OrphanRemoval(actions.table, _ => listed("mem://victim/a"), new LocalOrphanSearch, later))
    assert(byView == Map("mem://victim/a" -> Some(KeptReason.Outside)))
  }

  test("files of another table in the same directory are kept even if the metadata log omits many metadata files") {
    val actions = new Actions(unpartitioned("write.metadata.previous-versions-max" -> "1"))
    val other = new TableStart.Creation(unpartitioned(), StageMode.Create, "mem://t", new UUID(8, 8))
      .initialState("other", None, 0L).metadata
    val foreign = "mem://t/metadata/99998-0b09c4f6-2e7d-4a4a-9c0c-6f1f8f3b7e11.metadata.json"
    actions.store.replace(foreign, MetadataFiles.bytes(other, MetadataCompression.Uncompressed))
    (1 to 15).foreach(i => actions.append(file(s"mem://t/data/$i.parquet")))
    val leftover = "mem://t/metadata/99999-0b09c4f6-2e7d-4a4a-9c0c-6f1f8f3b7e12.metadata.json"
    actions.store.replace(leftover, Array.emptyByteArray)
    assert(run(removal(actions.table)).get(foreign).exists(_.isDefined) && actions.store.exists(foreign))
    actions.store.delete(foreign)
    assert(run(removal(actions.table)).get(leftover).contains(None))
  }

  test("if a concurrent expiration deletes metadata files, the search starts again with the newest version") {
    val actions = new Actions(unpartitioned("commit.manifest-merge.enabled" -> "false"))
    val removed = file("mem://t/data/a.parquet")
    actions.append(removed)
    val table = actions.commit(new OverwriteFiles(AlwaysFalse, Vector.empty, removed = Vector(removed)))
    actions.store.replace("mem://t/data/orphan.parquet", Array.emptyByteArray)
    var listings = 0
    val expiring = (of: Table) => {
      listings += 1
      if (listings == 1) {
        val options = ExpireOptions(Some(table.metadata.snapshots.map(_.timestampMs).max + 1), Some(1))
        new SnapshotExpiry(table, options, new LocalUnreachableFiles, Map.empty, environment).run()
      }
      OrphanRemoval.directory(None)(of)
    }
    assert(run(new OrphanRemoval(table, expiring, new LocalOrphanSearch, later)).get("mem://t/data/orphan.parquet")
      .contains(None))
    assert(listings == 2)
  }

  test("a file that is committed during the search is kept even if an expiration then deletes metadata files") {
    val actions = new Actions(unpartitioned("commit.manifest-merge.enabled" -> "false"))
    val table = actions.append(file("mem://t/data/a.parquet"))
    val (removed, late) = (file("mem://t/data/b.parquet"), file("mem://t/data/late.parquet"))
    Seq(removed, late).foreach(f => actions.store.replace(f.path, Array.emptyByteArray))
    var lost = Option.empty[String]
    val expiring = new FileIOWrapper(actions.store) {
      override def open(path: String): InputStream = { expireAt(path); super.open(path) }
      override def read(path: String): Array[Byte] = { expireAt(path); super.read(path) }
      private def expireAt(path: String): Unit = if (lost.contains(path)) {
        lost = None
        val options = ExpireOptions(Some(actions.table.metadata.snapshots.map(_.timestampMs).max + 1), Some(1))
        new SnapshotExpiry(actions.table, options, new LocalUnreachableFiles, Map.empty, environment).run()
      }
    }
    val committing: FileListing = (consume: ListedFile => Unit) => {
      consume(ListedFile(late.path, 0L))
      val before = actions.store.paths
      actions.append(removed)
      lost = (actions.store.paths -- before).find(path => path.endsWith(".avro") && !path.contains("snap-"))
      actions.commit(new OverwriteFiles(AlwaysFalse, Vector(late), removed = Vector(removed)))
      ()
    }
    val of = new Table(table.id, table.name, table.version, expiring, table.committer)
    assert(run(new OrphanRemoval(of, _ => committing, new LocalOrphanSearch, later)).isEmpty)
    assert(lost.isEmpty && actions.store.exists(late.path))
  }

  test("a table with gc.enabled=false is rejected, because other tables may use its files") {
    val actions = new Actions(unpartitioned())
    actions.commit(new UpdateProperties(Map("gc.enabled" -> "false")))
    addOrphans(actions)
    assert(intercept[ValidationFailed](run(removal(actions.table))).getMessage.contains("gc.enabled"))
  }

  test("after a failure of any storage call, all files that the table needs exist") {
    def prepared() = {
      val actions = randomTable(Fuzz.seed)
      addOrphans(actions)
      actions
    }
    def attempt(actions: Actions, at: Int, fault: Fault): Int = {
      val faulty = new FaultyFileIO(actions.store, at, fault)
      val table = new Table(actions.table.id, actions.table.name, actions.table.version, faulty, actions.committer)
      try run(removal(table))
      catch { case _: Throwable => }
      faulty.calls
    }
    val calls = attempt(prepared(), Int.MaxValue, Fault.Refused)
    assert(calls > 10)
    val random = new Random(Fuzz.seed)
    val rounds = if (Sampling.isOff) calls else Fuzz.slowRounds(20, 4)
    for (at <- random.shuffle((1 to calls).toVector).take(rounds); fault <- Fault.all) {
      val actions = prepared()
      val needed = ReachableFiles.of(actions.store, actions.table.version).toSet & actions.store.paths
      attempt(actions, at, fault)
      assert(needed.subsetOf(actions.store.paths), s"$fault at call $at of $calls")
    }
  }
}
