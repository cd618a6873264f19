package iceberglite.tree.root

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.puffin.DeletionVector
import iceberglite.spec.file.EntryStatus.{Added, Existing}
import iceberglite.spec.file.MetricMaps
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.Literal.LongLiteral
import iceberglite.spec.types.SingleValue
import iceberglite.tree.{ManifestCache, TestTable, TreeViolation}
import iceberglite.tree.manifestlist.ManifestSamples

/** Tests [[TreeInvariants]]. The comments in that class describe the rules I4 to I13. */
class TreeInvariantsSuite extends AnyFunSuite {

  /** A table with a leaf of four files, from which one was removed, and with one file in the root. */
  private def newTable(): RootTable = {
    val table = new RootTable(ManifestSamples.schema)
    table.append("a", "b", "c", "d")
    table.append("x")
    table.remove("b")
    table
  }

  /** Returns the violated rules after `change` has changed the entries of the root of the current snapshot. */
  private def violated(table: RootTable)(change: Vector[ContentEntry] => Vector[ContentEntry]): Set[String] =
    checked(table, 500000)(change).map(_.rule).toSet

  private def checked(table: RootTable, maxFiles: Int)(
      change: Vector[ContentEntry] => Vector[ContentEntry]
  ): Vector[TreeViolation] = {
    val path = s"mem:/t/metadata/changed-${table.io.paths.size}.parquet"
    val columns = RootSamples.columnsOf(table.testTable.metadata)
    table.io.write(path, RootManifests.write(path, ManifestKind.Root, columns, change(table.root)))
    val current = table.testTable.metadata.currentSnapshot.get
    val parent = current.parentSnapshotId.map(id => table.files(table.testTable.metadata.snapshot(id)))
    val changed =
      new RootFiles(current.copy(manifestList = Some(path)), table.testTable.tree, columns, ManifestCache.Disabled)
    new TreeInvariants(changed, parent, table.testTable.tree, maxFiles).violations
  }

  private def isVector(e: ContentEntry) = e.content == EntryContent.ManifestVector
  private def isLeaf(e: ContentEntry) = e.manifest.isDefined

  test("a tree that a commit wrote violates no rule") {
    assert(violated(newTable())(identity).isEmpty)
  }

  test("two live deletion vectors of a leaf, and a vector without a leaf, violate I4") {
    assert(violated(newTable())(root => root ++ root.filter(isVector)) == Set("I4"))
    assert(violated(newTable())(_.map(e => if (isVector(e)) e.copy(referencedFile = Some("mem:/gone")) else e))("I4"))
  }

  test("a deletion vector that loses positions violates I5") {
    val table = newTable()
    table.remove("c")
    val leaf = table.root.find(isLeaf).get
    val smaller = ManifestVectors.entry(leaf, DeletionVector.of(2L), 4L, 4L)
    assert(violated(table)(_.filterNot(isVector) :+ smaller)("I5"))
  }

  test("a file that is live twice violates I6") {
    assert(violated(newTable())(root => root ++ root.filter(e => e.content == EntryContent.Data && e.isLive))("I6"))
  }

  test("wrong counts and wrong column statistics of a leaf violate I7") {
    assert(violated(newTable())(_.map(e => e.copy(manifest = e.manifest.map(_.copy(existingFiles = 9)))))("I7"))
    assert(violated(newTable())(_.map { e =>
      if (isLeaf(e)) e.copy(stats = ContentStats(Map(1 -> FieldStats(valueCount = Some(0L))))) else e
    })("I7"))
  }

