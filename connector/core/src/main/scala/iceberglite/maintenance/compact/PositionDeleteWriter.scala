package iceberglite.maintenance.compact

import scala.collection.BufferedIterator
import scala.collection.mutable.ArrayBuffer

import iceberglite.data.PositionDeleteFiles
import iceberglite.maintenance.PositionDeletesToWrite
import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.spec.file.ContentFile
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.property.{DeleteGranularity, RowLevelProperty, TableProperty}
import iceberglite.table.Table

/**
 * Writes merged position deletes to new files: deletion vectors in format version 3 and later, and otherwise position
 * delete files. The class is serializable, so that Spark tasks can write the files.
 *
 * @param output the format of the new files
 * @param partitions the partition spec and the partition of each group
 * @param targetSize the size in bytes at which a new file begins
 */
final case class PositionDeleteWriter(
    output: PositionDeletesToWrite,
    granularity: DeleteGranularity,
    partitions: Vector[(Int, PartitionTuple)],
    targetSize: Long
) {
  import output.{format, io, properties, usesVectors}

  /** Returns the suffix of the names of the written files. */
  def extension: String = output.extension

  /**
   * Writes deletes. Memory use is bounded by the deletes of a data file, or by a Puffin file of the target size.
   *
   * @param deletes the deletes of each data file, sorted by group and path; each file occurs once
   * @param newPath returns a new path for each file
   */
  def write(deletes: Iterator[(DeleteTargetKey, DeletionVector)], newPath: () => String): Vector[ContentFile] = {
    val remaining = deletes.buffered
    val written = Vector.newBuilder[ContentFile]
    while (remaining.hasNext) {
      if (usesVectors) written ++= DeletionVectorFiles.write(io, newPath(), nextVectors(remaining))
      else {
        val group = remaining.head._1.group
        val ofGroup = new Iterator[(String, DeletionVector)] {
          override def hasNext: Boolean = remaining.hasNext && remaining.head._1.group == group
          override def next(): (String, DeletionVector) = {
            val (key, positions) = remaining.next()
            key.path -> positions
          }
        }
        val (specId, partition) = partitions(group)
        written ++= new PositionDeleteFiles(io, format, properties).writeAll(newPath, ofGroup, maxFileSize)
          .map(_.contentFile(specId, partition))
      }
    }
    written.result()
  }

  /**
   * Divides sorted deletes into sets that can be written at the same time without creating more files.
   *
   * @param parts the desired number of sets
   */
  def independent(
      deletes: Vector[(DeleteTargetKey, DeletionVector)],
      parts: Int
  ): Vector[Vector[(DeleteTargetKey, DeletionVector)]] =
    if (deletes.isEmpty) Vector.empty
    else if (usesVectors) Vector(deletes)
    else granularity match {
      case DeleteGranularity.OfFile => deletes.grouped((deletes.size + parts - 1) / parts).toVector
      case DeleteGranularity.OfPartition => deletes.groupBy(_._1.group).values.toVector
    }

  private def maxFileSize: Long = granularity match {
    case DeleteGranularity.OfFile => 0L
    case DeleteGranularity.OfPartition => targetSize
  }

  /** Takes the next deletion vectors, up to the target size of a file. The vectors may belong to several groups. */
  private def nextVectors(deletes: BufferedIterator[(DeleteTargetKey, DeletionVector)]): Vector[DeletedRows] = {
    val taken = ArrayBuffer.empty[DeletedRows]
    var bytes = 0L
    while (deletes.hasNext && bytes < targetSize) {
      val (key, positions) = deletes.next()
      val (specId, partition) = partitions(key.group)
      taken += DeletedRows(key.path, specId, partition, positions)
      bytes += positions.heapBytes
    }
    taken.toVector
  }
}

object PositionDeleteWriter {

  /** Returns the writer for groups of a table. @throws InvalidArgument if the table has an invalid property */
  def of(table: Table, groups: Vector[PositionDeleteGroup], options: GroupOptions): PositionDeleteWriter =
    PositionDeleteWriter(
      PositionDeletesToWrite.of(table.io, table.metadata),
      TableProperty.of(RowLevelProperty.Granularity, table.properties),
      groups.map(group => (group.specId, group.partition)),
      options.writeMaxFileSize
    )
}
