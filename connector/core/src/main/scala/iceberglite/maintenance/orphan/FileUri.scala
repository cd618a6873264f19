package iceberglite.maintenance.orphan

import java.util.Locale

import iceberglite.maintenance.Choices
import iceberglite.spec.IcebergError.Unsupported

/**
 * The path of a file, divided into the components that are compared. Percent-encoded characters are not decoded.
 *
 * @param scheme in lower case; empty for a path without a scheme
 * @param authority the bucket or host; empty if there is none
 * @param path the path without repeated slashes
 */
final case class FileUri(scheme: String, authority: String, path: String)

object FileUri {
  private val Uri = "(?s)([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(.*)".r

  def of(text: String): FileUri = text match {
    case Uri(scheme, authority, path) =>
      FileUri(scheme.toLowerCase(Locale.ROOT), Option(authority).getOrElse(""), withoutRepeatedSlashes(path))
    case _ => FileUri("", "", withoutRepeatedSlashes(text))
  }

  /**
   * Parses a path in the metadata.
   *
   * @throws Unsupported if the path is relative or contains `.` or `..`, so that it cannot be compared with listed
   *   paths
   */
  def ofMetadata(text: String): FileUri = {
    val uri = of(text)
    if (!uri.path.startsWith("/") || Step.findFirstIn(uri.path).isDefined) throw Unsupported(
      s"removing orphan files of a table whose metadata contains the path $text",
      "Paths that are relative or contain . or .. cannot be compared with listed files. Rewrite the files of the table"
    )
    uri
  }

  private val Step = "/\\.{1,2}(/|$)".r

  private def withoutRepeatedSlashes(path: String): String =
    if (path.contains("//")) path.replaceAll("/{2,}", "/") else path
}

/**
 * Schemes and authorities that refer to the same storage.
 *
 * @param schemes the common name of each scheme, such as `s3` for `s3a`, in lower case; schemes with the same common
 *   name are equal
 * @param authorities the common name of each authority
 */
final case class EqualPrefixes(schemes: Map[String, String], authorities: Map[String, String]) {

  /**
   * Returns whether a path in metadata can refer to a listed file with the same path. A scheme or an authority that is
   * absent in the metadata matches every scheme or authority.
   */
  def matches(inMetadata: FileUri, listed: FileUri): Boolean =
    isSame(inMetadata.scheme, listed.scheme, schemes) && isSame(inMetadata.authority, listed.authority, authorities)

  private def isSame(inMetadata: String, listed: String, names: Map[String, String]): Boolean =
    inMetadata.isEmpty || names.getOrElse(inMetadata, inMetadata) == names.getOrElse(listed, listed)
}

object EqualPrefixes {

  /** `s3`, `s3a` and `s3n` are the same scheme. */
  val Default: EqualPrefixes = of(Map.empty, Map.empty)

  /**
   * Parses equal names as a user states them: each key lists names, separated by commas, and the value is their common
   * name, as in `s3n,s3a -> s3`.
   */
  def of(schemes: Map[String, String], authorities: Map[String, String]): EqualPrefixes = {
    def names(equal: Map[String, String]) =
      equal.toVector.flatMap { case (keys, name) => keys.split(',').map(_.trim -> name.trim) }.toMap
    val lower = names(schemes).map { case (key, name) => key.toLowerCase(Locale.ROOT) -> name.toLowerCase(Locale.ROOT) }
    EqualPrefixes(Map("s3a" -> "s3", "s3n" -> "s3") ++ lower, names(authorities))
  }
}

/** What to do with a listed file if the metadata has the same path with another scheme or authority. */
sealed abstract class PrefixMismatch(val name: String) extends Serializable
object PrefixMismatch {

  /** Fail, normally before anything is deleted. */
  case object Fail extends PrefixMismatch("ERROR")

  /** Keep the file. */
  case object Keep extends PrefixMismatch("IGNORE")

  /** Treat the file as an orphan. */
  case object Delete extends PrefixMismatch("DELETE")

  val all: Seq[PrefixMismatch] = Seq(Fail, Keep, Delete)

  /** @throws iceberglite.spec.IcebergError.InvalidArgument if the name is unknown */
  def parse(name: String): PrefixMismatch = all.find(_.name.equalsIgnoreCase(name)).getOrElse(
    throw Choices.rejected("argument prefix_mismatch_mode", name, all.map(_.name))
  )
}
