package iceberglite.spark.sql

import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Cast, EvalMode, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.{DataType, StringType}

import iceberglite.spec.IcebergError.InvalidArgument

/** Evaluates the expressions in a statement. Spark evaluates them as a query that returns one row. */
object ConstantRow {

  /**
   * A value of the row.
   *
   * @param column the name of the value's column in the query
   * @param value the value in Spark's internal format; absent for NULL
   * @param zone the time zone of the session
   */
  final case class Value(column: String, value: Option[Any], valueType: DataType, zone: String) {

    /** Returns the value. @throws InvalidArgument if the value is NULL */
    def required(subject: String): Any =
      value.getOrElse(throw InvalidArgument(subject, "NULL", "A value is required"))

    /**
     * Converts the value to another type: by lossless widening or, if the value is a text, with a cast that fails for
     * invalid text.
     *
     * @param subject the argument or clause, for messages
     * @throws InvalidArgument if the value cannot be converted
     */
    def as(targetType: DataType, subject: String): Option[Any] = value.map { v =>
      val isParsable = valueType == StringType && Cast.canAnsiCast(valueType, targetType)
      def reject(): Nothing = throw InvalidArgument(
        subject,
        Literal(v, valueType).toString,
        s"It must be ${targetType.sql}, not ${valueType.sql}"
      )
      if (valueType == targetType) v
      else if (!Cast.canUpCast(valueType, targetType) && !isParsable) reject()
      else
        try Cast(Literal(v, valueType), targetType, Some(zone), EvalMode.ANSI).eval()
        catch { case NonFatal(_) => reject() }
    }
  }

  /** Runs a query that returns one row. */
  def of(session: SparkSession, query: LogicalPlan): Seq[Value] = {
    val row = session.sessionState.executePlan(query).executedPlan.executeCollect().head
    val zone = session.sessionState.conf.sessionLocalTimeZone
    query.output.zipWithIndex.map { case (column, i) =>
      Value(column.name, Option(row.get(i, column.dataType)), column.dataType, zone)
    }
  }
}
