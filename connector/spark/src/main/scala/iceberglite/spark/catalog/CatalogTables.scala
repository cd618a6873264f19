package iceberglite.spark.catalog

import scala.util.Try

import org.apache.spark.sql.connector.catalog.Identifier

import iceberglite.catalog.{Catalog, HadoopCatalog, PathTables, Spelling}
import iceberglite.inspect.{MetadataTable, MetadataTables}
import iceberglite.spark.read.changes.ChangelogTable
import iceberglite.spark.{IcebergSource, LiveTable, OwnCommits, TimeTravel}
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, Unsupported}
import iceberglite.table.{Table, TableIdentifier}
import iceberglite.tree.ManifestCache

/** What a name stands for: a table, at a state, and maybe what it says of itself. */
final case class Found(live: LiveTable, travel: TimeTravel = TimeTravel.Latest, view: Option[TableView] = None)

/** What a table shows of itself beside its rows. */
sealed trait TableView
object TableView {
  final case class OfMetadata(table: MetadataTable) extends TableView

  /** The rows that came and went with each commit. */
  case object Changes extends TableView

  /** By name, without regard to case. */
  def find(name: String): Option[TableView] =
    if (name.equalsIgnoreCase(ChangelogTable.Name)) Some(Changes) else MetadataTables.find(name).map(OfMetadata)

  val names: Seq[String] = MetadataTables.all.map(_.name) :+ ChangelogTable.Name
}

/**
 * Finds the tables of a catalog by the names that users write:
 *
 *   - `db.t`, a table;
 *   - `db.t.snapshots`, one of its metadata tables;
 *   - `db.t.at_timestamp_<ms>`, `snapshot_id_<id>`, `branch_<name>`, `tag_<name>`, a state of it; both can be combined;
 *   - a path, which has a slash: `/data/t`, and with selectors `/data/t#tag_v1,files`.
 *
 * A table of that very name comes before a selector.
 *
 * @param name the catalog's name in the session
 * @param paths absent where paths are not names of tables
 */
final class CatalogTables(name: String, catalog: Catalog, paths: Option[PathTables], cache: TableCache) {

  def allowsPaths: Boolean = paths.isDefined

  def find(ident: Identifier): Found = (PathName.of(ident), paths) match {
    case (Some(path), Some(tables)) =>
      path.selectors.foldLeft(Found(live(PathHome(tables, path.path)))) { (found, selector) =>
        select(found, selector).getOrElse(throw InvalidArgument("path", path.toString, selectorsKnown(selector)))
      }
    // Spark takes the path in parquet.`/data/f` for a table first, and for a file only where there is no such table.
    case (Some(path), None) => throw NotFound("table", path.toString, insteadOfPath)
    case (None, _) => find(idOf(ident))
  }

  /** Returns where an identifier's table is or will be, for statements that create, rename or drop it. */
  def home(ident: Identifier): Home = (PathName.of(ident), paths) match {
    case (Some(path), None) => throw Unsupported(s"the path $path as the name of a table", insteadOfPath)
    case (Some(PathName(path, Vector())), Some(tables)) => PathHome(tables, path)
    case (Some(path), _) =>
      throw InvalidArgument("path", path.toString, "It selects a state of a table, which cannot be changed")
    case (None, _) => NamedHome(catalog, idOf(ident))
  }

  /** Returns where a new table will be. A namespace before a path has no meaning, but it must exist. */
  def homeOfNew(ident: Identifier): Home = {
    val home = this.home(ident)
    val namespace = ident.namespace.toVector
    if (home.isInstanceOf[PathHome] && namespace.nonEmpty && !catalog.namespaceExists(namespace)) {
      throw NotFound(
        "namespace",
        (name +: namespace).mkString("."),
        s"List the namespaces with SHOW NAMESPACES IN $name"
      )
    }
    home
  }

  def exists(ident: Identifier): Boolean = !isRejectedPath(ident) && home(ident).exists

