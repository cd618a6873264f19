package iceberglite.spark.view

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.{
  CTESubstitution,
  RelationTimeTravel,
  UnresolvedFunction,
  UnresolvedRelation,
  UnresolvedTableValuedFunction
}
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.{CurrentOrigin, Origin}
import org.apache.spark.sql.iceberglite.ViewChecks

import iceberglite.spark.session.CatalogNames
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.view.ViewVersion

/** The query of a view, as a plan whose names do not depend on the session. */
private[view] object ViewQuery {

  /** The SQL dialect of Spark's queries. */
  val Dialect = "spark"

  /**
   * Parses a view's query. All tables, views and permanent functions in the plan have full names, because unqualified
   * names refer to the default catalog and namespace of the view and never to temporary objects of the session.
   *
   * @throws Unsupported if the view has no query in Spark's dialect
   */
  def parse(session: SparkSession, view: ViewName, version: ViewVersion): LogicalPlan = {
    val text = version.sql(Dialect).getOrElse(throw Unsupported(
      s"reading view $view, which has no query in the SQL dialect $Dialect",
      s"Its dialects are ${version.dialects.mkString(", ")}. Add a query with ALTER VIEW $view AS ..."
    ))
    val origin = Origin(objectType = Some("VIEW"), objectName = Some(view.sql))
    val parsed = CurrentOrigin.withOrigin(origin) {
      try session.sessionState.sqlParser.parseQuery(text)
      catch { case _: ParseException => throw ViewChecks.invalidText(view.sql, text) }
    }
    val qualifier = new Qualifier(
      session,
      version.defaultCatalog.getOrElse(view.catalog.name),
      version.defaultNamespace
    )
    qualifier(CTESubstitution(parsed))
  }

  /** Replaces names by full names. */
  final private class Qualifier(session: SparkSession, catalog: String, namespace: Seq[String]) {
    def apply(plan: LogicalPlan): LogicalPlan =
      plan.transformUpWithSubqueries {
        case relation: UnresolvedRelation => relation.copy(multipartIdentifier = name(relation.multipartIdentifier))
        case travel @ RelationTimeTravel(relation: UnresolvedRelation, _, _) =>
          travel.copy(relation = relation.copy(multipartIdentifier = name(relation.multipartIdentifier)))
        case function: UnresolvedTableValuedFunction => function.copy(name = functionName(function.name))
      }.transformAllExpressionsWithSubqueries {
        case function: UnresolvedFunction => function.copy(nameParts = functionName(function.nameParts))
      }

    private def name(parts: Seq[String]): Seq[String] =
      if (parts.size == 1) catalog +: (namespace ++ parts)
      else if (CatalogNames.isRegistered(session, parts.head)) parts
      else catalog +: parts

    private def functionName(parts: Seq[String]): Seq[String] =
      if (parts.size == 1 && session.sessionState.catalog.isBuiltinFunction(FunctionIdentifier(parts.head))) parts
      else name(parts)
  }
}
