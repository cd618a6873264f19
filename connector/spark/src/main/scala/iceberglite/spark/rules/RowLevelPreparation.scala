package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{
  BROADCAST,
  DeleteAction,
  DeleteFromTable,
  DeleteFromTableWithFilters,
  LogicalPlan,
  MergeAction,
  MergeIntoTable,
  ResolvedHint,
  UnaryNode,
  UpdateAction,
  UpdateTable
}
import org.apache.spark.sql.connector.write.RowLevelOperation.Command
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

import iceberglite.spark.rowlevel.{CarryOverColumns, StatementAnalysis}
import iceberglite.spark.rules.PrepareRowLevelOperations.{isMetadata, withRelation, Target}
import iceberglite.spark.table.SparkTable

/**
 * The plan of a DELETE, UPDATE or MERGE with the columns that its write needs, and the properties of the statement.
 *
 * @param analysis the properties of the statement; absent for a plan without a row-level operation
 */
final private[rules] case class RowLevelPreparation(plan: LogicalPlan, analysis: Option[StatementAnalysis])

private[rules] object RowLevelPreparation {

  def apply(command: LogicalPlan): RowLevelPreparation = command match {
    // Without this case, Spark would treat a cached table as a table that does not support deletes.
    case DeleteFromTable(Target(_, relation), Literal.TrueLiteral) =>
      RowLevelPreparation(DeleteFromTableWithFilters(relation, Nil), None)
    case delete @ DeleteFromTable(Target(table, relation), _) => ofDelete(delete, table, relation)
    case update @ UpdateTable(Target(table, relation), _, _) => ofUpdate(update, table, relation)
    case merge @ MergeIntoTable(Target(table, relation), _, _, _, _, _) => new Merge(merge, table, relation).prepared
    case other => RowLevelPreparation(other, None)
  }

  private def ofDelete(
      command: DeleteFromTable,
      table: SparkTable,
      relation: DataSourceV2Relation
  ): RowLevelPreparation = {
    val rowByRow = !hasSubquery(command.condition)
    val countsDeletes = rowByRow && table.hasUncountedDeletes
    val names = table.carryOverColumns(Command.DELETE).filter(countsDeletes || _ != CarryOverColumns.Change.name)
    val carried = new CarriedColumns(names, relation)
    val analysis = StatementAnalysis(isRowByRow = rowByRow, marksDeletes = carried.hasChangeColumn)
    RowLevelPreparation(withCarried(command, relation, carried), Some(analysis))
  }

  private def ofUpdate(command: UpdateTable, table: SparkTable, relation: DataSourceV2Relation): RowLevelPreparation = {
    val UpdateTable(_, assignments, condition) = command
    val analysis = StatementAnalysis(
      isRowByRow = !(condition ++ assignments).exists(hasSubquery),
      changesPartitions = ChangedPartitions.mayResultFrom(assignments, condition, table),
      inserts = false
    )
    val carried = new CarriedColumns(table.carryOverColumns(Command.UPDATE), relation)
    val plan =
      if (carried.isEmpty) command
      else withCarried(command.copy(assignments = assignments ++ carried.updateAssignments), relation, carried)
    RowLevelPreparation(plan, Some(analysis))
  }

  /** Prepares a MERGE into a table. */
  final private class Merge(command: MergeIntoTable, table: SparkTable, relation: DataSourceV2Relation) {
    private val MergeIntoTable(_, source, condition, matched, notMatched, notMatchedBySource) = command
    private val isAppend = matched.isEmpty && notMatchedBySource.isEmpty
    private val copiesOnWrite = !isAppend && table.copiesOnWrite(Command.MERGE)
    private val carried = new CarriedColumns(if (isAppend) Nil else table.carryOverColumns(Command.MERGE), relation)

    // For a single DELETE without a condition, Spark accepts several matching source rows. If deleted rows were passed
    // to the write, the DELETE would become an update, for which Spark rejects several matching source rows.
    private val marksDeletes = carried.hasChangeColumn && table.hasUncountedDeletes && !isUnconditionalDelete(matched)

    // Whether [[AddGroupFilterByMetadata]] adds the query that finds the files with rows to change, because Spark's own
    // query would use only the table's columns.
    private val byMetadata = notMatchedBySource.isEmpty && copiesOnWrite &&
      (condition.references -- source.outputSet).exists(a => isMetadata(a) && !carried.names(a.name))

    def prepared: RowLevelPreparation = RowLevelPreparation(
      if (carried.isEmpty) withUnchanged(command)
      else withCarried(withUnchanged(withCarryOver), relation, carried),
      Some(analysis)
    )

    private def analysis: StatementAnalysis = StatementAnalysis(
      isMerge = true,
      marksDeletes = marksDeletes,
      broadcastsSource = hasBroadcastHint(source),
      findsFilesByMetadata = byMetadata,
      changesPartitions = changesPartitions,
      inserts = notMatched.nonEmpty
    )

    private def changesPartitions: Boolean = (matched ++ notMatchedBySource).exists {
      case update: UpdateAction => ChangedPartitions.mayResultFrom(update.assignments, Some(condition), table)
      case _ => false
    }

    private def withCarryOver: MergeIntoTable = command.copy(
      matchedActions = matched.map(carried.withCarryOver(_, marksDeletes)),
      notMatchedActions = notMatched.map(carried.withCarryOver(_, marksDeletes)),
      notMatchedBySourceActions = notMatchedBySource.map(carried.withCarryOver(_, marksDeletes))
    )

    private def withUnchanged(merge: MergeIntoTable): MergeIntoTable = {
      // Without a WHEN MATCHED clause, Spark would write a target row once for each matching source row. With the copy
      // action, Spark checks that there is only one matching source row.
      val copyMatched = if (matched.isEmpty && copiesOnWrite) Seq(carried.copyAction) else Nil
      val copyUnmatched = if (byMetadata) Seq(carried.copyAction) else Nil
      merge.copy(
        matchedActions = merge.matchedActions ++ copyMatched,
        notMatchedBySourceActions = merge.notMatchedBySourceActions ++ copyUnmatched
      )
    }
  }

  private def hasBroadcastHint(source: LogicalPlan): Boolean = source match {
    case ResolvedHint(_, hint) => hint.strategy.contains(BROADCAST)
    case unary: UnaryNode => hasBroadcastHint(unary.child)
    case _ => false
  }

  private def isUnconditionalDelete(actions: Seq[MergeAction]): Boolean = actions match {
    case Seq(DeleteAction(None)) => true
    case _ => false
  }

  private def hasSubquery(e: Expression): Boolean = SubqueryExpression.hasSubquery(e)

  private def withCarried(
      command: LogicalPlan,
      relation: DataSourceV2Relation,
      carried: CarriedColumns
  ): LogicalPlan =
    if (carried.isEmpty) command
    else {
      val others = relation.output.filterNot(a => carried.names(a.name))
      withRelation(command, relation, relation.copy(output = others ++ carried.columns), relation.metadataOutput)
    }
}
