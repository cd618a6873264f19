package iceberglite.spark.convert

import java.nio.ByteBuffer

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.data.{Variant, VariantEncoding, VariantJson, VariantNode, VariantParser}
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * Converts between variants and Spark's strings, because Spark 3.5 has no variant type.
 *
 * A query reads a variant as JSON text, which lacks the types that JSON does not have, such as dates. A statement that
 * rewrites rows must not change these values. It therefore reads a variant in its exact form: a string with the bytes
 * of the variant after a byte that no UTF-8 text contains. The expressions of users never see this form
 * ([[VariantsAsJson]]).
 */
private[iceberglite] object VariantText {

  /** The first byte of the exact form. It does not occur in UTF-8. */
  private val ExactMark: Byte = -1

  private val HeaderSize = 1 + Integer.BYTES

  /** Returns the exact form of a variant. */
  def exact(variant: Variant): UTF8String = {
    val (metadata, value) = (variant.metadata.duplicate(), variant.value.duplicate())
    val bytes = ByteBuffer.allocate(HeaderSize + metadata.remaining + value.remaining)
    UTF8String.fromBytes(bytes.put(ExactMark).putInt(metadata.remaining).put(metadata).put(value).array)
  }

  /**
   * Returns the variant that a string contains, as JSON text or in the exact form.
   *
   * @param column the name of the column, for messages
   * @throws InvalidArgument if the string is neither
   */
  def parse(text: UTF8String, column: String): Variant = ofColumn(column) {
    if (isExact(text)) validated(parts(bytesOf(text))) else VariantEncoding.encode(VariantParser.parse(bytesOf(text)))
  }

  /** Like [[parse]], but returns the parts of the variant. */
  def node(text: UTF8String, column: String): VariantNode = ofColumn(column) {
    if (isExact(text)) {
      val variant = parts(bytesOf(text))
      VariantJson.node(variant.metadata, variant.value)
    } else VariantParser.parse(bytesOf(text))
  }

  private def bytesOf(text: UTF8String): ByteBuffer = ByteBuffer.wrap(text.getBytes)

  private def ofColumn[A](column: String)(body: => A): A =
    try body
    catch {
      case InvalidArgument(_, value, reason) => throw InvalidArgument(s"variant in column $column", value, reason)
    }

  /** Returns the JSON text of a string that contains a variant as JSON text or in the exact form. */
  def json(text: UTF8String): UTF8String =
    if (!isExact(text)) text
    else {
      val variant = parts(bytesOf(text))
      UTF8String.fromString(VariantJson.text(variant.metadata, variant.value))
    }

  private def isExact(text: UTF8String): Boolean =
    text.numBytes > HeaderSize && Platform.getByte(text.getBaseObject, text.getBaseOffset) == ExactMark

  private def parts(bytes: ByteBuffer): Variant = {
    val size = bytes.getInt(1)
    if (size < 0 || size > bytes.remaining - HeaderSize)
      throw InvalidArgument("variant", s"${bytes.remaining} bytes", "It must be JSON text")
    val metadata = slice(bytes, HeaderSize, size)
    Variant(metadata, slice(bytes, HeaderSize + size, bytes.remaining - HeaderSize - size))
  }

  private def slice(bytes: ByteBuffer, from: Int, size: Int): ByteBuffer = {
    val part = bytes.duplicate()
    part.position(from)
    part.limit(from + size)
    part.slice()
  }

  /** Returns the variant after a check of all its parts: the string may not come from a scan. */
  private def validated(variant: Variant): Variant = {
    VariantJson.text(variant.metadata, variant.value)
    variant
  }
}

/** The form in which a scan returns variants. */
sealed private[iceberglite] trait VariantForm extends Serializable {
  def of(variant: Variant): UTF8String
}

private[iceberglite] object VariantForm {

  /** JSON text, for queries. */
  case object Json extends VariantForm {
    override def of(variant: Variant): UTF8String =
      UTF8String.fromString(VariantJson.text(variant.metadata, variant.value))
  }

  /** The exact form of [[VariantText]], for statements that write the variants again. */
  case object Exact extends VariantForm {
    override def of(variant: Variant): UTF8String = VariantText.exact(variant)
  }
}
