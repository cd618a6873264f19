package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.CommitRules
import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.{V1, V2, V3}
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{ConcurrentChange, NotFound, ValidationFailed}
import iceberglite.spec.file.{Content, ContentFile, ManifestFile, Metrics}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{Identity, PartitionTuple, UnboundPartitionField}
import iceberglite.spec.types.Literal
import iceberglite.table.Actions._
import iceberglite.table.TestTables._
import iceberglite.table.action.{
  ConvertDeletes,
  DeleteCarrier,
  DeletedPositions,
  DeleteFiles,
  RemoveFiles,
  RewriteFiles,
  RewriteManifests,
  RowDelta,
  UpdatePartitionSpec,
  UpgradeVersion
}
import iceberglite.tree.{ManifestCache, TreeReader}

/** Tests rewrites of files and manifests that do not change rows, with concurrent commits of other writers. */
class RewriteSuite extends AnyFunSuite {
  private val low = file("low", ids = (0, 9))
  private val high = file("high", ids = (10, 19))
  private val both = file("both", records = 20, ids = (0, 19))

  private def withTwoFiles(version: FormatVersion): Actions = {
    val t = unpartitionedTable(version)
    t.append(low)
    t.append(high)
    t
  }

  private def compaction(read: Table): RewriteFiles =
    new RewriteFiles(Vector(low, high), Vector(both), read.currentSnapshot.get.snapshotId)

  private def rejection(body: => Any): String = intercept[IcebergError](body) match {
    case error @ (_: ValidationFailed | _: ConcurrentChange) => error.getMessage
    case other => fail(other)
  }

  test(
    "compacted files get the sequence number of the read snapshot, so concurrent equality deletes apply",
    CommitRules.rewrittenNumber
  ) {
    val t = withTwoFiles(V2)
    val read = t.table
    t.commitOn(read, new RowDelta(Vector(equalityDeletes("eq", beside = low, ids = (3, 3)))))
    val table = t.commitOn(read, compaction(read))
    val entries = live(t.store, table)
    val number = entries.find(_.file.path == "both").flatMap(_.sequenceNumber).get
    assert(number == read.currentSnapshot.get.sequenceNumber)
    assert(entries.find(_.file.path == "eq").flatMap(_.sequenceNumber).exists(_ > number))
    assert(entries.find(_.file.path == "both").flatMap(_.fileSequenceNumber).contains(
      table.currentSnapshot.get.sequenceNumber
    ))
    assert(operation(table) == "replace")
    val s = summary(table)
    assert((s("added-data-files"), s("deleted-data-files"), s("added-records"), s("deleted-records")) == ((
      "1",
      "2",
      "20",
      "20"
    )))
  }

  test("appends and removals of other files do not conflict with a compaction") {
    val t = withTwoFiles(V2)
    t.append(file("other"))
    val read = t.table
    t.commitOn(read, new RemoveFiles(Set("other")))
    t.append(file("more"))
    val table = t.commitOn(read, compaction(read))
    assert(liveFiles(table) == Vector("both", "more"))
    assert(t.orphanFiles.isEmpty)
  }

  test("files of a version 1 table can be compacted") {
    val t = withTwoFiles(V1)
    assert(liveFiles(t.commit(compaction(t.table))) == Vector("both"))
  }

  test(
    "a compaction fails if one of its files gets new position deletes or a new deletion vector",
    CommitRules.rewriteConflicts
  ) {
    val v2 = withTwoFiles(V2)
    val read2 = v2.table
    v2.commitOn(read2, new RowDelta(Vector(positionDeletes("theirs", low))))
    assert(rejection(v2.commitOn(read2, compaction(read2))).contains("theirs"))
    assert(v2.orphanFiles.isEmpty)
    val v3 = withTwoFiles(V3)
    val read3 = v3.table
    v3.commitOn(read3, new RowDelta(v3.vectors("theirs.puffin", high -> Seq(1L))))
    assert(rejection(v3.commitOn(read3, compaction(read3))).contains("theirs.puffin"))
  }

  test("two concurrent compactions of the same file conflict", CommitRules.filesStillExist) {
    val t = withTwoFiles(V2)
    val read = t.table
    t.commitOn(read, new RewriteFiles(Vector(low), Vector(file("l2")), read.currentSnapshot.get.snapshotId))
    assert(rejection(t.commitOn(read, compaction(read))).contains("low is not in the table any more"))
  }

