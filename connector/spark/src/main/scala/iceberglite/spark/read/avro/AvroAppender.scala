package iceberglite.spark.read.avro

import java.nio.charset.StandardCharsets.{US_ASCII, UTF_8}

import org.apache.spark.sql.execution.vectorized.WritableColumnVector
import org.apache.spark.sql.types.{Decimal, StructType}
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.avro.{AvroFault, AvroInput, AvroUnion, FieldDecoder}
import iceberglite.data.Variant
import iceberglite.data.avro.AvroLeaf
import iceberglite.data.avro.AvroLeaf._
import iceberglite.spark.convert.VariantForm
import iceberglite.spec.IcebergError.InvalidArgument

/** Decodes one value of an Avro file and appends it to a column. */
abstract private[avro] class AvroAppender {
  def append(in: AvroInput, to: WritableColumnVector): Unit
}

private[avro] object AvroAppender {
  def leaf(values: AvroLeaf, precision: Int): AvroAppender = values match {
    case Booleans => fromFunction((in, to) => to.appendBoolean(in.readBoolean()))
    case Ints => fromFunction((in, to) => to.appendInt(in.readInt()))
    case Longs => fromFunction((in, to) => to.appendLong(in.readLong()))
    case scaled: Scaled => fromFunction((in, to) => to.appendLong(scaled.readLong(in)))
    case Floats => fromFunction((in, to) => to.appendFloat(in.readFloat()))
    case Doubles => fromFunction((in, to) => to.appendDouble(in.readDouble()))
    case FloatsAsDoubles => fromFunction((in, to) => to.appendDouble(in.readFloat().toDouble))
    case Strings | Binaries => fromFunction((in, to) => appendRaw(in, in.readLength(), to))
    case fixed: Fixed => fromFunction((in, to) => appendRaw(in, fixed.length, to))
    case symbols: Symbols => fromFunction((in, to) => bytes(symbols.read(in).getBytes(UTF_8), to))
    case checked: BytesAsFixed => fromFunction((in, to) => bytes(checked.read(in).array, to))
    case Uuids => fromFunction((in, to) => bytes(Uuids.read(in).toString.getBytes(US_ASCII), to))
    case text: TextUuids => fromFunction((in, to) => bytes(text.read(in).toString.getBytes(US_ASCII), to))
    case decimals: Decimals =>
      fromFunction { (in, to) =>
        val value = Decimal(decimals.read(in))
        val row = to.appendNotNull()
        to.putDecimal(row, value, precision)
        row
      }
  }

  /**
   * Creates an appender from a function that appends a value and returns its index in the vector. The appender ignores
   * the index.
   */
  private def fromFunction(add: (AvroInput, WritableColumnVector) => Int): AvroAppender = new AvroAppender {
    override def append(in: AvroInput, to: WritableColumnVector): Unit = {
      add(in, to)
      ()
    }
  }

  private def bytes(value: Array[Byte], to: WritableColumnVector): Int = to.appendByteArray(value, 0, value.length)

  /** Appends bytes directly from the input, without an intermediate copy. */
  private def appendRaw(in: AvroInput, length: Int, to: WritableColumnVector): Int = {
    val start = in.position
    in.skip(length)
    to.appendByteArray(in.bytes, start, length)
  }

  object Nulls extends AvroAppender {
    override def append(in: AvroInput, to: WritableColumnVector): Unit = addNull(to)
  }

  private def addNull(to: WritableColumnVector): Unit = {
    if (to.dataType.isInstanceOf[StructType]) to.appendStruct(true) else to.appendNull()
    ()
  }

  final class Optional(union: AvroUnion, value: AvroAppender) extends AvroAppender {
    override def append(in: AvroInput, to: WritableColumnVector): Unit =
      if (union.isValue(in)) value.append(in, to) else addNull(to)
  }

  final class Lists(element: AvroAppender, hasEmptyElements: Boolean) extends AvroAppender {
    override def append(in: AvroInput, to: WritableColumnVector): Unit = {
      val elements = to.getChild(0)
      val start = elements.getElementsAppended
      FieldDecoder.items(in, hasEmptyElements)(element.append(in, elements))
      to.putArray(to.appendNotNull(), start, elements.getElementsAppended - start)
    }
  }

  final class Maps(key: AvroAppender, value: AvroAppender) extends AvroAppender {
    override def append(in: AvroInput, to: WritableColumnVector): Unit = {
      val (keys, values) = (to.getChild(0), to.getChild(1))
      val start = keys.getElementsAppended
      FieldDecoder.items(in) {
        key.append(in, keys)
        value.append(in, values)
      }
      to.putArray(to.appendNotNull(), start, keys.getElementsAppended - start)
    }
  }

  /** Appends variants as strings. @param column the name of the column, for messages */
  final class Variants(metadataFirst: Boolean, column: String, form: VariantForm) extends AvroAppender {
    override def append(in: AvroInput, to: WritableColumnVector): Unit = {
      val (first, second) = (in.readBytes(), in.readBytes())
      val text = if (metadataFirst) textOf(Variant(first, second)) else textOf(Variant(second, first))
      bytes(text.getBytes, to)
      ()
    }

    private def textOf(variant: Variant): UTF8String =
      try form.of(variant)
      catch {
        case InvalidArgument(_, _, reason) => throw AvroFault(s"A value of column $column is not a variant: $reason")
      }
  }

  /**
   * Decodes the fields of a record in the order of the file.
   *
   * @param appenders the appender of each field; absent for a field that is not requested
   * @param skippers for each field, the function that skips its value
   * @param children index of each field among the children of the struct's vector
   */
  final class Fields(
      appenders: Array[Option[AvroAppender]],
      skippers: Array[AvroInput => Unit],
      children: Array[Int]
  ) {
    def append(in: AvroInput, child: Int => WritableColumnVector): Unit = {
      var i = 0
      while (i < appenders.length) {
        appenders(i) match {
          case Some(appender) => appender.append(in, child(children(i)))
          case None => skippers(i)(in)
        }
        i += 1
      }
    }
  }

  final class Structs(fields: Fields) extends AvroAppender {
    override def append(in: AvroInput, to: WritableColumnVector): Unit = {
      to.appendStruct(false)
      fields.append(in, to.getChild)
    }
  }
}
