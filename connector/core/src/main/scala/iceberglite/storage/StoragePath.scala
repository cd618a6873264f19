package iceberglite.storage

import java.util.Locale

/**
 * The location to which a path refers. Objects for different spellings of a location are equal, for example for
 * `s3://b/t` and `s3a://b//t/`, or for `/wh/t` and `file:///wh/t`. Percent-encoded characters are not decoded, and the
 * comparison is case-sensitive.
 *
 * @param store the normalized scheme, such as `s3a` or `file`
 * @param authority the bucket or host; empty for the local file system
 * @param names the path elements, which are the directories followed by the file
 */
final case class StoragePath private (store: String, authority: String, names: Vector[String]) {

  /** Returns whether this path is inside the directory, at any depth, on the same store. */
  def isBelow(directory: StoragePath): Boolean =
    store == directory.store && authority == directory.authority && names.size > directory.names.size &&
      names.startsWith(directory.names)

  /** Returns whether one of the two paths equals or contains the other. */
  def overlaps(that: StoragePath): Boolean = this == that || isBelow(that) || that.isBelow(this)

  def parent: StoragePath = copy(names = names.dropRight(1))

  def /(name: String): StoragePath = copy(names = names :+ name)

  /** Returns a path that [[FileIO]] accepts. */
  def text: String = {
    val absolute = names.mkString("/", "/", "")
    if (store == StoragePath.LocalStore) s"file:$absolute" else s"$store://$authority$absolute"
  }

  override def toString: String = text
}

object StoragePath {
  private[iceberglite] val LocalStore = "file"
  private val Uri = "(?s)([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(.*)".r

  /** Maps each alternative scheme of a store to the scheme that represents the store. */
  private val sameStore: Map[String, String] =
    Map("s3" -> "s3a", "s3n" -> "s3a", "abfs" -> "abfss", "wasb" -> "wasbs")

  /**
   * Matches the path elements `.` and `..`, even if they are percent-encoded. This connector does not decode them, but
   * a storage might.
   */
  private val DotElement = "(?i)(?:\\.|%2e){1,2}".r

  /**
   * Parses a path.
   *
   * @param defaultFileSystem the file system of paths without a scheme (see [[FileIO.defaultFileSystem]])
   * @return absent if storages may interpret the path in different ways. Such paths are relative paths, paths that
   *   contain the element `.` or `..` or a control character, and paths that begin with two slashes
   */
  def of(path: String, defaultFileSystem: String): Option[StoragePath] = (path match {
    case Uri(scheme, authority, rest) if rest.startsWith("/") || rest.isEmpty && Option(authority).exists(_.nonEmpty) =>
      val store = storeOf(scheme)
      Some(new StoragePath(store, authorityOf(store, Option(authority).getOrElse(""), defaultFileSystem), names(rest)))
    case absolute if absolute.startsWith("/") && !absolute.startsWith("//") =>
      defaultFileSystem match {
        case Uri(scheme, authority, _) =>
          val store = storeOf(scheme)
          Some(new StoragePath(store, authorityOf(store, Option(authority).getOrElse(""), ""), names(absolute)))
        case _ => None
      }
    case _ => None
  }).filterNot(_.names.exists(name => DotElement.pattern.matcher(name).matches || name.exists(_ < ' ')))

  private def storeOf(scheme: String): String = {
    val lower = scheme.toLowerCase(Locale.ROOT)
    sameStore.getOrElse(lower, lower)
  }

  /**
   * Returns the authority of a path. For a path with the default file system's scheme and no authority, Hadoop uses the
   * authority of the default file system.
   */
  private def authorityOf(store: String, authority: String, defaultFileSystem: String): String =
    if (store == LocalStore) ""
    else if (authority.nonEmpty) authority
    else defaultFileSystem match {
      case Uri(scheme, default, _) if storeOf(scheme) == store => Option(default).getOrElse("")
      case _ => ""
    }

  private def names(path: String): Vector[String] = path.split('/').filter(_.nonEmpty).toVector
}
