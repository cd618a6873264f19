package iceberglite.tree.root

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion.V2
import iceberglite.spec.IcebergError.{StorageFailed, ValidationFailed}
import iceberglite.spec.file.{ContentFile, ManifestEntry, PartSummary}
import iceberglite.table.action.RewriteManifests
import iceberglite.tree.{FileSelector, TestTable}
import iceberglite.tree.manifestlist.{ManifestListHeader, ManifestLists, ManifestSamples}

/** Tests that the file of a long leaf, which is read as a stream, is closed if a commit fails while it is read. */
class ClosedLeavesSuite extends AnyFunSuite {
  private val random = new Random(7)

  // The names do not compress well, so that the manifest is longer than the part of a stream that is read at once.
  private val files: Vector[ContentFile] =
    Vector.fill(600)(random.alphanumeric.take(700).mkString).map(TestTable.file(_))

  /** A table of version 2 with a manifest of the given files, whose length is stated to be that of a long manifest. */
  private def withLongManifest(files: Vector[ContentFile]): RootTable = {
    val table = new RootTable(ManifestSamples.schema, version = V2)
    table.testTable.append(files: _*)
    val appended = table.testTable.metadata.currentSnapshot.get
    val id = appended.snapshotId + 1
    val list = "mem:/t/metadata/long.avro"
    val header = ManifestListHeader(V2, id, Some(appended.snapshotId), id, None)
    ManifestLists.write(table.io, list, header, table.testTable.manifests.map(_.copy(length = 20L << 20)))
    table.testTable.setCurrent(appended.copy(snapshotId = id, sequenceNumber = id, manifestList = Some(list)))
    table
  }

  private def assertOpened(table: RootTable, opened: Int)(body: => Unit): Unit = {
    val before = table.io.reads.get
    body
    assert(table.io.reads.get - before >= opened && table.io.openStreams.get == 0)
  }

  test("a rewrite that cannot write a batch of entries closes the leaf") {
    val table = withLongManifest(files)
    table.append("x")
    val leaves = table.files.parts.collect { case leaf: LeafPart => leaf }
    val rewriter = new LeafRewriter(
      table.testTable.tree,
      _.entries(table.io),
      new LeafRuns(RootSamples.columnsOf(table.testTable.metadata)),
      _ => throw StorageFailed.at("write", "leaf", "The disk is full"),
      isMovable = _ => true,
      maxHeapBytes = 1L
    )
    val by = new RewriteManifests().rewriteOf(table.testTable.metadata)
    assertOpened(table, 2) {
      intercept[StorageFailed](rewriter.rewrite(leaves, Vector.empty, by, None))
      ()
    }
  }

  test("a removal that fails at a file of a leaf closes the leaf") {
    val table = withLongManifest(files)
    table.append("x")
    val failing = new FileSelector {
      override def mightMatch(part: PartSummary): Boolean = part.hasLiveFiles
      override def removes(entry: ManifestEntry): Boolean = throw ValidationFailed("Some rows do not match")
    }
    assertOpened(table, 2) {
      intercept[ValidationFailed](table.commit(Vector.empty, failing))
      ()
    }
  }

  test("an upgrade that cannot assign row ids to a file of a manifest closes the manifest") {
    val table = withLongManifest(files.head.copy(recordCount = ContentFile.UnknownRecords) +: files.tail)
    assertOpened(table, 2) {
      intercept[ValidationFailed](table.append("x"))
      ()
    }
  }
}
