package iceberglite.puffin

import java.nio.ByteBuffer

import org.apache.parquet.column.values.bloomfilter.XxHash

import iceberglite.spec.types.{Literal, PrimitiveType, SingleValue}
import iceberglite.spec.types.Literal.{DecimalLiteral, IntLiteral, LongLiteral}
import iceberglite.spec.types.Type._

/**
 * The canonical form of the values of a column in a Bloom index. A promotion of the column's type either keeps the form
 * and the hashes of all values, or changes the form, so that the filters of the old form are not used.
 *
 * @param name the name in the properties of a blob
 */
final case class ValueForm private (name: String) {

  /**
   * Returns the XXH64 hash of a value's single-value serialization (spec: "Appendix D"). An int is serialized as a
   * long, because an int column can be promoted to long. A decimal is serialized without trailing zeros and followed by
   * its scale, because some readers return decimals with another scale than that of the column.
   */
  def hash(value: Literal): Long = value match {
    case IntLiteral(v) => ValueForm.hashOf(SingleValue.encode(LongLiteral(v.toLong)))
    case DecimalLiteral(v) =>
      val stripped = v.stripTrailingZeros
      val unscaled = stripped.unscaledValue.toByteArray
      val bytes = ByteBuffer.allocate(unscaled.length + Integer.BYTES).put(unscaled).putInt(stripped.scale)
      ValueForm.hashOf(ByteBuffer.wrap(bytes.array))
    case other => ValueForm.hashOf(SingleValue.encode(other))
  }

  /** Whether a value has this form. */
  def includes(value: Literal): Boolean = ValueForm.of(value.dataType).contains(this)
}

object ValueForm {
  private val XxHash64 = new XxHash

  /**
   * Returns the form of the values of a type; absent if columns of the type cannot be indexed. Floating-point columns
   * cannot be indexed, because 0.0 and -0.0 are equal in queries, and because they are rarely keys.
   */
  def of(t: PrimitiveType): Option[ValueForm] = t match {
    case IntType | LongType => Some(ValueForm("long"))
    case DecimalType(_, _) => Some(ValueForm("decimal"))
    case FixedType(_) | DateType | TimeType | TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType |
        StringType | UuidType | BinaryType => Some(ValueForm(t.toString))
    case _ => None
  }

  /** Returns the form with a name that was read from a file. No value has a form with an unknown name. */
  private[iceberglite] def named(name: String): ValueForm = ValueForm(name)

  private def hashOf(bytes: ByteBuffer): Long = {
    val array = new Array[Byte](bytes.remaining)
    bytes.duplicate().get(array)
    XxHash64.hashBytes(array)
  }
}
