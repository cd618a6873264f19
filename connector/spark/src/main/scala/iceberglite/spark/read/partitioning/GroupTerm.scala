package iceberglite.spark.read.partitioning

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, TransformExpression}
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction
import org.apache.spark.sql.types.{DataType, IntegerType}

import iceberglite.spark.convert.{SparkTypes, SparkValues}
import iceberglite.spec.partition.{Bucket, Day, Hour, Identity, Month, Transform, Truncate, Void, Year}
import iceberglite.spec.types.{Literal, LiteralConversion, NestedField, PrimitiveType}
import iceberglite.spec.types.Type._

/**
 * One part of the key by which the files of a scan are grouped.
 *
 * @param column a top-level column of the table
 * @param source the type of the column
 * @param transform the transform of the column; [[Void]] if the files are not grouped by this column
 */
final private[iceberglite] case class GroupTerm(column: NestedField, source: PrimitiveType, transform: Transform) {
  private val result: PrimitiveType = transform.resultType(source)

  /**
   * Converts a partition value to Spark's internal format; absent if the value cannot be converted to the type of the
   * term.
   */
  def toSpark(value: Option[Literal]): Option[Any] = value match {
    case None => Some(null)
    case Some(literal) => LiteralConversion.to(literal, result).map(SparkValues.toSpark(_, result))
  }

  /**
   * Returns the expression with which Spark compares the term to a term of another scan.
   *
   * @param attribute the attribute of the column
   */
  def expression(attribute: Attribute): Expression = transform match {
    case Identity => attribute
    case Void => TransformExpression(GroupFunction(Void.name, attribute.dataType, IntegerType), Seq(attribute))
    case _ => TransformExpression(
        GroupFunction(transform.name, attribute.dataType, SparkTypes.toSpark(result)),
        Seq(attribute)
      )
  }

  /** Whether another term has the same transform and source type. */
  def hasSameTransform(that: GroupTerm): Boolean = transform == that.transform && source == that.source
}

private[iceberglite] object GroupTerm {

  /**
   * Returns the term of a column and a transform. The term is absent if the transform is not supported, if Spark reads
   * values of the column's type as another type, or if values that are equal in Spark can be in different partitions.
   */
  def of(column: NestedField, transform: Transform): Option[GroupTerm] = column.fieldType match {
    case t: PrimitiveType if hasSparkEquality(t) && isSupported(transform) && transform.canTransform(t) =>
      Some(GroupTerm(column, t, transform))
    case _ => None
  }

  /**
   * Whether Spark reads values of a type as the same type, and values that are equal in Spark always have equal
   * partition values. The latter is false for floating-point numbers, because 0.0 and -0.0 are equal in Spark.
   */
  private def hasSparkEquality(t: PrimitiveType): Boolean = t match {
    case BooleanType | IntType | LongType | _: DecimalType | DateType | TimestampType | TimestampTzType | StringType |
        BinaryType => true
    case FloatType | DoubleType | TimeType | TimestampNsType | TimestampTzNsType | UuidType | _: FixedType |
        UnknownType | VariantType | _: GeometryType | _: GeographyType => false
  }

  private def isSupported(transform: Transform): Boolean = transform match {
    case Identity | Year | Month | Day | Hour | Void => true
    case _: Bucket | _: Truncate => true
    case _ => false
  }
}

/**
 * Represents a partition transform in Spark's plans. The function is never called. The parameter of a transform is part
 * of the function's name, because Spark compares only the parameters of buckets.
 */
final private case class GroupFunction(transform: String, source: DataType, override val resultType: DataType)
    extends ScalarFunction[Any] {
  override def name: String = transform
  override def canonicalName: String = s"iceberg-lite.$transform(${source.catalogString})"
  override def inputTypes: Array[DataType] = Array(source)

  override def produceResult(input: InternalRow): Any =
    throw new UnsupportedOperationException(s"$canonicalName only describes how files are grouped")
}
