package iceberglite.scan

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{Content, FileFormat}
import iceberglite.spec.partition.PartitionSpec
import iceberglite.tree.TestTable.{file, nameOf}
import iceberglite.scan.deletes.DeleteFile

/** Tests how data files are divided into splits, and how splits are combined into tasks. */
class SplitsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private def task(name: String, size: Long, offsets: Long*): FileScanTask =
    FileScanTask.whole(
      file(name, size = size, splitOffsets = offsets.toVector),
      1L,
      PartitionSpec.Unpartitioned,
      AlwaysTrue
    )

  private def asText(groups: Vector[Vector[FileScanTask]]): Vector[String] =
    groups.map(_.map(t => s"${nameOf(t.file)}[${t.start},${t.end})").mkString(" "))

  private val tasks: Gen[Vector[FileScanTask]] = {
    val one = for {
      size <- Gen.choose(1L, 1000L)
      kind <- Gen.choose(0, 3)
      offsets <- kind match {
        case 0 => Gen.const(Nil)
        case 1 => Gen.listOf(Gen.choose(0L, 1200L))
        case _ => Gen.listOf(Gen.choose(0L, size - 1)).map(_.distinct.sorted)
      }
    } yield (size, offsets)
    Gen.listOf(one).map(_.zipWithIndex.map { case ((size, offsets), i) => task(s"f$i", size, offsets: _*) }.toVector)
  }

  test("every byte of every file is in exactly one split, and no row group is split") {
    forAll(tasks, Gen.choose(1L, 700L), Gen.choose(0L, 100L), Gen.choose(1, 12)) { (files, target, cost, lookback) =>
      val groups = Splits.of(files, target, cost, lookback)
      assert(groups.forall(_.nonEmpty))
      val pieces = groups.flatten.groupBy(_.file.path)
      files.foreach { f =>
        val splits = pieces(f.file.path).sortBy(_.start)
        assert(splits.head.start == 0 && splits.last.end == f.file.fileSizeInBytes)
        assert(splits.zip(splits.tail).forall { case (a, b) => a.end == b.start })
        val offsets = f.file.splitOffsets
        val valid = offsets.nonEmpty && offsets == offsets.distinct.sorted && offsets.last < f.file.fileSizeInBytes
        if (valid) assert(splits.tail.forall(p => offsets.contains(p.start)))
      }
    }
  }

  test("a group exceeds the target size only if it has a single split that cannot be divided") {
    forAll(tasks, Gen.choose(1L, 700L), Gen.choose(0L, 100L), Gen.choose(1, 12)) { (files, target, cost, lookback) =>
      val groups = Splits.of(files, target, cost, lookback)
      assert(groups.filter(_.map(t => math.max(t.length, cost)).sum > target).forall(_.size == 1))
    }
  }

  test("row groups are combined up to the target size") {
    assert(asText(Splits.of(Vector(task("f", 100, 4, 30, 50, 80)), 50, 0, 1)) == Vector("f[0,50)", "f[50,100)"))
  }

  test("a row group larger than the target size is not divided") {
    assert(asText(Splits.of(Vector(task("f", 100, 4, 90)), 50, 0, 1)) == Vector("f[0,90)", "f[90,100)"))
    assert(asText(Splits.of(Vector(task("f", 100, 4)), 50, 0, 1)) == Vector("f[0,100)"))
  }

  test("a file without usable offsets is split evenly") {
    val even = Vector("f[0,40)", "f[40,80)", "f[80,100)")
    assert(asText(Splits.of(Vector(task("f", 100)), 40, 0, 1)) == even)
    assert(asText(Splits.of(Vector(task("f", 100, 4, 70, 50)), 40, 0, 1)) == even)
    assert(asText(Splits.of(Vector(task("f", 100, 4, 120)), 40, 0, 1)) == even)
  }

  test("files of every format are split at their split offsets, or evenly if they have no offsets") {
    def inFormat(format: FileFormat, task: FileScanTask) = task.copy(file = task.file.copy(format = format))
    val orc = inFormat(FileFormat.Orc, task("f", 100, 3, 30, 50, 80))
    assert(asText(Splits.of(Vector(orc), 50, 0, 1)) == Vector("f[0,50)", "f[50,100)"))
    val avro = inFormat(FileFormat.Avro, task("f", 100))
    assert(asText(Splits.of(Vector(avro), 40, 0, 1)) == Vector("f[0,40)", "f[40,80)", "f[80,100)"))
  }

  test("small files share a task, and each file counts at least the open cost") {
    val files = (1 to 6).map(i => task(s"f$i", 1)).toVector
    assert(Splits.of(files, 100, 0, 10).size == 1)
    assert(Splits.of(files, 100, 40, 10).map(_.size) == Vector(2, 2, 2))
  }

  test("splits of one file in the same task are combined") {
    val groups = Splits.of(Vector(task("a", 60, 4, 35), task("b", 30)), 100, 0, 10)
    assert(asText(groups) == Vector("a[0,60) b[0,30)"))
    val cut = Splits.of(Vector(task("a", 120, 4, 50, 100)), 100, 0, 10)
    assert(asText(cut) == Vector("a[0,100)", "a[100,120)"))
  }

  test("a split is added to an open group with enough space; if too many groups are open, the fullest is closed") {
    val files = Seq(60, 60, 30, 60, 40).zipWithIndex.map { case (size, i) => task(s"f$i", size.toLong) }.toVector
    assert(asText(Splits.of(files, 100, 0, 10)) == Vector("f0[0,60) f2[0,30)", "f1[0,60) f4[0,40)", "f3[0,60)"))
    assert(asText(Splits.of(files, 100, 0, 1)) == Vector("f0[0,60)", "f1[0,60) f2[0,30)", "f3[0,60) f4[0,40)"))
  }

  test("groups in order contain the splits in the order of the files, and are as full as this order permits") {
    val files = Seq(60, 60, 30, 60, 40).zipWithIndex.map { case (size, i) => task(s"f$i", size.toLong) }.toVector
    assert(asText(Splits.inOrder(files, 100, 0)) == Vector("f0[0,60)", "f1[0,60) f2[0,30)", "f3[0,60) f4[0,40)"))
    assert(Splits.inOrder(files, 100, 50).map(_.size) == Vector(1, 1, 1, 1, 1))
    assert(asText(Splits.inOrder(Vector(task("a", 120, 4, 50, 100)), 100, 0)) == Vector("a[0,100)", "a[100,120)"))
    assert(Splits.inOrder(Vector.empty, 100, 0).isEmpty)
    assertThrows[InvalidArgument](Splits.inOrder(files, 0, 0))
    forAll(tasks, Gen.choose(1L, 300L)) { (all, size) =>
      val groups = Splits.inOrder(all, size, 0)
      assert(groups.flatten.map(_.length).sum == all.map(_.length).sum)
      val order = all.map(_.file.path)
      val positions = groups.flatten.map(t => (order.indexOf(t.file.path), t.start))
      assert(positions == positions.sorted)
      val weights = groups.map(_.map(Splits.weight(_, 0)).sum)
      assert(weights.sliding(2).filter(_.size == 2).forall(_.sum > size), "adjacent groups must not fit into one")
    }
  }

  test("files are split into at most the given number of groups of similar size, in order") {
    forAll(tasks, Gen.choose(1, 12)) { (files, count) =>
      val groups = Splits.evenly(files, count)
      assert(groups.size <= count && groups.forall(_.nonEmpty))
      assert(groups.flatten.map(_.length).sum == files.map(_.length).sum)
      val order = files.map(_.file.path)
      val positions = groups.flatten.map(t => order.indexOf(t.file.path))
      assert(positions == positions.sorted)
    }
    val equal = (1 to 60).map(i => task(s"f$i", 100 + i % 3)).toVector
    assert(Splits.evenly(equal, 7).map(_.size).forall(n => n == 8 || n == 9))
    assert(
      asText(Splits.evenly(Vector(task("a", 100, 0, 50), task("b", 100, 0, 50)), 1)) == Vector("a[0,100) b[0,100)")
    )
    assertThrows[InvalidArgument](Splits.evenly(equal, 0))
  }

  test("invalid sizes are rejected") {
    assert(intercept[InvalidArgument](Splits.of(Vector.empty, 0, 0, 1)).getMessage.contains("split size"))
    assert(intercept[InvalidArgument](Splits.of(Vector.empty, 1, 0, 0)).getMessage.contains("lookback"))
    assert(intercept[InvalidArgument](Splits.of(Vector.empty, 1, -1, 1)).getMessage.contains("open cost"))
  }

  test("splitting at every row group fills tasks better than combining row groups of a file first") {
    val files = Vector.tabulate(6)(i => task(s"f$i", 20, 0, 10))
    assert(Splits.of(files, 30, 0, 10).size == 6)
    val groups = Splits.ofRowGroups(files, 30, 0, 10)
    assert(asText(groups).take(2) == Vector("f0[0,20) f1[0,10)", "f1[10,20) f2[0,20)") && groups.size == 4)
    assert(asText(Splits.ofRowGroups(Vector(task("f", 100)), 40, 0, 1)) == Vector("f[0,40)", "f[40,80)", "f[80,100)"))
  }

  test("the weight of a file includes the bytes of deletes that apply only to it, and the open cost of each file") {
    def delete(format: FileFormat, of: Option[String]) = DeleteFile(
      file("d", size = 1000).copy(
        content = Content.PositionDeletes,
        format = format,
        referencedDataFile = of,
        contentSizeInBytes = Some(7L).filter(_ => format == FileFormat.Puffin)
      ),
      1L,
      Vector.empty
    )
    val plain = task("f", 50)
    assert(Splits.weight(plain, 0) == 50 && Splits.weight(plain, 60) == 60)
    val vector = plain.copy(deletes = Vector(delete(FileFormat.Puffin, Some("f"))))
    assert(Splits.weight(vector, 0) == 57 && Splits.weight(vector, 60) == 120)
    val positions = Vector(delete(FileFormat.Parquet, Some("f")), delete(FileFormat.Parquet, None))
    assert(Splits.weight(plain.copy(deletes = positions), 60) == 1050)
  }
}
