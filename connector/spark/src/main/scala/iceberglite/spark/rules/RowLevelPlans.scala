package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeReference,
  Expression,
  Literal,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{
  Assignment,
  DeleteFromTable,
  DeleteFromTableWithFilters,
  InsertAction,
  LogicalPlan,
  MergeAction,
  MergeIntoTable,
  ReplaceData,
  UpdateAction,
  UpdateTable
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.write.RowLevelOperation.Command
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.{LongType, Metadata}

import iceberglite.spark.SparkTable
import iceberglite.spec.MetadataColumns.{LastUpdatedSequenceNumber, RowId}

/**
 * What Spark lacks for DELETE, UPDATE and MERGE on our tables, before it rewrites them. Copy-on-write of version 3 has to
 * write the ids of rows along with them (adopted version 3: "Row Lineage"), where Spark drops all metadata columns before
 * the write: here they become columns like others. And a table is told whether the rows that it gets are still in the
 * tasks that read them: subqueries become joins, which may move rows.
 */
object RowLevelPlans extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    // As it stands, Spark takes a table that is cached for one that cannot be deleted from.
    case d @ DeleteFromTable(Target(_, relation), Literal.TrueLiteral) if d.resolved =>
      DeleteFromTableWithFilters(relation, Nil)

    case d @ DeleteFromTable(Target(table, relation), condition) if d.resolved =>
      table.rowsStayInTasks = !hasSubquery(condition)
      if (table.losesLineage(Command.DELETE)) d.copy(table = withLineage(d.table, relation)) else d

    case u @ UpdateTable(Target(table, relation), assignments, condition) if u.resolved && u.aligned =>
      table.rowsStayInTasks = !(condition ++ assignments).exists(hasSubquery)
      if (!table.losesLineage(Command.UPDATE) || isWithLineage(relation)) u
      else u.copy(table = withLineage(u.table, relation), assignments = assignments ++ kept(relation))

    case m @ MergeIntoTable(Target(table, relation), _, _, matched, missing, unmatched) if m.resolved && m.aligned =>
      table.rowsStayInTasks = false
      val isAppend = matched.isEmpty && unmatched.isEmpty
      if (isAppend || !table.losesLineage(Command.MERGE) || isWithLineage(relation)) m
      else m.copy(
        targetTable = withLineage(m.targetTable, relation),
        matchedActions = matched.map(withLineage(_, relation)),
        notMatchedActions = missing.map(withLineage(_, relation)),
        notMatchedBySourceActions = unmatched.map(withLineage(_, relation))
      )
  }

  /** The one table of ours that a statement changes. */
  private object Target {
    def unapply(plan: LogicalPlan): Option[(SparkTable, DataSourceV2Relation)] = plan.collectFirst {
      case relation: DataSourceV2Relation if relation.table.isInstanceOf[SparkTable] =>
        (relation.table.asInstanceOf[SparkTable], relation)
    }
  }

  private def hasSubquery(e: Expression): Boolean = SubqueryExpression.hasSubquery(e)

  private def isLineage(attribute: Attribute): Boolean =
    attribute.name == RowId.name || attribute.name == LastUpdatedSequenceNumber.name

  private def isWithLineage(relation: DataSourceV2Relation): Boolean =
    relation.output.exists(a => isLineage(a) && a.metadata == Metadata.empty)

  /** The columns, without the mark of metadata columns. */
  private def lineage(relation: DataSourceV2Relation): Seq[AttributeReference] = {
    val named = relation.output.filter(isLineage) ++ relation.metadataOutput.filter(isLineage)
    Seq(RowId, LastUpdatedSequenceNumber).flatMap(f => named.find(_.name == f.name))
      .map(_.withMetadata(Metadata.empty).asInstanceOf[AttributeReference])
  }

  private def withLineage(target: LogicalPlan, relation: DataSourceV2Relation): LogicalPlan = target.resolveOperators {
    case r: DataSourceV2Relation if r eq relation =>
      r.copy(output = r.output.filterNot(isLineage) ++ lineage(relation))
  }

  private val unknown = Literal(null, LongType)

  /** A row that is changed keeps its id. When that was, the commit tells. */
  private def kept(relation: DataSourceV2Relation): Seq[Assignment] =
    lineage(relation).map(a => Assignment(a, if (a.name == RowId.name) a else unknown))

  private def withLineage(action: MergeAction, relation: DataSourceV2Relation): MergeAction = action match {
    case u: UpdateAction => u.copy(assignments = u.assignments ++ kept(relation))
    case i: InsertAction =>
      i.copy(assignments = i.assignments ++ lineage(relation).map(Assignment(_, unknown)))
    case other => other
  }
}

/**
 * After copy-on-write Spark drops what it has cached of the table. It knows the table again by its columns, which are those
 * without what [[RowLevelPlans]] has added.
 */
object CachedTables extends Rule[LogicalPlan] {
  private val names = Set(RowId.name, LastUpdatedSequenceNumber.name)

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write @ ReplaceData(_, _, _, table: DataSourceV2Relation, _, _)
        if table.table.isInstanceOf[SparkTable] && table.output.exists(a => names(a.name)) =>
      write.copy(originalTable = table.copy(output = table.output.filterNot(a => names(a.name))))
    case _ => plan
  }
}
