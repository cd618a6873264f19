package iceberglite.data.avro

import iceberglite.avro.AvroOutput
import iceberglite.data.{FieldPlace, FieldTraversal, RowField, RowSource}
import iceberglite.spec.types.{NestedField, PrimitiveType}

/** Encodes rows. @param ordinals the index in the rows of each field */
final private[iceberglite] class AvroRowFields[V](fields: Array[AvroField[V]], ordinals: Array[Int]) {
  def put(row: V, out: AvroOutput): Unit = {
    var i = 0
    while (i < fields.length) {
      fields(i).put(row, ordinals(i), out)
      i += 1
    }
  }
}

/** Encodes the values of one field, according to the schema that [[iceberglite.avro.AvroSchemas]] creates. */
abstract private[iceberglite] class AvroField[V] {

  /** Encodes the value at an ordinal of a row, a struct or a list. The value may be null. */
  def put(values: V, ordinal: Int, out: AvroOutput): Unit

  /** Counts a null of this field in the metrics, because an enclosing struct is null. */
  def countAbsent(): Unit
}

/**
 * The place of a field in an Avro schema.
 *
 * @param required whether the field is required; an optional field is a union with null
 * @param counted whether metrics are collected; false inside lists and maps
 */
final private[iceberglite] case class AvroPlace(
    override val names: Vector[String],
    required: Boolean,
    counted: Boolean
) extends FieldPlace {
  override val name: String = super.name
}

/** A field that is stored in the file. */
abstract private[iceberglite] class AvroStoredField[V](place: AvroPlace, rows: RowSource[V]) extends AvroField[V] {

  /** Encodes whether a value is present, and counts a null. Rejects a null if the field is required. */
  final protected def putPresence(present: Boolean, out: AvroOutput): Unit = {
    if (!place.required) out.writeBranch(present) else if (!present) rows.failNull(place.name)
    if (!present) countAbsent()
  }

  /** Encodes whether the value is present, as [[putPresence]] does. @return whether the value is not null */
  final protected def begins(values: V, ordinal: Int, out: AvroOutput): Boolean = {
    val present = !rows.isNull(values, ordinal)
    putPresence(present, out)
    present
  }
}

/** A struct. @param size the number of fields of the struct in the rows, including fields that are not written */
final private[avro] class AvroStructField[V](
    place: AvroPlace,
    rows: RowSource[V],
    size: Int,
    fields: Array[AvroField[V]],
    ordinals: Array[Int]
) extends AvroStoredField[V](place, rows) {

  override def put(values: V, ordinal: Int, out: AvroOutput): Unit = if (begins(values, ordinal, out)) {
    val struct = rows.struct(values, ordinal, size)
    var i = 0
    while (i < fields.length) {
      fields(i).put(struct, ordinals(i), out)
      i += 1
    }
  }

  override def countAbsent(): Unit = fields.foreach(_.countAbsent())
}

/** A list, which is encoded as one block of elements and an end marker. */
final private[avro] class AvroListField[V](place: AvroPlace, rows: RowSource[V], element: AvroField[V])
    extends AvroStoredField[V](place, rows) {

  override def put(values: V, ordinal: Int, out: AvroOutput): Unit = if (begins(values, ordinal, out)) {
    val elements = rows.list(values, ordinal)
    val size = rows.count(elements)
    if (size > 0) out.writeLong(size.toLong)
    var i = 0
    while (i < size) {
      element.put(elements, i, out)
      i += 1
    }
    out.writeLong(0)
  }

  override def countAbsent(): Unit = ()
}

/**
 * A map, which is encoded as one block of key-value pairs and an end marker. Avro's map type and an array of pairs have
 * the same encoding.
 */
final private[avro] class AvroMapField[V](
    place: AvroPlace,
    rows: RowSource[V],
    key: AvroField[V],
    value: AvroField[V]
) extends AvroStoredField[V](place, rows) {

  override def put(values: V, ordinal: Int, out: AvroOutput): Unit = if (begins(values, ordinal, out)) {
    val map = rows.map(values, ordinal)
    val keys = rows.keys(map)
    val mapped = rows.mapped(map)
    val size = rows.count(keys)
    if (size > 0) out.writeLong(size.toLong)
    var i = 0
    while (i < size) {
      key.put(keys, i, out)
      value.put(mapped, i, out)
      i += 1
    }
    out.writeLong(0)
  }

  override def countAbsent(): Unit = ()
}

/** Creates the encoders of the fields of rows. */
abstract private[iceberglite] class AvroTraversal[F <: RowField[F], V](rows: RowSource[V])
    extends FieldTraversal[F, AvroPlace, AvroField[V]] {

  final def of(columns: Vector[F]): AvroRowFields[V] = {
    val written = fields(columns, AvroPlace(Vector.empty, required = true, counted = true))
    new AvroRowFields(written.map(_._1).toArray, written.map(_._2).toArray)
  }

  final override protected def fieldIn(struct: AvroPlace, field: NestedField, index: Int): AvroPlace =
    AvroPlace(struct.names :+ field.name, field.required, struct.counted)

  final override protected def entryIn(collection: AvroPlace, field: NestedField, index: Int): AvroPlace =
    AvroPlace(collection.names :+ field.name, field.required, counted = false)

  final override protected def struct(f: F, place: AvroPlace, fields: Vector[(AvroField[V], Int)]): AvroField[V] =
    new AvroStructField(place, rows, f.size, fields.map(_._1).toArray, fields.map(_._2).toArray)

  final override protected def list(place: AvroPlace, element: AvroField[V]): AvroField[V] =
    new AvroListField(place, rows, element)

  final override protected def map(place: AvroPlace, key: AvroField[V], value: AvroField[V]): AvroField[V] =
    new AvroMapField(place, rows, key, value)

  override protected def leaf(f: F, t: PrimitiveType, place: AvroPlace): AvroStoredField[V]
}