  test("a compaction fails if one of its files was removed and added again") {
    val t = withTwoFiles(V3)
    val read = t.table
    t.commit(new RemoveFiles(Set("low")))
    t.append(low)
    assert(rejection(t.commitOn(read, compaction(read))).contains("another commit added the file again"))
    assert(liveFiles(t.commit(compaction(t.table))) == Vector("both"))
  }

  test("a file that the table lists twice can be rewritten only if both entries are replaced") {
    val t = withTwoFiles(V2)
    t.append(low)
    val read = t.table
    val since = read.currentSnapshot.get.snapshotId
    assert(rejection(t.commitOn(read, compaction(read))).contains("entries of the file is now 2 in the table"))
    assert(liveFiles(t.table) == Vector("high", "low", "low"))
    val all = new RewriteFiles(Vector(low, low, high), Vector(file("three", records = 30, ids = (0, 19))), since)
    assert(liveFiles(t.commitOn(read, all)) == Vector("three"))
  }

  test("a compaction of a file that is twice in the table fails if rows of the file are deleted concurrently") {
    val t = withTwoFiles(V2)
    t.append(low)
    val read = t.table
    t.commitOn(read, new RowDelta(Vector(positionDeletes("theirs", low))))
    val carrier = new DeleteCarrier {
      override def carry(deleted: Vector[DeletedPositions], base: TableMetadata): Vector[ContentFile] = Vector.empty
    }
    val replacement = Vector(file("new", records = 20, ids = (0, 9)))
    val since = read.currentSnapshot.get.snapshotId
    val action = new RewriteFiles(Vector(low, low), replacement, since, carrier = Some(carrier))
    assert(rejection(t.commitOn(read, action)).contains("another commit has deleted rows"))
  }

  test("a compaction fails if the rows of its files got row ids after it had read the table") {
    val t = withTwoFiles(V2)
    val read = t.table
    val upgraded = t.commit(new UpgradeVersion(V3))
    t.append(file("other"))
    for (base <- Seq(read, upgraded)) assert(rejection(t.commitOn(base, compaction(base))).contains("gave row ids"))
    assert(liveFiles(t.commit(compaction(t.table))) == Vector("both", "other"))
  }

  test("a compaction of an upgraded table succeeds if its files have no row ids yet") {
    val t = withTwoFiles(V2)
    val read = t.table
    t.commit(new UpgradeVersion(V3))
    assert(liveFiles(t.commitOn(read, compaction(read))) == Vector("both"))
  }

  test("existing deletes are removed together with the files that they apply to") {
    val t = withTwoFiles(V3)
    t.commit(new RowDelta(t.vectors("d.puffin", low -> Seq(1L))))
    val table = t.commit(compaction(t.table))
    assert(liveFiles(table) == Vector("both") && summary(table)("removed-dvs") == "1")
  }

  test(
    "rewriting deletion vectors fails if a concurrent commit replaced one of the vectors",
    CommitRules.rewriteConflicts
  ) {
    val t = withTwoFiles(V3)
    t.commit(new RowDelta(t.vectors("1.puffin", low -> Seq(1L))))
    t.commit(new RowDelta(t.vectors("2.puffin", high -> Seq(2L))))
    val read = t.table
    val old = live(t.store, read).map(_.file).filter(_.isDeletionVector)
    def rewriteVectors(path: String): RewriteFiles =
      new RewriteFiles(old, t.vectors(path, low -> Seq(1L), high -> Seq(2L)), read.currentSnapshot.get.snapshotId)
    t.commitOn(read, new RowDelta(t.vectors("3.puffin", low -> Seq(3L)), isolation = serializable(read)))
    assert(rejection(t.commitOn(read, rewriteVectors("4.puffin"))).contains("is not in the table any more"))
    val updated = t.table
    val currentVectors = live(t.store, updated).map(_.file).filter(_.isDeletionVector)
    val table = t.commit(new RewriteFiles(
      currentVectors,
      t.vectors("5.puffin", low -> Seq(1L, 3L), high -> Seq(2L)),
      updated.currentSnapshot.get.snapshotId
    ))
    assert(t.deleted(table, low) == Vector(1L, 3L) && t.deleted(table, high) == Vector(2L))
    assert(operation(table) == "replace")
  }

