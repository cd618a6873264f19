package iceberglite.scan

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.expr.Expression.{AlwaysTrue, GreaterThan}
import iceberglite.spec.file.{ContentFile, MetricMaps, Metrics}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, SingleValue}
import iceberglite.spec.types.Literal.{IntLiteral, StringLiteral}
import iceberglite.spec.types.Type.{IntType, StringType}
import iceberglite.tree.{ManifestCache, TestTable}
import iceberglite.tree.TestTable._

/** Tests which metrics the files of a scan plan keep in memory. */
class StatsToKeepSuite extends AnyFunSuite {
  private val schema =
    Schema(0, Vector(NestedField.required(1, "id", IntType), NestedField.optional(2, "category", StringType)))

  private val metrics = MetricMaps(
    columnSizes = Some(Map(1 -> 40L, 2 -> 50L)),
    valueCounts = Some(Map(1 -> 10L, 2 -> 10L)),
    nullValueCounts = Some(Map(1 -> 0L, 2 -> 3L)),
    lowerBounds = Some(Map(1 -> SingleValue.encode(IntLiteral(1)), 2 -> SingleValue.encode(StringLiteral("a")))),
    upperBounds = Some(Map(1 -> SingleValue.encode(IntLiteral(9)), 2 -> SingleValue.encode(StringLiteral("c"))))
  )

  private def tableOf(files: Int): TestTable = {
    val t = new TestTable(schema)
    t.append((0 until files).map(i => file(s"f$i", metrics = metrics)): _*)
    t
  }

  private def plan(t: TestTable, keeps: StatsToKeep, filter: Expression = AlwaysTrue): ScanPlan =
    TableScan(
      t.table.tree(schema),
      t.metadata.currentSnapshot,
      filter,
      caseSensitive = true,
      ManifestCache.Disabled,
      keeps
    ).plan()

  private def isKnown(plan: ScanPlan, id: Int): Boolean = plan.tasks.forall { task =>
    val (own, all) = (task.file.metrics, metrics)
    own.columnSize(id) == all.columnSize(id) && own.valueCount(id) == all.valueCount(id) &&
    own.nullValueCount(id) == all.nullValueCount(id) && own.lowerBound(id) == all.lowerBound(id) &&
    own.upperBound(id) == all.upperBound(id)
  }

  test("files keep only the metrics of the requested columns and of the columns in the filter") {
    val t = tableOf(5)
    val none = plan(t, StatsToKeep.Of(Set.empty))
    assert(none.tasks.size == 5 && none.tasks.forall(_.file.metrics eq Metrics.Empty))
    val requested = plan(t, StatsToKeep.Of(Set(2)))
    assert(isKnown(requested, 2) && requested.statsToKeep.hasAll(Set(2)) && !requested.statsToKeep.hasAll(Set(1, 2)))
    assert(requested.tasks.forall(_.file.metrics.lowerBounds.exists(_.keySet == Set(2))))
    val filtered = plan(t, StatsToKeep.Of(Set(2)), GreaterThan(Term.Named("id"), IntLiteral(5)))
    assert(filtered.statsToKeep.hasAll(Set(1, 2)) && isKnown(filtered, 1) && isKnown(filtered, 2))
  }

  test("all metrics are kept if the total size of the manifests is below a limit") {
    val t = tableOf(5)
    val bytes = t.manifests.map(_.length).sum
    val small = plan(t, StatsToKeep.Of(Set.empty, fromBytes = bytes + 1))
    assert(small.statsToKeep == StatsToKeep.All && isKnown(small, 1) && isKnown(small, 2))
    assert(!plan(t, StatsToKeep.Of(Set.empty, fromBytes = bytes)).statsToKeep.hasAll(Set(1)))
  }

  test("equality deletes are skipped by bounds even if no metrics are kept") {
    val t = tableOf(2)
    def keyed(name: String, low: Int): ContentFile = equalityDeletes(name).copy(metrics =
      MetricMaps(
        valueCounts = Some(Map(1 -> 1L)),
        nullValueCounts = Some(Map(1 -> 0L)),
        lowerBounds = Some(Map(1 -> SingleValue.encode(IntLiteral(low)))),
        upperBounds = Some(Map(1 -> SingleValue.encode(IntLiteral(low + 1))))
      )
    )
    t.append(keyed("near", 5), keyed("far", 50))
    Seq(StatsToKeep.All, StatsToKeep.Of(Set.empty)).foreach { keeps =>
      assert(plan(t, keeps).tasks.map(_.deletes.map(d => nameOf(d.file))) == Vector.fill(2)(Vector("near")))
    }
  }

  test("a cluster sends fewer than 20 bytes per file for a plan of 100000 files without metrics", Slow) {
    val t = tableOf(100000)
    val cluster = new CopyingCluster
    val keeps = StatsToKeep.Of(Set.empty)
    val found = TableScan(
      t.table.tree(schema),
      t.metadata.currentSnapshot,
      AlwaysTrue,
      caseSensitive = true,
      ManifestCache.Disabled,
      keeps,
      Some(cluster)
    ).plan()
    assert(found.tasks.size == 100000 && found.tasks.forall(_.file.metrics eq Metrics.Empty))
    assert(cluster.resultBytes < 100000 * 20L, "similar paths compress well, and metrics are not sent")
  }
}
