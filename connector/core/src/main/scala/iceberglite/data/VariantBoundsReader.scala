package iceberglite.data

import java.nio.ByteBuffer

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.file.VariantBounds
import iceberglite.spec.types.{Literal, PrimitiveType}

/** Reads and writes bounds of variant columns (spec: "Bounds for Variant"). */
private[iceberglite] object VariantBoundsReader extends VariantBounds {

  override def of(bounds: ByteBuffer, name: String): Option[Literal] =
    try VariantJson.literalOfField(bounds, name)
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
      try Some(bytesOf(VariantEncoding.encode(VariantNode.Fields(parts))))
      catch { case _: InvalidArgument => None }
    }

  private def bytesOf(variant: Variant): ByteBuffer = {
    val bytes = ByteBuffer.allocate(variant.metadata.remaining + variant.value.remaining)
    bytes.put(variant.metadata.duplicate()).put(variant.value.duplicate()).flip()
    bytes
  }
}
