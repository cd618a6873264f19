package iceberglite.bench.version4

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.{V2, V3, V4}
import iceberglite.spec.property.Version4Property

/** Tests the cost model and the goals of the benchmark of version 4 on small tables. */
class Version4BenchSuite extends AnyFunSuite {
  private val columns = 10

  private def table(version: FormatVersion, files: Int): BenchTable =
    new BenchTable(version, new SyntheticFiles(columns, files), files)

  private def bytesOf(kind: CommitKind, of: BenchTable): Long = CommitCost.of(kind, of, latencyMs = 0).warm.writtenBytes

  test("the shape of a tree has the files of its root and of its manifests") {
    val small = TreeShape.of(table(V4, Version4Property.MaxDataFiles.default))
    assert(small.files == 64 && small.inlineFiles == 64 && small.manifests == 0 && small.topBytes > 0)
    val lists = TreeShape.of(table(V3, 1000))
    assert(lists.inlineFiles == 0 && lists.manifests == 51 && lists.largestManifest == 900)
    val leaves = TreeShape.of(table(V4, 1000))
    assert(leaves.manifests > 0 && leaves.largestManifest >= 900 && leaves.inlineFiles <= 64)
  }

  for (version <- Seq(V2, V3, V4))
    test(s"the model of version $version predicts the bytes of commits to a table of twice the size") {
      val calibration = table(version, 1000)
      val model = CostModel.of(
        version,
        TreeShape.of(table(version, 1)),
        TreeShape.of(table(version, Version4Property.MaxDataFiles.default)),
        TreeShape.of(calibration),
        bytesOf(CommitKind.AppendOne, calibration)
      )
      val larger = table(version, 2000)
      Seq(CommitKind.AppendOne, CommitKind.DeleteOne, CommitKind.DeleteRandom).foreach { kind =>
        val (predicted, measured) = (model.bytes(kind, 2000.0).get, bytesOf(kind, larger).toDouble)
        assert(predicted > measured / 1.5 && predicted < measured * 1.5, s"${kind.name}: $predicted, $measured")
      }
      assert(CommitKind.all.flatMap(model.bytes(_, 2000.0)).size == 3)
    }

  test("in the model, new leaves of large tables are larger, so that the root grows slower than the table") {
    // The parameters are those of the table with 100,000 files and 50 columns in docs/v4-benchmarks.md.
    val model = RootModel(35411.0, 1022.0, 924.0, 743.0, 46.0)
    assert(math.abs(model.top(1e8) / 5.8e6 - 1) < 0.02)
    assert(model.top(2e7) / model.top(1e7) > 1.8 && model.top(2e8) / model.top(1e8) < 1.5)
  }

  test("vectors in Puffin files make appends smaller and plans read more files than vectors in the root") {
    val Seq(inline, puffin) = Seq(true, false).map(VectorSizes.of(columns, removed = 1000, _, files = 10000))
    assert(inline.appendBytes > puffin.appendBytes + 1000 && inline.appendFiles == VectorSizes.Appends)
    assert(puffin.appendFiles > inline.appendFiles && puffin.planRequests > inline.planRequests)
  }

  /** Invented measurements of a table. @param files the number of files that each commit writes */
  private def measured(version: FormatVersion, files: Long, append: Long, delete: Long, manifests: Long): Measured = {
    def cost(kind: CommitKind, bytes: Long) = {
      val requests = Requests(1L, 1L, files, bytes, bytes, 0L, 0.0)
      CommitCost(kind.name, requests, requests, 10.0, 10.0, 10.0, 10.0)
    }
    val shape = TreeShape(100000L, append, 64L, manifests, 1000L, 100000L, 100000L * manifests)
    val commits = Vector(cost(CommitKind.AppendOne, append), cost(CommitKind.DeleteOne, delete))
    val plans = Vector(PlanCost(PlanKind.Clustered.name, 1, manifests, 1L, 1L, 10.0, 10.0, 10.0, 1L))
    Measured(version, columns, shape, commits, plans)
  }

  private def met(three: Measured, four: Measured, model: CostModel): Map[String, Boolean] =
    Goals.of(Vector(three, four), Vector.empty, Map(columns -> model)).map(goal => goal.name -> goal.isMet).toMap

  private val smallRoot = RootModel(3700.0, 200.0, 300.0, 140.0, 64.0)

  test("goals are met exactly if the measurements are within their limits") {
    val three = measured(V3, 2L, 10000L, 2000000L, 50L)
    val within = met(three, measured(V4, 1L, 25000L, 100000L, 10L), smallRoot)
    val timed = within.keySet.filter(_.contains("with"))
    assert(timed.size == 2 && timed.forall(!within(_)), "both versions take the same time")
    assert((within -- timed).values.forall(identity) && within.size == 9)
    val beyond = met(three, measured(V4, 2L, 25001L, 100001L, 11L), RootModel(9e6, 200.0, 300.0, 140.0, 64.0))
    assert(beyond.filterNot(_._2).size == 7 && beyond.filter(_._2).keySet.forall(
      _.endsWith("planning is not slower than in v3")
    ))
  }

  test("goals are only checked for tables of which versions 3 and 4 are measured") {
    assert(
      Goals.of(Vector(measured(V4, 1L, 1L, 1L, 1L), measured(V2, 1L, 1L, 1L, 1L)), Vector.empty, Map.empty).isEmpty
    )
  }
}
