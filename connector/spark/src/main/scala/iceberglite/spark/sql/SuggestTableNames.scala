package iceberglite.spark.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{
  NoSuchTableException,
  ResolvedIdentifier,
  UnresolvedRelation,
  UnresolvedTable,
  UnresolvedTableOrView
}
import org.apache.spark.sql.catalyst.plans.logical.{
  DropTable,
  InsertIntoStatement,
  LogicalPlan,
  V2CreateTablePlan,
  V2WriteCommand
}
import org.apache.spark.sql.catalyst.rules.Rule

import iceberglite.spark.error.SparkErrors
import iceberglite.spark.session.{CatalogNames, LiteCatalog}
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * Improves the error message for a missing table of an iceberg-lite catalog. The message suggests an existing table
 * with a similar name, or states why there can be no table with this name. Spark's own message has no suggestion.
 */
final class SuggestTableNames(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach {
      // The target of a write is not a child of its plan.
      case insert: InsertIntoStatement => check(insert.table)
      case write: V2WriteCommand => check(write.table)
      case other => check(other)
    }
    plan
  }

  private def check(plan: LogicalPlan): Unit = plan match {
    case missing: UnresolvedRelation => suggest(missing, missing.multipartIdentifier)
    case missing: UnresolvedTable => suggest(missing, missing.multipartIdentifier)
    case missing: UnresolvedTableOrView => suggest(missing, missing.multipartIdentifier)
    case create: V2CreateTablePlan => reject(create.name)
    case drop: DropTable => reject(drop.child)
    case _ =>
  }

  /** Throws an error if the name of a statement's target cannot be a table in its catalog. */
  private def reject(target: LogicalPlan): Unit = target match {
    case ResolvedIdentifier(catalog: LiteCatalog, ident) => catalog.rejection(ident).foreach { reason =>
        val name = (catalog.name +: ident.namespace :+ ident.name).mkString(".")
        throw SparkErrors.of(name, InvalidArgument("table name", ident.name, reason))
      }
    case _ =>
  }

  private def suggest(plan: LogicalPlan, name: Seq[String]): Unit = CatalogNames.resolve(session, name) match {
    case (catalog: LiteCatalog, ident) =>
      val hint =
        catalog.rejection(ident).orElse(catalog.similarName(ident).map(near => s"did you mean ${quoted(near)}?"))
      // Keep the error class and parameters of Spark's own error, which programs may check.
      hint.foreach { text =>
        val missing = name.map(quoted).mkString(".")
        val error =
          new NoSuchTableException("TABLE_OR_VIEW_NOT_FOUND", Map("relationName" -> s"$missing ($text)"))
        throw if (plan.origin.startPosition.isDefined) error.withPosition(plan.origin) else error
      }
    case _ =>
  }

  private def quoted(part: String): String = "`" + part.replace("`", "``") + "`"
}
