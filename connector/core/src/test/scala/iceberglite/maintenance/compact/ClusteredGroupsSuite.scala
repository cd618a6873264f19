package iceberglite.maintenance.compact

import scala.util.Random

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.Sampling
import iceberglite.maintenance.cluster.{ClusterColumns, HilbertCurve}
import iceberglite.scan.FileScanTask
import iceberglite.spec.{FormatVersion, SampleTables}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.MetricMaps
import iceberglite.spec.metadata.{Snapshot, SummaryKey}
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.types.{NestedField, SingleValue, Type}
import iceberglite.spec.types.Literal.IntLiteral
import iceberglite.tree.TestTable

/**
 * Tests which files a clustering rewrite chooses, with the coordinates `x` and `y` of points as clustering columns. A
 * run is a set of files that were clustered together.
 */
class ClusteredGroupsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = if (Sampling.isFast) 20 else 400)

  private val columns = ClusterColumns(
    Vector(NestedField.optional(1, "x", Type.IntType), NestedField.optional(2, "y", Type.IntType)),
    Vector(Vector("x"), Vector("y"))
  )
  private val BytesPerRow = 10L
  private val Cells = 1 << 10

  private def options(more: (String, String)*): RewriteOptions =
    RewriteOptions.of(Map("target-file-size-bytes" -> "1000") ++ more, SampleTables.withHistory(FormatVersion.V3))

  private type Points = Vector[(Int, Int)]

  /** A partition whose files exist only as metadata and lists of points. A rewrite creates files of some 100 points. */
  final private class Model(val options: RewriteOptions) {
    private var files = Map.empty[FileScanTask, Points]
    private var snapshots = Map.empty[Long, Snapshot]
    private var lastId = 0L

    def tasks: Vector[FileScanTask] = files.keys.toVector.sortBy(_.file.path)

    def commit(contents: Vector[Points], clustered: Boolean = false): Vector[FileScanTask] = {
      lastId += 1
      val summary = if (clustered) Map(SummaryKey.ClusteredBy -> columns.ids) else Map.empty[String, String]
      snapshots += lastId -> Snapshot(lastId, None, lastId, lastId, None, Vector.empty, summary, None)
      val added = contents.zipWithIndex.map { case (points, i) =>
        val counts = Some(Map(1 -> points.size.toLong, 2 -> points.size.toLong))
        def bounds(x: Int, y: Int) =
          Some(Map(1 -> SingleValue.encode(IntLiteral(x)), 2 -> SingleValue.encode(IntLiteral(y))))
        val metrics = MetricMaps(
          valueCounts = counts,
          nullValueCounts = Some(Map(1 -> 0L, 2 -> 0L)),
          lowerBounds = bounds(points.map(_._1).min, points.map(_._2).min),
          upperBounds = bounds(points.map(_._1).max, points.map(_._2).max)
        )
        val file = TestTable.file(
          f"$lastId%05d-$i%05d",
          records = points.size,
          size = points.size * BytesPerRow,
          metrics = metrics
        )
        FileScanTask.whole(file, lastId, PartitionSpec.Unpartitioned, AlwaysTrue, lastId) -> points
      }
      files ++= added
      added.map(_._1)
    }

    def expireAll(): Unit = snapshots = Map.empty

    def plan(): Vector[(Vector[FileScanTask], String)] = new ClusteredGroups(columns, snapshots.get, options).of(tasks)

    /** Rewrites the planned files. @return the number of rewritten rows */
    def rewrite(): Long = {
      val sets = plan().map(_._1)
      assert(sets.flatten.distinct.size == sets.flatten.size, "a file is chosen twice")
      val curve = HilbertCurve.ofColumns(2)
      val contents = sets.flatMap { set =>
        val points = set.flatMap(files)
        val (xs, ys) = (ordinals(points.map(_._1), curve), ordinals(points.map(_._2), curve))
        val sorted = points.sortBy { case (x, y) => curve.index(Array(xs(x).toLong, ys(y).toLong)) }
        sorted.grouped(math.ceil(sorted.size / options.group.outputFiles(sorted.size * BytesPerRow).toDouble).toInt)
      }
      files --= sets.flatten
      if (contents.nonEmpty) commit(contents, clustered = true)
      sets.flatten.map(_.file.recordCount).sum
    }

    /**
     * Maps each value to its coordinate on the curve: the fraction of values that are smaller, scaled to the curve's
     * range of coordinates.
     */
    private def ordinals(values: Vector[Int], curve: HilbertCurve): Map[Int, Int] = {
      val sorted = values.sorted
      sorted.indices.reverseIterator.map(i => sorted(i) -> ((i.toLong << curve.bits) / sorted.size).toInt).toMap
    }

    /**
     * The average number of files whose bounds overlap a query. The queries are squares that together cover the table;
     * the side of each is an eighth of the range of a coordinate.
     */
    def filesPerQuery: Double = {
      val side = Cells / 8
      val counts =
        for (x <- 0 until Cells by side; y <- 0 until Cells by side)
          yield files.values.count { points =>
            points.map(_._1).min < x + side && points.map(_._1).max >= x &&
            points.map(_._2).min < y + side && points.map(_._2).max >= y
          }
      counts.sum.toDouble / counts.size
    }
  }

  private def model(more: (String, String)*) = new Model(options(more: _*))

  private def points(random: Random, count: Int, fromX: Int = 0, width: Int = Cells): Points =
    Vector.fill(count)((fromX + random.nextInt(width), random.nextInt(Cells)))

  private def files(random: Random, count: Int): Vector[Points] = Vector.fill(count)(points(random, 100))

  test("files that overlap are clustered, and the next plan is empty") {
    val table = model()
    table.commit(files(new Random(1), 100))
    val before = table.filesPerQuery
    assert(table.plan().map(_._2) == Vector("100 files are not yet clustered by x, y"))
    assert(table.rewrite() == 10000 && table.plan().isEmpty)
    assert(before == 100 && table.filesPerQuery < 8)
  }

  test("after an append of a tenth of the rows, only the appended rows are rewritten") {
    val (table, random) = (model(), new Random(2))
    table.commit(files(random, 100))
    table.rewrite()
    val clustered = table.filesPerQuery
    table.commit(files(random, 10))
    assert(table.filesPerQuery > clustered + 9)
    assert(table.rewrite() == 1000 && table.plan().isEmpty && table.filesPerQuery < clustered + 4)
  }

  test("the rewritten rows grow at most with the appended rows times the logarithm of the number of appends") {
    val (table, random) = (model(), new Random(3))
    table.commit(files(random, 200))
    table.rewrite()
    val rewritten = Vector.fill(32) {
      table.commit(files(random, 5))
      val rows = table.rewrite()
      assert(table.plan().isEmpty)
      rows
    }
    // Each of the 32 appends has 500 rows. An appended row is rewritten once, and then at most five more times, because
    // each of these rewrites doubles the size of the run that contains the row.
    // The 20000 rows of the first run are rewritten at most once.
    assert(rewritten.sum <= 32 * 500 * 6 + 20000)
    assert(rewritten.sorted.apply(16) <= 1000)
    assert(table.filesPerQuery < 40)
  }

  test("after a rewrite, the next plan is empty for random commits, whether or not their snapshots have expired") {
    val size = Gen.frequency(4 -> Gen.choose(80, 170), 2 -> Gen.choose(1, 60), 1 -> Gen.choose(200, 500))
    val commit = for {
      sizes <- Gen.choose(1, 12).flatMap(Gen.listOfN(_, size))
      (fromX, width) <- Gen.oneOf((0, Cells), (0, Cells / 4), (Cells / 2, 10), (5, 1))
      expires <- Gen.frequency(3 -> false, 1 -> true)
      seed <- Gen.long
    } yield (sizes, fromX, width, expires, seed)
    val commits = Gen.choose(1, 8).flatMap(Gen.listOfN(_, commit))
    forAll(commits, Gen.oneOf("5", "2"), Gen.oneOf("1000000", "20000")) {
      (steps, minFiles, maxGroup) =>
        val table = model("min-input-files" -> minFiles, "max-file-group-size-bytes" -> maxGroup)
        steps.foreach { case (sizes, fromX, width, expires, seed) =>
          val random = new Random(seed)
          table.commit(sizes.toVector.map(points(random, _, fromX, width)))
          if (expires) table.expireAll()
          val rows = table.tasks.map(_.file.recordCount).sum
          table.rewrite()
          assert(table.plan().map(_._2).isEmpty)
          assert(table.tasks.map(_.file.recordCount).sum == rows)
        }
    }
  }

  test("runs that do not overlap are not rewritten, unless their files are small") {
    val (table, random) = (model(), new Random(4))
    for (day <- 0 until 50) table.commit(Vector(points(random, 100, day * 20, 20)))
    assert(table.plan().isEmpty)
    for (day <- 0 until 4) table.commit(Vector(points(random, 10, 1010 + day, 1)))
    assert(table.plan().isEmpty)
    table.commit(Vector(points(random, 10, 1020, 1)))
    assert(table.plan().map { case (tasks, _) => tasks.size } == Vector(5))
  }

  test("files of expired snapshots count as clustered if their bounds hardly overlap") {
    for (seed <- 1 to 5) {
      val (table, random) = (model(), new Random(seed.toLong))
      table.commit(files(random, 16 * seed))
      table.rewrite()
      table.expireAll()
      assert(table.plan().isEmpty)
      val unclustered = model()
      unclustered.commit(files(random, 16 * seed))
      unclustered.expireAll()
      assert(unclustered.plan().size == 1)
    }
  }

  test("files sorted by one of two clustering columns are rewritten, and files with equal values are not") {
    val (table, random) = (model(), new Random(6))
    table.commit(Vector.tabulate(50)(i => points(random, 100, i * 20, 20)))
    assert(table.plan().map(_._1.size) == Vector(50))
    val constant = model()
    constant.commit(Vector.fill(50)(Vector.fill(100)((1, 1))))
    assert(constant.plan().isEmpty)
  }

  test("a run of half of the maximum group size is not merged again") {
    val (table, random) = (model("max-file-group-size-bytes" -> "20000"), new Random(7))
    table.commit(files(random, 20))
    table.rewrite()
    table.commit(files(random, 30))
    assert(table.rewrite() == 3000 && table.plan().isEmpty)
  }

  test("with rewrite-all, all files are rewritten") {
    val (table, random) = (model("rewrite-all" -> "true"), new Random(8))
    table.commit(files(random, 3), clustered = true)
    assert(table.plan().map { case (tasks, reason) => (tasks.size, reason) } == Vector((3, "all files are rewritten")))
  }
}
