package iceberglite.spark.view

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{GetViewColumnByNameAndOrdinal, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.{Alias, NamedExpression, UpCast}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, SubqueryAlias}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.iceberglite.ViewChecks
import org.apache.spark.sql.types.{StructField, StructType}

import iceberglite.spark.convert.SparkTypes
import iceberglite.table.ViewState

/** The plan of a query on a view. */
private[view] object ViewPlan {

  /** Tag of the relations in the query of a view: the views that contain the relation, outermost first. */
  private val Path = TreeNodeTag[Seq[ViewName]]("iceberglite.view.path")

  /**
   * Returns the plan that replaces the name of a view in a query: the query of the view, whose columns are found by
   * name, cast to the types of the view's columns, and renamed.
   *
   * @throws org.apache.spark.sql.AnalysisException if the view refers to itself, or if views are nested too deeply
   */
  def of(session: SparkSession, view: ViewName, state: ViewState, at: UnresolvedRelation): LogicalPlan = {
    val path = at.getTagValue(Path).getOrElse(Nil) :+ view
    checkPath(session, view, path, at)
    val version = state.metadata.currentVersion
    val query = ViewQuery.parse(session, view, version)
    query.collectWithSubqueries { case nested: UnresolvedRelation => nested }.foreach(_.setTagValue(Path, path))
    val fields = SparkTypes.toSpark(state.metadata.schema)
    val analyzed = session.sessionState.analyzer.execute(query)
    val names = ViewColumns.queryNames(state.metadata, version, fields)
      .getOrElse(ViewColumns.queryNames(analyzed, fields))
    val plan = SubqueryAlias(view.parts, Project(columns(view, fields, names), analyzed))
    plan.setTagValue(Path, path)
    plan
  }

  private def columns(view: ViewName, fields: StructType, names: Seq[String]): Seq[NamedExpression] = {
    def advice(field: StructField) = s"- column ${field.name} of view $view"
    fields.zip(names).zipWithIndex.map { case ((field, name), i) =>
      val sameName = names.zipWithIndex.filter(_._1 == name).map(_._2)
      val column = GetViewColumnByNameAndOrdinal(
        view.toString,
        name,
        sameName.indexOf(i),
        sameName.size,
        Some(s"ALTER VIEW ${view.sql} AS ...")
      )
      Alias(UpCast(column, field.dataType, Seq(advice(field))), field.name)(explicitMetadata = Some(field.metadata))
    }
  }

  /**
   * Checks that the query of a new version of a view does not use the view itself.
   *
   * @param query the analyzed query
   */
  def checkAcyclic(view: ViewName, query: LogicalPlan): Unit =
    query.collectWithSubqueries { case alias: SubqueryAlias => alias.getTagValue(Path).getOrElse(Nil) }
      .find(_.exists(_.parts == view.parts)).foreach { path =>
        val cycle = view +: (path.takeWhile(_.parts != view.parts) :+ view)
        throw ViewChecks.cycle(view.forSpark, cycle.map(_.forSpark))
      }

  private def checkPath(session: SparkSession, view: ViewName, path: Seq[ViewName], at: LogicalPlan): Unit = {
    if (path.init.exists(_.parts == view.parts)) throw ViewChecks.cycle(view.forSpark, path.map(_.forSpark))
    val maxDepth = session.sessionState.conf.maxNestedViewDepth
    if (path.size > maxDepth) throw ViewChecks.tooDeep(view.forSpark, maxDepth, at)
  }
}
