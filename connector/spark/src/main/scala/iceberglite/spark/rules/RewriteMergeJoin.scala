package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.analysis.DeduplicateRelations
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeMap,
  AttributeSet,
  Expression,
  Literal,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.optimizer.JoinSelectionHelper
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, V2ScanRelationPushDown}

import iceberglite.spark.rowlevel.{CopyOnWriteOperation, MergeOnReadOperation, StatementAnalysis}
import iceberglite.spark.table.SparkTable

/**
 * Joins a small source with the target of a MERGE without shuffling the target. If source rows may have no match, Spark
 * uses an outer join. Spark cannot broadcast the source of this join, so Spark shuffles and sorts the whole target.
 * This rule rewrites the join as follows:
 *
 * - If rows without a match in the source do not change (merge-on-read without NOT MATCHED BY SOURCE), a semi join
 *   first finds the target's rows with a match; the outer join then processes only these rows.
 * - If rows are only inserted, Spark appends the rows that an anti join returns. Before the anti join, a semi join
 *   finds the target's rows with a match.
 * - Otherwise, the target's rows are joined with the matching source rows. A second scan of the target, with only the
 *   columns of the condition, finds the source rows without a match.
 *
 * A source is small if its size is below `spark.sql.autoBroadcastJoinThreshold`, or if it has a BROADCAST hint. The
 * source is evaluated more than once. Therefore, it must return the same rows each time.
 */