  test("the bounds of a leaf with removed files are not tight") {
    val bounds = MetricMaps(
      valueCounts = Some(Map(1 -> 10L)),
      nullValueCounts = Some(Map(1 -> 0L)),
      lowerBounds = Some(Map(1 -> SingleValue.encode(LongLiteral(5L)))),
      upperBounds = Some(Map(1 -> SingleValue.encode(LongLiteral(5L))))
    )
    val table = new RootTable(ManifestSamples.schema, Vector(ManifestSamples.byId))
    val partition = PartitionTuple(Vector(Some(LongLiteral(5L))))
    table.commit(Seq("a", "b", "c", "d", "e").map(TestTable.file(_, partition, metrics = bounds)))
    def tight = table.root.filter(isLeaf).flatMap(_.stats.get(1)).map(_.tight)
    assert(tight == Vector(Some(true)))
    table.remove("b")
    assert(tight == Vector(Some(false)))
    table.commit(Seq(TestTable.file("x", partition)))
    assert(tight == Vector(Some(false)) && violated(table)(identity).isEmpty)
    assert(violated(table)(_.map { e =>
      if (isLeaf(e)) e.copy(stats = ContentStats(e.stats.byId.map(s => s._1 -> s._2.copy(tight = Some(true))))) else e
    }) == Set("I7"))
  }

  test("a row id of two files violates I9") {
    assert(violated(newTable())(_.map(e =>
      if (e.content == EntryContent.Data) e.copy(firstRowId = Some(5L)) else e
    )) == Set("I9"))
  }

  test("changes that the root does not state violate I10") {
    assert(violated(newTable())(_.map(e =>
      if (isVector(e)) e.copy(version = e.version.copy(status = Existing)) else e
    )) == Set("I10"))
  }

  test("the rules that need the parent are not checked after the parent has expired") {
    val table = newTable()
    table.files match {
      case root: RootFiles =>
        assert(root.snapshot.parentSnapshotId.isDefined)
        assert(new TreeInvariants(root, None, table.testTable.tree).violations.isEmpty)
      case other => fail(s"$other has no root")
    }
    val first = new RootTable(ManifestSamples.schema)
    first.append("a")
    assert(violated(first)(_.map(e => e.copy(version = e.version.copy(status = Existing))))("I10"))
  }

  test("an existing leaf with files that the snapshot adds violates I11") {
    val table = new RootTable(ManifestSamples.schema)
    table.append("a", "b", "c", "d")
    assert(violated(table)(_.map(e => e.copy(version = e.version.copy(status = Existing))))("I11"))
    assert(table.root.forall(_.version.status == Added))
  }

  test("a leaf with live files that is dropped violates I13") {
    assert(violated(newTable())(_.filterNot(e => isLeaf(e) || isVector(e)))("I13"))
  }

  test("the findings do not depend on how many files are in memory at the same time") {
    def isFile(e: ContentEntry) = e.content == EntryContent.Data
    val changes = Seq[Vector[ContentEntry] => Vector[ContentEntry]](
      identity,
      root => root ++ root.filter(e => isFile(e) && e.isLive),
      _.map(e => if (isFile(e)) e.copy(firstRowId = Some(5L)) else e),
      _.map(e => if (isVector(e)) e.copy(version = e.version.copy(status = Existing)) else e),
      _.filterNot(e => isLeaf(e) || isVector(e)),
      _.map(e => if (isFile(e)) e.copy(firstRowId = Some(1000L)) else e)
    )
    changes.foreach { change =>
      val expected = checked(newTable(), 500000)(change).map(_.rule).toSet
      Seq(1, 2, 3).foreach(max => assert(checked(newTable(), max)(change).map(_.rule).toSet == expected))
    }
    assert(changes.map(change => checked(newTable(), 1)(change).map(_.rule).toSet.size).count(_ == 0) == 1)
  }

  test("a leaf that cannot be read is one finding, and the number of findings is limited") {
    val table = newTable()
    val leaf = table.root.find(isLeaf).get
    table.io.replace(leaf.location, Array[Byte](1, 2, 3))
    val found = checked(table, 500000)(identity)
    assert(found.map(_.rule) == Vector("I1-I3") && found.head.reason.contains(leaf.location))
    val other = newTable()
    val many = checked(other, 500000)(root =>
      root ++ (1 to 2000).map(i =>
        root.filter(isLeaf).head.copy(
          content = EntryContent.DeleteManifest,
          firstRowId = None,
          location = s"mem:/t/gone-$i.parquet"
        )
      )
    )
    assert(many.size == TreeInvariants.MaxViolations)
  }
}
