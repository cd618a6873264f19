package iceberglite.maintenance

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Fuzz
import iceberglite.maintenance.compact.PackedFiles
import iceberglite.puffin.DeletionVector
import iceberglite.scan.FileScanTask
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{Content, ContentFile, FileFormat, Metrics}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}

/** Tests [[iceberglite.maintenance.compact.PackedFiles]], which computes where a compaction wrote each row. */
class PackedFilesSuite extends AnyFunSuite {
  private def file(path: String, rows: Int): ContentFile = ContentFile(
    Content.Data,
    path,
    FileFormat.Parquet,
    0,
    PartitionTuple.Empty,
    rows.toLong,
    math.max(1L, rows * 10L),
    Metrics.Empty
  )

  private def whole(f: ContentFile): FileScanTask =
    FileScanTask(f, 1L, PartitionSpec.Unpartitioned, AlwaysTrue, 0L, f.fileSizeInBytes)

  private def vector(positions: Iterable[Int]): DeletionVector =
    DeletionVector.of(positions.toSeq.sorted.map(_.toLong): _*)

  test("each live row of the old files is found at its position in the new files") {
    for (round <- 0 until Fuzz.rounds(400, least = 50)) {
      val random = new Random(Fuzz.seed + round)
      val files = Vector.tabulate(1 + random.nextInt(6))(i => file(s"old-$i", random.nextInt(40)))
      val deleted =
        files.map(f => f.path -> (0 until f.recordCount.toInt).filter(_ => random.nextInt(5) == 0).toSet).toMap
      val live = for (f <- files; i <- 0 until f.recordCount.toInt if !deleted(f.path)(i)) yield (f.path, i)
      var written = Vector.empty[(ContentFile, Vector[(String, Int)])]
      var rest = live
      while (rest.nonEmpty) {
        val (rows, others) = rest.splitAt(1 + random.nextInt(30))
        written :+= ((file(s"new-${written.size}", rows.size), rows))
        rest = others
      }
      val wanted = files.map(f => f.path -> (0 until f.recordCount.toInt).filter(_ => random.nextBoolean())).toMap
      val found = PackedFiles(files.map(whole), written.map(_._1))
        .find(wanted.mapValues(vector(_)).map(identity), task => vector(deleted(task.file.path)))
      val expected = written.map { case (f, rows) =>
        f.path -> vector(rows.indices.filter(i => wanted(rows(i)._1).contains(rows(i)._2)))
      }.filterNot(_._2.isEmpty)
      assert(found.map { case (f, positions) => f.path -> positions } == expected, s"round $round, seed ${Fuzz.seed}")
    }
  }

  test("tasks that read parts of the same file are combined, together with the files that the tasks wrote") {
    val (a, b, c) = (whole(file("a", 10)), whole(file("b", 10)), whole(file("c", 10)))
    val (first, second) = (b.copy(length = 40), b.copy(start = 40, length = 60))
    val outputs = Vector.tabulate(4)(i => Vector(file(s"new-$i", 5)))
    val packed = PackedFiles.of(Vector(Vector(a, first), Vector(second), Vector.empty, Vector(c)), outputs)
    assert(packed == Vector(PackedFiles(Vector(a, b), outputs(0) ++ outputs(1)), PackedFiles(Vector(c), outputs(3))))
  }

  test("deleted positions after the last row of a file do not delete rows of the next file") {
    val packed = PackedFiles(Vector(whole(file("a", 10)), whole(file("b", 10))), Vector(file("new", 19)))
    val deletedBefore = Map("a" -> DeletionVector.of(2L, 10L, 50L), "b" -> DeletionVector.Empty)
    val rows = Map("a" -> DeletionVector.of(9L, 10L, 12L), "b" -> DeletionVector.of(3L, 10L, 1000L))
    val found = packed.find(rows, task => deletedBefore(task.file.path))
    assert(found == Vector((file("new", 19), DeletionVector.of(8L, 12L))))
  }

  test("two tasks that read the same whole file, which is twice in the table, are not combined") {
    val a = whole(file("a", 10))
    val outputs = Vector(Vector(file("new-0", 10)), Vector(file("new-1", 10)))
    val packed = PackedFiles.of(Vector(Vector(a), Vector(a)), outputs)
    assert(packed == Vector(PackedFiles(Vector(a), outputs(0)), PackedFiles(Vector(a), outputs(1))))
  }

  test("if record counts in the metadata are wrong, the search fails instead of returning wrong positions") {
    val packed = PackedFiles(Vector(whole(file("a", 10)), whole(file("b", 10))), Vector(file("new", 19)))
    val error =
      intercept[ValidationFailed](packed.find(Map("b" -> DeletionVector.of(3L)), _ => DeletionVector.Empty))
    assert(error.getMessage.contains("20 rows were expected in them, but they have 19"))
  }
}
