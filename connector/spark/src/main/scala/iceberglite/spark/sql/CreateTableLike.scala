package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.execution.command.RunnableCommand
import org.apache.spark.sql.{Row, SparkSession}

import iceberglite.spark.conf.{EngineSummary, SessionSettings, TablePropertyCheck}
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.session.{CommitListeners, LiteCatalog}

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
    with UnaryLike[LogicalPlan] {

  private def tableName: String = (catalog.name +: ident.namespace :+ ident.name).mkString(".")

  override def run(session: SparkSession): Seq[Row] = SparkErrors.in(tableName) {
    if (!ifNotExists || !catalog.tableExists(ident)) create(session)
    Seq.empty
  }

  private def create(session: SparkSession): Unit = {
    TablePropertyCheck.check(tableName, clauses.properties, SessionSettings.warnings(session))
    val staged = catalog.stageTable(ident, TableLike.creation(session, child, clauses))
    try CommitListeners.announce(staged.commit(EngineSummary.of(session)), None)
    finally staged.abort()
    catalog.invalidateTable(ident)
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): CreateTableLike = copy(child = newChild)
}
