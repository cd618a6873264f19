package iceberglite.spark.function

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.functions.{BoundFunction, ScalarFunction, UnboundFunction}
import org.apache.spark.sql.types.{DataType, StructType}

/** The functions of a catalog: the SQL partition transforms, and the version of the connector. */
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
   * The functions that users call in statements. Spark 3.5 pushes a condition that calls a function down to a scan only
   * if the function has no method `invoke`. If there is such a method, Spark compiles a call to it, and the scan does
   * not receive the condition.
   */
  val all: Seq[UnboundFunction] = functions.map(new InterpretedFunction(_))

  /**
   * The functions with which Spark distributes and sorts written rows. Spark calls these functions for each row. With
   * `invoke`, they are three times as fast.
   */
  val inPlans: Seq[UnboundFunction] = functions

  final private class InterpretedFunction(function: UnboundFunction) extends UnboundFunction {
    override def name: String = function.name
    override def description: String = function.description

    override def bind(inputType: StructType): BoundFunction = function.bind(inputType) match {
      case scalar: ScalarFunction[_] => InterpretedScalarFunction(scalar)
      case other => other
    }
  }

  final private case class InterpretedScalarFunction[R](function: ScalarFunction[R]) extends ScalarFunction[R] {
    override def name: String = function.name
    override def canonicalName: String = function.canonicalName
    override def inputTypes: Array[DataType] = function.inputTypes
    override def resultType: DataType = function.resultType
    override def isResultNullable: Boolean = function.isResultNullable
    override def isDeterministic: Boolean = function.isDeterministic
    override def produceResult(input: InternalRow): R = function.produceResult(input)
  }
}
