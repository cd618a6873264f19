package iceberglite.spark.sql

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, OneRowRelation, Project}
import org.apache.spark.sql.catalyst.trees.BinaryLike
import org.apache.spark.sql.types.StringType

import iceberglite.spark.procedure.{ParameterType, ProcedureContext, RestoreProcedure}
import iceberglite.table.action.RestorePoint
import iceberglite.table.SnapshotTarget

/**
 * `RESTORE [TABLE] t TO VERSION AS OF version`, and `TO TIMESTAMP AS OF timestamp`: makes another snapshot the current
 * snapshot, like the procedure `restore`.
 *
 * @param left the table
 * @param right a query that returns one row with the version or the timestamp
 */
final case class RestoreTable(left: LogicalPlan, right: LogicalPlan, clause: RestoreTable.Clause)
    extends ExistingTableCommand
    with BinaryLike[LogicalPlan] {

  override val output: Seq[Attribute] = ExistingTableCommand.attributes(RestoreProcedure.output)

  override protected def table: LogicalPlan = left
  override protected def statement: String = RestoreTable.name

  override protected def run(name: String, branch: SnapshotTarget.Branch, context: ProcedureContext): Seq[Row] =
    RestoreProcedure.restore(name, clause.point(ConstantRow.of(context.session, right).head), context)

  override protected def withNewChildrenInternal(newLeft: LogicalPlan, newRight: LogicalPlan): RestoreTable =
    copy(left = newLeft, right = newRight)
}

object RestoreTable extends TableStatement {

  /** The clause that selects the snapshot to restore. @param words the words before the value */
  sealed abstract class Clause(val words: String*) {
    def expected: String

    /** @throws iceberglite.spec.IcebergError.InvalidArgument if the value is null or has another type */
    def point(value: ConstantRow.Value): RestorePoint

    protected def subject: String = words.mkString(" ")

    protected def converted[A](value: ConstantRow.Value, to: ParameterType[A]): A = {
      value.required(subject)
      value.as(to.sparkType, subject).map(to.fromInternal).get
    }
  }

  case object Version extends Clause("VERSION", "AS", "OF") {
    override val expected = "the id of a snapshot, or the name of a branch or tag in quotes"

    override def point(value: ConstantRow.Value): RestorePoint =
      if (value.valueType == StringType) RestorePoint.AtVersion(value.required(subject).toString)
      else RestorePoint.AtSnapshot(converted(value, ParameterType.Id))
  }

  case object Timestamp extends Clause("TIMESTAMP", "AS", "OF") {
    override val expected = "a timestamp"

    override def point(value: ConstantRow.Value): RestorePoint =
      RestorePoint.AtTime(converted(value, ParameterType.Time))
  }

  override val name = "RESTORE"

  override def begin(reader: SqlReader): Boolean = {
    val begins = reader.skip("RESTORE")
    if (begins) reader.skip("TABLE")
    begins
  }

  override def parse(table: LogicalPlan, reader: SqlReader, expressions: SqlExpressions): LogicalPlan = {
    reader.expectWord("TO")
    val clause = Seq(Version, Timestamp).find(c => reader.skip(c.words: _*)).getOrElse(
      reader.fail("expected VERSION AS OF or TIMESTAMP AS OF")
    )
    val first = reader.peek
    val value: Expression = expressions.readUnnamed(reader, clause.expected) match {
      case _: UnresolvedAttribute if clause == Version =>
        reader.failAt(first, s"the name of a branch or tag must be in quotes: '${reader.textSince(first)}'")
      case other => other
    }
    RestoreTable(table, Project(Seq(Alias(value, "value")()), OneRowRelation()), clause)
  }
}
