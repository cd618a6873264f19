package iceberglite.spark

import org.apache.spark.sql.catalyst.plans.logical.{
  DeleteAction,
  InsertAction,
  InsertStarAction,
  LogicalPlan,
  MergeAction,
  MergeIntoTable,
  SubqueryAlias,
  UpdateAction,
  UpdateStarAction
}

import iceberglite.spark.error.SparkErrors
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * An immutable builder of a MERGE statement. Each method that adds a clause or an option returns a new builder. If a
 * row satisfies the conditions of several clauses of the same kind, the first of these clauses applies. Conditions and
 * values are columns or SQL. They refer to a column of the table as `target.c`, and to a column of the source as
 * `source.c`. The methods that end with `UpdateAll` or `InsertAll` assign to each table column the source column with
 * the same name.
 */
final class MergeStatement private (
    table: IcebergTable,
    source: LogicalPlan,
    on: Condition,
    matched: Vector[MergeAction],
    notMatched: Vector[MergeAction],
    notMatchedBySource: Vector[MergeAction],
    evolvesSchema: Boolean
) {
  private[iceberglite] def this(table: IcebergTable, source: LogicalPlan, on: Condition) =
    this(table, source, on, Vector.empty, Vector.empty, Vector.empty, false)

  private def copy(
      table: IcebergTable = table,
      matched: Vector[MergeAction] = matched,
      notMatched: Vector[MergeAction] = notMatched,
      notMatchedBySource: Vector[MergeAction] = notMatchedBySource,
      evolvesSchema: Boolean = evolvesSchema
  ): MergeStatement = new MergeStatement(table, source, on, matched, notMatched, notMatchedBySource, evolvesSchema)

  private def whenMatched(action: MergeAction): MergeStatement = copy(matched = matched :+ action)
  private def whenNotMatched(action: MergeAction): MergeStatement = copy(notMatched = notMatched :+ action)
  private def whenNotMatchedBySource(action: MergeAction): MergeStatement =
    copy(notMatchedBySource = notMatchedBySource :+ action)

  def whenMatchedUpdate[V: SqlValue](set: Map[String, V]): MergeStatement =
    whenMatched(UpdateAction(None, table.assignments(set)))

  def whenMatchedUpdate[V: SqlValue](condition: Condition, set: Map[String, V]): MergeStatement =
    whenMatched(UpdateAction(Some(condition.expression), table.assignments(set)))

  def whenMatchedUpdateAll(): MergeStatement = whenMatched(UpdateStarAction(None))

  def whenMatchedUpdateAll(condition: Condition): MergeStatement =
    whenMatched(UpdateStarAction(Some(condition.expression)))

  def whenMatchedDelete(): MergeStatement = whenMatched(DeleteAction(None))

  def whenMatchedDelete(condition: Condition): MergeStatement = whenMatched(DeleteAction(Some(condition.expression)))

  def whenNotMatchedInsert[V: SqlValue](values: Map[String, V]): MergeStatement =
    whenNotMatched(InsertAction(None, table.assignments(values)))

  def whenNotMatchedInsert[V: SqlValue](condition: Condition, values: Map[String, V]): MergeStatement =
    whenNotMatched(InsertAction(Some(condition.expression), table.assignments(values)))

  def whenNotMatchedInsertAll(): MergeStatement = whenNotMatched(InsertStarAction(None))

  def whenNotMatchedInsertAll(condition: Condition): MergeStatement =
    whenNotMatched(InsertStarAction(Some(condition.expression)))

  def whenNotMatchedBySourceUpdate[V: SqlValue](set: Map[String, V]): MergeStatement =
    whenNotMatchedBySource(UpdateAction(None, table.assignments(set)))

  def whenNotMatchedBySourceUpdate[V: SqlValue](condition: Condition, set: Map[String, V]): MergeStatement =
    whenNotMatchedBySource(UpdateAction(Some(condition.expression), table.assignments(set)))

  def whenNotMatchedBySourceDelete(): MergeStatement = whenNotMatchedBySource(DeleteAction(None))

  def whenNotMatchedBySourceDelete(condition: Condition): MergeStatement =
    whenNotMatchedBySource(DeleteAction(Some(condition.expression)))

  /**
   * Lets the statement add the source columns that a clause uses and that the table does not have, and widen the types
   * of existing columns. One commit changes the columns and writes the rows.
   */
  def withSchemaEvolution(): MergeStatement = copy(evolvesSchema = true)

  def option(key: String, value: String): MergeStatement = copy(table = table.option(key, value))

  /** Sets the maximum number of retries after commit conflicts. */
  def retries(times: Int): MergeStatement = copy(table = table.retries(times))

  /**
   * Runs the statement.
   *
   * @throws iceberglite.spark.error.StatementError if there is no clause, or the table or the options do not allow the
   *   statement
   */
  def execute(): RowChanges = {
    if ((matched ++ notMatched ++ notMatchedBySource).isEmpty) throw SparkErrors.of(
      table.name,
      InvalidArgument("clauses of MERGE", "none", "Add at least one clause: whenMatched..., whenNotMatched...")
    )
    val target = SubqueryAlias("target", table.relation)
    table.run(
      "MERGE",
      MergeIntoTable(target, source, on.expression, matched, notMatched, notMatchedBySource),
      evolvesSchema
    )
  }
}
