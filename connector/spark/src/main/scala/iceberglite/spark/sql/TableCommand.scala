package iceberglite.spark.sql

import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.{Row, SparkSession}

import iceberglite.spark.catalog.{CachedPlans, MetadataStatement}
import iceberglite.spark.conf.EngineSummary
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.session.{CatalogNames, LiteCatalog}
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table.Action

/** A statement that changes a table. The table is resolved when the statement runs. */
trait NamedTableCommand extends LeafRunnableCommand with ErrorBoundary {

  /** The table's name as written. */
  def table: Seq[String]

  protected def change(session: SparkSession, catalog: LiteCatalog, ident: Identifier): Unit

  override protected def errorName: String = table.mkString(".")

  override def run(session: SparkSession): Seq[Row] = in {
    CatalogNames.resolve(session, table) match {
      case (catalog: LiteCatalog, ident) => change(session, catalog, ident)
      case _ => throw NotFound(ObjectKind.Table, table.mkString("."), "It is not in an iceberg-lite catalog")
    }
    Seq.empty
  }
}

/** A statement that changes a table by one commit. */
trait TableCommand extends NamedTableCommand {

  /** Returns the actions on the table; empty if there is nothing to do. */
  protected def actions(base: TableMetadata, caseSensitive: Boolean): Seq[Action]

  /**
   * Whether the statement first loads the newest version of the table, with the commits of other writers. Otherwise,
   * the statement uses the version that the session has loaded, so that it does not build on changes that the user has
   * not seen.
   */
  protected def loadsNewestVersion: Boolean

  override protected def change(session: SparkSession, catalog: LiteCatalog, ident: Identifier): Unit = {
    val shared = catalog.sharedTable(ident)
    if (loadsNewestVersion) shared.refresh()
    val before = shared.current
    val tableActions = actions(before.metadata, session.sessionState.conf.caseSensitiveAnalysis)
    if (tableActions.nonEmpty) {
      val transaction = before.transaction(EngineSummary.of(session))
      tableActions.foreach(transaction.add)
      CachedPlans.refresh(session, catalog, ident, before.metadata, transaction.commit().metadata)
    }
  }
}

/** A statement that changes only the table's metadata, by one commit. */
trait MetadataCommand extends TableCommand with MetadataStatement {
  final override protected def actions(base: TableMetadata, caseSensitive: Boolean): Seq[Action] =
    metadataActions(base, caseSensitive)
}
