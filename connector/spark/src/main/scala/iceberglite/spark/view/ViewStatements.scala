package iceberglite.spark.view

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{
  UnresolvedIdentifier,
  UnresolvedNamespace,
  UnresolvedTableOrView,
  UnresolvedView
}
import org.apache.spark.sql.catalyst.plans.logical._

import iceberglite.spark.error.SparkErrors
import iceberglite.spark.session.{CatalogNames, LiteCatalog}

/**
 * Replaces Spark's statements on views by commands of the connector, if the view is in an iceberg-lite catalog. The
 * parser does this, because Spark 3.5 rejects these statements for all catalogs except its session catalog when it
 * resolves their names.
 */
final private[iceberglite] class ViewStatements(session: SparkSession) {

  def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case create: CreateView => ofCreate(create)
    case statement @ DropView(UnresolvedIdentifier(name, _), ifExists) =>
      ViewName.of(session, name).filter(view => !view.isInSessionCatalog || SessionViews.dropsIceberg(session, view))
        .fold[LogicalPlan](statement)(DropIcebergView(_, ifExists))
    case statement @ AlterViewAs(name: UnresolvedView, text, query) =>
      replace(statement, name.multipartIdentifier)(WriteView(_, WriteView.Replace, WriteView.Definition(text), query))
    case statement @ SetViewProperties(name: UnresolvedView, properties) =>
      replace(statement, name.multipartIdentifier)(AlterViewProperties(_, properties, Nil, ifExists = false))
    case statement @ UnsetViewProperties(name: UnresolvedView, keys, ifExists) =>
      replace(statement, name.multipartIdentifier)(AlterViewProperties(_, Map.empty, keys, ifExists))
    case statement @ RenameTable(name: UnresolvedTableOrView, newName, true) =>
      ViewName.of(session, name.multipartIdentifier) match {
        case Some(view) if view.belongsToSpark =>
          checkNewName(view, newName)
          statement
        case Some(view) => RenameIcebergView(view, newName)
        case None => statement
      }
    case statement @ ShowViews(UnresolvedNamespace(namespace), pattern, output) =>
      CatalogNames.resolveNamespace(session, namespace) match {
        case (catalog: LiteCatalog, levels) if catalog.viewCatalog.isDefined =>
          ShowIcebergViews(catalog, levels, pattern, output)
        case _ => statement
      }
    case other => other
  }

  private def ofCreate(create: CreateView): LogicalPlan = create.child match {
    case UnresolvedIdentifier(name, _) =>
      // A new permanent view may have the name of a temporary view.
      val view = ViewName.ofPermanent(session, name)
        .filter(v => !v.isInSessionCatalog || SessionViews.createsIceberg(session, v, create.properties))
      val mode =
        if (create.replace) WriteView.CreateOrReplace
        else if (create.allowExisting) WriteView.CreateIfNotExists
        else WriteView.Create
      val text = create.originalText.getOrElse(throw new IllegalStateException("CREATE VIEW has no query text"))
      val definition =
        WriteView.Definition(text, create.userSpecifiedColumns, create.comment, create.properties)
      view.fold[LogicalPlan](create)(WriteView(_, mode, definition, create.query))
    case _ => create
  }

  /** Rejects the name of an Iceberg table or view, which Spark does not know, as the new name of a view of Spark. */
  private def checkNewName(view: ViewName, newName: Seq[String]): Unit = {
    val (catalog, ident) = view.renamed(session, newName)
    val target = view.copy(ident = ident)
    if (catalog.name == view.catalog.name) SparkErrors.in(view.toString) {
      if (target.exists || target.catalog.isIcebergTable(target.ident)) throw target.alreadyExists
    }
  }

  /** Replaces a statement, unless it is about a temporary view or a view of Spark's session catalog. */
  private def replace(statement: LogicalPlan, name: Seq[String])(command: ViewName => LogicalPlan): LogicalPlan =
    ViewName.of(session, name).filterNot(_.belongsToSpark).fold(statement)(command)
}
