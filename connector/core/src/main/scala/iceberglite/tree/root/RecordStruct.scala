package iceberglite.tree.root

import java.nio.ByteBuffer

import scala.util.control.NoStackTrace

import iceberglite.data.{Record, RecordValues}
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type._

/**
 * A violated rule of a manifest, or a partition field without an expression in the table metadata. Callers convert it
 * to an error that names the file or the table.
 */
final private[root] case class EntryFault(reason: String) extends RuntimeException(reason) with NoStackTrace

/** Converts the values of a column from and to the representation of [[Record]]. */
private[root] trait RecordCodec[V] {
  def fieldType: Type
  def encode(value: V): AnyRef

  /** Decodes a value that is not null. */
  def decode(value: AnyRef): V

  final protected def fail(value: AnyRef): Nothing = throw EntryFault(s"The value $value is not of type $fieldType")
}

private[root] object RecordCodec {

  /** Values that a record contains in boxed form. The boxes are passed on, and not created again. */
  sealed abstract class Boxed[V](override val fieldType: Type, box: Class[_]) extends RecordCodec[V] {
    override def encode(value: V): AnyRef = value.asInstanceOf[AnyRef]
    override def decode(value: AnyRef): V = if (box.isInstance(value)) value.asInstanceOf[V] else fail(value)
  }

  object Flag extends Boxed[Boolean](BooleanType, classOf[java.lang.Boolean])
  object Int32 extends Boxed[Int](IntType, classOf[Integer])
  object Int64 extends Boxed[Long](LongType, classOf[java.lang.Long])

  object Text extends RecordCodec[String] {
    override def fieldType: Type = StringType
    override def encode(value: String): AnyRef = value
    override def decode(value: AnyRef): String = value.toString
  }

  object Bytes extends RecordCodec[ByteBuffer] {
    override def fieldType: Type = BinaryType
    override def encode(value: ByteBuffer): AnyRef = value.duplicate()
    override def decode(value: AnyRef): ByteBuffer = value match {
      case v: ByteBuffer => v
      case other => fail(other)
    }
  }

  /** A list of required elements, which are decoded as themselves. */
  final class ListOf[V](elementId: Int, element: RecordCodec[V]) extends RecordCodec[Vector[V]] {
    override def fieldType: Type = ListType(elementId, element.fieldType, elementRequired = true)
    override def encode(values: Vector[V]): AnyRef = values.map(element.encode)
    override def decode(value: AnyRef): Vector[V] = value match {
      case elements: Vector[_] =>
        elements.foreach {
          case v: AnyRef => element.decode(v)
          case _ => throw EntryFault("A list has an element that is null")
        }
        elements.asInstanceOf[Vector[V]]
      case other => fail(other)
    }
  }

  /** A struct whose values are mapped to another type. */
  final class StructOf[A](struct: RecordStruct[A], fromRecord: Record => A) extends RecordCodec[A] {
    override def fieldType: Type = struct.structType
    override def encode(value: A): AnyRef = struct.record(value)
    override def decode(value: AnyRef): A = value match {
      case record: Record => fromRecord(record)
      case other => fail(other)
    }
  }
}

/** A column of a [[RecordStruct]]. */
final private[root] class RecordColumn[A, V](
    val field: NestedField,
    ordinal: Int,
    codec: RecordCodec[V],
    get: A => Option[V]
) {
  def encode(struct: A): AnyRef = get(struct).fold(RecordValues.nullValue)(codec.encode)

  /** Returns the value of the column; `None` if it is null. */
  def option(row: Record): Option[V] = {
    val stored = row(ordinal)
    if (stored eq null) None else Some(codec.decode(stored))
  }

  /** Returns the value of the column. @throws EntryFault if it is null */
  def value(row: Record): V = {
    val stored = row(ordinal)
    if (stored eq null)
      throw EntryFault(s"The field ${field.name} (id ${field.id}) of an entry is null, but it is required")
    codec.decode(stored)
  }
}

/**
 * A struct of version 4 manifests. Its columns determine the schema of the struct, and how values are read and written.
 */
abstract private[root] class RecordStruct[A] {
  private val builder = Vector.newBuilder[RecordColumn[A, _]]
  private var size = 0
  private lazy val columns = builder.result()

  final lazy val structType: StructType = StructType(columns.map(_.field))

  /** Converts a value of the struct to a record. */
  final def record(value: A): Record = new Record(columns.map(_.encode(value)).toArray)

  protected def required[V](id: Int, name: String, codec: RecordCodec[V])(get: A => V): RecordColumn[A, V] =
    add(NestedField.required(id, name, codec.fieldType), codec)(a => Some(get(a)))

  protected def optional[V](id: Int, name: String, codec: RecordCodec[V])(get: A => Option[V]): RecordColumn[A, V] =
    add(NestedField.optional(id, name, codec.fieldType), codec)(get)

  private def add[V](field: NestedField, codec: RecordCodec[V])(get: A => Option[V]): RecordColumn[A, V] = {
    val column = new RecordColumn[A, V](field, size, codec, get)
    builder += column
    size += 1
    column
  }
}
