package iceberglite.spark.rules

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.catalyst.util.CharVarcharUtils

import iceberglite.spark.changelog.ChangelogTable
import iceberglite.spark.table.SparkTable

/**
 * Replaces the types `CHAR` and `VARCHAR` of the columns of a streaming read by `STRING`, and pads `CHAR` values, which
 * other engines may have written without padding. Spark does this for batch reads, but cannot run a streaming read with
 * these types. As in batch reads, the columns keep their declared types as metadata, from which Spark determines how to
 * pad the values that are compared to the columns.
 */
object ResolveStreamedTypes extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case relation @ StreamingRelationV2(_, _, _: SparkTable | _: ChangelogTable, _, output, _, _, _)
        if output.exists(column => CharVarcharUtils.hasCharVarchar(column.dataType)) =>
      val strings = CharVarcharUtils.replaceCharVarcharWithStringInSchema(DataTypeUtils.fromAttributes(output))
      val columns = output.zip(strings).map { case (column, string) =>
        column.withDataType(string.dataType).withMetadata(string.metadata)
      }
      val padded: Seq[(Attribute, Alias)] =
        if (conf.charVarcharAsString || !conf.readSideCharPadding) Nil
        else columns.flatMap(column => paddedColumn(column))
      val stored = columns.zip(output).map { case (column, declared) =>
        padded.find(_._2.exprId == column.exprId).fold(column)(_._1.withMetadata(declared.metadata))
      }
      val read = relation.copy(output = stored)
      val values = columns.map { column =>
        padded.map(_._2).find(_.exprId == column.exprId).getOrElse[NamedExpression](column)
      }
      if (padded.isEmpty) read else Project(values, read)
  }

  /** Returns a column with the stored values, and the column with the padded values; absent if no value is padded. */
  private def paddedColumn(column: Attribute): Option[(Attribute, Alias)] = {
    val stored = column.newInstance()
    Some(CharVarcharUtils.addPaddingForScan(stored)).filterNot(_ == stored).map { value =>
      stored -> Alias(value, column.name)(column.exprId, column.qualifier, Some(column.metadata))
    }
  }
}
