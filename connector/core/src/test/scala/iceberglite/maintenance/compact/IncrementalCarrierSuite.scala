package iceberglite.maintenance.compact

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.puffin.{DeletedRows, DeletionVector}
import iceberglite.sim.{FailingTable, SimulatedCatalog}
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{Content, ContentFile, EntryStatus, FileFormat, ManifestEntry, Metrics}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.PartitionTuple
import iceberglite.table.action.DeletedPositions

/** Tests which deletes [[IncrementalCarrier]] carries over to the new files of a compaction in each commit attempt. */
class IncrementalCarrierSuite extends AnyFunSuite {
  private val rows = 100

  private def file(content: Content, path: String, of: Option[String] = None): ContentFile = ContentFile(
    content,
    path,
    FileFormat.Parquet,
    0,
    PartitionTuple.Empty,
    rows.toLong,
    100L,
    Metrics.Empty,
    referencedDataFile = of
  )

  private val (old, another, compacted) =
    (file(Content.Data, "old"), file(Content.Data, "another"), file(Content.Data, "new"))

  /**
   * Finds rows, and writes delete files, for a compaction that replaces the files `old` and `another` by `new`.
   *
   * @param deleted the deleted positions in each delete file, by the path of the delete file
   */
  final private class Moves(deleted: Map[String, DeletionVector]) extends RowMoves {
    var (read, searched) = (Vector.empty[String], Vector.empty[DeletionVector])
    var written = Map.empty[String, DeletedRows]

    override def positions(data: ContentFile, deletes: Vector[ManifestEntry], base: TableMetadata): DeletionVector = {
      read ++= deletes.map(_.file.path)
      deletes.map(e => deleted(e.file.path)).reduce(_ union _)
    }

    /** Returns the first positions in `new` that are not taken, as a search by values may do if all rows are equal. */
    override def find(
        wanted: Vector[(ContentFile, DeletionVector)],
        taken: Map[String, DeletionVector]
    ): Vector[(ContentFile, DeletionVector)] = {
      searched ++= wanted.map(_._2)
      val free = (0L until 2L * rows).filterNot(taken.getOrElse("new", DeletionVector.Empty).isDeleted)
      Vector((compacted, DeletionVector.of(free.take(wanted.map(_._2.cardinality).sum.toInt): _*)))
    }

    override def write(all: Vector[DeletedRows], base: TableMetadata): Vector[ContentFile] = all.map { one =>
      val path = s"written-${written.size}"
      written += path -> one
      file(Content.PositionDeletes, path, Some(one.dataFile))
    }

    def positionsIn(files: Vector[ContentFile]): Vector[Long] = files.map(_.path).map(written(_).positions.cardinality)
  }

  private def base(version: FormatVersion): TableMetadata = {
    val table = new FailingTable(SimulatedCatalog.Pointers, properties = Map("format-version" -> version.toString))
    try table.table.metadata
    finally table.close()
  }

  private def of(data: ContentFile, deletes: String*): DeletedPositions = DeletedPositions(
    data,
    deletes.toVector.map(path =>
      ManifestEntry(EntryStatus.Added, Some(1L), Some(2L), Some(2L), file(Content.PositionDeletes, path))
    )
  )

  private val deletes = Map(
    "a" -> DeletionVector.of(1, 2, 3),
    "b" -> DeletionVector.of(3, 4),
    "c" -> DeletionVector.of(7),
    "a+b" -> DeletionVector.of(1, 2, 3, 4)
  )

  test("in version 2, a later attempt carries over only new deletes, and keeps the delete files of earlier attempts") {
    val (moves, table) = (new Moves(deletes), base(FormatVersion.V2))
    val carrier = new IncrementalCarrier(moves)
    val first = carrier.carry(Vector(of(old, "a")), table)
    val second = carrier.carry(Vector(of(old, "a", "b"), of(another, "c")), table)
    assert(moves.read == Vector("a", "b", "c"))
    assert(moves.searched == Vector(deletes("a"), DeletionVector.of(4), deletes("c")))
    assert(moves.positionsIn(first) == Vector(3L) && second.startsWith(first) && moves.positionsIn(second) == Vector(
      3L,
      2L
    ))
    assert(second.map(f => moves.written(f.path).positions).reduce(_ union _).cardinality == 5, "different rows")
    assert(carrier.carry(Vector(of(old, "a", "b"), of(another, "c")), table) == second && moves.read.size == 3)
  }

  test("in version 3, a later attempt writes one deletion vector for each new file, with all deleted positions") {
    val (moves, table) = (new Moves(deletes), base(FormatVersion.V3))
    val carrier = new IncrementalCarrier(moves)
    carrier.carry(Vector(of(old, "a")), table)
    val second = carrier.carry(Vector(of(old, "a+b")), table)
    assert(moves.searched == Vector(deletes("a"), DeletionVector.of(4)))
    assert(moves.positionsIn(second) == Vector(4L))
  }

  test("deletes are carried over again if a rollback removed some of them, or an upgrade requires deletion vectors") {
    val moves = new Moves(deletes)
    val carrier = new IncrementalCarrier(moves)
    carrier.carry(Vector(of(old, "a", "c")), base(FormatVersion.V2))
    val rolledBack = carrier.carry(Vector(of(old, "b")), base(FormatVersion.V2))
    assert(moves.positionsIn(rolledBack) == Vector(2L))
    val upgraded = carrier.carry(Vector(of(old, "b")), base(FormatVersion.V3))
    assert(upgraded != rolledBack && moves.positionsIn(upgraded) == Vector(2L))
    assert(moves.searched.last == deletes("b"))
  }
}
