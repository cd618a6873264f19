package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeReference,
  Expression,
  Literal,
  MetadataAttribute,
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

import iceberglite.spark.{SparkErrors, SparkTable}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.MetadataColumns.{LastUpdatedSequenceNumber, RowId}

/**
 * What Spark lacks for DELETE, UPDATE and MERGE on our tables, before it rewrites them. Copy-on-write of version 3 has to
 * write the ids of rows along with them (adopted version 3: "Row Lineage"), where Spark drops all metadata columns before
 * the write: here they become columns like others. And a table is told whether the rows that it gets are still in the
 * tasks that read them: subqueries become joins, which may move rows.
 */
object RowLevelPlans extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case d: DeleteFromTable if d.resolved => completed(withoutMetadata(d, d.table))
    case u: UpdateTable if u.resolved && u.aligned => completed(withoutMetadata(u, u.table))
    case m: MergeIntoTable if m.resolved && m.aligned => completed(withoutMetadata(m, m.targetTable))
  }

  /**
   * Spark adds all metadata columns to a table of which a condition names one, and then takes them for columns to write.
   * They are left out again, and those that are named are asked for.
   */
  private def withoutMetadata[P <: LogicalPlan](command: P, target: LogicalPlan): LogicalPlan = target match {
    case Target(table, relation) if relation.output.exists(isMetadata) =>
      val plain = relation.copy(output = relation.output.filterNot(isMetadata))
      val changed = withoutAssignments(command)
      val marked = relation.output.filter(isMetadata)
      table.namedMetadata = marked.filter(a => changed.expressions.exists(_.references.contains(a))).map(_.name)
      exchanged(changed, relation, plain, marked)
    case _ => command
  }

  /**
   * The command on another form of the table. @param metadata attributes of the old form's metadata columns, which the new
   * one knows by other ids
   */
  private def exchanged(
      command: LogicalPlan,
      old: DataSourceV2Relation,
      fresh: DataSourceV2Relation,
      metadata: Seq[Attribute]
  ): LogicalPlan = {
    val kept = fresh.output.map(_.exprId).toSet
    val renewed = metadata.filterNot(a => kept(a.exprId)).flatMap { a =>
      fresh.metadataOutput.find(_.name == a.name).map(a.exprId -> _)
    }.toMap
    command.transformDown { case r: DataSourceV2Relation if r eq old => fresh }
      .transformExpressions { case a: AttributeReference => renewed.getOrElse(a.exprId, a) }
  }

  /** Metadata columns stay what they are. */
  private def withoutAssignments(command: LogicalPlan): LogicalPlan = command match {
    case u: UpdateTable => u.copy(assignments = ofColumns(u.assignments))
    case m: MergeIntoTable => m.copy(
        matchedActions = m.matchedActions.map(ofColumns),
        notMatchedActions = m.notMatchedActions.map(ofColumns),
        notMatchedBySourceActions = m.notMatchedBySourceActions.map(ofColumns)
      )
    case other => other
  }

  private def ofColumns(action: MergeAction): MergeAction = action match {
    case u: UpdateAction => u.copy(assignments = ofColumns(u.assignments))
    case i: InsertAction => i.copy(assignments = ofColumns(i.assignments))
    case other => other
  }

  private def ofColumns(assignments: Seq[Assignment]): Seq[Assignment] = {
    val (metadata, columns) = assignments.partition(a => a.key.references.exists(isMetadata))
    metadata.find(a => !a.value.semanticEquals(a.key) && !isNull(a.value)).foreach { a =>
      throw SparkErrors.of("", InvalidArgument("column to set", a.key.sql, "It is a metadata column; leave it out"))
    }
    columns
  }

  private def isNull(value: Expression): Boolean = value.foldable && value.eval() == null

  private def isMetadata(attribute: Attribute): Boolean = MetadataAttribute.isValid(attribute.metadata)

  private def completed(command: LogicalPlan): LogicalPlan = command match {
    // As it stands, Spark takes a table that is cached for one that cannot be deleted from.
    case DeleteFromTable(Target(_, relation), Literal.TrueLiteral) =>
      DeleteFromTableWithFilters(relation, Nil)

    case d @ DeleteFromTable(Target(table, relation), condition) =>
      table.rowsStayInTasks = !hasSubquery(condition)
      if (table.losesLineage(Command.DELETE)) withLineage(d, relation) else d

    case u @ UpdateTable(Target(table, relation), assignments, condition) =>
      table.rowsStayInTasks = !(condition ++ assignments).exists(hasSubquery)
      if (!table.losesLineage(Command.UPDATE) || isWithLineage(relation)) u
      else withLineage(u.copy(assignments = assignments ++ kept(relation)), relation)

    case m @ MergeIntoTable(Target(table, relation), _, _, matched, missing, unmatched) =>
      table.rowsStayInTasks = false
      val isAppend = matched.isEmpty && unmatched.isEmpty
      if (isAppend || !table.losesLineage(Command.MERGE) || isWithLineage(relation)) m
      else {
        val written = m.copy(
          matchedActions = matched.map(withLineage(_, relation)),
          notMatchedActions = missing.map(withLineage(_, relation)),
          notMatchedBySourceActions = unmatched.map(withLineage(_, relation))
        )
        withLineage(written, relation)
      }
    case _ => command
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

  private def withLineage(command: LogicalPlan, relation: DataSourceV2Relation): LogicalPlan = {
    val written = relation.copy(output = relation.output.filterNot(isLineage) ++ lineage(relation))
    exchanged(command, relation, written, relation.metadataOutput)
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
