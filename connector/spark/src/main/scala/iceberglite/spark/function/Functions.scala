package iceberglite.spark.function

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.functions.{BoundFunction, ScalarFunction, UnboundFunction}
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * The functions of a catalog: the SQL partition transforms, the version of the connector, the positions of rows on
 * space-filling curves, and functions on variants and geometries.
 */
object Functions {
  private val transforms: Seq[UnboundFunction] =
    Seq(BucketFunction, TruncateFunction, YearsFunction, MonthsFunction, DaysFunction, HoursFunction)

  /**
   * The functions that users call in statements. Spark 3.5 pushes a condition that calls a function down to a scan only
   * if the function has no method `invoke`. Therefore, most functions do not have the method, and an optimizer rule
   * compiles their calls after conditions have been pushed down; see also [[SpatialFunctions]].
   */
  val all: Seq[UnboundFunction] =
    transforms.map(new InterpretedFunction(_)) ++ (CurveFunction.all :+ VersionFunction) ++ VariantFunctions.all ++
      SpatialFunctions.all

  /**
   * The functions with which Spark distributes and sorts written rows, and compares the partitioning of the two sides
   * of a join. They have a method `invoke`, and Spark compiles calls to it.
   */
  val inPlans: Seq[UnboundFunction] = transforms

  /** Whether a function is one of the connector, and not of another catalog. */
  private[iceberglite] def isOfConnector(function: ScalarFunction[_]): Boolean =
    function.getClass.getPackageName == getClass.getPackageName

  /** Matches a function of [[all]] that has a form with a method `invoke`, and returns this form. */
  object Interpreted {
    def unapply(function: ScalarFunction[_]): Option[ScalarFunction[_]] = function match {
      case InterpretedScalarFunction(compiled) => Some(compiled)
      case _ => None
    }
  }

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
