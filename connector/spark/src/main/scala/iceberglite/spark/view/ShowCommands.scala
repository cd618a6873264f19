package iceberglite.spark.view

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.util.StringUtils
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.{Row, SparkSession}

import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.session.{CatalogNames, LiteCatalog}

/**
 * `SHOW VIEWS`, which also shows the temporary views of the session and, in the session catalog, the views of Spark.
 * The namespace of global temporary views is in every catalog.
 */
final private[view] case class ShowIcebergViews(
    catalog: LiteCatalog,
    namespace: Seq[String],
    pattern: Option[String],
    override val output: Seq[Attribute]
) extends LeafRunnableCommand
    with ErrorBoundary {

  override protected def errorName: String = (catalog.name +: namespace).mkString(".")

  override def run(session: SparkSession): Seq[Row] = in {
    val isGlobal = namespace == Seq(session.sessionState.catalog.globalTempViewManager.database)
    val sparks = sparkViews(session, isGlobal)
    val own = if (isGlobal) Nil else icebergViews
    val inNamespace = (own ++ sparks.filter(_.database.isDefined).map(_.table)).distinct.sorted
    val temporary = sparks.filter(_.database.isEmpty).map(_.table)
    inNamespace.map(Row(namespace.mkString("."), _, isGlobal)) ++ temporary.map(Row("", _, true))
  }

  private def icebergViews: Seq[String] = {
    val names =
      if (isSessionCatalog) SessionViews.names(catalog, namespace)
      else catalog.viewCatalog.toSeq.flatMap(_.listViews(namespace.toVector)).map(_.name)
    pattern.fold(names)(StringUtils.filterPattern(names, _))
  }

  private def sparkViews(session: SparkSession, isGlobal: Boolean): Seq[TableIdentifier] = {
    val filter = pattern.getOrElse("*")
    if (isSessionCatalog || isGlobal) session.sessionState.catalog.listViews(namespace.mkString("."), filter)
    else session.sessionState.catalog.listLocalTempViews(filter)
  }

  private def isSessionCatalog: Boolean = catalog.name == CatalogNames.SessionCatalog
}

/** `SHOW CREATE TABLE` of a view. */
final private[view] case class ShowCreateView(view: ViewName, override val output: Seq[Attribute]) extends ViewCommand {
  override def run(session: SparkSession): Seq[Row] = in(Seq(Row(ViewDescription.createStatement(view, metadata))))
}

/** `SHOW TBLPROPERTIES` of a view. */
final private[view] case class ShowViewProperties(
    view: ViewName,
    key: Option[String],
    override val output: Seq[Attribute]
) extends ViewCommand {
  override def run(session: SparkSession): Seq[Row] = in {
    val properties = ViewDescription.properties(metadata)
    key match {
      case None => properties.map { case (name, value) => Row(name, value) }
      case Some(name) =>
        val missing = s"View $view does not have property: $name"
        Seq(Row(name, properties.collectFirst { case (`name`, value) => value }.getOrElse(missing)))
    }
  }
}

/** `SHOW COLUMNS` of a view. */
final private[view] case class ShowViewColumns(view: ViewName, override val output: Seq[Attribute])
    extends ViewCommand {
  override def run(session: SparkSession): Seq[Row] = in(ViewDescription.columns(metadata).fieldNames.toSeq.map(Row(_)))
}

/** `DESCRIBE [EXTENDED]` of a view. */
final private[view] case class DescribeView(view: ViewName, isExtended: Boolean, override val output: Seq[Attribute])
    extends ViewCommand {
  override def run(session: SparkSession): Seq[Row] = in {
    val columns = ViewDescription.columns(metadata)
      .map(field => Row(field.name, field.dataType.simpleString, field.getComment().orNull))
    val details =
      if (!isExtended) Nil
      else Row("", "", "") +: Row("# Detailed View Information", "", "") +:
        ViewDescription.details(view, metadata).map { case (name, value) => Row(name, value, "") }
    columns ++ details
  }
}
