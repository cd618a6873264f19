package iceberglite.spark.view

import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{
  AnalysisContext,
  RelationTimeTravel,
  UnresolvedRelation,
  UnresolvedTableOrView
}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.iceberglite.ViewChecks

import iceberglite.spark.conf.{RangeOptions, ReadOptions, SessionSettings, TimeTravel, WriteOptions}
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.session.CatalogNames
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.table.ViewState

/**
 * Replaces the names of views by the queries of the views, and statements about views by commands. Spark's own rules
 * run first, so that the names that remain are not names of tables or temporary views.
 */
final class ResolveViews(session: SparkSession) extends Rule[LogicalPlan] {
  private val statements = new ViewStatements(session)

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach(rejectTarget)
    // The parser cannot replace a statement with a name such as IDENTIFIER('v'), which Spark evaluates in this batch.
    statements(plan).resolveOperatorsUp {
      case relation: UnresolvedRelation => find(relation.multipartIdentifier).fold[LogicalPlan](relation) {
          case (view, state) =>
            if (relation.isStreaming)
              throw unsupported(view, "streaming reads")
            checkOptions(view, relation)
            SparkErrors.in(view.toString)(ViewPlan.of(session, view, state, relation))
        }
      case travel @ RelationTimeTravel(relation: UnresolvedRelation, _, _) =>
        find(relation.multipartIdentifier).foreach { case (view, _) =>
          SparkErrors.at(relation.origin)(throw ViewChecks.timeTravel(view.sql))
        }
        travel
      case statement @ ShowCreateTable(name: UnresolvedTableOrView, _, output) =>
        command(statement, name)(ShowCreateView(_, output))
      case statement @ ShowTableProperties(name: UnresolvedTableOrView, key, output) =>
        command(statement, name)(ShowViewProperties(_, key, output))
      case statement @ DescribeRelation(name: UnresolvedTableOrView, _, isExtended, output) =>
        command(statement, name)(DescribeView(_, isExtended, output))
      case statement @ ShowColumns(name: UnresolvedTableOrView, _, output) =>
        command(statement, name)(ShowViewColumns(_, output))
    }
  }

  /**
   * Rejects read options that select a snapshot or a range of snapshots, and those that a table rejects. Warns about
   * other options, because the query of the view does not depend on them.
   */
  private def checkOptions(view: ViewName, relation: UnresolvedRelation): Unit = {
    val selecting = TimeTravel.optionKeys ++ RangeOptions.keys
    if (selecting.exists(relation.options.containsKey)) throw ViewChecks.timeTravel(view.sql)
    SparkErrors.in(view.toString)(ReadOptions.check(relation.options, session))
    for (
      key <- relation.options.keySet.asScala.toVector.sorted if ReadOptions.isKnown(key) || WriteOptions.isKnown(key)
    )
      SessionSettings.warnings(session).once(
        s"read option $key of a view",
        s"The read option $key has no effect on the view $view. Set the corresponding session setting or table property"
      )
  }

  private def unsupported(view: ViewName, operation: String): Exception = SparkErrors.of(
    view.sql,
    Unsupported.operation(view.sql, s"$operation of view", "Use the tables that the view reads")
  )

  private def command(statement: LogicalPlan, name: UnresolvedTableOrView)(
      replacement: ViewName => LogicalPlan
  ): LogicalPlan = find(name.multipartIdentifier).fold(statement) { case (view, _) => replacement(view) }

  /** Rejects statements that change the rows of a view. */
  private def rejectTarget(plan: LogicalPlan): Unit = plan match {
    case insert: InsertIntoStatement => rejectTarget(insert.table, "INSERT")
    case write: V2WriteCommand => rejectTarget(write.table, "writes")
    case delete: DeleteFromTable => rejectTarget(delete.table, "DELETE")
    case update: UpdateTable => rejectTarget(update.table, "UPDATE")
    case merge: MergeIntoTable => rejectTarget(merge.targetTable, "MERGE INTO")
    case _ =>
  }

  private def rejectTarget(target: LogicalPlan, operation: String): Unit = target match {
    case SubqueryAlias(_, child) => rejectTarget(child, operation)
    case relation: UnresolvedRelation =>
      find(relation.multipartIdentifier).foreach { case (view, _) =>
        SparkErrors.at(relation.origin) {
          throw unsupported(view, operation)
        }
      }
    case _ =>
  }

  /**
   * Finds a view. In a view of Spark's session catalog, unqualified names refer to the default catalog and namespace of
   * that view.
   */
  private def find(name: Seq[String]): Option[(ViewName, ViewState)] = {
    val defaults = AnalysisContext.get.catalogAndNamespace
    val fullName =
      if (defaults.isEmpty) name
      else if (name.size == 1) defaults ++ name
      else if (CatalogNames.isRegistered(session, name.head)) name
      else defaults.head +: name
    ViewName.ofPermanent(session, fullName).flatMap { view =>
      SparkErrors.in(view.toString)(view.find().map(view -> _))
    }
  }
}
