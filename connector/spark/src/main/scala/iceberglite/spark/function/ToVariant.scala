package iceberglite.spark.function

import java.util.HashSet

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.data.{VariantEncoding, VariantNode}
import iceberglite.spark.convert.VariantText
import iceberglite.spark.error.SparkErrors
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.types.Literal._

/**
 * The variant of a value with the types of its parts, in the exact form of [[VariantText]].
 * `iceberglite.spark.rules.ResolveToVariant` makes it JSON text wherever the value is not written to a variant column.
 */
final private[iceberglite] case class ToVariant(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = StringType

  override def prettyName: String = "to_variant"

  @transient private lazy val converted: Any => VariantNode = ToVariant.conversion(child.dataType)

  override protected def nullSafeEval(value: Any): Any =
    SparkErrors.in(prettyName)(VariantText.exact(VariantEncoding.encode(converted(value))))

  override protected def withNewChildInternal(newChild: Expression): Expression = copy(child = newChild)
}

private[iceberglite] object ToVariant {

  /** Returns why values of a type cannot be variants, and what to do. `None` if they can. */
  private[function] def obstacle(t: DataType): Option[String] = t match {
    case struct: StructType =>
      val repeated = struct.fieldNames.diff(struct.fieldNames.distinct).headOption.map { name =>
        s"The struct has several fields with the name $name, but objects have each name once. Rename the fields"
      }
      repeated.orElse(struct.fields.toVector.flatMap(f => obstacle(f.dataType)).headOption)
    case ArrayType(element, _) => obstacle(element)
    case MapType(StringType, value, _) => obstacle(value)
    case MapType(key, _, _) => Some(
        s"The map has keys of the type ${key.catalogString}, but names of objects are strings. Cast them to string"
      )
    case NullType | BooleanType | ByteType | ShortType | IntegerType | LongType | FloatType | DoubleType |
        _: DecimalType | StringType | BinaryType | DateType | TimestampType | TimestampNTZType => None
    case other => Some(s"Variants have no type for ${other.catalogString}. Cast the value to another type")
  }

  private def conversion(t: DataType): Any => VariantNode = t match {
    case BooleanType => { case v: Boolean => VariantNode.ofBoolean(v) }
    case ByteType | ShortType | IntegerType | LongType => v => VariantNode.ofLong(v.asInstanceOf[Number].longValue)
    case FloatType => { case v: Float => VariantNode.of(FloatLiteral(v)) }
    case DoubleType => { case v: Double => VariantNode.ofDouble(v) }
    case _: DecimalType => { case v: Decimal => decimal(v.toJavaBigDecimal) }
    case StringType => { case v: UTF8String => VariantNode.ofString(text(v)) }
    case BinaryType => { case v: Array[Byte] => VariantNode.of(BinaryLiteral(java.nio.ByteBuffer.wrap(v))) }
    case DateType => { case v: Int => VariantNode.of(DateLiteral(v)) }
    case TimestampType => { case v: Long => VariantNode.of(TimestampTzLiteral(v)) }
    case TimestampNTZType => { case v: Long => VariantNode.of(TimestampLiteral(v)) }
    case struct: StructType => ofStruct(struct)
    case ArrayType(element, _) =>
      val elements = ofElements(element)
      v => VariantNode.Elements(elements(v.asInstanceOf[ArrayData]))
    case MapType(_, value, _) => ofMap(value)
    case _ => _ => VariantNode.Null
  }

  /** Decimals of a variant have no negative scale. */
  private def decimal(value: java.math.BigDecimal): VariantNode =
    VariantNode.of(DecimalLiteral(if (value.scale < 0) value.setScale(0) else value))

  private def ofStruct(struct: StructType): Any => VariantNode = {
    val fields = struct.fields.toVector.map(f => (f.name, f.dataType, conversion(f.dataType)))
    value => {
      val row = value.asInstanceOf[InternalRow]
      VariantNode.Fields(fields.zipWithIndex.map { case ((name, dataType, converted), i) =>
        name -> (if (row.isNullAt(i)) VariantNode.Null else converted(row.get(i, dataType)))
      })
    }
  }

  private def ofElements(t: DataType): ArrayData => Vector[VariantNode] = {
    val converted = conversion(t)
    values =>
      Vector.tabulate(values.numElements()) { i =>
        if (values.isNullAt(i)) VariantNode.Null else converted(values.get(i, t))
      }
  }

  private def ofMap(valueType: DataType): Any => VariantNode = {
    val mapped = ofElements(valueType)
    value => {
      val entries = value.asInstanceOf[MapData]
      val keys = entries.keyArray()
      val names = Vector.tabulate(keys.numElements())(i => text(keys.getUTF8String(i)))
      val distinct = new HashSet[String]
      names.filterNot(distinct.add).foreach(name =>
        throw InvalidArgument("map", name, "An object of a variant has each name only once")
      )
      VariantNode.Fields(names.zip(mapped(entries.valueArray())))
    }
  }

  /** Returns a string whose bytes must be UTF-8, which Spark does not guarantee. */
  private def text(value: UTF8String): String = {
    val text = value.toString
    if (text.indexOf('\uFFFD') >= 0 && UTF8String.fromString(text) != value)
      throw InvalidArgument("string", text.take(100), "A string in a variant must be in UTF-8")
    text
  }
}
