package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.objects.AssertNotNull
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Coalesce, Expression, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{
  Assignment,
  InsertAction,
  LogicalPlan,
  MergeAction,
  MergeIntoTable,
  Project,
  RowLevelWrite,
  UpdateAction,
  UpdateTable,
  V2WriteCommand
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.streaming.sources.WriteToMicroBatchDataSource

import iceberglite.spark.constraint.{ConstraintExpression, GenerationExpression}
import iceberglite.spark.convert.SparkDefaults
import iceberglite.spark.table.SparkTable

/**
 * Computes the values of generated columns in statements that write rows. Null counts as a missing value, and is
 * replaced by the value of the column's expression. An UPDATE or MERGE that changes a column that an expression uses,
 * but not the generated column itself, computes the generated column again. Writes check all other values of generated
 * columns.
 */
object ComputeGeneratedColumns extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case write: V2WriteCommand if write.resolved && write.outputResolved && !write.isInstanceOf[RowLevelWrite] =>
      write.table match {
        case relation @ DataSourceV2Relation(table: SparkTable, _, _, _, _) if table.generatedColumns.nonEmpty =>
          val positions = if (relation.skipSchemaResolution) None else Some(relation.output.map(_.name))
          new GeneratedValues(table, write.query, positions).query.fold[LogicalPlan](write)(write.withNewQuery)
        case _ => write
      }
    case write @ WriteToMicroBatchDataSource(_, sink: SparkTable, _, _, _, _, _) if write.resolved =>
      // The stream may have begun with an earlier version of the table.
      val table = sink.pinned
      if (table.generatedColumns.isEmpty) write
      else new GeneratedValues(table, write.query, None).query.fold(write)(rows => write.copy(query = rows))
    case update: UpdateTable if update.resolved && update.aligned =>
      withGenerated(update.table, update)(g => update.copy(assignments = ofUpdate(update.assignments, g)))
    case merge: MergeIntoTable if merge.resolved && merge.aligned =>
      withGenerated(merge.targetTable, merge) { generated =>
        merge.copy(
          matchedActions = merge.matchedActions.map(ofAction(_, generated)),
          notMatchedActions = merge.notMatchedActions.map(ofAction(_, generated)),
          notMatchedBySourceActions = merge.notMatchedBySourceActions.map(ofAction(_, generated))
        )
      }
  }

  private def withGenerated(target: LogicalPlan, command: LogicalPlan)(
      changed: Vector[GenerationExpression] => LogicalPlan
  ): LogicalPlan = target match {
    case PrepareRowLevelOperations.Target(table, _) if table.generatedColumns.nonEmpty =>
      changed(table.generatedColumns)
    case _ => command
  }

  private def ofAction(action: MergeAction, generated: Vector[GenerationExpression]): MergeAction = action match {
    case update: UpdateAction => update.copy(assignments = ofUpdate(update.assignments, generated))
    case insert: InsertAction => insert.copy(assignments = mapGenerated(insert.assignments, generated) {
        (_, assigned, g) =>
          completed(assigned, g, insert.assignments)
      })
    case other => other
  }

  private def ofUpdate(assignments: Seq[Assignment], generated: Vector[GenerationExpression]): Seq[Assignment] =
    mapGenerated(assignments, generated) { (assignment, assigned, g) =>
      val changesSource = assignments.exists {
        case a @ Assignment(key: Attribute, _) => g.sources(key.name) && !isUnchanged(a)
        case _ => false
      }
      if (!isUnchanged(assignment)) completed(assigned, g, assignments)
      else if (changesSource) notNull(computed(g, assignments), g)
      else assignment.value
    }

  private def isUnchanged(assignment: Assignment): Boolean = plain(assignment.value).semanticEquals(assignment.key)

  /**
   * Replaces the values that are assigned to generated columns.
   *
   * @param value returns the new value of a generated column from the assignment and its value without null checks
   */
  private def mapGenerated(assignments: Seq[Assignment], generated: Vector[GenerationExpression])(
      value: (Assignment, Expression, GenerationExpression) => Expression
  ): Seq[Assignment] = assignments.map {
    case assignment @ Assignment(key: Attribute, _) =>
      generated.find(_.target.name == key.name).fold(assignment) { g =>
        assignment.copy(value = value(assignment, GeneratedValues.withoutNullChecks(plain(assignment.value)), g))
      }
    case other => other
  }

  private def completed(assigned: Expression, g: GenerationExpression, assignments: Seq[Assignment]): Expression =
    notNull(GeneratedValues.completed(assigned, computed(g, assignments)), g)

  private def notNull(value: Expression, g: GenerationExpression): Expression =
    GeneratedValues.checkedForNull(value, g.target)

  private def computed(g: GenerationExpression, assignments: Seq[Assignment]): Expression = {
    val values = assignments.collect { case Assignment(key: Attribute, value) => key.name -> plain(value) }.toMap
    g.computed(column => values(column.name))
  }

  /** Removes the alias that Spark adds to the values of CHAR and VARCHAR columns. */
  private def plain(value: Expression): Expression = value match {
    case Alias(child, _) => child
    case other => other
  }
}

