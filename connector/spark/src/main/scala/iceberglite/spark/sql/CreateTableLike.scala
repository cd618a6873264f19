package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.analysis.UnresolvedTableOrView
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.execution.command.RunnableCommand
import org.apache.spark.sql.{Row, SparkSession}

import iceberglite.spark.conf.{EngineSummary, SessionSettings, TablePropertyCheck}
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.session.{CommitListeners, LiteCatalog}
import iceberglite.spark.view.ViewName

/**
 * `CREATE TABLE [IF NOT EXISTS] t LIKE s [USING provider] [TBLPROPERTIES (...)] [LOCATION '...']`: creates an empty
 * iceberg-lite table with the definition of another table or view, see [[TableLike]].
 *
 * @param child the table or view `s`
 */
final case class CreateTableLike(
    catalog: LiteCatalog,
    ident: Identifier,
    child: LogicalPlan,
    clauses: LikeClauses,
    ifNotExists: Boolean
) extends RunnableCommand
    with UnaryLike[LogicalPlan]
    with ErrorBoundary {

  override protected def errorName: String = (catalog.name +: ident.namespace :+ ident.name).mkString(".")

  override def run(session: SparkSession): Seq[Row] = in {
    if (!ifNotExists || !catalog.tableExists(ident)) create(session)
    Seq.empty
  }

  private def create(session: SparkSession): Unit = {
    TablePropertyCheck.check(errorName, clauses.properties, SessionSettings.warnings(session))
    val staged = catalog.stageTable(ident, TableLike.creation(session, child, clauses))
    try CommitListeners.announce(staged.commit(EngineSummary.of(session)), None)
    finally staged.abort()
    catalog.invalidateTable(ident)
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): CreateTableLike = copy(child = newChild)
}

/** Resolves the source of CREATE TABLE LIKE if it is a view of an iceberg-lite catalog. Spark resolves other sources. */
final class ResolveLikeSource(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case create @ CreateTableLike(_, _, UnresolvedTableOrView(name, _, _), _, _) =>
      ViewName.ofPermanent(session, name).flatMap(_.columns).fold(create) { columns =>
        create.copy(child = LocalRelation(DataTypeUtils.toAttributes(columns)))
      }
  }
}
