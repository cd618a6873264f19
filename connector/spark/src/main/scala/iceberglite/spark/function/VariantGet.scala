package iceberglite.spark.function

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.{Cast, EvalMode, Expression, Literal, UnaryExpression}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.data.{VariantJson, VariantNode, VariantPath}
import iceberglite.spark.error.SparkErrors
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * The part of a variant at a path, cast to a type, as in Spark 4's `variant_get`.
 *
 * @param child the JSON text of the variant
 * @param target the type; absent for the JSON text of the part
 * @param failOnError whether a value that cannot be cast is an error; otherwise, the result is null
 * @param zone the time zone in which timestamps without an offset are interpreted
 */
final private[iceberglite] case class VariantGet(
    child: Expression,
    path: VariantPath,
    target: Option[DataType],
    failOnError: Boolean,
    zone: String
) extends UnaryExpression
    with CodegenFallback {
  override def dataType: DataType = target.getOrElse(StringType)

  override def nullable: Boolean = true

  override def prettyName: String = if (failOnError) "variant_get" else "try_variant_get"

  /** The name of a column without an alias, with the arguments of the call. */
  override def sql: String = s"$prettyName(${child.sql}, $path, ${target.fold("variant")(_.simpleString)})"

  override protected def nullSafeEval(variant: Any): Any = SparkErrors.in(prettyName) {
    try path.in(VariantFunctions.parse(variant.asInstanceOf[UTF8String])).map(resultOf).orNull
    catch { case _: InvalidArgument if !failOnError => null }
  }

  private def resultOf(part: VariantNode): Any = {
    lazy val text = VariantFunctions.text(part)
    (part, target) match {
      case (_, None) => text
      case (VariantNode.Null, _) => null
      case (_: VariantNode.Scalar, Some(t)) => cast(VariantGet.literal(text.toString), t, text)
      case (_, Some(StringType)) => text
      case (_, Some(t)) => invalid(text, t)
    }
  }

  private def cast(value: Literal, t: DataType, text: UTF8String): Any = {
    val result =
      if (Cast.canTryCast(value.dataType, t)) Cast(value, t, Some(zone), EvalMode.TRY).eval() else null
    if (result == null) invalid(text, t) else result
  }

  private def invalid(text: UTF8String, t: DataType): Nothing = {
    val shown = if (text.numChars > VariantGet.ShownCharacters) s"${text.substring(0, VariantGet.ShownCharacters)}..."
    else text.toString
    throw InvalidArgument(
      "part of a variant",
      shown,
      s"It cannot be cast to ${t.catalogString}. Use try_$prettyName to get null for such a part"
    )
  }

  override protected def withNewChildInternal(newChild: Expression): Expression = copy(child = newChild)
}

private[iceberglite] object VariantGet {
  private val ShownCharacters = 100
  private val MaxPrecision = 38

  /**
   * Returns the type that a call names; absent for `variant`, because the values of variants are JSON text.
   *
   * @throws InvalidArgument if there is no such type, or if a part of a variant cannot be cast to it
   */
  def typeOf(name: String): Option[DataType] = if (name.trim.equalsIgnoreCase("variant")) None
  else Try(CatalystSqlParser.parseDataType(name)).toOption.filter(isSupported).orElse(
    throw InvalidArgument(
      "type",
      name,
      "It must be the name of a type such as 'int', 'decimal(9,2)', 'string' or 'timestamp', or 'variant'"
    )
  )

  private def isSupported(t: DataType): Boolean = t match {
    case BooleanType | ByteType | ShortType | IntegerType | LongType | FloatType | DoubleType | _: DecimalType |
        StringType | BinaryType | DateType | TimestampType | TimestampNTZType => true
    case _ => false
  }

  /** Returns the value of a JSON text that is neither null nor an object nor an array. */
  private def literal(json: String): Literal = json.charAt(0) match {
    case '"' => Literal(VariantJson.unquoted(json))
    case 't' => Literal(true)
    case 'f' => Literal(false)
    case _ if json.contains('E') => Literal(json.toDouble)
    case _ =>
      val number = new java.math.BigDecimal(json)
      if (number.scale == 0 && number.precision < 19) Literal(number.longValueExact)
      else if (math.max(number.precision, number.scale) <= MaxPrecision) Literal(Decimal(number))
      else Literal(json.toDouble)
  }
}
