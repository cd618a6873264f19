package iceberglite.maintenance.expire

import iceberglite.spec.file.Content

/** The kind of a file that table maintenance deletes. @param name the name of the kind in messages and results */
sealed abstract class FileKind(val name: String) extends Serializable

object FileKind {
  case object DataFile extends FileKind("data file")

  /** Position delete files, and Puffin files with deletion vectors. */
  case object PositionDeleteFile extends FileKind("position delete file")
  case object EqualityDeleteFile extends FileKind("equality delete file")
  case object Manifest extends FileKind("manifest")
  case object ManifestList extends FileKind("manifest list")
  case object StatisticsFile extends FileKind("statistics file")

  /** A file in the table's directory that the newest metadata does not refer to, directly or through its snapshots. */
  case object OrphanFile extends FileKind("orphan file")

  def of(content: Content): FileKind = content match {
    case Content.Data => DataFile
    case Content.PositionDeletes => PositionDeleteFile
    case Content.EqualityDeletes => EqualityDeleteFile
  }
}
