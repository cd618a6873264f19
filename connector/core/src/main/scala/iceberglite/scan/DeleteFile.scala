package iceberglite.scan

import iceberglite.spec.{Content, ContentFile, Metrics, NestedField}

/**
 * A delete file that applies to the data file of a task.
 *
 * @param keys of an equality delete file: the columns to compare by, in the order of its `equality_ids`
 */
final case class DeleteFile(file: ContentFile, dataSequenceNumber: Long, keys: Vector[KeyColumn]) {

  /** Whether it is a deletion vector (adopted version 3: "Deletion vectors"). */
  def isVector: Boolean = file.isDeletionVector

  def isEquality: Boolean = file.content == Content.EqualityDeletes

  /** Whether it applies to one data file and no other. */
  def isOfOneFile: Boolean = isVector || file.referencedDataFile.isDefined

  /** The bytes that a reader needs: of a deletion vector, its part of the file. */
  def storedBytes: Long = file.contentSizeInBytes.filter(_ => isVector).getOrElse(file.fileSizeInBytes)

  /** The same without what only planning needs, for the way to another JVM. */
  def withoutMetrics: DeleteFile = copy(file = file.copy(metrics = Metrics.Empty))

  /** Tells delete files apart: one Puffin file holds the vectors of many data files. */
  def location: (String, Option[Long]) = (file.path, file.contentOffset)

  override def toString: String = DeleteFile.describe(file)
}

object DeleteFile {
  def describe(file: ContentFile): String =
    file.contentOffset.filter(_ => file.isDeletionVector).fold(file.path)(offset => s"${file.path} at $offset")
}

/**
 * A column that equality deletes compare by.
 *
 * @param path from a column of the table to the compared field: the column alone, or the structs around a nested field,
 *   each without any other field
 */
final case class KeyColumn(path: Vector[NestedField]) {
  def column: NestedField = path.head

  def field: NestedField = path.last

  def isNested: Boolean = path.size > 1
}
