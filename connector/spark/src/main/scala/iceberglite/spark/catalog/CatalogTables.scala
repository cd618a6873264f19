package iceberglite.spark.catalog

import scala.util.Try

import org.apache.spark.sql.connector.catalog.Identifier

import iceberglite.catalog.{Catalog, HadoopCatalog, PathTables}
import iceberglite.inspect.{MetadataTable, MetadataTables}
import iceberglite.spark.changelog.ChangelogTable
import iceberglite.spark.conf.TimeTravel
import iceberglite.spark.session.{CommitListeners, SharedTable, TableCache}
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, Unsupported, ValidationFailed}
import iceberglite.spec.ObjectKind
import iceberglite.spec.Spelling
import iceberglite.table.{Table, TableIdentifier}
import iceberglite.tree.ManifestCache

/**
 * The object that a name refers to: a table, the selected snapshot, and optionally a metadata table or the changelog.
 */
final case class ResolvedName(
    table: SharedTable,
    travel: TimeTravel = TimeTravel.Latest,
    view: Option[DerivedTable] = None
)

/** A metadata table, or the changelog of a table. */
sealed trait DerivedTable
object DerivedTable {
  final case class OfMetadata(table: MetadataTable) extends DerivedTable

  /** The rows that each commit inserted and deleted. */
  case object Changes extends DerivedTable

  /** Finds a metadata table or the changelog by its name, ignoring case. */
  def find(name: String): Option[DerivedTable] =
    if (name.equalsIgnoreCase(ChangelogTable.Name)) Some(Changes) else MetadataTables.find(name).map(OfMetadata)

  val names: Seq[String] = MetadataTables.all.map(_.name) :+ ChangelogTable.Name
}

/**
 * Finds the tables of a catalog by the names that users write:
 *
 * - `db.t`, a table;
 * - `db.t.snapshots`, a metadata table of `db.t`, or `db.t.changes`, the changelog of `db.t`;
 * - `db.t.at_timestamp_<ms>`, `db.t.snapshot_id_<id>`, `db.t.branch_<name>` or `db.t.tag_<name>`, a snapshot of the
 *   table. A metadata table may follow, as in `db.t.tag_v1.files`;
 * - a path, which contains a slash: `/data/t` or, with selectors, `/data/t#tag_v1,files`.
 *
 * If a table has exactly the name that the user wrote, this table is returned, even if the last part of its name looks
 * like a selector.
 *
 * @param name the catalog's name in the session
 * @param paths absent if the catalog does not accept paths as table names
 */
final class CatalogTables(name: String, catalog: Catalog, paths: Option[PathTables], cache: TableCache) {
  import CatalogTables.RewriteTable

  def allowsPaths: Boolean = paths.isDefined

  def find(ident: Identifier): ResolvedName = (PathName.of(ident), paths) match {
    case (Some(path), Some(tables)) =>
      path.selectors.foldLeft(ResolvedName(sharedTable(PathTable(tables, path.path)))) { (resolved, selector) =>
        select(resolved, selector).getOrElse {
          throw if (selector.equalsIgnoreCase(RewriteTable)) rewriteTable(path.path)
          else InvalidArgument("path", path.toString, selectorHint(selector))
        }
      }
    // Spark first tries to resolve the path in parquet.`/data/f` as a table. Spark reads the path as a file only if
    // this error is thrown.
    case (Some(path), None) => throw NotFound(ObjectKind.Table, path.toString, insteadOfPath)
    case (None, _) => find(idOf(ident))
  }

  /** Returns a handle of a table for statements that create, rename or drop the table. The table need not exist. */
  def handleOf(ident: Identifier): TableHandle = (PathName.of(ident), paths) match {
    case (Some(path), None) => throw Unsupported(s"the path $path as the name of a table", insteadOfPath)
    case (Some(PathName(path, Vector())), Some(tables)) => PathTable(tables, path)
    case (Some(path), _) =>
      throw InvalidArgument(
        "path",
        path.toString,
        "The part after # selects a state or a metadata table, which cannot be changed; remove this part"
      )
    case (None, _) => NamedTable(catalog, idOf(ident))
  }

  /** Returns a handle of a new table. If a namespace precedes a path, the namespace must exist, but is not used. */
  def handleOfNew(ident: Identifier): TableHandle = {
    val handle = handleOf(ident)
    val namespace = ident.namespace.toVector
    if (handle.isInstanceOf[PathTable] && namespace.nonEmpty && !catalog.namespaceExists(namespace)) {
      throw NotFound(
        ObjectKind.Namespace,
        (name +: namespace).mkString("."),
        s"List the namespaces with SHOW NAMESPACES IN $name"
      )
    }
    handle
  }

  def exists(ident: Identifier): Boolean = !isRejectedPath(ident) && handleOf(ident).exists

  /**
   * Returns the reason why a name cannot refer to a table in this catalog, and an alternative; absent if the name is
   * valid.
   */
  def rejection(ident: Identifier): Option[String] = if (isRejectedPath(ident)) Some(insteadOfPath) else None

  private def isRejectedPath(ident: Identifier): Boolean = paths.isEmpty && PathName.of(ident).isDefined

  private def insteadOfPath: String =
    s"Catalog $name does not support paths as table names. Use the name of a table, or read and write the path with " +
      s"format(${Providers.IcebergLite}) or in a catalog of type ${HadoopCatalog.catalogType}"

