package iceberglite.spark.maintenance.importing

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Cast, EvalMode, Literal => SparkLiteral}
import org.apache.spark.sql.types.{StringType => SparkString}
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.maintenance.importing.SourcePartition
import iceberglite.spark.convert.{SparkTypes, SparkValues}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType}

/** Parses partition values in the same way as Spark. Timestamps are in the time zone of the session. */
final private[importing] class PartitionText(session: SparkSession) {
  private val zone = session.sessionState.conf.sessionLocalTimeZone

  /** Returns the value of a column; absent if the text is not valid for the column's type. */
  def parse(column: NestedField, text: String): Option[Literal] = column.fieldType match {
    case t: PrimitiveType =>
      val literal = SparkLiteral(UTF8String.fromString(text), SparkString)
      Option(Cast(literal, SparkTypes.toSpark(t), Some(zone), EvalMode.TRY).eval()).flatMap(SparkValues.fromSpark(_, t))
    case _ => None
  }
}

/**
 * Selects partitions by the values of partition columns.
 *
 * @param filter the required values as text, by column name
 */
final private[importing] class PartitionSelection(
    schema: Schema,
    filter: Map[String, String],
    text: PartitionText,
    caseSensitive: Boolean
) {

  /**
   * Returns whether the filter permits a value of a partition column. The filter permits all values of columns that it
   * does not name. Values are parsed as the column's type before they are compared.
   */
  def accepts(column: String, value: Option[String]): Boolean =
    filter.forall { case (name, expected) =>
      !isSame(name, column) || valueOf(column, SourcePartition.valueOf(expected)) == valueOf(column, value)
    }

  /** Returns a column of the filter that is not a partition column, if there is one. */
  def unknown(columns: Vector[String]): Option[String] =
    filter.keys.toVector.sorted.find(name => !columns.exists(isSame(name, _)))

  def isEmpty: Boolean = filter.isEmpty

  private def isSame(a: String, b: String): Boolean = if (caseSensitive) a == b else a.equalsIgnoreCase(b)

  /** Parses a value for the comparison. A text that is not a valid value of the column's type is compared as text. */
  private def valueOf(column: String, value: Option[String]): Option[Any] = value.map { v =>
    schema.find(column, caseSensitive).flatMap(text.parse(_, v)).getOrElse(v)
  }
}
