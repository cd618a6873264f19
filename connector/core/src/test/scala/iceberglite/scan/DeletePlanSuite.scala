package iceberglite.scan

import org.apache.iceberg.PeerDeletes
import org.scalacheck.Gen
import org.scalactic.anyvals.PosInt
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.spec.TestMetadata._
import iceberglite.{MoreRoundsInSlowTier, Sampling}
import iceberglite.conformance.ScanRules
import iceberglite.peer.PeerFiles
import iceberglite.spec.FormatVersion
import iceberglite.spec.expr.{Bind, Evaluate, Expression, Term}
import iceberglite.spec.expr.Expression._
import iceberglite.spec.file.{Content, ContentFile, FileFormat, ManifestContent, MetricMaps, Metrics}
import iceberglite.spec.partition.{Bucket, Identity, PartitionField, PartitionSpec, PartitionTuple, Void}
import iceberglite.spec.schema.{MetadataColumns, Schema}
import iceberglite.spec.types.{Literal, NestedField, SingleValue}
import iceberglite.spec.types.Literal.{LongLiteral, StringLiteral}
import iceberglite.spec.types.Type.{LongType, StringType}
import iceberglite.tree.{ManifestCache, TestTable}

/**
 * Plans scans of random snapshots with delete files. The planned deletes are compared with applying every delete file
 * to every row, and with the delete files that Apache Iceberg plans.
 */
