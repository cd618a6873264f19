package iceberglite.spark.sql

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.UnaryLike

import iceberglite.maintenance.compact.{GroupOptions, RewriteOptions}
import iceberglite.spark.maintenance.{DataFileRewrite, FileCondition, RowOrdering}
import iceberglite.spark.procedure.{ProcedureContext, RewriteDataFilesProcedure}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.expr.{Expression => FileExpression}
import iceberglite.table.SnapshotTarget

/**
 * `OPTIMIZE t [WHERE condition] [ZORDER BY (column, ...)]`: rewrites data files, like the procedure
 * `rewrite_data_files` with its default options. With ZORDER BY, all files that the condition selects are rewritten,
 * because files of a suitable size may not be in Z-order yet.
 *
 * @param condition the condition of WHERE; Spark resolves its columns and the columns of the Z-order
 * @param conditionText the condition as written, for messages
 * @param zOrder the columns of ZORDER BY; empty without this clause
 */
final case class OptimizeTable(
    child: LogicalPlan,
    condition: Option[Expression],
    conditionText: String,
    zOrder: Seq[Expression]
) extends ExistingTableCommand
    with UnaryLike[LogicalPlan] {

  override val output: Seq[Attribute] = ExistingTableCommand.attributes(RewriteDataFilesProcedure.output)

  override protected def table: LogicalPlan = child
  override protected def statement: String = OptimizeTable.name
  override protected def acceptsBranch: Boolean = true

  override protected def run(name: String, branch: SnapshotTarget.Branch, context: ProcedureContext): Seq[Row] = {
    val table = context.table(name).current
    val (ordering, texts) =
      if (zOrder.isEmpty) (RowOrdering.default(table), Map.empty[String, String])
      else (RowOrdering.zOrder(zOrder), Map(GroupOptions.RewriteAll -> "true"))
    val options = RewriteOptions.of(texts, table.metadata)
    val where = condition.fold[FileExpression](AlwaysTrue) { c =>
      FileCondition.of(context.session, table, branch, c, "WHERE", conditionText)
    }
    val rewrite = new DataFileRewrite(context.session, table, branch, where, options, ordering)
    val (after, result) = rewrite.run()
    context.refreshCachedPlans(name, table, after)
    Seq(RewriteDataFilesProcedure.row(result, rewrite.groups, table, options))
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): OptimizeTable = copy(child = newChild)
}

object OptimizeTable extends TableStatement {

  override val name = "OPTIMIZE"

  override def begin(reader: SqlReader): Boolean = reader.skip("OPTIMIZE")

  override def parse(table: LogicalPlan, reader: SqlReader, expressions: SqlExpressions): LogicalPlan = {
    val first = reader.ahead(1)
    val condition = if (reader.skip("WHERE")) Some(readCondition(reader, expressions)) else None
    val text = condition.fold("")(_ => reader.textSince(first))
    OptimizeTable(table, condition, text, if (reader.skip("ZORDER", "BY")) columns(reader) else Nil)
  }

  private def readCondition(reader: SqlReader, expressions: SqlExpressions): Expression = {
    val first = reader.peek
    val condition = expressions.readUnnamed(reader, "a condition", "ZORDER", "BY")
    if (condition.exists(_.isInstanceOf[SubqueryExpression]))
      reader.failAt(first, "the condition must not contain a subquery")
    condition
  }

  private def columns(reader: SqlReader): Seq[Expression] = {
    val inParentheses = reader.skipSymbol("(")
    var all = Vector(column(reader, Vector.empty))
    while (reader.skipSymbol(",")) all :+= column(reader, all)
    if (inParentheses && !reader.skipSymbol(")")) reader.fail("expected ',' or ')'")
    all
  }

  private def column(reader: SqlReader, previous: Vector[UnresolvedAttribute]): UnresolvedAttribute = {
    val first = reader.peek
    val path = reader.multipart("a column")
    if (previous.exists(_.nameParts == path)) reader.failAt(first, s"the column ${path.mkString(".")} is given twice")
    reader.node(first)(UnresolvedAttribute(path))
  }
}
