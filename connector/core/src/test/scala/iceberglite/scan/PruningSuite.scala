package iceberglite.scan

import org.scalacheck.Gen
import org.scalactic.anyvals.PosInt
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.{MoreRoundsInSlowTier, Sampling}
import iceberglite.spec.FormatVersion
import iceberglite.spec.expr.{Bind, Evaluate, Expression, ExpressionGenerators, PartitionSpecs}
import iceberglite.spec.expr.ExpressionGenerators.Row
import iceberglite.spec.file.{MetricMaps, Metrics}
import iceberglite.spec.partition.{Bucket, Day, Identity, PartitionSpec, Truncate, UnknownTransform, Year}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, SingleValue}
import iceberglite.spec.types.Literal.{DoubleLiteral, FloatLiteral}
import iceberglite.tree.{ManifestCache, TestTable}
import iceberglite.tree.TestTable.file

/** Plans scans of random files, and compares the plans with the result of evaluating the filter for every row. */
@MoreRoundsInSlowTier
class PruningSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** The number of random plans of a test in the slow tier. */
  protected def allPlans: Int = 400

  private val plans: Int = if (Sampling.isFast) 50 else allPlans

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = PosInt.ensuringValid(plans))

  private case class Case(
      columns: Vector[NestedField],
      specs: Vector[PartitionSpec],
      commits: Vector[Vector[Batch]],
      filter: Expression
  )

  /** Rows to write with a partition spec, to one file per partition. */
  private case class Batch(spec: PartitionSpec, rows: Vector[Row], withMetrics: Boolean)

  private val cases: Gen[Case] = for {
    count <- Gen.choose(1, 4)
    columns <- Gen.pick(count, ExpressionGenerators.columns).map(_.toVector)
    random <- Gen.choose(1, 3).flatMap(Gen.listOfN(_, PartitionSpecs.random(columns)))
    specs = random.zipWithIndex.map { case (spec, id) => numbered(withoutUnknown(spec), id) }.toVector
    batch = for {
      spec <- Gen.oneOf(specs)
      rows <- Gen.choose(1, 12).flatMap(Gen.listOfN(_, ExpressionGenerators.row(columns)))
      withMetrics <- Gen.frequency(5 -> true, 1 -> false)
    } yield Batch(spec, rows.toVector, withMetrics)
    commits <- Gen.choose(1, 4).flatMap(Gen.listOfN(_, Gen.choose(1, 3).flatMap(Gen.listOfN(_, batch)).map(_.toVector)))
    filter <- ExpressionGenerators.condition(columns, Seq(Identity, Bucket(3), Truncate(2), Day, Year))
  } yield Case(columns, specs, commits.toVector, filter)

  /** Removes fields with unknown transforms, because data cannot be written with them. */
  private def withoutUnknown(spec: PartitionSpec): PartitionSpec =
    spec.copy(fields = spec.fields.filterNot(_.transform.isInstanceOf[UnknownTransform]))

  private def numbered(spec: PartitionSpec, id: Int): PartitionSpec = PartitionSpec(
    id,
    spec.fields.zipWithIndex.map { case (f, i) => f.copy(fieldId = 1000 + id * 10 + i, name = s"p${id}_$i") }
  )

  private def isNan(value: Literal): Boolean = value match {
    case FloatLiteral(v) => v.isNaN
    case DoubleLiteral(v) => v.isNaN
    case _ => false
  }

  private def metrics(columns: Vector[NestedField], rows: Vector[Row]): Metrics = {
    val values = columns.map(c => c.id -> rows.flatMap(_(c.id))).toMap
    val ordinary = values.mapValues(_.filterNot(isNan)).filter(_._2.nonEmpty)
    MetricMaps(
      valueCounts = Some(columns.map(_.id -> rows.size.toLong).toMap),
      nullValueCounts = Some(values.map { case (id, vs) => id -> (rows.size - vs.size).toLong }),
      nanValueCounts = Some(values.map { case (id, vs) => id -> vs.count(isNan).toLong }),
      lowerBounds = Some(ordinary.map { case (id, vs) => id -> SingleValue.encode(vs.min(Literal.ordering)) }),
      upperBounds = Some(ordinary.map { case (id, vs) => id -> SingleValue.encode(vs.max(Literal.ordering)) })
    )
  }

  private var skippedManifests, prunedFiles, checked = 0L

  private def check(c: Case, version: FormatVersion, cache: ManifestCache): Unit = {
    val schema = Schema(0, c.columns)
    val t = new TestTable(schema, c.specs, version, cache = cache)
    var rowsOf = Map.empty[String, Vector[Row]]
    c.commits.foreach { batches =>
      val files = batches.flatMap(b => b.rows.groupBy(PartitionSpecs.tuple(b.spec, _)).map(b -> _)).map {
        case (b, (tuple, rows)) =>
          val stats = if (b.withMetrics) metrics(c.columns, rows) else Metrics.Empty
          val f = file(s"f${rowsOf.size}", tuple, b.spec.specId, rows.size.toLong, metrics = stats)
          rowsOf += f.path -> rows
          f
      }
      t.append(files: _*)
    }
    val plan = TableScan(t.table.tree(schema), t.metadata.currentSnapshot, c.filter, caseSensitive = true, cache).plan()
    val bound = Bind(c.filter, schema, caseSensitive = true)
    def holds(e: Expression, row: Row): Boolean = Evaluate.rows[Row](e, id => _(id)).apply(row)
    val residuals = plan.tasks.map(task => task.file.path -> task.residual).toMap
    rowsOf.foreach { case (path, rows) =>
      rows.foreach(row => assert(residuals.get(path).exists(holds(_, row)) == holds(bound, row), s"$row of $path"))
    }
    assert(plan.report.totalFiles.contains(rowsOf.size.toLong))
    assert(plan.report.resultFiles == plan.tasks.size)
    skippedManifests += plan.report.skippedManifests
    prunedFiles += plan.report.prunedFiles
    val inOrder = t.live.map(_.file.path).filter(residuals.contains)
    assert(plan.tasks.map(_.file.path) == inOrder)
    val scan = TableScan(t.table.tree(schema), t.metadata.currentSnapshot, c.filter, caseSensitive = true, cache)
    checked += 1
    if (checked % 5 == 0) checkCluster(scan, plan)
    checkStopped(scan, plan)
  }

  /** Checks that planning on a cluster gives the same tasks, with or without metrics. */
  private def checkCluster(scan: TableScan, plan: ScanPlan): Unit = {
    // A plan made on a cluster does not state which snapshot added a file.
    def comparable(p: ScanPlan) =
      p.tasks.map(t => t.copy(file = t.file.copy(metrics = Metrics.Empty), addedBy = 0L))
    val onCluster = scan.copy(cluster = Some(new CopyingCluster)).plan()
    assert(comparable(onCluster) == comparable(plan) && onCluster.report == plan.report)
    def metrics(p: ScanPlan) = p.tasks.map(_.file.metrics).map { m =>
      (m.nullValueCounts.map(_.toVector.sorted), m.lowerBounds.map(_.toVector.sortBy(_._1)))
    }
    assert(metrics(onCluster) == metrics(plan))
    val withoutStats = scan.copy(cluster = Some(new CopyingCluster), statsToKeep = StatsToKeep.Of(Set.empty)).plan()
    assert(comparable(withoutStats) == comparable(plan) && withoutStats.report == plan.report)
  }

  /** Checks that a plan for a limited number of rows is the shortest prefix of the whole plan with enough rows. */
  private def checkStopped(scan: TableScan, plan: ScanPlan): Unit = Seq(0L, 1L, 5L, 40L).foreach { rows =>
    val stopped = scan.plan(Some(rows))
    val guaranteed = plan.tasks.scanLeft(0L)(_ + _.guaranteedRecords)
    assert(stopped.tasks.size == plan.tasks.indices.count(guaranteed(_) < rows), s"planned for $rows rows")
    assert(stopped.tasks.map(_.file.path) == plan.tasks.map(_.file.path).take(stopped.tasks.size))
    assert(stopped.report.totalFiles == plan.report.totalFiles)
    assert(stopped.report.resultRecords == stopped.tasks.map(_.file.recordCount).sum)
  }

  FormatVersion.all.foreach { version =>
    test(s"a plan of a version $version table contains every matching row, and residuals match the same rows") {
      forAll(cases)(check(_, version, ManifestCache.Disabled))
    }
  }

  test("a plan from cached manifests contains every matching row, and residuals match the same rows") {
    forAll(cases)(check(_, FormatVersion.V2, new ManifestCache(1 << 20)))
  }

  test("the random plans skip many files and manifests") {
    val least = if (Sampling.isFast) 10 else plans / 4
    assert(skippedManifests > least && prunedFiles > 5 * least)
  }
}
