package iceberglite.spark.catalog

import org.apache.spark.sql.connector.catalog.Identifier

/**
 * A table that is identified by its directory, or by a metadata file.
 *
 * @param selectors the comma-separated parts after `#`: a state or a metadata table
 */
final case class PathName(path: String, selectors: Vector[String]) {
  override def toString: String = path + (if (selectors.isEmpty) "" else selectors.mkString("#", ",", ""))
}

object PathName {

  /** Whether an argument of the data source is a path rather than the name of a table. */
  def isPath(name: String): Boolean = name.contains("/")

  /**
   * Whether a part of a name is an absolute path. Other names with a slash are left to the catalog, which may support
   * such table names.
   */
  private def isFullPath(part: String): Boolean = part.startsWith("/") || part.matches("[a-zA-Z][a-zA-Z0-9+.-]*:/.*")

  def of(name: String): PathName = {
    val (path, selectors) = name.splitAt(if (name.contains("#")) name.lastIndexOf('#') else name.length)
    PathName(path.stripSuffix("/"), selectors.drop(1).split(',').toVector.map(_.trim).filter(_.nonEmpty))
  }

  /**
   * Returns the path of an identifier. The namespace is ignored, because Spark adds the current namespace to a name of
   * one part. The last part after a path may be a selector, as with other tables.
   */
  def of(ident: Identifier): Option[PathName] =
    if (isFullPath(ident.name)) Some(of(ident.name))
    else ident.namespace.lastOption.filter(isFullPath).map(of).map(p => p.copy(selectors = p.selectors :+ ident.name))
}
