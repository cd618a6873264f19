package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.analysis.ResolvedTable
import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{DescribeColumn, LogicalPlan}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.execution.command.RunnableCommand
import org.apache.spark.sql.types.{ArrayType, BinaryType, DataType, MapType, StringType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.sql.{Row, SparkSession}

import iceberglite.spark.read.IcebergScan
import iceberglite.spark.read.partitioning.KnownStatistics
import iceberglite.spark.table.SparkTable

/**
 * `DESCRIBE EXTENDED t column`: describes a column like Spark, with the statistics that metadata contains. Spark itself
 * shows statistics of tables of other catalogs only while its cost-based optimizer is enabled.
 */
final case class DescribeColumnStatistics(
    child: LogicalPlan,
    table: SparkTable,
    column: Attribute,
    override val output: Seq[Attribute]
) extends RunnableCommand
    with UnaryLike[LogicalPlan] {

  override def run(session: SparkSession): Seq[Row] = {
    val dataType = CharVarcharUtils.getRawType(column.metadata).getOrElse(column.dataType)
    val comment = if (column.metadata.contains("comment")) Some(column.metadata.getString("comment")) else None
    val statistics = known
    val timeZone = session.sessionState.conf.sessionLocalTimeZone
    def text(value: Any) = Cast(Literal.create(value, column.dataType), StringType, Some(timeZone)).eval().toString
    val length = DescribeColumnStatistics.fixedLength(column.dataType).map(_.toString)
    Seq(
      "col_name" -> Some(column.name),
      "data_type" -> Some(dataType.catalogString),
      "comment" -> comment,
      "min" -> statistics.min.map(text),
      "max" -> statistics.max.map(text),
      "num_nulls" -> statistics.nulls.map(_.toString),
      "distinct_count" -> statistics.distinct.map(_.toString),
      "avg_col_len" -> length,
      "max_col_len" -> length,
      "histogram" -> None
    ).map { case (name, value) => Row(name, value.getOrElse("NULL")) }
  }

  private def known: KnownStatistics = table.newScanBuilder(CaseInsensitiveStringMap.empty).build() match {
    case scan: IcebergScan => scan.statisticsOf(column.name).getOrElse(KnownStatistics())
    case other => throw new IllegalStateException(s"the scan ${other.description} is not a scan of files")
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): DescribeColumnStatistics = copy(child = newChild)
}

/** Replaces Spark's DESCRIBE EXTENDED of a column on iceberg-lite tables. */
object DescribeColumnStatistics extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case DescribeColumn(resolved @ ResolvedTable(_, _, table: SparkTable, _), column: Attribute, true, output)
        if column.resolved => DescribeColumnStatistics(resolved, table, column, output)
  }

  /** Returns the length of values in bytes; absent if values of the type differ in length. */
  private def fixedLength(dataType: DataType): Option[Int] = dataType match {
    case StringType | BinaryType | _: ArrayType | _: MapType | _: StructType => None
    case other => Some(other.defaultSize)
  }
}
