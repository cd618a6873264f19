package iceberglite.avro

import java.nio.ByteBuffer

import org.apache.avro.{Schema => AvroSchema}
import org.apache.avro.Schema.Type._

import iceberglite.spec.FormatVersion
import iceberglite.spec.types.Type
import iceberglite.spec.types.Type.ListType

/** Writes and reads the values of columns of one type. Types with a special layout have their own subclasses. */
abstract private[iceberglite] class ColumnType[V] {
  def icebergType(version: FormatVersion): Type

  def write(value: V, out: AvroOutput, version: FormatVersion): Unit

  /**
   * Returns the decoder for a file in which the column has the given schema. If the schema in the file is a union with
   * null, `schema` is the other type of the union.
   *
   * @param column the column whose slot the decoder fills; also used in messages
   * @param fileHasNoIds whether the file has no field ids, so that nested fields are matched by name or position
   * @throws AvroFault if the type in the file is not valid for the column
   */
  def decoder(schema: AvroSchema, column: StructColumn[_, _], fileHasNoIds: Boolean): FieldDecoder

  /**
   * Returns whether a file that lacks the column is rejected as damaged, provided that all format versions require the
   * column.
   */
  def isMandatory: Boolean = true

  protected def mismatch(schema: AvroSchema, column: StructColumn[_, _]): Nothing =
    throw AvroFault(
      s"The field ${column.name} (${column.id}) has the unexpected Avro type ${AvroSchemaCheck.describe(schema)}"
    )
}

