package iceberglite.spark.read.planning

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.scan.FileScanTask
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{Content, ContentFile, FileFormat, Metrics}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.types.Literal

/** Checks how the files that a copy-on-write statement rewrites are distributed to tasks. */
class RewritePackingSuite extends AnyFunSuite {
  private val MB = 1L << 20

  private def file(partition: Int, number: Int, size: Long): FileScanTask = {
    val offsets = (0L until size by 64 * MB).toVector
    FileScanTask.whole(
      ContentFile(
        content = Content.Data,
        path = s"p$partition/f$number",
        format = FileFormat.Parquet,
        specId = 0,
        partition = PartitionTuple(Vector(Some(Literal.IntLiteral(partition)))),
        recordCount = 1L,
        fileSizeInBytes = size,
        metrics = Metrics.Empty,
        splitOffsets = offsets
      ),
      1L,
      PartitionSpec.Unpartitioned,
      AlwaysTrue
    )
  }

  private def partitionsOf(task: Vector[FileScanTask]): Set[Any] = task.map(_.file.partition).toSet

  private val packing = RewritePacking(byPartition = true, 256 * MB, 128 * MB, cores = 4)

  test("the files of a partition with little data are rewritten by one task") {
    val files = for (n <- 0 until 6; p <- 0 until 10) yield file(p, n, 5 * MB)
    val tasks = packing.of(files.toVector, openCost = 4 * MB)
    assert(tasks.size >= 4 && tasks.flatten.size == 60)
    val partitions = tasks.flatMap(t => partitionsOf(t).toVector)
    assert(partitions.distinct.size == 10 && partitions.size == 10)
  }

  test("a task rewrites several small partitions, up to the number of files that a task keeps open") {
    val files = (0 until 1000).map(file(_, 0, 1000L)).toVector
    val sizes = packing.of(files, openCost = 4 * MB).map(partitionsOf(_).size)
    assert(sizes.sum == 1000 && sizes.max == 32)
  }

  test("a large partition is split into tasks that each have enough data for one file") {
    val files = (0 until 40).map(file(0, _, 100 * MB)).toVector ++ (1 until 5).map(file(_, 0, MB))
    val tasks = packing.of(files, openCost = 4 * MB)
    val large = tasks.filter(t => partitionsOf(t).contains(file(0, 0, MB).file.partition))
    assert(large.size == 15)
    assert(large.map(_.filter(_.file.path.startsWith("p0")).map(_.length).sum).forall(_ >= 200 * MB))
  }

  test("splits are smaller than the target size if cores would be idle otherwise") {
    val oneFile = Vector(file(0, 0, 512 * MB))
    assert(packing.of(oneFile, 4 * MB).map(_.map(_.length).sum) == Vector.fill(4)(128 * MB))
    assert(packing.copy(cores = 2).of(oneFile, 4 * MB).map(_.map(_.length).sum) == Vector.fill(2)(256 * MB))
  }

  test("if tasks need not be separated by partition, each core gets a split, unless splits would be very small") {
    val withoutPartitions = packing.copy(byPartition = false)
    def tasks(count: Int, size: Long) =
      withoutPartitions.of((0 until count).map(file(0, _, size)).toVector, 4 * MB).size
    assert(tasks(60, MB) == 4)
    assert(tasks(60, 1000L) == 1)
    assert(tasks(3, MB) == 3)
    assert(tasks(30, 256 * MB) == 30)
  }
}
