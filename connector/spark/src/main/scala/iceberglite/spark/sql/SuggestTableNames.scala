package iceberglite.spark.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{
  NoSuchTableException,
  UnresolvedRelation,
  UnresolvedTable,
  UnresolvedTableOrView
}
import org.apache.spark.sql.catalyst.plans.logical.{InsertIntoStatement, LogicalPlan, V2WriteCommand}
import org.apache.spark.sql.catalyst.rules.Rule

import iceberglite.spark.{CatalogNames, LiteCatalog}

/**
 * Tells the user which table of our catalogs has a name like the one that was not found. Spark asks a catalog only
 * whether a table is there, and its own message cannot say more.
 */
final class SuggestTableNames(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach {
      // The target of a write is no child of its plan.
      case insert: InsertIntoStatement => look(insert.table)
      case write: V2WriteCommand => look(write.table)
      case other => look(other)
    }
    plan
  }

  private def look(plan: LogicalPlan): Unit = plan match {
    case missing: UnresolvedRelation => suggest(missing.multipartIdentifier)
    case missing: UnresolvedTable => suggest(missing.multipartIdentifier)
    case missing: UnresolvedTableOrView => suggest(missing.multipartIdentifier)
    case _ =>
  }

  private def suggest(name: Seq[String]): Unit = CatalogNames.resolve(session, name) match {
    case (catalog: LiteCatalog, ident) => catalog.nearName(ident).foreach { near =>
        // The class and parameters are those of Spark's own error, which programs look for.
        val missing = name.map(quoted).mkString(".")
        throw new NoSuchTableException(
          "TABLE_OR_VIEW_NOT_FOUND",
          Map("relationName" -> s"$missing (did you mean ${quoted(near)}?)")
        )
      }
    case _ =>
  }

  private def quoted(part: String): String = "`" + part.replace("`", "``") + "`"
}
