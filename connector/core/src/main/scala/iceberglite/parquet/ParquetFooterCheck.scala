package iceberglite.parquet

import java.nio.ByteBuffer

/**
 * Checks the footer of a Parquet file before Parquet's library reads it. The library does not validate lengths, so a
 * single damaged byte can make it allocate gigabytes. This check traverses the structure of the footer (Thrift, compact
 * protocol), but does not decode values.
 */
final private[iceberglite] class ParquetFooterCheck(footer: ByteBuffer) {
  import ParquetFooterCheck._

  private val in = footer.duplicate()
  private var newerTypes = false

  /**
   * Returns whether a column has a logical type that this version of the Parquet library does not support. The library
   * cannot read a footer with such a type.
   *
   * @throws DamagedFooter if the footer is truncated, is nested too deeply, or contains an invalid length or type
   */
  def hasNewerTypes(): Boolean = {
    struct(FileMetaData, 0)
    newerTypes
  }

  private def struct(location: Location, depth: Int): Unit = {
    if (depth > MaxDepth) throw new DamagedFooter(s"The footer is nested more than $MaxDepth levels deep")
    var id = 0
    var header = next()
    while (header != Thrift.Stop) {
      val delta = (header >> 4) & 0xf
      id = if (delta == 0) zigzag(varint()) else id + delta
      if (location == LogicalType && id > LastKnownType) newerTypes = true
      value(header & 0xf, location.child(id), depth, inList = false)
      header = next()
    }
  }

  private def value(kind: Int, location: Location, depth: Int, inList: Boolean): Unit = kind match {
    // A boolean field has no bytes, because its type id contains its value. A boolean in a list has one byte.
    case Thrift.BooleanTrue | Thrift.BooleanFalse => if (inList) skip(1)
    case Thrift.I8 => skip(1)
    case Thrift.I16 | Thrift.I32 | Thrift.I64 =>
      varint()
      ()
    case Thrift.Double => skip(8)
    case Thrift.Binary => skip(length())
    case Thrift.List | Thrift.Set => list(location, depth)
    case Thrift.Map => map(depth)
    case Thrift.Struct => struct(location, depth + 1)
    case other => throw new DamagedFooter(s"The footer contains the unknown Thrift type $other")
  }

  private def list(location: Location, depth: Int): Unit = {
    val header = next()
    val short = (header >> 4) & 0xf
    val size = if (short == Thrift.LongList) length() else checked(short.toLong)
    var i = 0
    while (i < size) {
      value(header & 0xf, location, depth, inList = true)
      i += 1
    }
  }

  private def map(depth: Int): Unit = {
    val size = length()
    if (size > 0) {
      val kinds = next()
      var i = 0
      while (i < size) {
        value((kinds >> 4) & 0xf, Other, depth, inList = true)
        value(kinds & 0xf, Other, depth, inList = true)
        i += 1
      }
    }
  }

  /**
   * Reads a length: a number of bytes, or a number of elements that take at least one byte each. Both must not exceed
   * the number of remaining bytes.
   */
  private def length(): Int = checked(varint())

  private def checked(length: Long): Int =
    if (length >= 0 && length <= in.remaining) length.toInt
    else throw new DamagedFooter(s"The footer claims a length of $length, but only ${in.remaining} bytes are left")

  private def varint(): Long = {
    var result = 0L
    var shift = 0
    var byte = next()
    while ((byte & 0x80) != 0 && shift < 63) {
      result |= (byte & 0x7fL) << shift
      shift += 7
      byte = next()
    }
    result | (byte & 0x7fL) << shift
  }

  private def zigzag(v: Long): Int = ((v >>> 1) ^ -(v & 1)).toInt

  private def next(): Int =
    if (in.hasRemaining) in.get() & 0xff else throw new DamagedFooter("The footer is truncated")

  private def skip(bytes: Int): Unit = in.position(in.position() + checked(bytes.toLong))
}

private[iceberglite] object ParquetFooterCheck {
  private val MaxDepth = 64

  /**
   * The id of the type UUID in parquet.thrift. This version of the Parquet library does not support types with higher
   * ids.
   */
  private val LastKnownType = 14

  // The ids of fields in parquet.thrift.
  final private val SchemaField = 2
  final private val LogicalTypeField = 10

  /** The type ids of Thrift's compact protocol. */
  private[parquet] object Thrift {
    final val Stop = 0
    final val BooleanTrue = 1
    final val BooleanFalse = 2
    final val I8 = 3
    final val I16 = 4
    final val I32 = 5
    final val I64 = 6
    final val Double = 7
    final val Binary = 8
    final val List = 9
    final val Set = 10
    final val Map = 11
    final val Struct = 12

    /** The size value in a list header that means that the size of the list follows the header. */
    final val LongList = 15
  }

  /** The kind of Thrift struct that the check is traversing. */
  sealed abstract private class Location {

    /** Returns the kind of struct in the field with the given id. */
    def child(field: Int): Location = (this, field) match {
      case (FileMetaData, SchemaField) => SchemaElement
      case (SchemaElement, LogicalTypeField) => LogicalType
      case _ => Other
    }
  }
  private case object FileMetaData extends Location
  private case object SchemaElement extends Location
  private case object LogicalType extends Location
  private case object Other extends Location
}

/** Thrown if a file does not end with a valid Parquet footer. The message describes the problem. */
final class DamagedFooter(message: String) extends RuntimeException(message)