private[iceberglite] object ColumnType {
  object Bool extends ColumnType[Boolean] {
    override def icebergType(version: FormatVersion): Type = Type.BooleanType
    override def write(value: Boolean, out: AvroOutput, version: FormatVersion): Unit = out.writeBoolean(value)
    override def decoder(schema: AvroSchema, column: StructColumn[_, _], fileHasNoIds: Boolean): FieldDecoder =
      if (schema.getType == BOOLEAN) decoding(schema)((in, row, slot) => row.setNumber(slot, in.readByte().toLong))
      else mismatch(schema, column)
  }

  object Int32 extends ColumnType[Int] {
    override def icebergType(version: FormatVersion): Type = Type.IntType
    override def write(value: Int, out: AvroOutput, version: FormatVersion): Unit = out.writeLong(value.toLong)
    override def decoder(schema: AvroSchema, column: StructColumn[_, _], fileHasNoIds: Boolean): FieldDecoder =
      if (schema.getType == INT || schema.getType == LONG) {
        decoding(schema)((in, row, slot) => row.setNumber(slot, in.readInt().toLong))
      } else mismatch(schema, column)
  }

  object Int64 extends ColumnType[Long] {
    override def icebergType(version: FormatVersion): Type = Type.LongType
    override def write(value: Long, out: AvroOutput, version: FormatVersion): Unit = out.writeLong(value)
    override def decoder(schema: AvroSchema, column: StructColumn[_, _], fileHasNoIds: Boolean): FieldDecoder =
      if (schema.getType == INT || schema.getType == LONG) {
        decoding(schema)((in, row, slot) => row.setNumber(slot, in.readLong()))
      } else mismatch(schema, column)
  }

  object Text extends ColumnType[String] {
    override def icebergType(version: FormatVersion): Type = Type.StringType
    override def write(value: String, out: AvroOutput, version: FormatVersion): Unit = out.writeText(value)
    override def decoder(schema: AvroSchema, column: StructColumn[_, _], fileHasNoIds: Boolean): FieldDecoder =
      if (schema.getType == STRING) decoding(schema)((in, row, slot) => row.setObject(slot, in.readText()))
      else mismatch(schema, column)
  }

  object Bytes extends ColumnType[ByteBuffer] {
    override def icebergType(version: FormatVersion): Type = Type.BinaryType
    override def write(value: ByteBuffer, out: AvroOutput, version: FormatVersion): Unit = out.writeBytes(value)
    override def decoder(schema: AvroSchema, column: StructColumn[_, _], fileHasNoIds: Boolean): FieldDecoder =
      if (schema.getType == BYTES) decoding(schema)((in, row, slot) => row.setObject(slot, in.readBytes()))
      else mismatch(schema, column)
  }

  /** Returns the type of a list of required longs. */
  def longs(elementId: Int): ColumnType[Vector[Long]] = new Numbers[Long](elementId, Int64)(v => v, v => v)

  /** Returns the type of a list of required ints. */
  def ints(elementId: Int): ColumnType[Vector[Int]] = new Numbers[Int](elementId, Int32)(_.toLong, _.toInt)

  /** A list whose elements are required numbers. */
  final private class Numbers[V](elementId: Int, element: ColumnType[V])(encode: V => Long, decode: Long => V)
      extends ColumnType[Vector[V]] {
    override def icebergType(version: FormatVersion): Type =
      ListType(elementId, element.icebergType(version), elementRequired = true)

    override def write(values: Vector[V], out: AvroOutput, version: FormatVersion): Unit =
      writeItems(values, out)(v => out.writeLong(encode(v)))

    override def decoder(schema: AvroSchema, column: StructColumn[_, _], fileHasNoIds: Boolean): FieldDecoder =
      if (schema.getType == ARRAY && (schema.getElementType.getType == INT || schema.getElementType.getType == LONG)) {
        decoding(schema)((in, row, slot) => row.setObject(slot, numbers(in, previousValues(row, slot))))
      } else mismatch(schema, column)

    /**
     * Returns the list in the previous record. The cast is safe, because only this decoder stores values in the slot.
     */
    private def previousValues(row: AvroRow, slot: Int): Vector[V] =
      row.previousObject(slot).fold(Vector.empty[V])(_.asInstanceOf[Vector[V]])

    /**
     * Reads the numbers of a list. If they are equal to the numbers in the previous record, the previous list is
     * reused.
     */
    private def numbers(in: AvroInput, previous: Vector[V]): Vector[V] = {
      var size = 0
      var values = previous
      var count = in.readBlockCount()
      while (count > 0) {
        while (count > 0) {
          val number = in.readLong()
          if (size >= values.size || encode(values(size)) != number) values = values.take(size) :+ decode(number)
          size += 1
          count -= 1
        }
        count = in.readBlockCount()
      }
      if (size == values.size) values else values.take(size)
    }
  }

  /** A nested struct. The values of its fields are stored in a nested row. */
  final class Struct[A](columns: StructColumns[A]) extends ColumnType[A] {
    override def icebergType(version: FormatVersion): Type = columns.struct(version)

    override def write(value: A, out: AvroOutput, version: FormatVersion): Unit = columns.write(value, out, version)

    override def decoder(schema: AvroSchema, column: StructColumn[_, _], fileHasNoIds: Boolean): FieldDecoder = {
      val record = RecordDecoder.of(schema, columns, fileHasNoIds)
      val size = columns.columns.size
      new FieldDecoder {
        override def read(in: AvroInput, row: AvroRow, slot: Int): Unit = record.read(in, row.nested(slot, size))
        override def skip(in: AvroInput): Unit = record.skip(in)
      }
    }
  }

  /** A list whose elements are required structs. */
  final class Structs[A](elementId: Int, columns: StructColumns[A], fromRow: AvroRow => A)
      extends ColumnType[Vector[A]] {
    override def icebergType(version: FormatVersion): Type =
      ListType(elementId, columns.struct(version), elementRequired = true)

    override def write(values: Vector[A], out: AvroOutput, version: FormatVersion): Unit =
      writeItems(values, out)(columns.write(_, out, version))

    override def decoder(schema: AvroSchema, column: StructColumn[_, _], fileHasNoIds: Boolean): FieldDecoder = {
      if (schema.getType != ARRAY) mismatch(schema, column)
      val record = RecordDecoder.of(schema.getElementType, columns, fileHasNoIds)
      decoding(schema) { (in, row, slot) =>
        val element = new AvroRow(columns.columns.size)
        val values = Vector.newBuilder[A]
        FieldDecoder.items(in) {
          record.read(in, element)
          values += fromRow(element)
        }
        row.setObject(slot, values.result())
      }
    }
  }

  /** Returns a decoder that reads values with `readValue` and skips values according to the schema. */
  def decoding(schema: AvroSchema)(readValue: (AvroInput, AvroRow, Int) => Unit): FieldDecoder = new FieldDecoder {
    private val skipper = FieldDecoder.skipper(schema)
    override def read(in: AvroInput, row: AvroRow, slot: Int): Unit = readValue(in, row, slot)
    override def skip(in: AvroInput): Unit = skipper(in)
  }

  private def writeItems[V](values: Vector[V], out: AvroOutput)(write: V => Unit): Unit = {
    if (values.nonEmpty) {
      out.writeLong(values.size.toLong)
      values.foreach(write)
    }
    out.writeLong(0)
  }
}
