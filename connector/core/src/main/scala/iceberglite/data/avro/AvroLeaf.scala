package iceberglite.data.avro

import java.math.{BigDecimal, BigInteger}
import java.nio.ByteBuffer
import java.util.UUID

import iceberglite.avro.{AvroFault, AvroInput, AvroSchemas}
import iceberglite.spec.types.LiteralConversion

/** Decodes the values of a primitive column from an Avro file to the representation of [[iceberglite.data.Record]]. */
sealed abstract private[iceberglite] class AvroLeaf extends AvroValues

private[iceberglite] object AvroLeaf {
  case object Booleans extends AvroLeaf {
    override def read(in: AvroInput): AnyRef = Boolean.box(in.readBoolean())
  }

  case object Ints extends AvroLeaf {
    override def read(in: AvroInput): AnyRef = Int.box(in.readInt())
  }

  case object Longs extends AvroLeaf {
    override def read(in: AvroInput): AnyRef = Long.box(in.readLong())
  }

  /**
   * Numbers whose unit in the file is coarser than the unit of the column. Examples are timestamps in milliseconds, and
   * dates of a column that was promoted to a timestamp.
   *
   * @param factor the number of the column's units in one unit of the file
   */
  final class Scaled(factor: Long, column: String) extends AvroLeaf {
    override def read(in: AvroInput): AnyRef = Long.box(readLong(in))

    def readLong(in: AvroInput): Long = {
      val value = in.readLong()
      try Math.multiplyExact(value, factor)
      catch {
        case _: ArithmeticException =>
          throw AvroFault(s"Column $column: The value $value is out of the range of the column's type")
      }
    }
  }

  case object Floats extends AvroLeaf {
    override def read(in: AvroInput): AnyRef = Float.box(in.readFloat())
  }

  case object Doubles extends AvroLeaf {
    override def read(in: AvroInput): AnyRef = Double.box(in.readDouble())
  }

  case object FloatsAsDoubles extends AvroLeaf {
    override def read(in: AvroInput): AnyRef = Double.box(in.readFloat().toDouble)
  }

  case object Strings extends AvroLeaf {
    override def read(in: AvroInput): AnyRef = in.readText()
  }

  final class Symbols(symbols: Array[String], column: String) extends AvroLeaf {
    override def read(in: AvroInput): String = {
      val index = in.readInt()
      if (index < 0 || index >= symbols.length) throw AvroFault(s"Column $column: The Avro enum has no symbol $index")
      symbols(index)
    }
  }

  case object Binaries extends AvroLeaf {
    override def read(in: AvroInput): AnyRef = in.readBytes()
  }

  /** Bytes with a length that the file's schema defines. */
  final class Fixed(val length: Int) extends AvroLeaf {
    override def read(in: AvroInput): ByteBuffer = in.readFixed(length)
  }

  /** Values of a fixed type from a file whose Avro type is `bytes`. The length of each value is checked. */
  final class BytesAsFixed(length: Int, column: String) extends AvroLeaf {
    override def read(in: AvroInput): ByteBuffer = {
      val value = in.readBytes()
      if (value.remaining != length) {
        throw AvroFault(s"Column $column: A value has ${value.remaining} bytes, but must have $length bytes")
      }
      value
    }
  }

  case object Uuids extends AvroLeaf {
    override def read(in: AvroInput): UUID = {
      val bytes = in.readFixed(AvroSchemas.UuidSize)
      new UUID(bytes.getLong(0), bytes.getLong(java.lang.Long.BYTES))
    }
  }

  final class TextUuids(column: String) extends AvroLeaf {
    override def read(in: AvroInput): UUID = {
      val text = in.readText()
      LiteralConversion.uuid(text).getOrElse(throw AvroFault(s"Column $column: $text is not a UUID"))
    }
  }

  /** Decimals. @param bytes decodes the bytes of the unscaled value */
  final class Decimals(bytes: AvroLeaf, precision: Int, scale: Int, column: String) extends AvroLeaf {
    override def read(in: AvroInput): BigDecimal = bytes.read(in) match {
      case unscaled: ByteBuffer =>
        if (!unscaled.hasRemaining) throw AvroFault(s"Column $column: A decimal has no bytes")
        val value = new BigDecimal(new BigInteger(unscaled.array), scale)
        if (value.precision > precision) {
          throw AvroFault(s"Column $column: The value $value does not fit decimal($precision, $scale)")
        }
        value
    }
  }
}
