package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.analysis.ResolvedTable
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.command.RunnableCommand
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.{Row, SparkSession}

import iceberglite.spark.conf.TimeTravel
import iceberglite.spark.convert.PartitionTerm
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.procedure.ProcedureContext
import iceberglite.spark.session.LiteCatalog
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.Unsupported

/** A statement on an existing iceberg-lite table. Spark resolves the table's name before the statement runs. */
trait ExistingTableCommand extends RunnableCommand {

  /** The name of the statement, for messages. */
  protected def statement: String

  protected def table: LogicalPlan

  /**
   * Runs the statement.
   *
   * @param name the full name of the table in SQL
   */
  protected def run(name: String, context: ProcedureContext): Seq[Row]

  final override def run(session: SparkSession): Seq[Row] = table match {
    case ResolvedTable(catalog: LiteCatalog, ident, resolved: SparkTable, _) => SparkErrors.in(resolved.name) {
        if (resolved.travel != TimeTravel.Latest) throw Unsupported(
          s"$statement of ${resolved.travel.selector}",
          "The statement concerns the whole table. Remove the snapshot, branch or tag from the name of the table"
        )
        val name = PartitionTerm.quoted(catalog.name +: ident.namespace.toVector :+ ident.name)
        run(name, new ProcedureContext(session, catalog))
      }
    case ResolvedTable(_, _, other, _) =>
      val error = Unsupported(s"$statement of ${other.name}", "It is not an iceberg-lite table")
      throw SparkErrors.of(other.name, error)
    case other => throw new IllegalStateException(s"${other.nodeName} is not a resolved table")
  }
}

private[sql] object ExistingTableCommand {
  def attributes(schema: StructType): Seq[Attribute] =
    schema.map(f => AttributeReference(f.name, f.dataType, f.nullable, f.metadata)())
}