object RewriteMergeJoin extends Rule[LogicalPlan] with JoinSelectionHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write @ ReplaceData(table, _, query, original, _, _) => write.operation match {
        case copy: CopyOnWriteOperation =>
          val joined = new Joins(copy.statement.analysis, table, original).rewrite(query)
          if (writesInReadTasks(joined, copy)) copy.statement.context.publishReadTasks()
          write.copy(query = coalesced(joined, copy))
        case _ => plan
      }
    case write @ WriteDelta(table, _, query, original, _, _) => write.operation match {
        case delta: MergeOnReadOperation =>
          write.copy(query = new Joins(delta.statement.analysis, table, original).rewrite(query).plan)
        case _ => plan
      }
    case write @ AppendData(relation @ DataSourceV2Relation(table: SparkTable, _, _, _, _), query, _, _, _, _)
        if table.context.analysis.isMerge =>
      write.copy(query = new Joins(table.context.analysis, relation, relation).rewrite(query).plan)
    case _ => plan
  }

  private def writesInReadTasks(joined: Joined, copy: CopyOnWriteOperation): Boolean =
    joined.writesInReadTasks && (copy.statement.analysis.isMerge || !hasSubqueriesForJoins(joined.plan))

  /**
   * Limits the number of tasks to the number of tasks that read the table, if new rows come from an additional task.
   */
  private def coalesced(joined: Joined, copy: CopyOnWriteOperation): LogicalPlan =
    (if (joined.addsTasks) copy.maxTasks else None)
      .fold(joined.plan)(Repartition(_, shuffle = false, joined.plan))

  /** Whether a query has subqueries that Spark turns into joins after this rule. Such joins may shuffle rows. */
  private def hasSubqueriesForJoins(query: LogicalPlan): Boolean =
    query.exists(_.expressions.exists(SubqueryExpression.hasInOrCorrelatedExistsSubquery))

  private val broadcast = Some(HintInfo(strategy = Some(BROADCAST)))

  /**
   * A plan whose joins are rewritten.
   *
   * @param writesInReadTasks whether rows of the target are written by the tasks that read them
   * @param addsTasks whether new rows come from an additional task, besides the tasks that read the target
   */
  final private case class Joined(plan: LogicalPlan, writesInReadTasks: Boolean = false, addsTasks: Boolean = false)

  /**
   * Rewrites the joins of one statement.
   *
   * @param written the relation of the rows to replace, which reads only the files that the statement replaces
   * @param original the relation of the whole table
   */
  final private class Joins(analysis: StatementAnalysis, written: LogicalPlan, original: LogicalPlan) {

    /**
     * Matches a join of the target with a small source. The target is the left side or, before an insert, the right
     * side.
     */
    private object SmallSource {
      def unapply(join: Join): Option[Expression] =
        if (join.condition.exists(SubqueryExpression.hasSubquery)) None else ofJoin(join)

      private def ofJoin(join: Join): Option[Expression] = join match {
        case ExtractEquiJoinKeys(LeftAnti, _, _, _, _, source, _, hint)
            if !hintToNotBroadcastLeft(hint) && isSmall(source) => join.condition
        case ExtractEquiJoinKeys(_, _, _, _, _, _, source, hint)
            if join.joinType != LeftAnti && !hintToNotBroadcastRight(hint) && isSmall(source) => join.condition
        case _ => None
      }
    }

    /**
     * Whether a source is small. The size of a table in the source is estimated from its scan, which is built for the
     * filters and columns that the query needs.
     */
    private def isSmall(source: LogicalPlan): Boolean =
      RepeatableQuery(source) && (analysis.broadcastsSource || fitsOneTask(source))

    private def fitsOneTask(source: LogicalPlan): Boolean = canBroadcastBySize(V2ScanRelationPushDown(source), conf)

    private val table = tableOf(written)

    private def tableOf(plan: LogicalPlan) = plan.collectFirst { case r: DataSourceV2Relation => r.table }

    private def readOf(plan: LogicalPlan): Option[DataSourceV2Relation] =
      plan.collectFirst { case r: DataSourceV2Relation if table.exists(_ eq r.table) => r }

    /** Rewrites the joins top-down, including the joins that a rewrite adds. */
    def rewrite(query: LogicalPlan): Joined = {
      val top = rewrittenNode(query)
      if (!top.plan.eq(query)) top.plan.copyTagsFrom(query)
      val children = top.plan.children.map(rewrite)
      Joined(
        top.plan.withNewChildren(children.map(_.plan)),
        top.writesInReadTasks || children.exists(_.writesInReadTasks),
        top.addsTasks || children.exists(_.addsTasks)
      )
    }

    private def rewrittenNode(node: LogicalPlan): Joined = node match {
      case join @ Join(_, target, LeftAnti, _, _) if readOf(target).isDefined && !isReduced(target) =>
        join match {
          case SmallSource(condition) => Joined(join.copy(right = matchedRows(target, join.left, condition, join)))
          case _ => Joined(join)
        }
      case join @ Join(target, _, kind, _, _) if readOf(target).isDefined => rewritten(join, kind)
      case other => Joined(other)
    }

    /** Returns the rows of the target that have a match. */
    private def matchedRows(
        target: LogicalPlan,
        source: LogicalPlan,
        condition: Expression,
        join: Join
    ): LogicalPlan = {
      val copy = deduplicated(source, join)
      Join(target, copy.plan, LeftSemi, Some(copy.rewrite(condition)), JoinHint(None, broadcast))
    }

    private def rewritten(join: Join, kind: JoinType): Joined = (kind, join) match {
      case (FullOuter, SmallSource(condition)) if readsCondition(join, condition) => splitFullOuter(join, condition)
      case (LeftOuter, SmallSource(_)) => Joined(withBroadcast(join), writesInReadTasks = true)
      case (RightOuter, SmallSource(condition)) if !isReduced(join.left) =>
        Joined(join.copy(left = matchedRows(join.left, join.right, condition, join)))
      case _ => Joined(join)
    }

    private def withBroadcast(join: Join): Join = join.copy(hint = join.hint.copy(rightHint = broadcast))

    private def isReduced(target: LogicalPlan): Boolean = target.exists {
      case Join(_, _, LeftSemi, _, hint) => hint.rightHint == broadcast
      case _ => false
    }

    private def readsCondition(join: Join, condition: Expression): Boolean = {
      val readColumns = readOf(join.left).fold(AttributeSet.empty)(_.outputSet)
      condition.references.intersect(join.left.outputSet).subsetOf(readColumns)
    }

    /** Returns the target's rows with their matches, and the source's rows without a match. */
    private def splitFullOuter(join: Join, condition: Expression): Joined = {
      val Join(target, source, _, _, _) = join
      val targetKeys = deduplicated(Project(keysOf(target, condition), withOriginalTable(target)), join)
      val missing = deduplicated(source, join, targetKeys.plan)
      val reducedSource = deduplicated(source, join, targetKeys.plan, missing.plan)
      val matchedTargetKeys =
        Join(
          targetKeys.plan,
          reducedSource.plan,
          LeftSemi,
          Some(reducedSource.rewrite(targetKeys.rewrite(condition))),
          JoinHint(None, broadcast)
        )
      val missingCondition = missing.rewrite(targetKeys.rewrite(condition))
      val left = Join(missing.plan, matchedTargetKeys, LeftAnti, Some(missingCondition), JoinHint.NONE)
      val nulls = target.output.map(a => Alias(Literal(null, a.dataType), a.name)())
      val matched = withBroadcast(join.copy(joinType = LeftOuter))
      val combined = combineNewRows(left, source)
      val union = Union(matched, Project(nulls ++ missing.plan.output, combined.plan))
      combined.copy(plan = union, writesInReadTasks = true)
    }

    /**
     * Collects new rows in few tasks, so that they are written to few files, unless all rows are distributed before the
     * write. The new rows of a small source go to one task. The new rows of a larger source are shuffled if adaptive
     * query execution is enabled. Otherwise, for example in a micro-batch of a stream, a shuffle would distribute the
     * rows over many tasks.
     */
    private def combineNewRows(rows: LogicalPlan, source: LogicalPlan): Joined =
      if (analysis.changesPartitions) Joined(rows)
      else if (fitsOneTask(source)) Joined(Repartition(1, shuffle = false, rows), addsTasks = true)
      else if (conf.adaptiveExecutionEnabled) Joined(RebalancePartitions(Nil, rows))
      else Joined(rows)

    private def keysOf(target: LogicalPlan, condition: Expression) =
      condition.references.intersect(target.outputSet).toSeq

    /**
     * Returns the plan with the original table in place of the table that the write reads and replaces files of. Files
     * that only the returned plan reads are not replaced.
     */
    private def withOriginalTable(target: LogicalPlan): LogicalPlan = target.transformDown {
      case r: DataSourceV2Relation if table.exists(_ eq r.table) =>
        tableOf(original).fold(r)(t => r.copy(table = t))
    }

    /**
     * Copies a plan, with new expression ids for its attributes.
     *
     * @param existing plans whose attributes the copy must not use
     */
    private def deduplicated(plan: LogicalPlan, existing: LogicalPlan*): PlanCopy =
      DeduplicateRelations(crossed(existing.reduceLeft(crossed), plan)) match {
        case Join(_, copy, _, _, _) => new PlanCopy(unordered(copy), AttributeMap(plan.output.zip(copy.output)))
        case other => throw new IllegalStateException(s"Not a join: $other")
      }

    /**
     * Removes the order of cached data from a copy. The order is not needed, and refers to attributes of the original
     * plan.
     */
    private def unordered(copy: LogicalPlan): LogicalPlan = copy.transform {
      case cached: InMemoryRelation if cached.outputOrdering.nonEmpty =>
        InMemoryRelation(cached.output, cached.cacheBuilder, Nil, cached.statsOfPlanToCache)
    }

    private def crossed(left: LogicalPlan, right: LogicalPlan): LogicalPlan =
      Join(left, right, Cross, None, JoinHint.NONE)
  }

  final private class PlanCopy(val plan: LogicalPlan, attributes: AttributeMap[Attribute]) {
    def rewrite(condition: Expression): Expression = condition.transform {
      case a: Attribute => attributes.getOrElse(a, a)
    }
  }
}
