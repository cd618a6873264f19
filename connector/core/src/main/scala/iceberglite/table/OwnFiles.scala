package iceberglite.table

import iceberglite.spec.{TableMetadata, TableProperty}

/**
 * Which files a table may delete: those below the directories that it writes to. Metadata may refer to any file that
 * there is, for reading; who can write metadata must not be able to have somebody else's files deleted by it.
 *
 * A path with a step upwards in it (`/../`) is in no directory. A table at the top of a bucket has only `data` and
 * `metadata` there, one at the top of a file system nothing.
 */
final class OwnFiles private (directories: Vector[OwnFiles.Place]) {
  def has(path: String): Boolean = {
    val place = OwnFiles.place(path)
    directories.exists(place.isBelow)
  }
}

object OwnFiles {
  private val Uri = "(?s)([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(.*)".r

  /** Schemes that are one store; without a scheme, the cluster's own. */
  private val sameStore: Map[String, String] =
    Map("s3" -> "s3a", "s3n" -> "s3a", "abfs" -> "abfss", "wasb" -> "wasbs", "viewfs" -> "hdfs")
  private val own = Set("file", "hdfs")

  final private case class Place(scheme: Option[String], authority: String, steps: Vector[String]) {
    def isBelow(directory: Place): Boolean =
      isStoredAs(directory) && steps.size > directory.steps.size && steps.startsWith(directory.steps) &&
        !steps.exists(step => step == ".." || step == ".")

    private def isStoredAs(that: Place): Boolean = (scheme, that.scheme) match {
      case (Some(a), Some(b)) => a == b && authority == that.authority
      case (None, None) => true
      case (one, other) => one.orElse(other).exists(own)
    }

    def parts: Vector[Place] =
      if (steps.nonEmpty) Vector(this)
      else if (authority.isEmpty) Vector.empty
      else Vector("data", "metadata").map(step => copy(steps = Vector(step)))
  }

  def of(table: TableMetadata): OwnFiles = {
    val named = Vector(
      TableProperty.DataPath,
      TableProperty.ObjectStoragePath,
      TableProperty.FolderStoragePath,
      TableProperty.MetadataPath
    ).flatMap(TableProperty.of(_, table.properties))
    new OwnFiles((table.location +: named).map(place).flatMap(_.parts).distinct)
  }

  private def place(path: String): Place = path match {
    case Uri(scheme, authority, rest) =>
      val store = sameStore.getOrElse(scheme.toLowerCase, scheme.toLowerCase)
      Place(Some(store), Option(authority).filterNot(_ => store == "file").getOrElse(""), steps(rest))
    case _ => Place(None, "", steps(path))
  }

  private def steps(path: String): Vector[String] = path.split('/').filter(_.nonEmpty).toVector
}