  test("a rewrite that adds a deletion vector fails if a concurrent commit removed its data file") {
    val t = withTwoFiles(V3)
    t.commit(new RowDelta(t.vectors("1.puffin", low -> Seq(1L))))
    val read = t.table
    val old = live(t.store, read).map(_.file).filter(_.isDeletionVector)
    // The rewrite of the vector of `low` does not conflict, because only the data file `high` was removed.
    t.commitOn(read, new RemoveFiles(Set("high")))
    t.commitOn(read, new RewriteFiles(old, t.vectors("2.puffin", low -> Seq(1L)), read.currentSnapshot.get.snapshotId))
    val updated = t.table
    val vectors = t.vectors("3.puffin", low -> Seq(1L), high -> Seq(2L))
    val rewritten = live(t.store, updated).map(_.file).filter(_.isDeletionVector)
    val late = new RewriteFiles(rewritten, vectors, read.currentSnapshot.get.snapshotId)
    assert(rejection(t.commitOn(updated, late)).contains("high is not in the table any more"))
  }

  test("a rewrite that adds a deletion vector for a file that already has a vector is rejected") {
    val t = withTwoFiles(V3)
    t.commit(new RowDelta(t.vectors("1.puffin", low -> Seq(1L))))
    val secondVector =
      new RewriteFiles(Vector(high), t.vectors("2.puffin", low -> Seq(1L)), t.table.currentSnapshot.get.snapshotId)
    assert(rejection(t.commit(secondVector)).contains("another deletion vector"))
  }

  test("equality deletes with different sequence numbers are not rewritten into one file") {
    val t = withTwoFiles(V2)
    val (one, two) = (equalityDeletes("e1", low, (1, 1)), equalityDeletes("e2", low, (2, 2)))
    t.commit(new RowDelta(Vector(one)))
    t.commit(new RowDelta(Vector(two)))
    val id = t.table.currentSnapshot.get.snapshotId
    val number = live(t.store, t.table).find(_.file.path == "e1").flatMap(_.sequenceNumber)
    assert(
      rejection(t.commit(new RewriteFiles(Vector(one, two), Vector(one.copy(path = "e3")), id))).contains("equality")
    )
    val table = t.commit(new RewriteFiles(Vector(one), Vector(one.copy(path = "e4")), id))
    assert(live(t.store, table).find(_.file.path == "e4").flatMap(_.sequenceNumber) == number)
  }

  test("rewritten position deletes get the highest sequence number of the old ones in their partition") {
    val t = tableByCategory(V2)
    val (a, b) = (fileOf("a", "a1"), fileOf("b", "b1"))
    t.append(a, b)
    val old = Seq(a -> "d1", a -> "d2", b -> "d3").map { case (data, path) => positionDeletes(path, data) }
    old.foreach(file => t.commit(new RowDelta(Vector(file))))
    val numbers = live(t.store, t.table).map(e => e.file.path -> e.sequenceNumber).toMap
    t.append(fileOf("a", "a2"))
    val added = Vector(positionDeletes("d4", a), positionDeletes("d5", b))
    val table = t.commit(new RewriteFiles(old.toVector, added, t.table.currentSnapshot.get.snapshotId))
    val rewritten = live(t.store, table).map(e => e.file.path -> e.sequenceNumber).toMap
    assert(rewritten("d4") == numbers("d2") && rewritten("d5") == numbers("d3") && rewritten.size == 5)
  }

  private def manifests(t: Actions, table: Table): Vector[ManifestFile] =
    new TreeReader(t.store, table.metadata, ManifestCache.Disabled).manifests(table.currentSnapshot.get)

  test("rewritten manifests are ordered by partition, and list the same files", CommitRules.manifestsRewritten) {
    Seq(V1, V2, V3).foreach { version =>
      val t = tableByCategory(version, "commit.manifest.target-size-bytes" -> "300")
      Seq("c", "a", "b").foreach(c => t.append(fileOf(c, s"${c}1"), fileOf(c, s"${c}2")))
      t.append(fileOf("a", "a3"))
      val before = t.table
      val table = t.commit(new RewriteManifests())
      val rewritten = manifests(t, table)
      def identities(table: Table): Set[(ContentFile, Option[Long], Option[Long], Option[Long])] =
        live(t.store, table).map(e =>
          (e.file.copy(metrics = Metrics.Empty), e.sequenceNumber, e.fileSequenceNumber, e.snapshotId)
        ).toSet
      assert(identities(table) == identities(before))
      assert(live(t.store, table).map(_.file.path.head) == "aaabbcc".toVector)
      assert(rewritten.size > 1 && rewritten.forall(m => m.addedFilesCount.contains(0)))
      val s = summary(table)
      assert(operation(table) == "replace" && s("entries-processed") == "7")
      assert((s("manifests-kept"), s("manifests-replaced")) == (("0", "4")))
    }
  }