@MoreRoundsInSlowTier
class DeletePlanSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** The number of random plans of a test in the slow tier. */
  protected def allPlans: Int = 150

  private val plans: Int = if (Sampling.isFast) 30 else allPlans

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = PosInt.ensuringValid(plans))

  private type Row = Map[Int, Option[Literal]]

  private val schema =
    Schema(0, Vector(NestedField.optional(1, "id", LongType), NestedField.optional(2, "category", StringType)))
  private val specs = Vector(
    PartitionSpec(0, Vector(PartitionField(2, 1000, "category", Identity))),
    PartitionSpec(1, Vector.empty),
    PartitionSpec(
      2,
      Vector(PartitionField(2, 1000, "category", Identity), PartitionField(1, 1001, "id_bucket", Bucket(2)))
    ),
    PartitionSpec(3, Vector(PartitionField(2, 1000, "category", Void)))
  )
  private val specOf = specs.map(s => s.specId -> s).toMap

  /** A data file with its rows. */
  private case class Data(file: ContentFile, rows: Vector[Row], commit: Int)
  private case class Deletes(file: ContentFile, commit: Int, positions: Set[(String, Int)], keys: Vector[Row])
  private case class Snapshot(data: Vector[Data], deletes: Vector[Deletes])

  /** The commit that upgrades a version 3 table from version 2. Earlier commits can add position delete files. */
  private val upgrade = 3

  private val row: Gen[Row] = for {
    id <- Gen.frequency(6 -> Gen.choose(0L, 6L).map(n => Some(LongLiteral(n))), 1 -> Gen.const(None))
    category <- Gen.frequency(6 -> Gen.oneOf("a", "b").map(s => Some(StringLiteral(s))), 1 -> Gen.const(None))
  } yield Map(1 -> id, 2 -> category)

  private def tuple(spec: PartitionSpec, row: Row): PartitionTuple =
    PartitionTuple(spec.fields.map(f => row(f.sourceId).flatMap(f.transform(_))))

  private def metrics(ids: Vector[Int], rows: Vector[Row]): Metrics = {
    val values = ids.map(id => id -> rows.flatMap(_(id))).toMap
    val present = values.filter(_._2.nonEmpty)
    MetricMaps(
      valueCounts = Some(ids.map(_ -> rows.size.toLong).toMap),
      nullValueCounts = Some(values.map { case (id, vs) => id -> (rows.size - vs.size).toLong }),
      lowerBounds = Some(present.map { case (id, vs) => id -> SingleValue.encode(vs.min(Literal.ordering)) }),
      upperBounds = Some(present.map { case (id, vs) => id -> SingleValue.encode(vs.max(Literal.ordering)) })
    )
  }

  private def paths(of: Set[String]): Metrics = MetricMaps(
    lowerBounds = Some(Map(MetadataColumns.DeleteFilePath.id -> SingleValue.encode(StringLiteral(of.min)))),
    upperBounds = Some(Map(MetadataColumns.DeleteFilePath.id -> SingleValue.encode(StringLiteral(of.max))))
  )

  private def data(name: String, commit: Int, measured: Boolean): Gen[Data] = for {
    spec <- Gen.oneOf(specs)
    first <- row
    more <- Gen.choose(0, 5).flatMap(Gen.listOfN(_, row))
  } yield {
    val partition = tuple(spec, first)
    val rows = (first +: more.toVector).filter(tuple(spec, _) == partition)
    val stats = if (measured) metrics(Vector(1, 2), rows) else Metrics.Empty
    Data(TestTable.file(name, partition, spec.specId, rows.size.toLong, metrics = stats), rows, commit)
  }

  /** Generates position deletes on some data files of one partition, including data files of the same commit. */
  private def positions(name: String, commit: Int, allData: Vector[Data], measured: Boolean): Gen[Deletes] = for {
    target <- Gen.oneOf(allData)
    ofSamePartition = allData.filter { d =>
      d.file.specId == target.file.specId && d.file.partition == target.file.partition
    }
    files <- Gen.atLeastOne(ofSamePartition).map(_.toVector)
    deletedPositions <- Gen.sequence[Vector[(String, Int)], (String, Int)](
      files.map(d => Gen.choose(0, d.rows.size - 1).map(d.file.path -> _))
    )
    isReferenced <- Gen.oneOf(true, false)
  } yield {
    val entry = TestTable.positionDeletes(name, partition = target.file.partition).copy(
      specId = target.file.specId,
      referencedDataFile = if (files.size == 1 && isReferenced) Some(files.head.file.path) else None,
      metrics = if (measured) paths(files.map(_.file.path).toSet) else Metrics.Empty
    )
    Deletes(entry, commit, deletedPositions.toSet, Vector.empty)
  }

  private def vector(name: String, commit: Int, of: Data): Gen[Deletes] =
    Gen.choose(0, of.rows.size - 1).map { position =>
      val entry = TestTable.positionDeletes(name, partition = of.file.partition).copy(
        specId = of.file.specId,
        format = FileFormat.Puffin,
        referencedDataFile = Some(of.file.path),
        contentOffset = Some(4L),
        contentSizeInBytes = Some(40L),
        recordCount = 1
      )
      Deletes(entry, commit, Set(of.file.path -> position), Vector.empty)
    }

  private def equality(name: String, commit: Int, measured: Boolean): Gen[Deletes] = for {
    spec <- Gen.oneOf(specs)
    ids <- Gen.oneOf(Vector(1), Vector(2), Vector(1, 2), Vector(2, 1))
    first <- row
    more <- Gen.choose(0, 2).flatMap(Gen.listOfN(_, row))
  } yield {
    val partition = tuple(spec, first)
    val keys = (first +: more.toVector).filter(tuple(spec, _) == partition)
    // The metrics cover all columns of the rows, and not only the key columns.
    val stats = if (measured) metrics(Vector(1, 2), keys) else Metrics.Empty
    val entry = TestTable.equalityDeletes(name, partition, spec.specId)
      .copy(equalityIds = ids, metrics = stats, recordCount = keys.size.toLong)
    Deletes(entry, commit, Set.empty, keys)
  }

  private def snapshots(version: FormatVersion, measured: Gen[Boolean]): Gen[Snapshot] = for {
    commits <- Gen.choose(1, 5)
    all <- (1 to commits).foldLeft(Gen.const(Snapshot(Vector.empty, Vector.empty)))((before, n) =>
      before.flatMap(commit(version, measured, n, _))
    )
  } yield all

  private def commit(version: FormatVersion, measured: Gen[Boolean], n: Int, before: Snapshot): Gen[Snapshot] = for {
    added <- Gen.choose(1, 3).flatMap(k => sequence((1 to k).map(i => measured.flatMap(data(s"f$n$i", n, _)))))
    allData = before.data ++ added
    equal <- Gen.choose(0, 2).flatMap(k => sequence((1 to k).map(i => measured.flatMap(equality(s"e$n$i", n, _)))))
    isUpgraded = version >= FormatVersion.V3 && n >= upgrade
    positional <- Gen.choose(0, if (isUpgraded) 0 else 2).flatMap(k =>
      sequence((1 to k).map(i => measured.flatMap(positions(s"p$n$i", n, allData, _))))
    )
    withoutVector = allData.filterNot(d => before.deletes.exists(_.file.referencedDataFile.contains(d.file.path)))
    withNewVector <- Gen.someOf(withoutVector)
    vectors <- if (!isUpgraded) Gen.const(Vector.empty)
    else sequence(withNewVector.toVector.zipWithIndex.map { case (d, i) => vector(s"v$n$i", n, d) })
  } yield Snapshot(allData, before.deletes ++ equal ++ positional ++ vectors)

  private def sequence[A](generators: Seq[Gen[A]]): Gen[Vector[A]] =
    generators.foldLeft(Gen.const(Vector.empty[A]))((done, next) => done.flatMap(d => next.map(d :+ _)))

  private val filters: Gen[Expression] = {
    val id = Gen.choose(0L, 6L).flatMap(n =>
      Gen.oneOf(
        Equal(Term.Named("id"), LongLiteral(n)),
        GreaterThan(Term.Named("id"), LongLiteral(n)),
        IsNull(Term.Named("id"))
      )
    )
    val category = Gen.oneOf("a", "b").flatMap(s =>
      Gen.oneOf(Equal(Term.Named("category"), StringLiteral(s)), NotNull(Term.Named("category")))
    )
    Gen.oneOf(
      Gen.const(AlwaysTrue),
      id,
      category,
      for (i <- id; c <- category) yield And(i, c),
      for (i <- id; c <- category) yield Or(i, c)
    )
  }

  private def table(snapshot: Snapshot, version: FormatVersion): TestTable = {
    val t = new TestTable(schema, specs, FormatVersion.V2)
    (snapshot.data.map(_.commit) ++ snapshot.deletes.map(_.commit)).distinct.sorted.foreach { n =>
      if (version >= FormatVersion.V3 && n >= upgrade) t.metadata = t.metadata.edited(formatVersion = version)
      val files = snapshot.data.filter(_.commit == n).map(_.file) ++ snapshot.deletes.filter(_.commit == n).map(_.file)
      t.append(files: _*)
    }
    if (version == FormatVersion.V2) t.upgrade()
    t
  }

  /** Returns whether the delete file applies to the data file, by the rules of the specification. */
  private def applies(d: Deletes, data: Data, hasVector: Boolean): Boolean = {
    val samePartition = d.file.specId == data.file.specId && d.file.partition == data.file.partition
    val ofFile = d.file.referencedDataFile.forall(_ == data.file.path)
    d.file.content match {
      case Content.EqualityDeletes =>
        data.commit < d.commit && (samePartition || !specOf(d.file.specId).isPartitioned)
      case _ => data.commit <= d.commit && samePartition && ofFile && (d.file.isDeletionVector || !hasVector)
    }
  }

  private def deletes(d: Deletes, data: Data, position: Int): Boolean =
    d.positions.contains(data.file.path -> position) ||
      d.keys.exists(key => d.file.equalityIds.forall(id => key(id) == data.rows(position)(id)))

  private def hasVector(s: Snapshot, data: Data): Boolean =
    s.deletes.exists(d => d.file.isDeletionVector && d.file.referencedDataFile.contains(data.file.path))

  private def plan(t: TestTable, filter: Expression): ScanPlan = {
    val scan =
      TableScan(t.table.tree(schema), t.metadata.currentSnapshot, filter, caseSensitive = true, ManifestCache.Disabled)
    val plan = scan.plan()
    def deletes(p: ScanPlan) = p.tasks.map(t => t.file.path -> t.deletes.map(d => (d.location, d.keys)))
    // A plan that keeps few statistics reads the delete files first, even if it then finds no data file.
    def report(p: ScanPlan) = p.report.copy(deletes = DeleteReport.Empty)
    Seq(ManifestContent.all.toSet, Set[ManifestContent](ManifestContent.Deletes)).foreach { elsewhere =>
      val other =
        scan.copy(cluster = Some(new CopyingCluster(elsewhere)), statsToKeep = StatsToKeep.Of(Set.empty)).plan()
      assert(deletes(other) == deletes(plan) && report(other) == report(plan))
    }
    plan
  }

  private var skippedDeletes = 0L

  private def checkRows(version: FormatVersion): Unit =
    forAll(snapshots(version, Gen.oneOf(true, false)), filters) { (snapshot, filter) =>
      val tasks = plan(table(snapshot, version), filter).tasks.map(t => t.file.path -> t).toMap
      val holds = Evaluate.rows[Row](Bind(filter, schema, caseSensitive = true), id => _(id))
      snapshot.data.foreach { data =>
        val scoped = snapshot.deletes.filter(applies(_, data, hasVector(snapshot, data)))
        val planned = tasks.get(data.file.path).toVector.flatMap(_.deletes.map(_.file.path)).toSet
        assert(planned.subsetOf(scoped.map(_.file.path).toSet), data)
        skippedDeletes += scoped.size - planned.size
        data.rows.indices.filter(i => holds(data.rows(i))).foreach { i =>
          assert(tasks.contains(data.file.path))
          val (skipped, applied) = scoped.partition(d => !planned(d.file.path))
          assert(!skipped.exists(deletes(_, data, i)) || applied.exists(deletes(_, data, i)), s"row $i of $data")
        }
      }
    }

  test(
    "in version 2, the planned delete files remove the same rows as all applicable delete files",
    ScanRules.deletesByBounds,
    ScanRules.deletesByFilter,
    ScanRules.positionsByPath
  )(checkRows(FormatVersion.V2))

  test(
    "in version 3, the planned deletion vectors and delete files remove the same rows as all applicable ones",
    ScanRules.vectorBeforePositions
  )(checkRows(FormatVersion.V3))

  test("the random plans skip many delete files") {
    assert(skippedDeletes > (if (Sampling.isFast) 50 else plans * 10 / 3))
  }

  private def plannedLocations(t: TestTable): Map[String, Set[(String, Option[Long])]] =
    plan(t, AlwaysTrue).tasks.map(task => task.file.path -> task.deletes.map(_.location).toSet).toMap

  private def checkPeer(version: FormatVersion, measured: Boolean)(check: (Set[_], Set[_]) => Unit): Unit =
    forAll(snapshots(version, Gen.const(measured))) { snapshot =>
      val planned = plannedLocations(table(snapshot, version))
      val peerSpecs = specs.map(s => s.specId -> PeerFiles.spec(s, schema)).toMap
      val index = PeerDeletes.index(
        snapshot.deletes.map(d => d.commit.toLong -> PeerFiles.deleteFile(d.file, peerSpecs(d.file.specId))),
        peerSpecs,
        Map(0 -> PeerFiles.schema(schema))
      )
      snapshot.data.foreach { data =>
        val theirs = index(data.commit.toLong, PeerFiles.dataFile(data.file, peerSpecs(data.file.specId)))
        check(planned(data.file.path), theirs)
      }
    }

  Seq(FormatVersion.V2, FormatVersion.V3).foreach { version =>
    test(
      s"without metrics, the planned delete files of version $version equal those of Apache Iceberg",
      ScanRules.equalityPartition,
      ScanRules.positionPartition
    ) {
      checkPeer(version, measured = false)((planned, theirs) => assert(planned == theirs))
    }

    test(s"with metrics, every delete file that Apache Iceberg skips in version $version is also skipped") {
      checkPeer(version, measured = true)((planned, theirs) => assert(planned.toSet[Any].subsetOf(theirs.toSet[Any])))
    }
  }
}
