package iceberglite.data.avro

import java.math.{BigDecimal, BigInteger}
import java.nio.ByteBuffer
import java.util.UUID

import iceberglite.data.{Record, Variant}
import iceberglite.io.{AvroFault, AvroInput, AvroSchemas, AvroUnion, FieldDecoder}
import iceberglite.spec.LiteralConversion

/** Takes the values of one column as an Avro file encodes them, as [[Record]] holds them. */
abstract private[avro] class AvroValues {
  def read(in: AvroInput): AnyRef
}

private[avro] object AvroValues {
  object Nulls extends AvroValues {
    override def read(in: AvroInput): AnyRef = null
  }

  object Booleans extends AvroValues {
    override def read(in: AvroInput): AnyRef = Boolean.box(in.readBoolean())
  }

  object Ints extends AvroValues {
    override def read(in: AvroInput): AnyRef = Int.box(in.readInt())
  }

  object Longs extends AvroValues {
    override def read(in: AvroInput): AnyRef = Long.box(in.readLong())
  }

  /** Numbers of a coarser unit than the column's: milliseconds, or the days of a date that was promoted. */
  final class Scaled(factor: Long, column: String) extends AvroValues {
    override def read(in: AvroInput): AnyRef = {
      val value = in.readLong()
      try Long.box(Math.multiplyExact(value, factor))
      catch {
        case _: ArithmeticException => throw AvroFault(s"Column $column: $value is out of the range of its type")
      }
    }
  }

  object Floats extends AvroValues {
    override def read(in: AvroInput): AnyRef = Float.box(in.readFloat())
  }

  object Doubles extends AvroValues {
    override def read(in: AvroInput): AnyRef = Double.box(in.readDouble())
  }

  object FloatsAsDoubles extends AvroValues {
    override def read(in: AvroInput): AnyRef = Double.box(in.readFloat().toDouble)
  }

  object Strings extends AvroValues {
    override def read(in: AvroInput): AnyRef = in.readText()
  }

  final class Symbols(symbols: Array[String], column: String) extends AvroValues {
    override def read(in: AvroInput): AnyRef = {
      val index = in.readInt()
      if (index < 0 || index >= symbols.length) throw AvroFault(s"Column $column: Its enum has no symbol $index")
      symbols(index)
    }
  }

  object Binaries extends AvroValues {
    override def read(in: AvroInput): AnyRef = in.readBytes()
  }

  /** Bytes of a length that the schema of the file has. */
  final class Fixed(length: Int) extends AvroValues {
    override def read(in: AvroInput): AnyRef = in.readFixed(length)
  }

  /** Bytes that the file lets be of any length, where the column does not. */
  final class Checked(length: Int, column: String) extends AvroValues {
    override def read(in: AvroInput): AnyRef = {
      val value = in.readBytes()
      if (value.remaining != length) {
        throw AvroFault(s"Column $column: A value of ${value.remaining} bytes where each has $length")
      }
      value
    }
  }

  object Uuids extends AvroValues {
    override def read(in: AvroInput): AnyRef = {
      val bytes = in.readFixed(AvroSchemas.UuidSize)
      new UUID(bytes.getLong(0), bytes.getLong(java.lang.Long.BYTES))
    }
  }

  final class TextUuids(column: String) extends AvroValues {
    override def read(in: AvroInput): AnyRef = {
      val text = in.readText()
      LiteralConversion.uuid(text).getOrElse(throw AvroFault(s"Column $column: $text is no UUID"))
    }
  }

  /** @param bytes takes the unscaled value */
  final class Decimals(bytes: AvroValues, precision: Int, scale: Int, column: String) extends AvroValues {
    override def read(in: AvroInput): AnyRef = bytes.read(in) match {
      case unscaled: ByteBuffer =>
        if (!unscaled.hasRemaining) throw AvroFault(s"Column $column: A decimal has no bytes")
        val value = new BigDecimal(new BigInteger(unscaled.array), scale)
        if (value.precision > precision) {
          throw AvroFault(s"Column $column: The value $value is no decimal($precision, $scale)")
        }
        value
    }
  }

  final class Optional(union: AvroUnion, value: AvroValues) extends AvroValues {
    override def read(in: AvroInput): AnyRef = if (union.isValue(in)) value.read(in) else null
  }

  final class Lists(element: AvroValues) extends AvroValues {
    override def read(in: AvroInput): AnyRef = {
      val elements = Vector.newBuilder[AnyRef]
      FieldDecoder.items(in) {
        elements += element.read(in)
      }
      elements.result()
    }
  }

  /** Of an Avro map, or an array of pairs: both are entries with a key and a value after it. */
  final class Maps(key: AvroValues, value: AvroValues) extends AvroValues {
    override def read(in: AvroInput): AnyRef = {
      val entries = Vector.newBuilder[(AnyRef, AnyRef)]
      FieldDecoder.items(in) {
        val k = key.read(in)
        entries += ((k, value.read(in)))
      }
      entries.result()
    }
  }

  final class Variants(metadataFirst: Boolean) extends AvroValues {
    override def read(in: AvroInput): AnyRef = {
      val (first, second) = (in.readBytes(), in.readBytes())
      if (metadataFirst) Variant(first, second) else Variant(second, first)
    }
  }

  /**
   * The fields of a record in the order of the file.
   *
   * @param readers absent for a field that nobody wants
   * @param skippers what passes over it
   * @param targets the place of each field in the wanted struct
   * @param template a wanted record with what the file lacks
   */
  final class Structs(
      readers: Array[Option[AvroValues]],
      skippers: Array[AvroInput => Unit],
      targets: Array[Int],
      template: Array[AnyRef]
  ) extends AvroValues {
    override def read(in: AvroInput): Record = {
      val values = template.clone()
      var i = 0
      while (i < readers.length) {
        readers(i) match {
          case Some(reader) => values(targets(i)) = reader.read(in)
          case None => skippers(i)(in)
        }
        i += 1
      }
      new Record(values)
    }
  }
}
