package iceberglite.spark.rowlevel

import java.util

import scala.collection.JavaConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.puffin.DeletionVector

/**
 * The rows that a task has deleted from one data file.
 *
 * @param group the partition spec id and the partition of the data file; the partition is absent for an unpartitioned
 *   file
 */
final private[iceberglite] class DataFileDeletes(val path: UTF8String, val group: (Int, Option[InternalRow])) {
  private[iceberglite] val builder = DeletionVector.newBuilder

  lazy val positions: DeletionVector = builder.result()
}

/**
 * The rows that a task has deleted, as bitmaps in memory.
 *
 * @param partitionSize the number of fields of the partition struct of each row
 */
final private[iceberglite] class CollectedPositionDeletes(partitionSize: Int) {
  private val files = new util.HashMap[UTF8String, DataFileDeletes]
  private var current: DataFileDeletes = _

  /**
   * Adds a deleted row.
   *
   * @param metadata the metadata columns of the row, which begin with `_spec_id` and `_partition`; the caller may reuse
   *   the object afterwards
   */
  def add(file: UTF8String, position: Long, metadata: InternalRow): Unit = {
    if (current == null || current.path != file) switchTo(file, metadata)
    current.builder += position
  }

  /**
   * Switches to the deletes of another data file. This is rare, because Spark usually passes all rows of a data file
   * before it passes rows of the next data file.
   */
  private def switchTo(file: UTF8String, metadata: InternalRow): Unit = {
    current = files.get(file)
    if (current == null) {
      val path = file.clone()
      val partition = if (metadata.isNullAt(1)) None else Some(metadata.getStruct(1, partitionSize).copy())
      current = new DataFileDeletes(path, (metadata.getInt(0), partition))
      files.put(path, current)
    }
  }

  /** Returns the number of deleted rows. A row that was added several times counts once. */
  def count: Long = files.values.asScala.iterator.map(_.positions.cardinality).sum

  /** Returns the deletes, sorted by the path of the data file, as position delete files require. */
  def byPath: Vector[DataFileDeletes] = files.values.asScala.toVector.sortBy(_.path)
}
