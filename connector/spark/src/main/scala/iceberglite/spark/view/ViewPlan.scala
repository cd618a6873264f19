package iceberglite.spark.view

import java.util.UUID

import scala.util.DynamicVariable

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{GetViewColumnByNameAndOrdinal, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions.{Alias, NamedExpression, UpCast}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, SubqueryAlias}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.iceberglite.ViewChecks
import org.apache.spark.sql.types.{StructField, StructType}

import iceberglite.spark.convert.SparkTypes
import iceberglite.spec.view.ViewMetadata
import iceberglite.table.ViewState

/** The plan of a query on a view. */
private[view] object ViewPlan {

  /**
   * A view on a path of nested views. Two steps are the same view if they have the same name, or the same UUID and
   * location. A view can have several names: in catalogs with the same storage, and in a catalog that ignores the case
   * of names.
   *
   * @param metadata absent if the view does not exist
   */
  final private case class Step(view: ViewName, metadata: Option[ViewMetadata]) {
    def isSame(that: Step): Boolean = view.parts == that.view.parts || identity.exists(that.identity.contains)

    private def identity: Option[(UUID, String)] =
      for (m <- metadata; uuid <- m.uuid) yield (uuid, m.location)
  }

  /**
   * The tag of the plan of a view. Its value is the path to the view: the views whose queries contain this view,
   * outermost first, and the view itself.
   */
  private val Path = TreeNodeTag[Seq[Step]]("iceberglite.view.path")

  /**
   * The views whose queries this thread is analyzing, outermost first. The path is kept for the thread, and not in the
   * plan, because a view's query can use views of Spark's session catalog. Spark resolves these views, and does not
   * pass the path on to the views in their queries.
   */
  private val enclosingViews = new DynamicVariable[Seq[Step]](Nil)

  /**
   * Returns the plan that replaces the name of a view in a query: the query of the view, and a projection that finds
   * the columns of this query by name, casts them to the types of the view's columns, and renames them.
   *
   * @throws org.apache.spark.sql.AnalysisException if the view refers to itself, or if views are nested too deeply
   */
  def of(session: SparkSession, view: ViewName, state: ViewState, at: UnresolvedRelation): LogicalPlan = {
    val path = enclosingViews.value :+ Step(view, Some(state.metadata))
    checkPath(session, path, at)
    val version = state.metadata.currentVersion
    val query = ViewQuery.parse(session, view, version)
    val fields = SparkTypes.toSpark(state.metadata.schema)
    val analyzed = enclosingViews.withValue(path)(session.sessionState.analyzer.execute(query))
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
  def checkAcyclic(view: ViewName, query: LogicalPlan): Unit = {
    val paths = query.collectWithSubqueries { case alias: SubqueryAlias => alias.getTagValue(Path) }.flatten
    if (paths.nonEmpty) {
      val target = Step(view, view.find().map(_.metadata))
      paths.find(_.exists(_.isSame(target))).foreach { path =>
        throw cycle(target +: (path.takeWhile(!_.isSame(target)) :+ target))
      }
    }
  }

  private def checkPath(session: SparkSession, path: Seq[Step], at: LogicalPlan): Unit = {
    if (path.init.exists(_.isSame(path.last))) throw cycle(path)
    val maxDepth = session.sessionState.conf.maxNestedViewDepth
    if (path.size > maxDepth) throw ViewChecks.tooDeep(path.last.view.forSpark, maxDepth, at)
  }

  private def cycle(path: Seq[Step]): Throwable =
    ViewChecks.cycle(path.last.view.forSpark, path.map(_.view.forSpark))
}
