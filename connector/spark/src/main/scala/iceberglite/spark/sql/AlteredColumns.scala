package iceberglite.spark.sql

import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{UnresolvedFieldName, UnresolvedTable}
import org.apache.spark.sql.catalyst.plans.logical.{AlterTableCommand, DropColumns, LogicalPlan}

import iceberglite.spark.catalog.TableEvolution
import iceberglite.spark.error.{ErrorCondition, StatementError}
import iceberglite.spark.session.{CatalogNames, LiteCatalog}
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound}
import iceberglite.spec.schema.ColumnPath

/**
 * Rejects an ALTER TABLE statement, other than DROP COLUMN IF EXISTS, that names a column that does not exist or is
 * ambiguous. The parser calls this check before Spark resolves the names, because Spark's own error has no condition.
 */
final private[sql] class AlteredColumns(session: SparkSession) {

  def apply(plan: LogicalPlan): LogicalPlan = {
    plan match {
      case DropColumns(_, _, true) =>
      case _ if TableEvolution.parsing.value =>
      case alter: AlterTableCommand => alter.table match {
          case UnresolvedTable(name, _, _) =>
            val columns = alter.expressions.flatMap(_.collect { case column: UnresolvedFieldName => column })
            if (columns.nonEmpty) tableOf(name).foreach(table => columns.foreach(check(_, table)))
          case _ =>
        }
      case _ =>
    }
    plan
  }

  /** Returns the table; absent if Spark or the catalog will report an error about the name. */
  private def tableOf(name: Seq[String]): Option[SparkTable] = CatalogNames.resolve(session, name) match {
    case (catalog: LiteCatalog, ident) =>
      try Some(catalog.loadTable(ident)).collect { case table: SparkTable => table }
      catch { case NonFatal(_) => None }
    case _ => None
  }

  private def check(column: UnresolvedFieldName, table: SparkTable): Unit = {
    def reject(error: IcebergError) =
      throw new StatementError(s"${table.name}: ${error.getMessage}", error, ErrorCondition.of(error), column.origin)
    try {
      ColumnPath.require(table.table.schema, column.name.toVector, session.sessionState.conf.caseSensitiveAnalysis)
      ()
    } catch {
      case missing: NotFound => reject(missing)
      case ambiguous: InvalidArgument => reject(ambiguous)
    }
  }
}