  test("manifests added concurrently are kept, and a retry reuses the rewritten manifests") {
    val t = tableByCategory(V3)
    Seq("b", "a").foreach(c => t.append(fileOf(c, s"${c}1")))
    val read = t.table
    t.append(fileOf("c", "theirs"))
    val before = t.store.paths
    val table = t.commitOn(read, new RewriteManifests())
    assert(manifests(t, table).size == 2)
    assert(liveFiles(table) == Vector("a1", "b1", "theirs"))
    val added = (t.store.paths -- before).filterNot(_.endsWith(".json"))
    assert(added.size == 2, s"expected one manifest and one manifest list, but got $added")
    assert(t.orphanFiles.isEmpty)
  }

  test("a rewrite of manifests does not restore files that were removed concurrently") {
    val t = tableByCategory(V2)
    Seq("b", "a", "c").foreach(c => t.append(fileOf(c, s"${c}1")))
    val read = t.table
    t.commit(new DeleteFiles(category("a")))
    val table = t.commitOn(read, new RewriteManifests())
    assert(liveFiles(table) == Vector("b1", "c1") && manifests(t, table).size == 1)
    assert(t.orphanFiles.isEmpty)
  }

  test("a rewrite of manifests keeps those of other partition specs, and does nothing if the spec has one manifest") {
    val t = tableByCategory(V2)
    Seq("b", "a").foreach(c => t.append(fileOf(c, s"${c}1")))
    t.commit(new UpdatePartitionSpec(_.removeField("category")))
    val other = t.table.metadata.defaultSpecId
    t.append(file("x").copy(specId = other))
    val before = t.table
    assert(t.commit(new RewriteManifests()).version == before.version)
    val table = t.commit(new RewriteManifests(Some(0), sortBy = Vector("category")))
    assert(manifests(t, table).map(_.partitionSpecId).sorted == Vector(0, other))
    intercept[NotFound](t.commit(new RewriteManifests(Some(9))))
    intercept[NotFound](t.commit(new RewriteManifests(Some(0), sortBy = Vector("nope"))))
  }

  test("rewritten manifests can be sorted by a partition field other than the first") {
    val t = new Actions(TableCreation(
      schema,
      Vector(UnboundPartitionField(Vector("category"), Identity), UnboundPartitionField(Vector("id"), Identity))
    ))
    def of(c: String, id: Long): ContentFile = fileOf(c, s"$c$id").copy(
      partition = PartitionTuple(Vector(Some(Literal.StringLiteral(c)), Some(Literal.LongLiteral(id))))
    )
    Seq(of("a", 2), of("b", 1), of("a", 1), of("b", 2)).foreach(t.append(_))
    val byId = t.commit(new RewriteManifests(sortBy = Vector("id")))
    assert(live(t.store, byId).map(_.file.path).map(_.last) == Vector('1', '1', '2', '2'))
  }

  test("a compaction fails if concurrent equality deletes of its rows were already converted to position deletes") {
    for ((version, converted) <- Seq(V2 -> Seq("low"), V3 -> Seq("low"), V2 -> Seq("low", "high"))) {
      val t = withTwoFiles(version)
      val read = t.table
      t.commitOn(read, new RowDelta(Vector(equalityDeletes("eq", beside = low, ids = (3, 12)))))
      val withDeletes = t.table
      val data = Seq(low, high).filter(f => converted.contains(f.path))
      val deletes =
        if (version == V3) t.vectors("v.puffin", data.map(_ -> Seq(3L)): _*)
        else data.map(f => positionDeletes(s"d-${f.path}", f)).toVector
      val equality = live(t.store, withDeletes).map(_.file).filter(_.content == Content.EqualityDeletes)
      val since = withDeletes.currentSnapshot.get.snapshotId
      t.commit(new ConvertDeletes(equality, Vector.empty, deletes, data.toVector, since))
      assert(rejection(t.commitOn(read, compaction(read))).contains("added deletes of its rows"))
    }
  }

  test("a compaction does not conflict with a concurrent conversion of equality deletes that it has already applied") {
    val t = withTwoFiles(V3)
    t.commit(new RowDelta(Vector(equalityDeletes("eq", beside = low, ids = (3, 3)))))
    val read = t.table
    val equality = live(t.store, read).map(_.file).filter(_.content == Content.EqualityDeletes)
    val vectors = t.vectors("v.puffin", low -> Seq(3L))
    val since = read.currentSnapshot.get.snapshotId
    t.commitOn(read, new ConvertDeletes(equality, Vector.empty, vectors, Vector(low), since))
    assert(liveFiles(t.commitOn(read, compaction(read))) == Vector("both"))
  }
}
