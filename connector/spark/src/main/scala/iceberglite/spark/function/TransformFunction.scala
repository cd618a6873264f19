package iceberglite.spark.function

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.functions.{BoundFunction, ScalarFunction, UnboundFunction}
import org.apache.spark.sql.types.{ByteType, DataType, IntegerType, ShortType, StructField, StructType}

/**
 * A partition transform as an SQL function. Spark also calls the function to distribute and sort written rows by
 * partition, so its result must equal the value of the transform in the specification.
 */
abstract class TransformFunction(override val name: String) extends UnboundFunction {

  /** The signature in SQL, such as `days(date or timestamp)`. */
  protected def signature: String

  override def description: String = s"$name - the partition transform $signature of Apache Iceberg tables"

  /** Throws the error for unsupported arguments. @param count the number of arguments that the function needs */
  protected def reject(inputType: StructType, count: Int): Nothing = throw RejectedArguments.of(
    name,
    inputType,
    Seq(count),
    s"$name(${inputType.fields.map(_.dataType.catalogString).mkString(", ")}) is not supported; use $signature"
  )
}

/** A function with one argument. */
abstract class UnaryFunction(name: String) extends TransformFunction(name) {
  protected def bound: PartialFunction[DataType, BoundFunction]

  final override def bind(inputType: StructType): BoundFunction = inputType.fields match {
    case Array(StructField(_, t, _, _)) if bound.isDefinedAt(t) => bound(t)
    case _ => reject(inputType, 1)
  }
}

/** A function with two arguments: a number, such as the number of buckets, and a value. */
abstract class ParametrizedFunction(name: String) extends TransformFunction(name) {
  protected def bound: PartialFunction[DataType, BoundFunction]

  final override def bind(inputType: StructType): BoundFunction = inputType.fields match {
    case Array(StructField(_, ByteType | ShortType | IntegerType, _, _), StructField(_, t, _, _))
        if bound.isDefinedAt(t) =>
      bound(t)
    case _ => reject(inputType, 2)
  }
}

/**
 * A transform function for values of one type. In addition to [[valueOf]], a subclass has a method `invoke` for unboxed
 * values. Spark finds this method by its name and compiles calls to it.
 *
 * @param function the name of the function
 * @param parameters the types of the arguments before the value
 * @param source the type of the value
 */
abstract class BoundTransform[R](
    function: String,
    parameters: Seq[DataType],
    source: DataType,
    override val resultType: DataType
) extends ScalarFunction[R] {

  override def name: String = function

  /** The name of the function, which is part of the plans that EXPLAIN shows. */
  override def toString: String = function

  /**
   * Returns a name that is the same in all catalogs, so that Spark can join tables of different catalogs without a
   * shuffle.
   */
  override def canonicalName: String = s"iceberg.$function(${source.catalogString})"

  override def inputTypes: Array[DataType] = (parameters :+ source).toArray

  /** Returns the result for arguments that are not null. */
  protected def valueOf(input: InternalRow): R

  final override def produceResult(input: InternalRow): R = {
    val arguments = parameters.size + 1
    var i = 0
    while (i < arguments && !input.isNullAt(i)) i += 1
    if (i < arguments) null.asInstanceOf[R] else valueOf(input)
  }
}

object BoundTransform {
  val Number: Seq[DataType] = Seq(IntegerType)
}
