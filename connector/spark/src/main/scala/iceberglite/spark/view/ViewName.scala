package iceberglite.spark.view

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.connector.catalog.{CatalogPlugin, Identifier}
import org.apache.spark.sql.types.StructType

import iceberglite.catalog.{ViewCatalog, ViewOperations}
import iceberglite.spark.catalog.PathName
import iceberglite.spark.convert.PartitionTerm
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.session.{CatalogNames, LiteCatalog}
import iceberglite.spec.IcebergError.{AlreadyExists, InvalidArgument, NotFound}
import iceberglite.spec.ObjectKind
import iceberglite.spec.view.ViewMetadata
import iceberglite.table.ViewState

/** The name of a view in a catalog that supports views. The view need not exist. */
final case class ViewName(catalog: LiteCatalog, views: ViewCatalog, ident: Identifier) {
  val id: iceberglite.table.TableIdentifier =
    iceberglite.table.TableIdentifier(ident.namespace.toVector, ident.name)

  /** The parts of the full name: the catalog, the namespace and the view. */
  val parts: Seq[String] = catalog.name +: ident.namespace.toSeq :+ ident.name

  /** The full name in SQL, with each part in backticks. */
  val sql: String = PartitionTerm.quoted(parts)

  /** The full name without quotes, for messages. */
  override val toString: String = parts.mkString(".")

  /** The name for Spark's own errors. */
  def forSpark: TableIdentifier =
    TableIdentifier(ident.name, Some(ident.namespace.mkString(".")), Some(catalog.name))

  def operations: ViewOperations = new ViewOperations(views)

  /** Whether there is a view with this name. Its metadata is not read. */
  def exists: Boolean =
    try views.viewExists(id)
    catch { case _: InvalidArgument => false }

  /** Returns the view's newest state; `None` if there is no view with this name. */
  def find(): Option[ViewState] =
    try Some(views.loadView(id))
    catch {
      case NotFound(ObjectKind.View | ObjectKind.Namespace, _, _) => None
      // The name is not valid for a view in this catalog.
      case _: InvalidArgument => None
    }

  /**
   * Rejects the name for a view if a table has it or, in Spark's session catalog, a view of Spark. Spark's names are
   * checked here because the Iceberg catalog does not know them.
   */
  def checkUnused(): Unit = if (catalog.tableExists(ident)) throw alreadyExists

  /** Returns the error for a name that a table or another view has. */
  def alreadyExists: AlreadyExists =
    if (isInSessionCatalog) AlreadyExists(
      ObjectKind.TableOrView,
      toString,
      "It is a table or view of Spark or of Iceberg. Drop it first, or choose another name"
    )
    else AlreadyExists(
      ObjectKind.Table,
      toString,
      "A table and a view cannot have the same name. Drop the table first, or choose another name"
    )

  /**
   * Returns the catalog and the identifier of the view after `RENAME TO`. A new name of one part is in the namespace of
   * the view.
   */
  def renamed(session: SparkSession, newName: Seq[String]): (CatalogPlugin, Identifier) = newName match {
    case Seq(one) => (catalog, Identifier.of(ident.namespace, one))
    case parts => CatalogNames.resolveIn(session, catalog, parts)
  }

  /** Returns the names and values of the details that `DESCRIBE EXTENDED` shows; `None` if there is no such view. */
  def details: Option[Seq[(String, String)]] =
    SparkErrors.in(toString)(find().map(state => ViewDescription.details(this, state.metadata)))

  /** Returns the columns of the view with their comments; `None` if there is no view with this name. */
  def columns: Option[StructType] =
    SparkErrors.in(toString)(find().map(state => ViewDescription.columns(state.metadata)))

  /**
   * Makes an earlier version of the view current. A view property tells other engines the names of the query's columns.
   * The property is set to the value in the summary of the version. If the summary does not contain the value, the
   * property is removed. The value can be missing because REST servers need not keep summaries.
   *
   * @return the metadata before and after the change
   * @throws iceberglite.spec.IcebergError.NotFound if the view or the version does not exist
   */
  def rollback(versionId: Int): (ViewMetadata, ViewMetadata) = {
    val before = views.loadView(id).metadata
    (before, operations.rollback(id, versionId, Set(ViewColumns.QueryColumnNames)).metadata)
  }

  /** Whether the name is in Spark's session catalog, which also contains Spark's own views. */
  def isInSessionCatalog: Boolean = catalog.name == CatalogNames.SessionCatalog

  /**
   * Whether Spark itself handles statements about an existing view with this name: the name is in the session catalog,
   * and no Iceberg view has the name.
   */
  def belongsToSpark: Boolean = isInSessionCatalog && SparkErrors.in(toString)(!exists)
}

object ViewName {

  /** Returns the name as [[ofPermanent]] does; absent if it is the name of a temporary view. */
  def of(session: SparkSession, name: Seq[String]): Option[ViewName] =
    if (session.sessionState.catalog.isTempView(name)) None else ofPermanent(session, name)

  /** Returns the name; absent if its catalog does not support views, or if it is a path. */
  def ofPermanent(session: SparkSession, name: Seq[String]): Option[ViewName] =
    of(CatalogNames.resolve(session, name))

  private def of(resolved: (CatalogPlugin, Identifier)): Option[ViewName] = resolved match {
    case (catalog: LiteCatalog, ident) => in(catalog, ident)
    case _ => None
  }

  /** Returns the name in a catalog if the catalog supports views, and if the name is not a path. */
  def in(catalog: LiteCatalog, ident: Identifier): Option[ViewName] =
    if (PathName.of(ident).isDefined) None else catalog.viewCatalog.map(ViewName(catalog, _, ident))
}
