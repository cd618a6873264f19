package iceberglite.tree.root

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.scan.{FileFilter, ScanPlan, StatsToKeep, TableScan}
import iceberglite.spec.FormatVersion.V4
import iceberglite.spec.TestMetadata.Edits
import iceberglite.spec.expr.{Bind, Expression, Term}
import iceberglite.spec.expr.Expression.{AlwaysTrue, Equal}
import iceberglite.spec.file._
import iceberglite.spec.types.Literal.LongLiteral
import iceberglite.spec.types.SingleValue
import iceberglite.tree.{FileSelector, ManifestCache, TestTable}
import iceberglite.tree.TestTable.nameOf
import iceberglite.tree.manifestlist.ManifestSamples

/** Tests which delete manifests a scan reads if each of them is affiliated to a data manifest. */
class AffiliatedDeletesSuite extends AnyFunSuite {

  /** Metrics of a file whose ids are from `id` to `id + 9`. */
  private def metrics(id: Long): Metrics = MetricMaps(
    valueCounts = Some(Map(1 -> 10L)),
    nullValueCounts = Some(Map(1 -> 0L)),
    lowerBounds = Some(Map(1 -> SingleValue.encode(LongLiteral(id)))),
    upperBounds = Some(Map(1 -> SingleValue.encode(LongLiteral(id + 9))))
  )

  private def data(name: String, id: Long): ContentFile = TestTable.file(name, metrics = metrics(id))

  private def vector(of: String): ContentFile = TestTable.positionDeletes(s"dv-$of", Some(of)).copy(
    format = FileFormat.Puffin,
    contentOffset = Some(4L),
    contentSizeInBytes = Some(40L)
  )

  /**
   * A table whose root lists only manifests: for each i from 0 to 3, a data manifest with the files a<i> and b<i>,
   * whose ids are from 100 * i, and a delete manifest with the deletion vector of a<i>.
   */
  private def newTable(cache: ManifestCache = ManifestCache.Disabled): TestTable = {
    val properties = Map("write.v4.root.max-data-files" -> "1")
    val t = new TestTable(ManifestSamples.schema, version = V4, properties = properties, cache = cache)
    (0L to 3L).foreach(i => t.append(data(s"a$i", 100 * i), data(s"b$i", 100 * i), vector(s"a$i")))
    t.append()
    t
  }

  private def rootOf(t: TestTable): RootFiles = t.files match {
    case Some(root: RootFiles) => root
    case other => throw new AssertionError(s"$other is not a root")
  }

  private def leaves(t: TestTable, content: EntryContent): Vector[ContentEntry] =
    rootOf(t).root.filter(_.content == content)

  /** Replaces the root of the current snapshot by one with other entries. */
  private def edit(t: TestTable)(change: ContentEntry => ContentEntry): Unit = {
    val path = s"mem:/t/metadata/edited-${t.io.paths.size}.parquet"
    val columns = RootSamples.columnsOf(t.metadata)
    t.io.write(path, RootManifests.write(path, ManifestKind.Root, columns, rootOf(t).root.map(change)))
    val current = t.metadata.currentSnapshot.get
    t.metadata =
      t.metadata.edited(snapshots = t.metadata.snapshots.init :+ current.copy(manifestList = Some(path)))
  }

  private def idIs(value: Long): Expression = Equal(Term.Named("id"), LongLiteral(value))

  private def plan(t: TestTable, filter: Expression, stats: StatsToKeep = StatsToKeep.All): ScanPlan =
    TableScan(t.tree, t.metadata.currentSnapshot, filter, true, ManifestCache.Disabled, stats).plan()

  /** Returns the names of the planned data files with those of their delete files. */
  private def names(plan: ScanPlan): Map[String, Set[String]] =
    plan.tasks.map(task => nameOf(task.file) -> task.deletes.map(d => nameOf(d.file)).toSet).toMap

  private def readsOf(t: TestTable)(body: => Unit): Int = {
    val before = t.io.reads.get
    body
    t.io.reads.get - before
  }

  private val ofOneLeaf = Map("a2" -> Set("dv-a2"), "b2" -> Set.empty[String])
  private val allStats = Seq(StatsToKeep.All, StatsToKeep.Of(Set.empty[Int]))

  test("a filter on a column that is no partition column skips the delete manifests of skipped data manifests") {
    val t = newTable()
    assert(leaves(t, EntryContent.DataManifest).size == 4 && rootOf(t).root.size == 8)
    assert(leaves(t, EntryContent.DeleteManifest).flatMap(_.referencedFile).distinct.size == 4)
    allStats.foreach { stats =>
      val reads = readsOf(t) {
        val found = plan(t, idIs(205), stats)
        assert(names(found) == ofOneLeaf)
        assert(found.report.deletes.readManifests == 1 && found.report.deletes.totalManifests == 4)
      }
      assert(reads == 3, "the root, a data manifest and a delete manifest")
      assert(names(plan(t, AlwaysTrue, stats)) ==
        (0 to 3).flatMap(i => Seq(s"a$i" -> Set(s"dv-a$i"), s"b$i" -> Set.empty[String])).toMap)
    }
  }

