package iceberglite.spark.read.soundness

import java.util.UUID

import scala.util.Random

import iceberglite.data.Record
import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.scan.{FileScanTask, TableScan}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{Content, FileFormat}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, PrimitiveType}
import iceberglite.table.action.RowDelta

/**
 * Commits row-level deletes to a random table. All kinds of deletes occur that the table's format version supports.
 * DELETE statements of Apache Iceberg write position deletes or deletion vectors. This class also writes equality
 * deletes and deletion vectors itself.
 */
final private[soundness] class RandomDeletes(target: EvolvingTable, random: Random) {

  def next(): Unit = if (target.livePositions.nonEmpty) {
    random.nextInt(3) match {
      case 0 => commitEqualityDelete()
      case _ if target.shape.hasTypesWithoutSparkName => commitDeletionVector()
      case _ => deleteByPeer()
    }
  }

  private def oneOf[A](items: Seq[A]): A = items(random.nextInt(items.size))

  private def newPath(extension: String): String =
    s"${target.table.location}/data/${new UUID(random.nextLong(), random.nextLong())}$extension"

  /** Deletes scattered rows, or many adjacent rows, by a DELETE statement of Apache Iceberg. */
  private def deleteByPeer(): Unit = {
    val (width, first) = (oneOf(Seq(2, 3, 10)), random.nextInt(target.livePositions.keys.max + 1))
    val (condition, isDeleted) = oneOf(Seq[(String, Int => Boolean)](
      (s"id % $width = 1", _ % width == 1),
      (s"id BETWEEN $first AND ${first * 2}", id => id >= first && id <= first * 2),
      (s"id % 20 = 3 OR id BETWEEN $first AND ${first + 40}", id => id % 20 == 3 || id >= first && id <= first + 40)
    ))
    target.run(s"DELETE FROM ${target.peerName} WHERE $condition")
    target.recordDeleted(target.livePositions.keySet.filter(isDeleted))
  }

  /** Returns the scan task of a random data file that has live rows. */
  private def randomFile(): FileScanTask = {
    val table = target.table
    val tasks = TableScan(table.tree(), table.currentSnapshot, AlwaysTrue, caseSensitive = true).plan().tasks
    val filesWithLiveRows = target.livePositions.values.map(_._1).toSet
    oneOf(tasks.filter(t => filesWithLiveRows(t.file.path)))
  }

  /** Deletes some rows of a file by their ids, and sometimes by another column as well. */
  private def commitEqualityDelete(): Unit = {
    val task = randomFile()
    val (schema, rows) = target.writtenRows(task.file.path)
    val current = target.table.schema
    val others =
      current.fields.filter(f => f.name != "id" && schema.fields.exists(o => o.id == f.id && isSamePrimitive(o, f)))
    val columns = current.fields.filter(_.name == "id") ++ random.shuffle(others).take(random.nextInt(2))
    val positions = columns.map(c => schema.fields.indexWhere(_.id == c.id))
    val victims = random.shuffle(rows).take(1 + random.nextInt(rows.size))
    val keys = victims.map(row => new Record(positions.map(row(_)).toArray))
    val format = oneOf(Seq(FileFormat.Parquet, FileFormat.Orc, FileFormat.Avro))
    val file = target.write(format, Schema(0, columns), task.file.partition, keys).copy(
      content = Content.EqualityDeletes,
      specId = task.spec.specId,
      equalityIds = columns.map(_.id)
    )
    target.commit(s"delete ${keys.size} keys of ${columns.map(_.name).mkString(", ")}", new RowDelta(Vector(file)))
    target.recordEqualityDeleteColumns(columns.map(_.id).toSet)
    target.recordDeleted(victims.map(target.idOf).toSet)
  }

  private def isSamePrimitive(a: NestedField, b: NestedField): Boolean =
    a.fieldType == b.fieldType && a.fieldType.isInstanceOf[PrimitiveType]

  /** Deletes rows of a file with a new deletion vector, which also contains the positions in the previous vector. */
  private def commitDeletionVector(): Unit = {
    val task = randomFile()
    val table = target.table
    val previous = task.deletes.find(_.isVector).map(_.file)
    val positions = DeletionVector.newBuilder
    previous.foreach(v => positions ++= DeletionVectorFiles.read(table.io, v))
    val deletedShare = oneOf(Seq(2, 10))
    val rows = target.writtenRows(task.file.path)._2
    val victims = rows.indices.filter(_ => random.nextInt(deletedShare) == 0)
    victims.foreach(i => positions += i.toLong)
    val deleted = DeletedRows(task.file.path, task.spec.specId, task.file.partition, positions.result())
    val files = DeletionVectorFiles.write(table.io, newPath(".puffin"), Seq(deleted))
    if (files.nonEmpty) {
      val rowCount = files.map(_.recordCount).sum
      target.commit(s"deletion vector with $rowCount rows", new RowDelta(files, previous.toVector))
    }
    target.recordDeleted(victims.map(i => target.idOf(rows(i))).toSet)
  }
}
