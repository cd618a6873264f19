package iceberglite.spark.function

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{ApplyFunctionExpression, BoundReference, Expression, Literal}
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction
import org.apache.spark.sql.types.{DataType, StringType}

import iceberglite.data.VariantPath
import iceberglite.spark.convert

/**
 * The part of a variant at a path, cast to a type; null if the cast fails. Only the optimizer adds calls of this
 * function, next to a call of [[VariantGet]], and a scan uses them to skip files and row groups. Its arguments are the
 * variant, the type as JSON, and the names of the fields that lead to the part. The name of a type is not used, because
 * the session decides which of two types `timestamp` means.
 */
final private[iceberglite] case class VariantPartFunction(path: VariantPath, target: DataType, zone: String)
    extends ScalarFunction[Any] {
  override def name: String = "variant_part"
  override def canonicalName: String = convert.PartTest.CanonicalName
  override def inputTypes: Array[DataType] = Array.fill(2 + path.steps.size)(StringType)
  override def resultType: DataType = target

  @transient private lazy val part =
    VariantGet(BoundReference(0, StringType, nullable = true), path, Some(target), failOnError = false, zone)

  override def produceResult(input: InternalRow): Any = part.eval(input)
}

private[iceberglite] object VariantPartFunction {

  /** Returns the call for a part of a column; absent if the path leads through an array. */
  def of(column: Expression, get: VariantGet): Option[Expression] = {
    val names = get.path.steps.collect { case VariantPath.Field(name) => name }
    if (names.size != get.path.steps.size) None
    else Some(ApplyFunctionExpression(
      VariantPartFunction(get.path, get.dataType, get.zone),
      column +: (get.dataType.json +: names).map(Literal(_))
    ))
  }
}
