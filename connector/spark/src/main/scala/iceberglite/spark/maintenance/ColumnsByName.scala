package iceberglite.spark.maintenance

import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedExtractValue}
import org.apache.spark.sql.catalyst.expressions.{Alias, AttributeReference, Expression, GetStructField, Literal}

/** Makes expressions independent of the plan in which Spark has resolved them. */
private[maintenance] object ColumnsByName {

  /**
   * Replaces references to columns and to fields of structs by their names, so that Spark can resolve the expression on
   * another version of the table.
   */
  def apply(expression: Expression): Expression = expression match {
    case Alias(named, _) => apply(named)
    case column: AttributeReference => UnresolvedAttribute(Seq(column.name))
    case field: GetStructField => UnresolvedExtractValue(apply(field.child), Literal(field.extractFieldName))
    case other => other.mapChildren(apply)
  }
}
