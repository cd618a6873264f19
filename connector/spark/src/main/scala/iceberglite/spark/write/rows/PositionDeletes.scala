package iceberglite.spark.write.rows

import java.util

import scala.collection.JavaConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.io.puffin.DeletionVector

/**
 * The rows of a data file that a task has deleted.
 *
 * @param group the spec and the partition of the file, which a file without partitions has none of
 */
final private[rows] class DeletedFrom(val path: UTF8String, val group: (Int, Option[InternalRow])) {
  private[rows] val builder = DeletionVector.newBuilder

  lazy val positions: DeletionVector = builder.result()
}

/**
 * The deleted rows that a task has come across, as bitmaps in memory.
 *
 * @param partitionSize how many fields the partition struct has that comes with each row
 */
final private[rows] class PositionDeletes(partitionSize: Int) {
  private val files = new util.HashMap[UTF8String, DeletedFrom]
  private var last: DeletedFrom = _

  /** @param metadata spec id and partition of the file first; the caller may overwrite all of it after this */
  def add(file: UTF8String, position: Long, metadata: InternalRow): Unit = {
    if (last == null || last.path != file) turn(file, metadata)
    last.builder += position
  }

  /** To another file than that of the row before. */
  private def turn(file: UTF8String, metadata: InternalRow): Unit = {
    last = files.get(file)
    if (last == null) {
      val path = file.clone()
      val partition = if (metadata.isNullAt(1)) None else Some(metadata.getStruct(1, partitionSize).copy())
      last = new DeletedFrom(path, (metadata.getInt(0), partition))
      files.put(path, last)
    }
  }

  /** How many rows there are, each once. */
  def count: Long = files.values.asScala.iterator.map(_.positions.cardinality).sum

  /** In the order of the paths, as the rows of position delete files are sorted. */
  def byPath: Vector[DeletedFrom] = files.values.asScala.toVector.sortBy(_.path)
}