  test("a delete manifest whose data manifest is read, but has no matching file, is not read") {
    val t = newTable()
    t.append(data("c", 100), data("d", 300), vector("c"))
    t.append()
    assert(leaves(t, EntryContent.DeleteManifest).flatMap(_.referencedFile).distinct.size == 5)
    val found = plan(t, idIs(205))
    assert(found.report.totalManifests - found.report.skippedManifests == 2)
    assert(names(found) == ofOneLeaf && found.report.deletes.readManifests == 1)
  }

  test("deletion vectors that the root lists apply to files of each data manifest, and replace those of leaves") {
    val t = newTable()
    t.commit(Vector(vector("b2")))
    assert(names(plan(t, idIs(205))) == Map("a2" -> Set("dv-a2"), "b2" -> Set("dv-b2")))
  }

  test("an affiliation to a manifest that the root does not list does not omit deletes") {
    val t = newTable()
    edit(t)(e => if (e.content == EntryContent.DeleteManifest) e.copy(referencedFile = Some("mem:/gone")) else e)
    val found = plan(t, idIs(205))
    // The first delete manifest is older than the data file, so that its deletes cannot apply.
    assert(names(found) == ofOneLeaf && found.report.deletes.readManifests == 3)
  }

  test("equality deletes in a manifest that is affiliated to one data manifest also apply to files of others") {
    val t = newTable()
    t.metadata = t.metadata.edited(properties = t.metadata.properties + ("write.v4.root.max-delete-entries" -> "1"))
    t.append(Seq("p", "q").map(TestTable.equalityDeletes(_).copy(metrics = metrics(200))): _*)
    t.append()
    val other = leaves(t, EntryContent.DataManifest).head.location
    val unaffiliated = leaves(t, EntryContent.DeleteManifest).filter(_.referencedFile.isEmpty)
    assert(unaffiliated.map(_.recordCount) == Vector(2L))
    edit(t)(e => if (unaffiliated.map(_.location).contains(e.location)) e.copy(referencedFile = Some(other)) else e)
    assert(leaves(t, EntryContent.DeleteManifest).forall(_.referencedFile.isDefined))
    val found = plan(t, idIs(205))
    assert(names(found) == Map("a2" -> Set("dv-a2", "p", "q"), "b2" -> Set("p", "q")))
    assert(found.tasks.flatMap(_.deletes).exists(_.file.content == Content.EqualityDeletes))
    assert(found.report.deletes.readManifests == 2)
    // A later commit, which may merge the manifest with others, does not repeat the contradictory affiliation.
    t.append(data("z", 900))
    val carriedOver = leaves(t, EntryContent.DeleteManifest).filter(e => e.location == unaffiliated.head.location)
    assert(carriedOver.map(_.referencedFile) == Vector(None))
    assert(names(plan(t, idIs(205))) == Map("a2" -> Set("dv-a2", "p", "q"), "b2" -> Set("p", "q")))
  }

  /** Removes the given data files, which have the id, as a delete or an overwrite by an expression does. */
  private def removing(t: TestTable, id: Long, names: String*): FileSelector = new FileSelector {
    private val filter = new FileFilter(Bind(idIs(id), t.metadata.schema, true), t.tree.specs)
    override def mightMatch(part: PartSummary): Boolean =
      part.content == ManifestContent.Data && part.hasLiveFiles && filter.mightMatch(part)
    override def removes(entry: ManifestEntry): Boolean = names.contains(nameOf(entry.file))
  }

  test("with a cached root, a commit reads only the manifests from which it removes files, of both kinds") {
    def commit(id: Long, removed: Option[String], added: ContentFile*): (Int, Set[String]) = {
      val t = newTable(new ManifestCache(64L << 20))
      val before = t.live.map(e => nameOf(e.file)).toSet
      val fresh = new TestTable(ManifestSamples.schema, version = V4, cache = new ManifestCache(64L << 20), io = t.io)
      fresh.metadata = t.metadata
      assert(fresh.files.map(_.parts.size).contains(8))
      val selector = removed.fold[FileSelector](FileSelector.NoFiles)(removing(t, id, _))
      val reads = readsOf(fresh) {
        fresh.commit(added.toVector, selector)
        ()
      }
      (reads, before.diff(fresh.live.map(e => nameOf(e.file)).toSet))
    }
    assert(commit(0, None, data("e", 500)) == ((0, Set.empty)))
    assert(commit(0, None, vector("b1"), data("e", 500)) == ((0, Set.empty)))
    assert(commit(205, Some("a2")) == ((2, Set("a2", "dv-a2"))))
    assert(commit(205, Some("b2")) == ((2, Set("b2"))))
    assert(commit(105, Some("a1"), data("e", 100)) == ((2, Set("a1", "dv-a1"))))
    assert(commit(999, Some("a1")) == ((0, Set.empty)))
  }
}
