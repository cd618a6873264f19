package iceberglite.tree.root

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.puffin.DeletionVector
import iceberglite.spec.file.EntryStatus.{Added, Existing}
import iceberglite.spec.file.{FileFormat, MetricMaps}
import iceberglite.spec.partition.{Bucket, PartitionField, PartitionSpec, PartitionTuple, Transform, Truncate}
import iceberglite.spec.types.{Literal, SingleValue}
import iceberglite.spec.types.Literal.{IntLiteral, LongLiteral}
import iceberglite.tree.{FileChanges, ManifestCache, TestTable, TreeViolation}
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

  test("deletion vectors of other files, and equality deletes, in an affiliated delete manifest violate I6") {
    val vectors = Seq("a", "b", "c").map(name =>
      TestTable.positionDeletes(s"dv-$name", Some(name)).copy(
        format = FileFormat.Puffin,
        contentOffset = Some(4L),
        contentSizeInBytes = Some(40L)
      )
    )
    val equality = Seq("p", "q", "r", "s").map(TestTable.equalityDeletes(_))
    Seq(
      vectors :+ vectors.head.copy(path = "mem:/t/dv-x", referencedDataFile = Some(TestTable.file("x").path)),
      equality
    )
      .foreach { deletes =>
        val table = new RootTable(ManifestSamples.schema)
        table.append("a", "b", "c", "d")
        table.append("x")
        table.commit(deletes)
        val Some(data) = table.root.find(_.content == EntryContent.DataManifest)
        assert(table.root.count(_.content == EntryContent.DeleteManifest) == 1)
        def affiliated(e: ContentEntry): ContentEntry =
          if (e.content == EntryContent.DeleteManifest) e.copy(referencedFile = Some(data.location)) else e
        val found = checked(table, 500000)(_.map(affiliated)).filter(_.rule == "I6")
        assert(found.size == (if (deletes eq equality) 4 else 1))
      }
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
    val bounds = metrics(Some((5L, 5L)))
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

  /** Returns metrics of the column 1. @param bounds the lower and the upper bound; absent if all values are null */
  private def metrics(bounds: Option[(Long, Long)], nulls: Long = 0L): MetricMaps = {
    def bound(of: ((Long, Long)) => Long) = bounds.map(b => Map(1 -> SingleValue.encode(LongLiteral(of(b)))))
    MetricMaps(
      valueCounts = Some(Map(1 -> 10L)),
      nullValueCounts = Some(Map(1 -> nulls)),
      lowerBounds = bound(_._1),
      upperBounds = bound(_._2)
    )
  }

  private def byId(value: Long): PartitionTuple = PartitionTuple(Vector(Some(LongLiteral(value))))

  /** Returns the violated rules after `change` has changed the statistics of the leaf manifests. */
  private def violatedByStats(table: RootTable)(change: FieldStats => FieldStats): Set[String] =
    violated(table)(_.map(e =>
      if (isLeaf(e)) e.copy(stats = ContentStats(e.stats.byId.map { case (id, s) => id -> change(s) })) else e
    ))

  private def violatedByCounts(table: RootTable)(change: ManifestStats => ManifestStats): Set[String] =
    violated(table)(_.map(e => e.copy(manifest = e.manifest.map(change))))

  test("numbers of values in the statistics of a leaf that are not the sums of those of its files violate I7") {
    val table = new RootTable(ManifestSamples.schema, Vector(ManifestSamples.byId))
    val files = (1 to 5).map(i => TestTable.file(s"f$i", byId(i.toLong), metrics = metrics(Some((i.toLong, i.toLong)))))
    table.commit(files)
    val counts = Seq[(FieldStats, Long) => FieldStats](
      (s, n) => s.copy(valueCount = s.valueCount.map(_ + n)),
      (s, n) => s.copy(nullCount = s.nullCount.map(_ + n))
    )
    assert(violatedByStats(table)(identity).isEmpty)
    counts.foreach(add => assert(violatedByStats(table)(add(_, 1L)) == Set("I7")))
    assert(violatedByStats(table)(counts.head(_, -1L)) == Set("I7"))
    table.remove("f1")
    // The statistics may be those of all files, or those of the remaining files.
    Seq(0L, -10L).foreach(n => assert(violatedByStats(table)(counts.head(_, n)).isEmpty))
    Seq(1L, -11L).foreach(n => assert(violatedByStats(table)(counts.head(_, n)) == Set("I7")))
  }

  test("tight bounds of a leaf that are not bounds of a file, and a low minimum sequence number, violate I7") {
    val table = new RootTable(ManifestSamples.schema, Vector(ManifestSamples.byId))
    table.commit((2 to 6).map(i => TestTable.file(s"f$i", byId(i.toLong))))
    assert(violatedByStats(table)(_.copy(lower = Some(LongLiteral(1L)))) == Set("I7"))
    assert(violatedByStats(table)(_.copy(upper = Some(LongLiteral(7L)))) == Set("I7"))
    assert(violatedByStats(table)(_.copy(lower = Some(LongLiteral(1L)), tight = None)).isEmpty)
    assert(violatedByCounts(table)(_.copy(minSequenceNumber = 0L)) == Set("I7"))
  }

  test("wrong counts and wrong statistics of a manifest of an earlier version violate I7") {
    val table = new RootTable(ManifestSamples.schema, Vector(ManifestSamples.byId))
    table.testTable.append((1 to 3).map(i => TestTable.file(s"f$i", byId(i.toLong))): _*)
    table.commit(Seq(TestTable.file("x", byId(9L))))
    assert(table.root.filter(isLeaf).map(e => (e.format, e.manifest.map(_.addedFiles))) ==
      Vector((FileFormat.Avro, Some(3))))
    Seq[ManifestStats => ManifestStats](
      _.copy(addedFiles = 2),
      _.copy(existingFiles = 1),
      _.copy(deletedFiles = 1),
      _.copy(addedRows = 29L),
      _.copy(minSequenceNumber = 2L)
    ).foreach(change => assert(violatedByCounts(table)(change) == Set("I7")))
    assert(violatedByCounts(table)(_.copy(minSequenceNumber = 0L)).isEmpty)
    assert(violatedByStats(table)(_.copy(lower = Some(LongLiteral(2L)))) == Set("I7"))
    assert(violatedByStats(table)(_.copy(nullCount = Some(1L))) == Set("I7"))
  }

  /**
   * Returns the rules that files with the given partition value and metrics violate, whether the root or a leaf lists
   * them.
   */
  private def violatedBy(transform: Transform, value: Option[Literal], metrics: MetricMaps): Set[String] = {
    val spec = PartitionSpec(0, Vector(PartitionField(1, 1000, "p", transform)))
    val Seq(inRoot, inLeaf) = Seq(1, 4).map { count =>
      val table = new RootTable(ManifestSamples.schema, Vector(spec))
      val files = (1 to count).map(i => TestTable.file(s"f$i", PartitionTuple(Vector(value)), metrics = metrics))
      table.testTable.adopt(table.write(FileChanges(files.toVector)))
      assert(table.root.exists(isLeaf) == count > 1)
      violated(table)(identity)
    }
    assert(inRoot == inLeaf)
    inRoot
  }

  test("partition values that contradict the statistics of the source column violate I8") {
    val ten = Some(LongLiteral(10L))
    val valid = metrics(Some((13L, 17L)))
    assert(violatedBy(Truncate(10), ten, valid).isEmpty)
    assert(violatedBy(Truncate(10), Some(LongLiteral(20L)), valid) == Set("I8"))
    assert(violatedBy(Truncate(10), Some(LongLiteral(0L)), valid) == Set("I8"))
    assert(violatedBy(Truncate(10), ten, metrics(Some((13L, 13L)))).isEmpty)
    assert(violatedBy(Truncate(10), ten, metrics(Some((3L, 3L)))) == Set("I8"))
    // Bounds need not be values of the column, so that the partition values of wide bounds can differ.
    assert(violatedBy(Truncate(10), ten, metrics(Some((3L, 27L)))).isEmpty)
    assert(violatedBy(Truncate(10), ten, metrics(Some((13L, 17L)), nulls = 1L)) == Set("I8"))
    assert(violatedBy(Truncate(10), None, valid) == Set("I8"))
    assert(violatedBy(Truncate(10), None, metrics(None)) == Set("I8"))
    assert(violatedBy(Truncate(10), None, metrics(None, nulls = 10L)).isEmpty)
  }

  test("buckets are compared with the source column if it has only one value") {
    val bucket = Bucket(4)(LongLiteral(7L)).get
    val others = (0 to 3).map(IntLiteral(_)).filterNot(_ == bucket)
    assert(violatedBy(Bucket(4), Some(bucket), metrics(Some((7L, 7L)))).isEmpty)
    others.foreach { other =>
      assert(violatedBy(Bucket(4), Some(other), metrics(Some((7L, 7L)))) == Set("I8"))
      assert(violatedBy(Bucket(4), Some(other), metrics(Some((7L, 8L)))).isEmpty)
    }
  }

  test("the partition value of a transform with tight bounds is that of both bounds") {
    val spec = PartitionSpec(0, Vector(PartitionField(1, 1000, "p", Truncate(10))))
    val table = new RootTable(ManifestSamples.schema, Vector(spec))
    table.commit(Seq(TestTable.file("f", byId(10L), metrics = metrics(Some((3L, 27L))))))
    def stated(tight: Option[Boolean]) = violated(table)(_.map(e =>
      e.copy(stats = ContentStats(e.stats.byId.updated(1, e.stats.byId(1).copy(tight = tight))))
    ))
    assert(stated(None).isEmpty && stated(Some(true)) == Set("I8"))
  }

  test("an identity partition value is the only value of its column, also in manifests of earlier versions") {
    val table = new RootTable(ManifestSamples.schema, Vector(ManifestSamples.byId))
    table.commit(Seq(TestTable.file("f", byId(5L))))
    def changed(change: FieldStats => FieldStats) =
      violated(table)(_.map(e => e.copy(stats = ContentStats(e.stats.byId.map { case (id, s) => id -> change(s) }))))
    assert(changed(_.copy(upper = None)).isEmpty && changed(_.copy(upper = Some(LongLiteral(6L)))) == Set("I8"))
    Seq(5L -> Set.empty[String], 4L -> Set.empty[String], 6L -> Set("I8")).foreach { case (lower, expected) =>
      val old = new RootTable(ManifestSamples.schema, Vector(ManifestSamples.byId))
      old.testTable.append(TestTable.file("f", byId(5L), metrics = metrics(Some((lower, 9L)))))
      old.testTable.adopt(old.write(FileChanges(Vector(TestTable.file("x", byId(9L))))))
      assert(violated(old)(identity) == expected)
    }
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
      assert(expected.isEmpty == (change == changes.head))
    }
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
