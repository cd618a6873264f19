package iceberglite.spark.catalog

import org.apache.spark.sql.connector.catalog.Identifier

/**
 * The name of a table that is the path of its directory or of one of its metadata files.
 *
 * @param selectors the comma-separated parts after `#`, or the part after the path in an identifier: the selector of a
 *   snapshot, a metadata table, or both
 */
final case class PathName(path: String, selectors: Vector[String]) {
  override def toString: String = path + (if (selectors.isEmpty) "" else selectors.mkString("#", ",", ""))
}

object PathName {

  /** Whether the argument of `load` or `save` is a path rather than the name of a table. */
  def isPath(name: String): Boolean = name.contains("/")

  /**
   * Whether a part of a name is an absolute path. Other names with a slash are left to the catalog, which may support
   * such table names.
   */
  private def isAbsolutePath(part: String): Boolean =
    part.startsWith("/") || part.matches("[a-zA-Z][a-zA-Z0-9+.-]*:/.*")

  def of(name: String): PathName = {
    val (path, selectors) = name.splitAt(if (name.contains("#")) name.lastIndexOf('#') else name.length)
    PathName(path.stripSuffix("/"), selectors.drop(1).split(',').toVector.map(_.trim).filter(_.nonEmpty))
  }

  /**
   * Returns the path in an identifier. The path is the last part, or the part before a selector such as `snapshots`.
   * The namespace before the path is ignored, because Spark adds the current namespace to a name of one part.
   */
  def of(ident: Identifier): Option[PathName] =
    if (isAbsolutePath(ident.name)) Some(of(ident.name))
    else
      ident.namespace.lastOption.filter(isAbsolutePath).map(of).map(p => p.copy(selectors = p.selectors :+ ident.name))
}
