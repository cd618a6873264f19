package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.analysis.ResolvedTable
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.execution.command.RunnableCommand
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{Row, SparkSession}

import iceberglite.spark.catalog.PathName
import iceberglite.spark.conf.TimeTravel
import iceberglite.spark.convert.PartitionTerm
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.procedure.ProcedureContext
import iceberglite.spark.session.LiteCatalog
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.table.SnapshotTarget

/** A statement on an existing iceberg-lite table. Spark resolves the table's name before the statement runs. */
trait ExistingTableCommand extends RunnableCommand {

  /** The name of the statement, for messages. */
  protected def statement: String

  protected def table: LogicalPlan

  /** Whether the statement can be applied to a branch, as in `OPTIMIZE t.branch_b`. */
  protected def acceptsBranch: Boolean = false

  /**
   * Runs the statement.
   *
   * @param name the full name of the table in SQL, without a branch
   * @param branch the branch in the statement; `main` without one
   */
  protected def run(name: String, branch: SnapshotTarget.Branch, context: ProcedureContext): Seq[Row]

  final override def run(session: SparkSession): Seq[Row] = table match {
    case ResolvedTable(catalog: LiteCatalog, ident, resolved: SparkTable, _) => SparkErrors.in(resolved.name) {
        val branch = resolved.travel match {
          case TimeTravel.Latest => SnapshotTarget.Main
          case TimeTravel.OnBranch(name) if acceptsBranch => SnapshotTarget.Branch(name)
          case other => throw Unsupported(
              s"$statement of ${other.selector}",
              if (acceptsBranch) "It applies to the table or to a branch. Remove the snapshot or tag from the name"
              else
                "The statement concerns the whole table. Remove the snapshot, branch or tag from the name of the table"
            )
        }
        val whole = if (resolved.travel == TimeTravel.Latest) ident else withoutSelector(ident)
        val name = PartitionTerm.quoted(catalog.name +: whole.namespace.toVector :+ whole.name)
        run(name, branch, new ProcedureContext(session, catalog))
      }
    case ResolvedTable(_, _, other, _) =>
      val error = Unsupported(s"$statement of ${other.name}", "It is not an iceberg-lite table")
      throw SparkErrors.of(other.name, error)
    case other => throw new IllegalStateException(s"${other.nodeName} is not a resolved table")
  }

  /** Returns the identifier of the whole table: `db.t` for `db.t.branch_b`, and the path for a path with a selector. */
  private def withoutSelector(ident: Identifier): Identifier = PathName.of(ident) match {
    case Some(path) => Identifier.of(ident.namespace, path.path)
    case None => Identifier.of(ident.namespace.init, ident.namespace.last)
  }
}

private[sql] object ExistingTableCommand {
  def attributes(schema: StructType): Seq[Attribute] =
    schema.map(f => AttributeReference(f.name, f.dataType, f.nullable, f.metadata)())
}