  /** Why a name cannot be that of a table here, and what to do instead. */
  def rejection(ident: Identifier): Option[String] = if (isRejectedPath(ident)) Some(insteadOfPath) else None

  private def isRejectedPath(ident: Identifier): Boolean = paths.isEmpty && PathName.of(ident).isDefined

  private def insteadOfPath: String =
    s"Catalog $name does not support paths as table names. Use the name of a table, or read and write the path with " +
      s"format(${IcebergSource.ShortName}) or in a catalog of type ${HadoopCatalog.catalogType}"

  /** What the user may have meant by the last part of a name that is not there. */
  def nearName(ident: Identifier): Option[String] = {
    val id = idOf(ident)
    def metadataTable = Spelling.closest(id.name, TableView.names)
      .filter(_ => id.namespace.nonEmpty && catalog.tableExists(TableIdentifier(id.namespace.init, id.namespace.last)))
    if (PathName.of(ident).isDefined) None else NearNames.of(catalog, id).orElse(metadataTable)
  }

  /** What others did to the table shows when it is next asked for, to the files of its metadata too. */
  def invalidate(ident: Identifier): Unit = (PathName.of(ident), paths) match {
    case (Some(path), Some(tables)) => invalidate(PathHome(tables, path.path))
    case (Some(_), None) =>
    case (None, _) => invalidate(NamedHome(catalog, idOf(ident)))
  }

  private def invalidate(place: Home): Unit = {
    cache.known(place.key).orElse(there(place)).foreach(t => ManifestCache.of(t.io).forget(t.io, t.location))
    cache.invalidate(place.key)
  }

  private def there(place: Home): Option[Table] =
    try Some(place.table())
    catch { case _: NotFound => None }

  /** The table is gone, or has a new name. */
  def forget(ident: Identifier): Unit = {
    val key = home(ident).key
    forget(key, cache.known(key))
  }

  /** The same of a table that goes, which other catalogs may know under other names. */
  def forgetting[A](ident: Identifier)(drop: => A): A = {
    val place = home(ident)
    // A broken table can be dropped, too.
    val table = cache.known(place.key).orElse(Try(place.table()).toOption)
    try drop
    finally forget(place.key, table)
  }

  private def forget(key: String, table: Option[Table]): Unit = {
    table.foreach(OwnCommits.announce(_, None))
    OwnCommits.announce(key)
    cache.remove(key)
  }

  private def find(id: TableIdentifier): Found =
    try Found(live(NamedHome(catalog, id)))
    catch {
      case missing @ NotFound("table" | "namespace", _, _) if id.namespace.nonEmpty && isSelector(id.name) =>
        val parent = TableIdentifier(id.namespace.init, id.namespace.last)
        select(find(parent), id.name).getOrElse(throw missing)
      case missing @ NotFound("table", _, _) => throw NearNames.addedTo(missing, catalog, id)
    }

  private def live(home: Home): LiveTable = cache.table(home.key)(home.table())

  private def idOf(ident: Identifier): TableIdentifier = TableIdentifier(ident.namespace.toVector, ident.name)

  private def isSelector(part: String): Boolean =
    TimeTravel.ofSelector(part).isDefined || TableView.find(part).isDefined

  /** At most one state and one metadata table. */
  private def select(found: Found, selector: String): Option[Found] = {
    val view = TableView.find(selector).filter(_ => found.view.isEmpty)
    val travel = TimeTravel.ofSelector(selector).filter(_ => found.travel == TimeTravel.Latest)
    view.map(v => found.copy(view = Some(v))).orElse(travel.map(t => found.copy(travel = t)))
  }

  private def selectorsKnown(selector: String): String =
    s"$selector is not a valid selector. After # there may be a state (at_timestamp_<ms>, snapshot_id_<id>, " +
      s"branch_<name>, tag_<name>) and a metadata table (${TableView.names.mkString(", ")})"
}