  /** Returns the name of an existing table or metadata table that is similar to the last part of a missing name. */
  def similarName(ident: Identifier): Option[String] = {
    val id = idOf(ident)
    def metadataTable = Spelling.closest(id.name, DerivedTable.names)
      .filter(_ => id.namespace.nonEmpty && catalog.tableExists(TableIdentifier(id.namespace.init, id.namespace.last)))
    if (PathName.of(ident).isDefined) None else SimilarNames.of(catalog, id).orElse(metadataTable)
  }

  /**
   * Removes the cached manifests of a table, and makes the next access load the table again. Therefore, the next access
   * sees the commits of other writers, and fails if the user may no longer read the metadata files.
   */
  def invalidate(ident: Identifier): Unit = (PathName.of(ident), paths) match {
    case (Some(path), Some(tables)) => invalidate(PathTable(tables, path.path))
    case (Some(_), None) =>
    case (None, _) => invalidate(NamedTable(catalog, idOf(ident)))
  }

  private def invalidate(handle: TableHandle): Unit = {
    cache.known(handle.key).orElse(loadIfExists(handle)).foreach(t =>
      ManifestCache.of(t.io).invalidate(t.io, t.location)
    )
    cache.invalidate(handle.key)
  }

  private def loadIfExists(handle: TableHandle): Option[Table] =
    try Some(handle.table())
    catch { case _: NotFound => None }

  /** Removes a name from the cache after its table was dropped, renamed or registered. */
  def forget(ident: Identifier): Unit = {
    val key = handleOf(ident).key
    forget(key, cache.known(key))
  }

  /**
   * Drops a table with `drop`, and removes the table from the caches of all catalogs, even if they have cached it under
   * other names.
   */
  def dropAndForget[A](ident: Identifier)(drop: => A): A = {
    val handle = handleOf(ident)
    // Ignore errors here, because a table whose metadata cannot be read can also be dropped.
    val table = cache.known(handle.key).orElse(Try(handle.table()).toOption)
    try drop
    finally forget(handle.key, table)
  }

  private def forget(key: String, table: Option[Table]): Unit = {
    table.foreach(CommitListeners.announce(_, None))
    CommitListeners.announce(key)
    cache.remove(key)
  }

  private def find(id: TableIdentifier): ResolvedName =
    try ResolvedName(sharedTable(NamedTable(catalog, id)))
    catch {
      case missing: IcebergError if isAbsent(missing, id) && id.namespace.nonEmpty && isSelector(id.name) =>
        val parent = TableIdentifier(id.namespace.init, id.namespace.last)
        select(find(parent), id.name).getOrElse(throw missing)
      case NotFound(ObjectKind.Table | ObjectKind.Namespace, _, _) if isRewriteOfTable(id) =>
        throw rewriteTable(id.namespace.mkString("."))
      case missing @ NotFound(ObjectKind.Table, _, _) => throw SimilarNames.withSuggestion(missing, catalog, id)
    }

  /**
   * Whether an error means that the catalog has no table with a name. A selector such as `branch_team/a` may also be
   * invalid as the name of a table; a REST server may reject the request because of its slash. An error of a table
   * whose name is also a selector, such as `history`, is not hidden.
   */
  private def isAbsent(error: IcebergError, id: TableIdentifier): Boolean = error match {
    case NotFound(ObjectKind.Table | ObjectKind.Namespace, _, _) => true
    case _: InvalidArgument | _: ValidationFailed => id.name.exists(c => !Character.isLetterOrDigit(c) && c != '_')
    case _ => false
  }

  private def isRewriteOfTable(id: TableIdentifier): Boolean = id.namespace.nonEmpty &&
    id.name.equalsIgnoreCase(RewriteTable) && catalog.tableExists(TableIdentifier(id.namespace.init, id.namespace.last))

  private def rewriteTable(table: String): Unsupported = Unsupported(
    s"the metadata table $RewriteTable of $table",
    "Apache Iceberg compacts files with it. To read the rows with their row lineage, select *, _row_id and " +
      s"_last_updated_sequence_number from $table"
  )

  private def sharedTable(handle: TableHandle): SharedTable = cache.table(handle.key)(handle.table())

  private def idOf(ident: Identifier): TableIdentifier = TableIdentifier(ident.namespace.toVector, ident.name)

  private def isSelector(part: String): Boolean =
    TimeTravel.ofSelector(part).isDefined || DerivedTable.find(part).isDefined

  /**
   * Applies a selector to a resolved name.
   *
   * @return absent if the selector is not valid, or if the name already has a selector of the same kind
   */
  private def select(resolved: ResolvedName, selector: String): Option[ResolvedName] = {
    val view = DerivedTable.find(selector).filter(_ => resolved.view.isEmpty)
    val travel = TimeTravel.ofSelector(selector).filter(_ => resolved.travel == TimeTravel.Latest)
    view.map(v => resolved.copy(view = Some(v))).orElse(travel.map(t => resolved.copy(travel = t)))
  }

  private def selectorHint(selector: String): String =
    s"$selector is not a valid selector. After # there may be a state (at_timestamp_<ms>, snapshot_id_<id>, " +
      s"branch_<name>, tag_<name>) and a metadata table (${DerivedTable.names.mkString(", ")})"
}

private object CatalogTables {

  /** The name of the metadata table with which Apache Iceberg compacts files. */
  private val RewriteTable = "rewrite"
}
