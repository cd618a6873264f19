package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeReference,
  AttributeSet,
  Expression,
  Literal,
  MetadataAttribute,
  MetadataAttributeWithLogicalName,
  OuterReference,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{
  Assignment,
  BROADCAST,
  DeleteAction,
  DeleteFromTable,
  DeleteFromTableWithFilters,
  InsertAction,
  LogicalPlan,
  MergeAction,
  MergeIntoTable,
  ReplaceData,
  ResolvedHint,
  UnaryNode,
  UpdateAction,
  UpdateTable
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.write.RowLevelOperation.Command
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

import iceberglite.spark.error.SparkErrors
import iceberglite.spark.rowlevel.CarryOverColumns
import iceberglite.spark.session.PinnableTable
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * Prepares DELETE, UPDATE and MERGE on iceberg-lite tables before Spark rewrites them. Copy-on-write must know how each
 * row changes, and in version 3 it must write the row's id (spec, version 3: "Row Lineage"). Spark drops all metadata
 * columns before the write, so this rule turns them into ordinary columns ([[CarryOverRewrite]]). The rule also records
 * whether each row is processed individually. If so, the tasks that read rows can write them. A statement with
 * subqueries is not processed in this way, because subqueries become joins, which may shuffle rows.
 */
object PrepareRowLevelOperations extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case d: DeleteFromTable if d.resolved => prepared(withoutMetadata(pinned(NullConditions.castNulls(d)), d.table))
    case u: UpdateTable if u.resolved && u.aligned =>
      prepared(withoutMetadata(pinned(NullConditions.castNulls(u)), u.table))
    case m: MergeIntoTable if m.resolved && m.aligned =>
      val source = pinnedTables(m.sourceTable)
      prepared(withoutMetadata(pinned(NullConditions.castNulls(m.copy(sourceTable = source))), m.targetTable))
  }

  /**
   * Pins the tables in the subqueries of a command to their current versions. A statement may read its inputs several
   * times, and must see the same rows each time despite concurrent commits.
   */
  private def pinned[P <: LogicalPlan](command: P): P = command.transformExpressions {
    case subquery: SubqueryExpression => subquery.withNewPlan(pinnedTables(subquery.plan))
  }.asInstanceOf[P]

  private def pinnedTables(plan: LogicalPlan): LogicalPlan = plan.transformWithSubqueries {
    case relation @ DataSourceV2Relation(table: PinnableTable, _, _, _, _) => relation.copy(table = table.pinned)
  }

  /**
   * Removes unused metadata columns from the target. If a condition names a metadata column, Spark adds all metadata
   * columns to the target, and then treats them as columns to write. Only the metadata columns that the statement names
   * are kept. For a table with CHAR columns, Spark does not add any metadata columns.
   */
  private def withoutMetadata[P <: LogicalPlan](command: P, target: LogicalPlan): LogicalPlan = target match {
    case Target(table, relation) =>
      val changed = withoutAssignments(command)
      val namedColumns = AttributeSet(changed.expressions.flatMap(_.references)).toSeq.collect {
        case MetadataAttributeWithLogicalName(a, name)
            if relation.outputSet.contains(a) || !command.inputSet.contains(a) => a.withName(name)
      }
      if (namedColumns.nonEmpty) table.context.updateAnalysis(_.copy(namedMetadata = namedColumns.map(_.name)))
      val withoutMetadataColumns =
        if (relation.output.exists(isMetadata)) relation.copy(output = relation.output.filterNot(isMetadata))
        else relation
      if (namedColumns.isEmpty && withoutMetadataColumns.eq(relation)) command
      else withRelation(changed, relation, withoutMetadataColumns, namedColumns)
    case _ => command
  }

  /**
   * Replaces the relation of the table in a command.
   *
   * @param metadata attributes of the old relation's metadata columns, which have other ids in the new relation
   */
  private def withRelation(
      command: LogicalPlan,
      oldRelation: DataSourceV2Relation,
      newRelation: DataSourceV2Relation,
      metadata: Seq[Attribute]
  ): LogicalPlan = {
    val outputIds = newRelation.output.map(_.exprId).toSet
    val newAttributes = metadata.filterNot(a => outputIds(a.exprId)).flatMap { a =>
      newRelation.metadataOutput.find(_.name == a.name).map(a.exprId -> _)
    }.toMap
    command.transformDown { case r: DataSourceV2Relation if r eq oldRelation => newRelation }
      .transformAllExpressionsWithSubqueries {
        case a: AttributeReference => newAttributes.getOrElse(a.exprId, a)
        case OuterReference(a) if newAttributes.contains(a.exprId) => OuterReference(newAttributes(a.exprId))
      }
  }

  /** Removes the assignments that Spark adds for metadata columns. */
  private def withoutAssignments(command: LogicalPlan): LogicalPlan = command match {
    case u: UpdateTable => u.copy(assignments = columnAssignments(u.assignments))
    case m: MergeIntoTable => m.copy(
        matchedActions = m.matchedActions.map(columnAssignments),
        notMatchedActions = m.notMatchedActions.map(columnAssignments),
        notMatchedBySourceActions = m.notMatchedBySourceActions.map(columnAssignments)
      )
    case other => other
  }

  private def columnAssignments(action: MergeAction): MergeAction = action match {
    case u: UpdateAction => u.copy(assignments = columnAssignments(u.assignments))
    case i: InsertAction => i.copy(assignments = columnAssignments(i.assignments))
    case other => other
  }

  private def columnAssignments(assignments: Seq[Assignment]): Seq[Assignment] = {
    val (metadata, columns) = assignments.partition(a => a.key.references.exists(isMetadata))
    metadata.find(a => !a.value.semanticEquals(a.key) && !isNull(a.value)).foreach { a =>
      throw SparkErrors.of("", InvalidArgument("column to set", a.key.sql, CannotSetMetadata))
    }
    columns
  }

  private val CannotSetMetadata = "It is a metadata column, which cannot be set; remove the assignment"

  private def isNull(value: Expression): Boolean = value.foldable && value.eval() == null

  private def isMetadata(attribute: Attribute): Boolean = MetadataAttribute.isValid(attribute.metadata)

  private def prepared(command: LogicalPlan): LogicalPlan = command match {
    // Without this replacement, Spark treats a cached table as a table that does not support deletes.
    case DeleteFromTable(Target(_, relation), Literal.TrueLiteral) => DeleteFromTableWithFilters(relation, Nil)
    case delete @ DeleteFromTable(Target(table, relation), _) => preparedDelete(delete, table, relation)
    case update @ UpdateTable(Target(table, relation), _, _) => preparedUpdate(update, table, relation)
    case merge @ MergeIntoTable(Target(table, relation), _, _, _, _, _) => preparedMerge(merge, table, relation)
    case _ => command
  }

  private def preparedDelete(
      command: DeleteFromTable,
      table: SparkTable,
      relation: DataSourceV2Relation
  ): LogicalPlan = {
    val rowByRow = !hasSubquery(command.condition)
    val countsDeletes = rowByRow && table.hasUncountedDeletes
    val names = table.carryOverColumns(Command.DELETE).filter(countsDeletes || _ != CarryOverColumns.Change.name)
    val carried = new CarryOverRewrite(names, relation)
    table.context.updateAnalysis(_.copy(isRowByRow = rowByRow, marksDeletes = carried.hasChangeColumn))
    if (carried.isEmpty) command else withCarried(command, relation, carried)
  }

  private def preparedUpdate(command: UpdateTable, table: SparkTable, relation: DataSourceV2Relation): LogicalPlan = {
    val UpdateTable(_, assignments, condition) = command
    table.context.updateAnalysis(_.copy(
      isRowByRow = !(condition ++ assignments).exists(hasSubquery),
      changesPartitions = ChangedPartitions.mayResultFrom(assignments, condition, table),
      inserts = false
    ))
    val carried = new CarryOverRewrite(table.carryOverColumns(Command.UPDATE), relation)
    if (carried.isEmpty) command
    else withCarried(command.copy(assignments = assignments ++ carried.updateAssignments), relation, carried)
  }

  private def preparedMerge(
      command: MergeIntoTable,
      table: SparkTable,
      relation: DataSourceV2Relation
  ): LogicalPlan = {
    val MergeIntoTable(_, source, condition, matched, notMatched, notMatchedBySource) = command
    val isAppend = matched.isEmpty && notMatchedBySource.isEmpty
    val copiesOnWrite = !isAppend && table.copiesOnWrite(Command.MERGE)
    val carried = new CarryOverRewrite(if (isAppend) Nil else table.carryOverColumns(Command.MERGE), relation)
    // For a single DELETE without a condition, Spark accepts several matching source rows. Marking its rows would turn
    // the DELETE into an update, for which Spark rejects several matching source rows.
    val marksDeletes = carried.hasChangeColumn && table.hasUncountedDeletes && !isUnconditionalDelete(matched)
    // Without a WHEN MATCHED clause, Spark writes a row once for each matching source row, without a check.
    val copyMatched = if (matched.isEmpty && copiesOnWrite) Seq(carried.copyAction) else Nil
    // Spark would find the files with rows to change by the table's columns only, unless all rows are changed.
    val byMetadata = notMatchedBySource.isEmpty && copiesOnWrite &&
      (condition.references -- source.outputSet).exists(a => isMetadata(a) && !carried.names(a.name))
    val copyUnmatched = if (byMetadata) Seq(carried.copyAction) else Nil
    table.context.updateAnalysis(_.copy(
      isRowByRow = false,
      isMerge = true,
      marksDeletes = marksDeletes,
      broadcastsSource = hasBroadcastHint(source),
      findsFilesByMetadata = byMetadata,
      changesPartitions = changesPartitions(matched ++ notMatchedBySource, condition, table),
      inserts = notMatched.nonEmpty
    ))
    def withUnchanged(merge: MergeIntoTable): MergeIntoTable = merge.copy(
      matchedActions = merge.matchedActions ++ copyMatched,
      notMatchedBySourceActions = merge.notMatchedBySourceActions ++ copyUnmatched
    )
    if (carried.isEmpty) withUnchanged(command)
    else withCarried(withUnchanged(withCarryOver(command, carried, marksDeletes)), relation, carried)
  }

  private def changesPartitions(actions: Seq[MergeAction], condition: Expression, table: SparkTable): Boolean =
    actions.exists {
      case update: UpdateAction => ChangedPartitions.mayResultFrom(update.assignments, Some(condition), table)
      case _ => false
    }

  private def withCarryOver(merge: MergeIntoTable, carried: CarryOverRewrite, marksDeletes: Boolean): MergeIntoTable =
    merge.copy(
      matchedActions = merge.matchedActions.map(carried.withCarryOver(_, marksDeletes)),
      notMatchedActions = merge.notMatchedActions.map(carried.withCarryOver(_, marksDeletes)),
      notMatchedBySourceActions = merge.notMatchedBySourceActions.map(carried.withCarryOver(_, marksDeletes))
    )

  private def hasBroadcastHint(source: LogicalPlan): Boolean = source match {
    case ResolvedHint(_, hint) => hint.strategy.contains(BROADCAST)
    case unary: UnaryNode => hasBroadcastHint(unary.child)
    case _ => false
  }

  private def isUnconditionalDelete(actions: Seq[MergeAction]): Boolean = actions match {
    case Seq(DeleteAction(None)) => true
    case _ => false
  }

  /** Matches the iceberg-lite table that a statement changes. */
  private object Target {
    def unapply(plan: LogicalPlan): Option[(SparkTable, DataSourceV2Relation)] = plan.collectFirst {
      case relation: DataSourceV2Relation if relation.table.isInstanceOf[SparkTable] =>
        (relation.table.asInstanceOf[SparkTable], relation)
    }
  }

  private def hasSubquery(e: Expression): Boolean = SubqueryExpression.hasSubquery(e)

  private def withCarried(
      command: LogicalPlan,
      relation: DataSourceV2Relation,
      carried: CarryOverRewrite
  ): LogicalPlan = {
    val others = relation.output.filterNot(a => carried.names(a.name))
    withRelation(command, relation, relation.copy(output = others ++ carried.columns), relation.metadataOutput)
  }
}

/**
 * Lets Spark find and refresh the cached plans of a table after copy-on-write. Spark finds cached plans by the columns
 * of the table, so this rule removes the columns that [[PrepareRowLevelOperations]] has added.
 */
object RestoreCachedRelation extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write @ ReplaceData(_, _, _, table: DataSourceV2Relation, _, _)
        if table.table.isInstanceOf[SparkTable] && table.output.exists(CarryOverRewrite.isCarried) =>
      write.copy(originalTable = table.copy(output = table.output.filterNot(CarryOverRewrite.isCarried)))
    case _ => plan
  }
}
