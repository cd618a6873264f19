package iceberglite.spark.catalog

import org.apache.spark.sql.connector.catalog.Identifier

/**
 * A table that is named by its directory, or by a metadata file.
 *
 * @param selectors what stands after `#`, by commas: a state or a metadata table
 */
final case class PathName(path: String, selectors: Vector[String]) {
  override def toString: String = path + (if (selectors.isEmpty) "" else selectors.mkString("#", ",", ""))
}

object PathName {

  /** Whether a name given to the data source is a path rather than the name of a table. */
  def isPath(name: String): Boolean = name.contains("/")

  /**
   * Whether a part of a name is a path, wherever the program runs. Other names with a slash are left to the catalog,
   * which may have tables of such names.
   */
  private def isFullPath(part: String): Boolean = part.startsWith("/") || part.matches("[a-zA-Z][a-zA-Z0-9+.-]*:/.*")

  def of(name: String): PathName = {
    val (path, selectors) = name.splitAt(if (name.contains("#")) name.lastIndexOf('#') else name.length)
    PathName(path.stripSuffix("/"), selectors.drop(1).split(',').toVector.map(_.trim).filter(_.nonEmpty))
  }

  /**
   * The path that an identifier stands for. The namespace counts for nothing: the current one precedes a name that was
   * written alone. The last part after that of a path may be a selector, as with other tables.
   */
  def of(ident: Identifier): Option[PathName] =
    if (isFullPath(ident.name)) Some(of(ident.name))
    else ident.namespace.lastOption.filter(isFullPath).map(of).map(p => p.copy(selectors = p.selectors :+ ident.name))
}
