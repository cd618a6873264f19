package iceberglite.io

import java.util.Locale

/**
 * The place that a path names, so that two spellings of one place are equal: `s3://b/t` and `s3a://b//t/`, `/wh/t` and
 * `file:///wh/t`. Nothing is decoded, and letter case counts.
 *
 * @param names the directories, and the file last
 */
final case class StoragePath private (store: String, authority: String, names: Vector[String]) {

  /** Whether this is in the directory, at any depth, on the same store. */
  def isBelow(directory: StoragePath): Boolean =
    store == directory.store && authority == directory.authority && names.size > directory.names.size &&
      names.startsWith(directory.names)

  /** Whether one of the two is, or contains, the other. */
  def overlaps(that: StoragePath): Boolean = this == that || isBelow(that) || that.isBelow(this)

  def parent: StoragePath = copy(names = names.dropRight(1))

  def /(name: String): StoragePath = copy(names = names :+ name)

  /** A path that [[FileIO]] understands. */
  def text: String = {
    val absolute = names.mkString("/", "/", "")
    if (store == StoragePath.LocalStore) s"file:$absolute" else s"$store://$authority$absolute"
  }

  override def toString: String = text
}

object StoragePath {
  private[io] val LocalStore = "file"
  private val Uri = "(?s)([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(.*)".r

  /** Schemes that name the same store. */
  private val sameStore: Map[String, String] =
    Map("s3" -> "s3a", "s3n" -> "s3a", "abfs" -> "abfss", "wasb" -> "wasbs")

  /** `.` and `..`, percent-encoded too: no storage here decodes them, but another one might. */
  private val Step = "(?i)(?:\\.|%2e){1,2}".r

  /**
   * @param defaultFileSystem where paths without a scheme are, see [[FileIO.defaultFileSystem]]
   * @return absent for a path that different storages understand differently: a relative one, one with a step in it
   *   (`.` or `..`) or a control character, and one that begins with two slashes
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
  }).filterNot(_.names.exists(name => Step.pattern.matcher(name).matches || name.exists(_ < ' ')))

  private def storeOf(scheme: String): String = {
    val lower = scheme.toLowerCase(Locale.ROOT)
    sameStore.getOrElse(lower, lower)
  }

  /** Hadoop takes the default file system's authority for a path of its scheme that has none. */
  private def authorityOf(store: String, authority: String, defaultFileSystem: String): String =
    if (store == LocalStore) ""
    else if (authority.nonEmpty) authority
    else defaultFileSystem match {
      case Uri(scheme, default, _) if storeOf(scheme) == store => Option(default).getOrElse("")
      case _ => ""
    }

  private def names(path: String): Vector[String] = path.split('/').filter(_.nonEmpty).toVector
}
