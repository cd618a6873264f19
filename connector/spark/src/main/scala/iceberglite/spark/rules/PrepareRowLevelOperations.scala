package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{
  Attribute,
  AttributeReference,
  AttributeSet,
  Expression,
  MetadataAttribute,
  MetadataAttributeWithLogicalName,
  OuterReference,
  SubqueryExpression
}
import org.apache.spark.sql.catalyst.plans.logical.{
  Assignment,
  DeleteFromTable,
  InsertAction,
  LeafNode,
  LogicalPlan,
  MergeAction,
  MergeIntoTable,
  ReplaceData,
  UpdateAction,
  UpdateTable
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation

import iceberglite.spark.error.SparkErrors
import iceberglite.spark.session.PinnableTable
import iceberglite.spark.table.{RerunAfterRewrite, SparkTable}
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * Prepares DELETE, UPDATE and MERGE on iceberg-lite tables before Spark rewrites these statements. Copy-on-write needs
 * the change of each row. In version 3, it also writes the row lineage columns of each row (spec, version 3: "Row
 * Lineage"). Spark drops all metadata columns before the write, so this rule turns these columns into ordinary columns
 * ([[CarriedColumns]]). The rule also records whether each row is processed individually. If so, the tasks that read
 * rows can also write them. In a statement with subqueries, rows are not processed individually, because subqueries
 * become joins, which may shuffle rows.
 */
object PrepareRowLevelOperations extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case d: DeleteFromTable if d.resolved => prepared(d, d, d.table)
    case u: UpdateTable if u.resolved && u.aligned => prepared(u, u, u.table)
    case m: MergeIntoTable if m.resolved && m.aligned =>
      prepared(m, m.copy(sourceTable = pinnedTables(m.sourceTable)), m.targetTable)
  }

  /**
   * Returns the prepared command. Publishes the analysis of the command in the statement's context, because Spark does
   * not pass it to the operation.
   *
   * @param original the command before its tables are pinned to their current versions, for further runs
   */
  private def prepared(original: LogicalPlan, command: LogicalPlan, target: LogicalPlan): LogicalPlan = {
    val pinnedCommand = pinned(NullConditions.castNulls(command))
    target match {
      case Target(table, relation) =>
        val (withoutMetadataColumns, named) = withoutMetadata(pinnedCommand, relation)
        val variants = exactVariants(table, withoutMetadataColumns)
        val result = RowLevelPreparation(variants.command(withoutMetadataColumns))
        val rerun = RerunAfterRewrite.of(original, named)
        result.analysis.foreach(a => table.context.publish(a.copy(namedMetadata = named), rerun))
        if (variants.isNeeded) table.context.publishExactVariants()
        result.plan
      case _ => pinnedCommand
    }
  }

  private def exactVariants(table: SparkTable, command: LogicalPlan): ExactVariants = command.collectFirst {
    case relation @ DataSourceV2Relation(t: SparkTable, _, _, _, _) if t eq table =>
      new ExactVariants(table.table.schema, relation)
  }.getOrElse(throw new IllegalStateException(s"The statement does not contain its target ${table.name}"))

  /**
   * Pins the tables in the subqueries of a command to their current versions. A statement may read its inputs several
   * times, and must see the same rows each time despite concurrent commits.
   */
  private def pinned(command: LogicalPlan): LogicalPlan = command.transformExpressions {
    case subquery: SubqueryExpression => subquery.withNewPlan(pinnedTables(subquery.plan))
  }

  private def pinnedTables(plan: LogicalPlan): LogicalPlan = plan.transformWithSubqueries {
    case relation @ DataSourceV2Relation(table: PinnableTable, _, _, _, _) =>
      PinnedRelation(relation.copy(table = table.pinned))
  }

  /**
   * Removes unused metadata columns from the target. If a condition names a metadata column, Spark adds all metadata
   * columns to the target, and then treats them as columns to write. This method keeps only the metadata columns that
   * the statement names. For a table with CHAR columns, Spark does not add any metadata columns.
   *
   * @return the command, and the names of the metadata columns that it names
   */
  private def withoutMetadata(
      command: LogicalPlan,
      relation: DataSourceV2Relation
  ): (LogicalPlan, Seq[String]) = {
    val changed = withoutAssignments(command)
    val namedColumns = AttributeSet(changed.expressions.flatMap(_.references)).toSeq.collect {
      case MetadataAttributeWithLogicalName(a, name)
          if relation.outputSet.contains(a) || !command.inputSet.contains(a) => a.withName(name)
    }
    val withoutMetadataColumns =
      if (relation.output.exists(isMetadata)) relation.copy(output = relation.output.filterNot(isMetadata))
      else relation
    val plan =
      if (namedColumns.isEmpty && withoutMetadataColumns.eq(relation)) command
      else withRelation(changed, relation, withoutMetadataColumns, namedColumns)
    (plan, namedColumns.map(_.name))
  }

  /**
   * Replaces the relation of the table in a command.
   *
   * @param metadata the metadata columns of the old relation; the new relation's metadata columns have other expression
   *   ids
   */
  private[rules] def withRelation(
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

  private[rules] def isMetadata(attribute: Attribute): Boolean = MetadataAttribute.isValid(attribute.metadata)

  /** Matches the iceberg-lite table that a statement changes. */
  private[rules] object Target {
    def unapply(plan: LogicalPlan): Option[(SparkTable, DataSourceV2Relation)] = plan.collectFirst {
      case relation @ DataSourceV2Relation(table: SparkTable, _, _, _, _) => (table, relation)
    }
  }
}

/**
 * A relation with a pinned table, until [[ReplacePinnedRelations]] has replaced it. A pinned table is equal to the
 * table itself, so that Spark finds cached results. For this reason, Spark would keep the original relation if a rule
 * replaced it directly.
 */
final private[rules] case class PinnedRelation(relation: DataSourceV2Relation) extends LeafNode {
  override def output: Seq[Attribute] = relation.output
}

/** Replaces the relations that [[PrepareRowLevelOperations]] has pinned. */
object ReplacePinnedRelations extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case command @ (_: DeleteFromTable | _: UpdateTable | _: MergeIntoTable) =>
      command.transformWithSubqueries { case PinnedRelation(relation) => relation }
  }
}

/**
 * Lets Spark find and refresh the cached plans of a table after copy-on-write. Spark finds cached plans by the columns
 * of the table, so this rule removes the columns that [[PrepareRowLevelOperations]] has added.
 */
object RestoreCachedRelation extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan match {
    case write @ ReplaceData(_, _, _, table: DataSourceV2Relation, _, _)
        if table.table.isInstanceOf[SparkTable] && table.output.exists(CarriedColumns.isCarried) =>
      write.copy(originalTable = table.copy(output = table.output.filterNot(CarriedColumns.isCarried)))
    case _ => plan
  }
}
