package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{
  And,
  Attribute,
  AttributeMap,
  AttributeSet,
  Exists,
  Expression,
  Literal,
  Or,
  PredicateHelper
}
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, FullOuter, LeftOuter, LeftSemi}
import org.apache.spark.sql.catalyst.plans.logical.{
  Aggregate,
  Filter,
  Join,
  LogicalPlan,
  MergeRows,
  Project,
  ReplaceData,
  Subquery,
  Union
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.BooleanType

import iceberglite.spark.rowlevel.CopyOnWriteOperation
import iceberglite.spark.table.SparkTable
import iceberglite.spec.schema.MetadataColumns

/**
 * Adds the query that finds the files to rewrite (group filter) to a copy-on-write MERGE with WHEN NOT MATCHED BY
 * SOURCE, for which Spark would rewrite all files of the table. A file is rewritten only if it has a row that matches a
 * row of the source, or that satisfies the condition of a WHEN NOT MATCHED BY SOURCE clause. Nothing is added if one of
 * these clauses has no condition.
 *
 * The rule also pushes down a weaker condition that depends on the table only, so that other files are not even
 * searched: for `ON t.id = u.id AND t.day = '2024-01-01' WHEN NOT MATCHED BY SOURCE AND t.n > 5`, this
 * condition is `t.day = '2024-01-01' OR t.n > 5`.
 */
object AddGroupFilterForUnmatched extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write @ ReplaceData(table: DataSourceV2Relation, Literal.TrueLiteral, query, _, None, _) =>
      write.operation match {
        case copy: CopyOnWriteOperation if copy.statement.analysis.isMerge =>
          conditionsOf(query).flatMap(withFilter(write, table, query, _)).getOrElse(plan)
        case _ => plan
      }
    case _ => plan
  }

  /**
   * Returns the conditions of the WHEN NOT MATCHED BY SOURCE clauses. Spark requires that these conditions and that of
   * the MERGE are deterministic and have no subqueries. The last instruction for rows without a match copies the rows
   * to which no clause applies.
   *
   * @return absent without such clauses, or if a clause applies to all rows without a match
   */
  private def conditionsOf(query: LogicalPlan): Option[Seq[Expression]] =
    query.collectFirst { case rows: MergeRows => rows.notMatchedBySourceInstructions.map(_.condition) }.collect {
      case conditions :+ Literal.TrueLiteral
          if conditions.nonEmpty && !conditions.contains(Literal.TrueLiteral) => conditions
    }

  private def withFilter(
      write: ReplaceData,
      table: DataSourceV2Relation,
      query: LogicalPlan,
      conditions: Seq[Expression]
  ): Option[ReplaceData] = {
    def read(side: LogicalPlan) = side.collectFirst { case r: DataSourceV2Relation if r.table eq table.table => r }
    query.collectFirst { case join: Join if read(join.left).isDefined => join } match {
      case Some(Join(target, source, LeftOuter | FullOuter, Some(on), _)) =>
        read(target).flatMap(r => matchOf(on, source, r.outputSet).flatMap(filtered(write, r, _, conditions)))
      // If the source is empty, Spark has already removed the join.
      case None if !query.exists(_.isInstanceOf[Join]) => read(query).flatMap(filtered(write, _, NoMatch, conditions))
      case _ => None
    }
  }

  /**
   * The condition that a row has a match.
   *
   * @param ofTable a weaker condition that depends on the table only, to skip files before the search
   */
  final private case class Match(condition: Expression, ofTable: Expression)

  private val NoMatch = Match(Literal.FalseLiteral, Literal.FalseLiteral)

  /** Returns the condition that a row of the table has a match; absent if `on` uses no column of the table. */
  private def matchOf(on: Expression, source: LogicalPlan, columns: AttributeSet): Option[Match] = {
    val outer = on.references.intersect(columns).toSeq
    val ofTable = splitConjunctivePredicates(on).filter(_.references.subsetOf(columns))
    if (isNeverTrue(on)) Some(NoMatch)
    else if (outer.isEmpty) None
    // At this point, the optimizer has already moved the conditions of subqueries into `joinCond`.
    else Some(Match(
      Exists(source, outer, joinCond = Seq(on)),
      ofTable.reduceLeftOption(And).getOrElse(Literal.TrueLiteral)
    ))
  }

  /** Whether a condition is FALSE or NULL. At this point, Spark has already evaluated constant expressions. */
  private def isNeverTrue(condition: Expression): Boolean = condition match {
    case Literal(value, BooleanType) => value == null || value == false
    case _ => false
  }

  /** @return absent if the files to rewrite cannot be found in advance */
  private def filtered(
      write: ReplaceData,
      read: DataSourceV2Relation,
      matched: Match,
      conditions: Seq[Expression]
  ): Option[ReplaceData] = {
    val filter = (matched.condition +: conditions).reduceLeft(Or)
    val ofTable =
      if (matched.ofTable == Literal.TrueLiteral || !conditions.forall(CannotFail(_))) Literal.TrueLiteral
      else (matched.ofTable +: conditions).reduceLeft(Or)
    if (conditions.forall(_.references.subsetOf(read.outputSet)) && DropUnstableGroupFilters.isStable(filter))
      Some(write.copy(condition = ofTable, groupFilterCondition = Some(filter)))
    else None
  }
}

