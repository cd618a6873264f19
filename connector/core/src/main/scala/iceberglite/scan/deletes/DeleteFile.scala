package iceberglite.scan.deletes

import iceberglite.spec.file.{Content, ContentFile, Metrics}
import iceberglite.spec.types.NestedField

/**
 * A delete file that applies to the data file of a task.
 *
 * @param keys the columns that an equality delete file compares, in the order of its `equality_ids`; empty for position
 *   deletes
 */
final case class DeleteFile(file: ContentFile, dataSequenceNumber: Long, keys: Vector[EqualityColumn]) {

  /** Returns whether the delete file is a deletion vector (spec version 3: "Deletion vectors"). */
  def isVector: Boolean = file.isDeletionVector

  def isEquality: Boolean = file.content == Content.EqualityDeletes

  /** Returns whether the delete file is known to apply to a single data file. */
  def appliesToOneFile: Boolean = isVector || file.referencedDataFile.isDefined

  /**
   * Returns the number of bytes to read: for a deletion vector, its size in the Puffin file; otherwise, the file size.
   */
  def storedBytes: Long = file.contentSizeInBytes.filter(_ => isVector).getOrElse(file.fileSizeInBytes)

  /**
   * Returns the delete file without metrics. Executors receive it in this form, because only planning needs the
   * metrics.
   */
  def withoutMetrics: DeleteFile = copy(file = file.copy(metrics = Metrics.Empty))

  /**
   * The path of the file and the offset of the content in the file, which together identify a delete file. The offset
   * is needed because a Puffin file may contain the deletion vectors of several data files.
   */
  def location: (String, Option[Long]) = (file.path, file.contentOffset)

  override def toString: String = DeleteFile.describe(file)
}

object DeleteFile {

  /** Returns the path of a delete file and, for a deletion vector, its offset, for messages. */
  def describe(file: ContentFile): String =
    file.contentOffset.filter(_ => file.isDeletionVector).fold(file.path)(offset => s"${file.path} at $offset")
}

/**
 * A column that equality deletes compare.
 *
 * @param path the fields from the top-level column to the compared field, both included. Each struct on the path
 *   contains only the next field of the path. If the compared field is a top-level column, the path has one element
 */
final case class EqualityColumn(path: Vector[NestedField]) {

  /** The top-level column, which contains only the compared field. */
  def column: NestedField = path.head

  def field: NestedField = path.last

  def isNested: Boolean = path.size > 1
}
