package iceberglite.data.avro

import java.math.{BigDecimal, BigInteger}
import java.nio.ByteBuffer
import java.util.UUID

import iceberglite.avro.{AvroFault, AvroInput, AvroSchemas}
import iceberglite.spec.types.LiteralConversion

/** Decodes the values of a primitive from an Avro file to the representation of [[iceberglite.data.Record]]. */
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

  /** Numbers in a coarser unit than that of the column, such as milliseconds, or days if a date column was promoted. */
  final class Scaled(factor: Long, column: String) extends AvroLeaf {
    override def read(in: AvroInput): AnyRef = Long.box(readLong(in))

    def readLong(in: AvroInput): Long = {
      val value = in.readLong()
      try Math.multiplyExact(value, factor)
      catch {
        case _: ArithmeticException => throw AvroFault(s"Column $column: $value is out of the range of its type")
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
      if (index < 0 || index >= symbols.length) throw AvroFault(s"Column $column: Its enum has no symbol $index")
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

  /** Bytes of a column with a fixed length, in a file whose schema allows any length. */
  final class Checked(length: Int, column: String) extends AvroLeaf {
    override def read(in: AvroInput): ByteBuffer = {
      val value = in.readBytes()
      if (value.remaining != length) {
        throw AvroFault(s"Column $column: A value has ${value.remaining} bytes, not $length")
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

  /** Decimals. @param bytes decodes the unscaled value */
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
