package iceberglite.spark.view

import org.apache.spark.sql.catalyst.analysis.AnalysisContext
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisOnlyCommand, LogicalPlan}
import org.apache.spark.sql.catalyst.trees.CurrentOrigin
import org.apache.spark.sql.connector.catalog.{TableCatalog, ViewCatalog => SparkViewCatalog}
import org.apache.spark.sql.execution.command.RunnableCommand
import org.apache.spark.sql.iceberglite.ViewChecks
import org.apache.spark.sql.{Row, SparkSession}

import iceberglite.catalog.ViewDefinition
import iceberglite.spark.conf.EngineSummary
import iceberglite.spark.error.{ErrorBoundary, SparkErrors}
import iceberglite.spec.view.ViewRepresentation

/**
 * `CREATE [OR REPLACE] VIEW [IF NOT EXISTS]` and `ALTER VIEW ... AS`.
 *
 * @param query the query, which Spark analyzes
 * @param isAnalyzed whether Spark has analyzed the query; the query is then no longer a child of the command, so that
 *   Spark does not optimize it
 * @param temporaryFunctions the temporary functions that the query uses
 */
final private[view] case class WriteView(
    view: ViewName,
    mode: WriteView.Mode,
    definition: WriteView.Definition,
    query: LogicalPlan,
    isAnalyzed: Boolean = false,
    temporaryFunctions: Seq[String] = Nil
) extends RunnableCommand
    with AnalysisOnlyCommand
    with ErrorBoundary {

  override protected def errorName: String = view.toString

  override def childrenToAnalyze: Seq[LogicalPlan] = Seq(query)

  override def markAsAnalyzed(context: AnalysisContext): LogicalPlan =
    copy(isAnalyzed = true, temporaryFunctions = context.referredTempFunctionNames.toSeq)

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[LogicalPlan]): LogicalPlan =
    copy(query = newChildren.head)

  override def run(session: SparkSession): Seq[Row] = in {
    val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
    // Spark's own errors have no position.
    SparkErrors.at(CurrentOrigin.get) {
      ViewChecks.check(view.forSpark, query, definition.columns.map(_._1), temporaryFunctions, caseSensitive)
      ViewPlan.checkAcyclic(view, query)
    }
    write(session)
    Seq.empty
  }

  private def write(session: SparkSession): Unit = {
    val properties = newProperties
    val location = definition.properties.get(TableCatalog.PROP_LOCATION)
    mode match {
      // In the session catalog, the name can also belong to a table or view of Spark.
      case WriteView.CreateIfNotExists if view.catalog.tableExists(view.ident) => ()
      case WriteView.CreateIfNotExists =>
        view.operations.createIfNotExists(view.id, newVersion(session), properties, location)
      case WriteView.Create =>
        view.checkUnused()
        view.operations.create(view.id, newVersion(session), properties, location)
      case WriteView.CreateOrReplace =>
        if (view.find().isEmpty) view.checkUnused()
        view.operations.createOrReplace(view.id, newVersion(session), properties, location)
      case WriteView.Replace => view.operations.replace(view.id, newVersion(session), properties, location)
    }
    ()
  }

  private def newProperties: Map[String, String] =
    definition.properties.filterNot { case (key, _) => ViewDescription.Reserved(key) } ++
      definition.comment.map(SparkViewCatalog.PROP_COMMENT -> _) +
      (ViewColumns.QueryColumnNames -> ViewColumns.joinedNames(query.output))

  private def newVersion(session: SparkSession): ViewDefinition = {
    val manager = session.sessionState.catalogManager
    val summary = EngineSummary.of(session) - EngineSummary.ApplicationId ++ ViewColumns.summary(query.output)
    ViewDefinition(
      ViewColumns.schema(query.output, definition.columns),
      ViewRepresentation.Sql(definition.text, ViewQuery.Dialect),
      summary,
      Some(manager.currentCatalog.name).filter(_ != view.catalog.name),
      manager.currentNamespace.toVector
    )
  }
}

private[view] object WriteView {

  /** Determines the effect of the statement if the view exists, and if it does not exist. */
  sealed trait Mode
  case object Create extends Mode
  case object CreateIfNotExists extends Mode
  case object CreateOrReplace extends Mode
  case object Replace extends Mode

  /**
   * The clauses of a statement.
   *
   * @param text the query as written
   * @param columns the names and comments of the columns; empty if the statement has no list of columns
   */
  final case class Definition(
      text: String,
      columns: Seq[(String, Option[String])] = Nil,
      comment: Option[String] = None,
      properties: Map[String, String] = Map.empty
  )
}
