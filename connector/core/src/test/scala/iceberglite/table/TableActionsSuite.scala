package iceberglite.table

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.CommitRules
import iceberglite.spec.FormatVersion.{V1, V2, V3}
import iceberglite.spec.IcebergError.{CommitConflict, ValidationFailed}
import iceberglite.spec.file.{ContentFile, ManifestFile}
import iceberglite.spec.metadata.SnapshotRef
import iceberglite.spec.partition.{Bucket, Identity}
import iceberglite.spec.types.Type.{IntType, StringType}
import iceberglite.table.Actions._
import iceberglite.table.TestTables._
import iceberglite.table.action.{
  DeleteFiles,
  MergeAppend,
  RowDelta,
  SetRef,
  UpdateLocation,
  UpdateProperties,
  UpdateSchema,
  UpdatePartitionSpec,
  UpgradeVersion
}
import iceberglite.tree.{ManifestCache, TreeReader}
import iceberglite.table.action.ReadRows

/** Tests appends, format version upgrades, and transactions with several actions. */
class TableActionsSuite extends AnyFunSuite {
  private def manifests(t: Actions): Vector[ManifestFile] =
    new TreeReader(t.store, t.table.metadata, ManifestCache.Disabled).manifests(t.table.currentSnapshot.get)

  test("a fast append keeps existing manifests, and a merge append merges them", CommitRules.appendsReapply) {
    val t = unpartitionedTable(V2, "commit.manifest.min-count-to-merge" -> "3")
    (1 to 6).foreach(i => t.append(file(s"f$i")))
    assert(manifests(t).size == 6)
    t.commit(new MergeAppend(Vector(file("merged"))))
    assert(manifests(t).map(_.addedFilesCount.get) == Vector(1, 0))
    assert(liveFiles(t.table).size == 7)
  }

  test("a table with a data file without record count cannot be upgraded to version 3", CommitRules.uncountedUpgrade) {
    Seq(V1, V2).foreach { version =>
      val t = tableByCategory(version)
      t.append(fileOf("a", "a1"), fileOf("b", "b1").copy(recordCount = ContentFile.UnknownRecords))
      val error = intercept[ValidationFailed](t.commit(new UpgradeVersion(V3)))
      assert(error.getMessage.contains("b1"))
      if (version == V1) t.commit(new UpgradeVersion(V2))
      t.commit(new DeleteFiles(category("b")))
      t.commit(new UpgradeVersion(V3))
      assert(t.append(fileOf("c", "c1")).metadata.nextRowId == 20)
    }
  }

  test("a file without record count on a branch also prevents the upgrade", CommitRules.uncountedUpgrade) {
    val t = tableByCategory(V2)
    t.append(fileOf("b", "b1").copy(recordCount = ContentFile.UnknownRecords))
    t.commit(new SetRef("old", SnapshotRef.Branch(t.table.currentSnapshot.get.snapshotId)))
    t.commit(new DeleteFiles(category("b")))
    assert(intercept[ValidationFailed](t.commit(new UpgradeVersion(V3))).getMessage.contains("b1"))
  }

  test(
    "each snapshot of a transaction has the previous one as its parent, and records only its own changes",
    CommitRules.operations
  ) {
    val t = unpartitionedTable(V3)
    val (low, high) = (file("low", ids = (0, 9)), file("high", ids = (10, 19)))
    t.append(low, high)
    val read = t.table
    t.append(file("theirs", ids = (20, 29)))
    val table = t.commitOn(
      read,
      new DeleteFiles(idBelow(10)),
      new MergeAppend(Vector(file("new", ids = (30, 39)))),
      new RowDelta(t.vectors("d.puffin", high -> Seq(3L)), isolation = snapshot(read))
    )
    val newest = table.metadata.ancestors(table.currentSnapshot.get).toVector.take(3)
    assert(newest.flatMap(_.operation) == Vector("delete", "append", "delete"))
    assert(newest.map(_.sequenceNumber) == Vector(5L, 4L, 3L))
    assert(newest.map(s => s.firstRowId.get -> s.addedRows.get).reverse == Vector(30L -> 10L, 40L -> 10L, 50L -> 0L))
    assert(liveFiles(table) == Vector("d.puffin", "high", "new", "theirs"))
    assert(t.orphanFiles.isEmpty)
  }

