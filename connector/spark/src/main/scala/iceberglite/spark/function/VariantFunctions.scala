package iceberglite.spark.function

import java.nio.ByteBuffer

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.functions.{BoundFunction, ScalarFunction, UnboundFunction}
import org.apache.spark.sql.types.{DataType, NullType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.data.{VariantEncoding, VariantJson, VariantNode, VariantParser, VariantPath}
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.session.BucketingSettings
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}

/** The functions on variants, which are JSON text in Spark 3.5. */
private[function] object VariantFunctions {
  val all: Seq[UnboundFunction] =
    Seq(ParseVariantFunction, ToVariantFunction) ++ Seq(true, false).map(new VariantGetFunction(_))

  /** Returns the JSON text of a variant as a read returns it. */
  def text(node: VariantNode): UTF8String = {
    val variant = VariantEncoding.encode(node)
    UTF8String.fromString(VariantJson.text(variant.metadata, variant.value))
  }

  def parse(json: UTF8String): VariantNode = VariantParser.parse(ByteBuffer.wrap(json.getBytes))

  /** Returns the error for a call in a session without the rules that replace it. */
  def withoutExtensions(call: String): Throwable = SparkErrors.of(
    call,
    Unsupported(
      s"$call in this session",
      "It needs the SQL extensions: set spark.sql.extensions=iceberglite.spark.SparkSessionExtensions"
    )
  )
}

/** `parse_variant(json)`: checks JSON text, and returns it in the form in which a variant is read. */
private[function] object ParseVariantFunction extends UnboundFunction {
  override def name: String = "parse_variant"
  override def description: String = s"$name(json) - the JSON text in the form in which it is read after it was " +
    "stored as a variant; fails if the argument is not JSON"

  override def bind(inputType: StructType): BoundFunction = inputType.fields match {
    case Array(json) if VariantGetFunction.isText(json.dataType) => Parse
    case _ => throw RejectedArguments.of(name, inputType, Seq(1), s"$name takes a string with JSON text")
  }

  private case object Parse extends ScalarFunction[UTF8String] {
    override def name: String = ParseVariantFunction.name
    override def canonicalName: String = s"iceberg.$name(string)"
    override def inputTypes: Array[DataType] = Array(StringType)
    override def resultType: DataType = StringType
    override def produceResult(input: InternalRow): UTF8String =
      if (input.isNullAt(0)) null
      else SparkErrors.in(name)(VariantFunctions.text(VariantFunctions.parse(input.getUTF8String(0))))
  }
}

/**
 * `to_variant(value)`: the variant of a value. Calls are only placeholders, which `ResolveToVariant` replaces.
 */
private[iceberglite] object ToVariantFunction extends UnboundFunction {
  override def name: String = "to_variant"
  override def description: String =
    s"$name(value) - the value as a variant with the types of its parts; structs and maps become objects"

  override def bind(inputType: StructType): BoundFunction = inputType.fields match {
    case Array(_) if !BucketingSettings.hasExtensions(SparkSession.active) =>
      throw VariantFunctions.withoutExtensions(name)
    case Array(value) if value.dataType == NullType => Absent
    case Array(value) => ToVariant.obstacle(value.dataType) match {
        case Some(reason) => throw RejectedArguments.of(name, inputType, Seq(1), reason)
        case None => Placeholder
      }
    case _ => throw RejectedArguments.of(name, inputType, Seq(1), s"$name takes one value")
  }

  /** A call whose argument is the literal NULL. */
  private case object Absent extends ScalarFunction[UTF8String] {
    override def name: String = ToVariantFunction.name
    override def canonicalName: String = s"iceberg.$name(void)"
    override def inputTypes: Array[DataType] = Array(NullType)
    override def resultType: DataType = StringType
    override def produceResult(input: InternalRow): UTF8String = null
  }

  /** The type `void` of the argument keeps the call unresolved until it is replaced. */
  case object Placeholder extends ScalarFunction[UTF8String] {
    override def name: String = ToVariantFunction.name
    override def inputTypes: Array[DataType] = Array(NullType)
    override def resultType: DataType = StringType
  }
}

/**
 * `variant_get(variant, path)` and `variant_get(variant, path, type)`. Spark determines the type of a call without the
 * value of the third argument. Therefore, calls with a type are only placeholders, which `ResolveVariantGet` replaces.
 *
 * @param failOnError whether the function fails if the part cannot be cast to the type; otherwise, it returns null
 */
final private[function] class VariantGetFunction(failOnError: Boolean) extends UnboundFunction {
  override def name: String = if (failOnError) "variant_get" else "try_variant_get"

  override def description: String = s"$name(variant, path[, type]) - the part of a variant at a path such as " +
    s"$$.a.b[0], cast to a type such as 'int'; " + (if (failOnError) "fails" else "null") + " if it cannot be cast"

  override def bind(inputType: StructType): BoundFunction =
    if (!inputType.fields.forall(f => VariantGetFunction.isText(f.dataType)) || !Set(2, 3)(inputType.size))
      throw RejectedArguments.of(name, inputType, Seq(2, 3), s"$name takes a variant, a path and the name of a type")
    else if (inputType.size == 2) VariantGetFunction.Untyped(failOnError)
    else if (BucketingSettings.hasExtensions(SparkSession.active)) VariantGetFunction.Placeholder(failOnError)
    else throw VariantFunctions.withoutExtensions(s"$name with a type")
}

private[iceberglite] object VariantGetFunction {
  private[function] def isText(t: DataType): Boolean = t == StringType || t == NullType

  private def nameOf(failOnError: Boolean) = if (failOnError) "variant_get" else "try_variant_get"

  /** Returns the part of a variant as JSON text. */
  final private[iceberglite] case class Untyped(failOnError: Boolean) extends ScalarFunction[UTF8String] {
    override def name: String = nameOf(failOnError)
    override def canonicalName: String = s"iceberg.$name(string,string)"
    override def inputTypes: Array[DataType] = Array(StringType, StringType)
    override def resultType: DataType = StringType
    override def produceResult(input: InternalRow): UTF8String =
      if (input.isNullAt(0) || input.isNullAt(1)) null
      else SparkErrors.in(name) {
        val path = VariantPath.parse(input.getUTF8String(1).toString)
        try path.in(VariantFunctions.parse(input.getUTF8String(0))).map(VariantFunctions.text).orNull
        catch { case _: InvalidArgument if !failOnError => null }
      }
  }

  /** A call with a type. The type `void` of the third argument keeps the call unresolved until it is replaced. */
  final case class Placeholder(failOnError: Boolean) extends ScalarFunction[UTF8String] {
    override def name: String = nameOf(failOnError)
    override def inputTypes: Array[DataType] = Array(StringType, StringType, NullType)
    override def resultType: DataType = StringType
  }
}
