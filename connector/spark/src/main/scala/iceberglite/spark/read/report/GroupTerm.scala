package iceberglite.spark.read.report

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, TransformExpression}
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction
import org.apache.spark.sql.types.{DataType, IntegerType}

import iceberglite.spark.convert.{SparkTypes, SparkValues}
import iceberglite.spec.Type._
import iceberglite.spec.transform.{Bucket, Day, Hour, Identity, Month, Truncate, Void, Year}
import iceberglite.spec.{Literal, LiteralConversion, NestedField, PrimitiveType, Transform}

/**
 * One value of the key by which a scan's files are grouped.
 *
 * @param column one of the table's own, not within another
 * @param transform of the column; [[Void]] where the files are not grouped by it
 */
final private[read] case class GroupTerm(column: NestedField, source: PrimitiveType, transform: Transform) {
  private val result: PrimitiveType = transform.resultType(source)

  /** The value as Spark holds it; absent where it is none of the term's type. */
  def toSpark(value: Option[Literal]): Option[Any] = value match {
    case None => Some(null)
    case Some(literal) => LiteralConversion.to(literal, result).map(SparkValues.toSpark(_, result))
  }

  /** As Spark compares it with that of another scan. @param attribute of the column */
  def expression(attribute: Attribute): Expression = transform match {
    case Identity => attribute
    case Void => TransformExpression(GroupFunction(Void.name, attribute.dataType, IntegerType), Seq(attribute))
    case _ => TransformExpression(
        GroupFunction(transform.name, attribute.dataType, SparkTypes.toSpark(result)),
        Seq(attribute)
      )
  }

  /** Whether both stand for the same of their columns. */
  def isLike(that: GroupTerm): Boolean = transform == that.transform && source == that.source
}

private[read] object GroupTerm {

  /** Absent where Spark compares other values than the transform was of, or equal ones are in two partitions. */
  def of(column: NestedField, transform: Transform): Option[GroupTerm] = column.fieldType match {
    case t: PrimitiveType if isCompared(t) && isKnown(transform) && transform.canTransform(t) =>
      Some(GroupTerm(column, t, transform))
    case _ => None
  }

  def everything(column: NestedField): Option[GroupTerm] = of(column, Void)

  /** Zeros of both signs are one value to Spark, and the types that it does not have it knows by other values. */
  private def isCompared(t: PrimitiveType): Boolean = t match {
    case BooleanType | IntType | LongType | _: DecimalType | DateType | TimestampType | TimestampTzType | StringType |
        BinaryType => true
    case FloatType | DoubleType | TimeType | TimestampNsType | TimestampTzNsType | UuidType | _: FixedType |
        UnknownType | VariantType | _: GeometryType | _: GeographyType => false
  }

  private def isKnown(transform: Transform): Boolean = transform match {
    case Identity | Year | Month | Day | Hour | Void => true
    case _: Bucket | _: Truncate => true
    case _ => false
  }
}

/**
 * Stands for a partition transform in Spark's plans, where nobody calls it. Its parameter is in its name: Spark
 * compares only those of buckets.
 */
final private case class GroupFunction(transform: String, source: DataType, override val resultType: DataType)
    extends ScalarFunction[Any] {
  override def name: String = transform
  override def canonicalName: String = s"iceberg-lite.$transform(${source.catalogString})"
  override def inputTypes: Array[DataType] = Array(source)

  override def produceResult(input: InternalRow): Any =
    throw new UnsupportedOperationException(s"$canonicalName only tells how files are grouped")
}