/**
 * Divides the query of [[AddGroupFilterForUnmatched]] into two queries: one for the files with a row that has a match
 * in the source, and one for the files with a row that satisfies another condition. Each query can then skip files: the
 * first query by the keys of the source, and the second query by the constants of the condition. A single query for
 * matches and the other condition would read all files. Spark has already turned the search for a match into a join.
 *
 * The second query also evaluates its condition on rows that have a match, for which the statement does not evaluate
 * it. Therefore the query is divided only if the condition cannot fail: `100 / n > 5` fails for a row with `n = 0`.
 */
object SplitGroupFilter extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case query: Subquery if !query.correlated =>
      query.transformDown {
        case search @ Aggregate(Seq(path: Attribute), Seq(_: Attribute), FileSearch(condition, join, table))
            if path.name == MetadataColumns.FilePath.name && table.outputSet.contains(path) =>
          othersIn(condition, join).fold[LogicalPlan](search) { others =>
            val copy = table.newInstance()
            val renamed = AttributeMap(table.output.zip(copy.output))
            val second = Filter(others.transform { case a: Attribute => renamed.getOrElse(a, a) }, copy)
            val first = join.copy(joinType = LeftSemi)
            search.copy(child = Union(Project(Seq(path), first), Project(Seq(renamed(path)), second)))
          }
      }
    case _ => plan
  }

  /**
   * Matches a filter on the result of an existence join whose left side is an iceberg-lite table, with or without a
   * projection of columns.
   */
  private object FileSearch {
    def unapply(plan: LogicalPlan): Option[(Expression, Join, DataSourceV2Relation)] = plan match {
      case Project(_, filter: Filter) => unapply(filter)
      case Filter(condition, join @ Join(TableRows(table), _, ExistenceJoin(_), _, _)) => Some((condition, join, table))
      case _ => None
    }
  }

  /** Matches the rows of an iceberg-lite table, with all or some of their columns. */
  private object TableRows {
    def unapply(plan: LogicalPlan): Option[DataSourceV2Relation] = plan match {
      case table @ DataSourceV2Relation(_: SparkTable, _, _, _, _) => Some(table)
      case Project(columns, child) if columns.forall(_.isInstanceOf[Attribute]) => unapply(child)
      case _ => None
    }
  }

  /**
   * Returns the other alternatives of a disjunction that contains the result of an existence join. Absent if the
   * condition is not such a disjunction, or if another alternative can fail or also uses the result of the join.
   */
  private def othersIn(condition: Expression, join: Join): Option[Expression] = join.joinType match {
    case ExistenceJoin(exists) =>
      val (matches, others) = splitDisjunctivePredicates(condition).partition(_.semanticEquals(exists))
      if (matches.isEmpty || !others.forall(c => CannotFail(c) && !c.references.contains(exists))) None
      else others.reduceLeftOption(Or)
    case _ => None
  }
}
