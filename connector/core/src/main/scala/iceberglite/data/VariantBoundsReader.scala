package iceberglite.data

import java.nio.ByteBuffer

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.file.VariantBounds
import iceberglite.spec.types.{Literal, PrimitiveType}

/** Reads and writes bounds of variant columns (spec: "Bounds for Variant"). */
private[iceberglite] object VariantBoundsReader extends VariantBounds {

  override def decode(bounds: ByteBuffer): Option[VariantBounds.Parts] = valid {
    val bytes = new VariantBytes(bounds)
    val names = new VariantNames(bytes)
    val parts = new VariantValues(names, new VariantBytes(bytes.slice(names.end, bytes.size - names.end)))
    Some((name: Array[Byte]) => valid(parts.offsetOf(name).flatMap(parts.literalAt)))
  }

  private def valid[A](result: => Option[A]): Option[A] =
    try result
    catch { case _: InvalidArgument => None } // Readers ignore bounds that are not valid.

  /**
   * Returns the bounds of the parts of variants in their binary form; absent if no part has a bound, or if all bounds
   * together are larger than a variant may be.
   *
   * @param bounds the names of parts, and their bounds with the types of all values of the part
   */
  def encode(bounds: Vector[(String, Literal, PrimitiveType)]): Option[ByteBuffer] =
    if (bounds.isEmpty) None
    else {
      val parts = bounds.map { case (name, bound, t) => name -> VariantNode.ofWidth(bound, t) }
      VariantEncoding.encodeIfFits(VariantNode.Fields(parts)).map(bytesOf)
    }

  private def bytesOf(variant: Variant): ByteBuffer = {
    val bytes = ByteBuffer.allocate(variant.metadata.remaining + variant.value.remaining)
    bytes.put(variant.metadata.duplicate()).put(variant.value.duplicate()).flip()
    bytes
  }
}
