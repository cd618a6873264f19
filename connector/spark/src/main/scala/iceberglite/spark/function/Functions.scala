package iceberglite.spark.function

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.functions.{BoundFunction, ScalarFunction, UnboundFunction}
import org.apache.spark.sql.types.{DataType, StructType}

/** The functions of a catalog: the partition transforms as in SQL, and what version this is. */
object Functions {
  private val functions: Seq[UnboundFunction] = Seq(
    BucketFunction,
    TruncateFunction,
    YearsFunction,
    MonthsFunction,
    DaysFunction,
    HoursFunction,
    VersionFunction
  )

  /**
   * For statements of users: Spark 3.5 hands conditions on functions to a scan only when they have no method
   * `invoke`, as it compiles a call to that and does not recognise the function in it.
   */
  val all: Seq[UnboundFunction] = functions.map(new Evaluated(_))

  /** For Spark's plans, which call them for each row that is written: with `invoke`, three times as fast. */
  val inPlans: Seq[UnboundFunction] = functions

  final private class Evaluated(function: UnboundFunction) extends UnboundFunction {
    override def name: String = function.name
    override def description: String = function.description

    override def bind(inputType: StructType): BoundFunction = function.bind(inputType) match {
      case scalar: ScalarFunction[_] => EvaluatedScalar(scalar)
      case other => other
    }
  }

  final private case class EvaluatedScalar[R](function: ScalarFunction[R]) extends ScalarFunction[R] {
    override def name: String = function.name
    override def canonicalName: String = function.canonicalName
    override def inputTypes: Array[DataType] = function.inputTypes
    override def resultType: DataType = function.resultType
    override def isResultNullable: Boolean = function.isResultNullable
    override def isDeterministic: Boolean = function.isDeterministic
    override def produceResult(input: InternalRow): R = function.produceResult(input)
  }
}
