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
 * Row-level deletes in a random table, of every kind that its format version has: Apache Iceberg's statements, which
 * write position deletes or deletion vectors; equality deletes; and deletion vectors written here.
 */
final private[soundness] class RandomDeletes(target: EvolvingTable, random: Random) {

  def next(): Unit = if (target.live.nonEmpty) {
    random.nextInt(3) match {
      case 0 => equality()
      case _ if target.shape.hasNewTypes => vector()
      case _ => byPeer()
    }
  }

  private def oneOf[A](items: Seq[A]): A = items(random.nextInt(items.size))

  private def newPath(extension: String): String =
    s"${target.table.location}/data/${new UUID(random.nextLong(), random.nextLong())}$extension"

  /** Deletes scattered rows, or many adjacent rows. */
  private def byPeer(): Unit = {
    val (width, first) = (oneOf(Seq(2, 3, 10)), random.nextInt(target.live.keys.max + 1))
    val (condition, isDeleted) = oneOf(Seq[(String, Int => Boolean)](
      (s"id % $width = 1", _ % width == 1),
      (s"id BETWEEN $first AND ${first * 2}", id => id >= first && id <= first * 2),
      (s"id % 20 = 3 OR id BETWEEN $first AND ${first + 40}", id => id % 20 == 3 || id >= first && id <= first + 40)
    ))
    target.run(s"DELETE FROM ${target.peerName} WHERE $condition")
    target.deleted(target.live.keySet.filter(isDeleted))
  }

  private def oneFile(): FileScanTask = {
    val now = target.table
    val all = TableScan(now.tree(), now.currentSnapshot, AlwaysTrue, caseSensitive = true).plan().tasks
    val live = target.live.values.map(_._1).toSet
    oneOf(all.filter(t => live(t.file.path)))
  }

  /** Deletes some rows of a file by their ids, and sometimes by another column as well. */
  private def equality(): Unit = {
    val task = oneFile()
    val (schema, rows) = target.written(task.file.path)
    val now = target.table.schema
    val others = now.fields.filter(f => f.name != "id" && schema.fields.exists(o => o.id == f.id && isSame(o, f)))
    val columns = now.fields.filter(_.name == "id") ++ random.shuffle(others).take(random.nextInt(2))
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
    target.kept(columns.map(_.id).toSet)
    target.deleted(victims.map(target.idOf).toSet)
  }

  private def isSame(a: NestedField, b: NestedField): Boolean =
    a.fieldType == b.fieldType && a.fieldType.isInstanceOf[PrimitiveType]

  /** Deletes by a deletion vector: it contains all deleted rows of its file and replaces the previous one. */
  private def vector(): Unit = {
    val task = oneFile()
    val now = target.table
    val before = task.deletes.find(_.isVector).map(_.file)
    val positions = DeletionVector.newBuilder
    before.foreach(v => positions ++= DeletionVectorFiles.read(now.io, v))
    val share = oneOf(Seq(2, 10))
    val rows = target.written(task.file.path)._2
    val victims = rows.indices.filter(_ => random.nextInt(share) == 0)
    victims.foreach(i => positions += i.toLong)
    val deleted = DeletedRows(task.file.path, task.spec.specId, task.file.partition, positions.result())
    val files = DeletionVectorFiles.write(now.io, newPath(".puffin"), Seq(deleted))
    if (files.nonEmpty) {
      target.commit(s"vector of ${files.map(_.recordCount).sum}", new RowDelta(files, before.toVector))
    }
    target.deleted(victims.map(i => target.idOf(rows(i))).toSet)
  }
}
