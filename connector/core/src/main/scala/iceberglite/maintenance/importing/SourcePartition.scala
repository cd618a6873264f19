package iceberglite.maintenance.importing

import iceberglite.spec.file.FileFormat
import iceberglite.storage.FileInfo

/**
 * The files of one partition of an import's source. A source without partitions has a single [[SourcePartition]].
 *
 * @param values the partition values as text, by column name; `None` is null
 */
final case class SourcePartition(values: Vector[(String, Option[String])], format: FileFormat, files: Vector[FileInfo])

object SourcePartition {

  /** The name of null in directory names and in the Hive Metastore. */
  private val DefaultPartition = "__HIVE_DEFAULT_PARTITION__"

  /**
   * Returns a partition value. The empty text is null, because the empty text and null have the same directory name.
   */
  def valueOf(text: String): Option[String] = if (text.isEmpty || text == DefaultPartition) None else Some(text)
}