/**
 * Adds the values of generated columns to the rows of a write.
 *
 * @param positions the names of the table's columns in the order of the rows; absent if the write matches by name
 */
final private class GeneratedValues(table: SparkTable, rows: LogicalPlan, positions: Option[Seq[String]]) {
  import GeneratedValues._

  /** Returns the index of a column of the table in the rows; absent if the rows lack the column. */
  private def indexOf(column: String): Option[Int] = {
    val index = positions match {
      case Some(names) => names.indexOf(column)
      case None => rows.output.indexWhere(a => rows.conf.resolver(a.name, column))
    }
    Some(index).filter(_ >= 0)
  }

  private val generated: Vector[(GenerationExpression, Option[Int])] =
    table.generatedColumns.map(g => g -> indexOf(g.target.name))

  /** The rows of the write, in which generated columns may still be null. */
  private val input: LogicalPlan = rows match {
    case Project(columns, child) =>
      val indexes = generated.flatMap(_._2).toSet
      Project(
        columns.zipWithIndex.map {
          case (Alias(value, name), i) if indexes(i) => Alias(withoutNullChecks(value), name)()
          case (column, _) => column
        },
        child
      )
    case other => other
  }

  /** Returns the rows with all values; absent if the rows already have them. */
  def query: Option[LogicalPlan] = {
    val missing = generated.filter { case (_, index) => index.forall(input.output(_).nullable) }
    if (missing.isEmpty) None
    else {
      val replaced = missing.collect { case (g, Some(i)) => i -> valueOf(g, Some(input.output(i))) }.toMap
      val columns = input.output.zipWithIndex.map { case (column, i) => replaced.getOrElse(i, column) }
      Some(Project(columns ++ missing.collect { case (g, None) => valueOf(g, None) }, input))
    }
  }

  private def valueOf(g: GenerationExpression, assigned: Option[Attribute]): NamedExpression = {
    val value = g.computed(column => ConstraintExpression.paddedAsRead(inRows(column), column))
    val complete =
      assigned.fold(value)(column => completed(GenerationExpression.converted(column, g.target.dataType), value))
    Alias(checkedForNull(complete, g.target), assigned.fold(g.target.name)(_.name))()
  }

  /** Returns the value that the rows have in a column of the table. */
  private def inRows(column: Attribute): Expression = indexOf(column.name) match {
    case Some(index) => GenerationExpression.converted(input.output(index), column.dataType)
    case None =>
      val default = table.table.schema.fields.find(_.name == column.name).flatMap(SparkDefaults.writeValue)
      Literal(default.orNull, column.dataType)
  }
}

private object GeneratedValues {

  /** Removes the checks that a value is not null. The value of the column's expression may replace null. */
  def withoutNullChecks(value: Expression): Expression = value.transform { case AssertNotNull(child, _) => child }

  def completed(assigned: Expression, computed: Expression): Expression = assigned match {
    case Literal(null, _) => computed
    case value if !value.nullable => value
    case value => Coalesce(Seq(value, computed))
  }

  /** Adds the check for a column that is NOT NULL. */
  def checkedForNull(value: Expression, column: Attribute): Expression =
    if (column.nullable || !value.nullable) value else AssertNotNull(value, Seq(column.name))
}