  test("a transaction does not conflict with its own snapshots") {
    val t = unpartitionedTable(V3)
    val low = file("low", ids = (0, 9))
    t.append(low)
    val read = t.table
    t.append(file("far", ids = (90, 99)))
    val table = t.commitOn(
      read,
      new MergeAppend(Vector(file("mine", ids = (0, 9)))),
      new RowDelta(t.vectors("d.puffin", low -> Seq(3L)), isolation = serializable(read), read = ReadRows(idBelow(10)))
    )
    assert(t.deleted(table, low) == Vector(3L) && liveFiles(table).contains("mine"))
  }

  test("schema, partition spec, properties, references, location and data change in one commit or not at all") {
    val t = tableByCategory(V2)
    t.append(fileOf("a", "a1"))
    val read = t.table
    val before = t.committer.commits
    def changes: Seq[Action] = Seq(
      new UpdateSchema(_.addColumn(Vector.empty, "more", StringType, None)),
      new UpdatePartitionSpec(_.addField(Vector("id"), Bucket(4))),
      new UpdateProperties(Map("k" -> "v")),
      new SetRef("v1", SnapshotRef.Tag(read.currentSnapshot.get.snapshotId, Some(1000L))),
      new UpdateLocation("mem://elsewhere"),
      new DeleteFiles(category("a"))
    )
    val table = t.commitOn(read, changes: _*)
    assert(t.committer.commits == before + 1)
    assert(table.schema.find("more").isDefined && table.spec.fields.size == 2 && table.properties("k") == "v")
    assert(table.metadata.refs("v1").maxRefAgeMs.contains(1000L) && table.location == "mem://elsewhere")
    val other = tableByCategory(V2)
    other.append(fileOf("a", "a1"))
    val old = other.table
    other.commit(new UpdateSchema(_.addColumn(Vector.empty, "theirs", IntType, None)))
    val schemaChange = new UpdateSchema(_.addColumn(Vector.empty, "more", StringType, None))
    intercept[CommitConflict](other.commitOn(old, new DeleteFiles(category("a")), schemaChange))
    assert(liveFiles(other.table) == Vector("a1") && other.orphanFiles.isEmpty)
  }

  test(
    "changing the partition spec conflicts with a concurrent change of the partition spec or schema",
    CommitRules.schemaNotReapplied
  ) {
    val theirs: Seq[Action] = Seq(
      new UpdatePartitionSpec(_.addField(Vector("id"), Bucket(4))),
      new UpdateSchema(_.addColumn(Vector.empty, "theirs", IntType, None))
    )
    theirs.foreach { other =>
      val t = tableByCategory(V2)
      val read = t.table
      t.commit(other)
      val mine = new UpdatePartitionSpec(_.addField(Vector("id"), Identity))
      intercept[CommitConflict](t.commitOn(read, mine))
      assert(t.table.spec.fields.size == (if (other.isInstanceOf[UpdatePartitionSpec]) 2 else 1))
    }
  }

  test("an existing table can be replaced in one commit, with the rows and deletes of two transactions") {
    val t = unpartitionedTable(V3)
    val low = file("low")
    t.append(low)
    val target = CommitTarget(t.empty.id, t.empty.name, t.store, t.committer)
    val start = new TableStart.Creation(
      unpartitioned("format-version" -> "3"),
      StageMode.CreateOrReplace,
      "mem://t",
      UUID.randomUUID
    )
    val staged = StagedTable.begin(target, start, Some(t.table.version), environment)
    val newFile = file("fresh")
    staged.table.transaction(Map.empty, environment).add(new MergeAppend(Vector(newFile))).commit()
    val before = t.committer.commits
    assert(liveFiles(t.table) == Vector("low"))
    val deletes = new RowDelta(t.vectors("d.puffin", newFile -> Seq(1L)))
    staged.table.transaction(Map.empty, environment).add(deletes).commit()
    val table = staged.commit()
    assert(t.committer.commits == before + 1)
    assert(liveFiles(table) == Vector("d.puffin", "fresh") && t.deleted(table, newFile) == Vector(1L))
    assert(table.metadata.snapshots.size == 3, "the history of the replaced table must stay")
  }
}
