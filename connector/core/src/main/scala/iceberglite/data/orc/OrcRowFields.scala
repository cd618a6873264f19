package iceberglite.data.orc

import org.apache.hadoop.hive.ql.exec.vector._

import iceberglite.data.{FieldPlace, FieldTraversal, RowField, RowSource}
import iceberglite.spec.types.{NestedField, PrimitiveType}

/** Puts rows into the batch from which an ORC file is written. @param ordinals the index in the rows of each field */
final private[iceberglite] class OrcRowFields[V](fields: Array[OrcField[V]], ordinals: Array[Int]) {

  /** @param slot the index of the row in the batch */
  def put(row: V, slot: Int): Unit = {
    var i = 0
    while (i < fields.length) {
      fields(i).put(row, ordinals(i), slot)
      i += 1
    }
  }
}

/** Puts the values of one field into the column vector of a batch. */
abstract private[iceberglite] class OrcField[V] {

  /**
   * Puts the value at an ordinal of a row, a struct or a list into the vector. The value may be null.
   *
   * @param slot the index of the value in the field's vector
   */
  def put(values: V, ordinal: Int, slot: Int): Unit

  /** Counts a null of this field in the metrics, because an enclosing struct is null. */
  def countAbsent(): Unit
}

/**
 * The place of a field in a batch.
 *
 * @param required whether the field is required
 * @param counted whether metrics are collected; false inside lists and maps
 */
final private[iceberglite] case class OrcPlace(
    override val names: Vector[String],
    required: Boolean,
    vector: ColumnVector,
    counted: Boolean
) extends FieldPlace {
  override val name: String = super.name
}

/** A field with its own vector. */
abstract private[iceberglite] class OrcStoredField[V](place: OrcPlace, rows: RowSource[V]) extends OrcField[V] {
  final protected def putNull(slot: Int): Unit = {
    if (place.required) rows.failNull(place.name)
    place.vector.noNulls = false
    place.vector.isNull(slot) = true
    countAbsent()
  }
}

/** A struct. @param size the number of fields of the struct in the rows, including fields that are not written */
final private[orc] class OrcStructField[V](
    place: OrcPlace,
    rows: RowSource[V],
    size: Int,
    fields: Array[OrcField[V]],
    ordinals: Array[Int]
) extends OrcStoredField[V](place, rows) {

  override def put(values: V, ordinal: Int, slot: Int): Unit =
    if (rows.isNull(values, ordinal)) putNull(slot)
    else {
      val struct = rows.struct(values, ordinal, size)
      var i = 0
      while (i < fields.length) {
        fields(i).put(struct, ordinals(i), slot)
        i += 1
      }
    }

  override def countAbsent(): Unit = fields.foreach(_.countAbsent())
}

final private[orc] class OrcListField[V](
    place: OrcPlace,
    rows: RowSource[V],
    vector: ListColumnVector,
    element: OrcField[V]
) extends OrcStoredField[V](place, rows) {

  override def put(values: V, ordinal: Int, slot: Int): Unit =
    if (rows.isNull(values, ordinal)) putNull(slot)
    else {
      val elements = rows.list(values, ordinal)
      val size = rows.count(elements)
      val first = OrcEntries.startEntries(vector, slot, size)
      OrcEntries.ensureCapacity(vector.child, vector.childCount)
      var i = 0
      while (i < size) {
        element.put(elements, i, first + i)
        i += 1
      }
    }

  override def countAbsent(): Unit = ()
}

final private[orc] class OrcMapField[V](
    place: OrcPlace,
    rows: RowSource[V],
    vector: MapColumnVector,
    key: OrcField[V],
    value: OrcField[V]
) extends OrcStoredField[V](place, rows) {

  override def put(values: V, ordinal: Int, slot: Int): Unit =
    if (rows.isNull(values, ordinal)) putNull(slot)
    else {
      val map = rows.map(values, ordinal)
      val keys = rows.keys(map)
      val mapped = rows.mapped(map)
      val size = rows.count(keys)
      val first = OrcEntries.startEntries(vector, slot, size)
      OrcEntries.ensureCapacity(vector.keys, vector.childCount)
      OrcEntries.ensureCapacity(vector.values, vector.childCount)
      var i = 0
      while (i < size) {
        key.put(keys, i, first + i)
        value.put(mapped, i, first + i)
        i += 1
      }
    }

  override def countAbsent(): Unit = ()
}

/** Creates the writers of the fields of rows. The vectors of a batch are those of the stored fields, in their order. */
abstract private[iceberglite] class OrcTraversal[F <: RowField[F], V](rows: RowSource[V])
    extends FieldTraversal[F, OrcPlace, OrcField[V]] {

  /** @param vectors the vectors of the columns */
  final def of(columns: Vector[F], vectors: Array[ColumnVector]): OrcRowFields[V] = {
    val row = new StructColumnVector(0, vectors: _*)
    val written = fields(columns, OrcPlace(Vector.empty, required = true, row, counted = true))
    new OrcRowFields(written.map(_._1).toArray, written.map(_._2).toArray)
  }

  final override protected def fieldIn(struct: OrcPlace, field: NestedField, index: Int): OrcPlace =
    part(struct, field, vectorIn(struct.vector, index), struct.counted)

  final override protected def entryIn(collection: OrcPlace, field: NestedField, index: Int): OrcPlace =
    part(collection, field, vectorIn(collection.vector, index), counted = false)

  private def part(parent: OrcPlace, field: NestedField, vector: ColumnVector, counted: Boolean): OrcPlace =
    OrcPlace(parent.names :+ field.name, field.required, vector, counted)

  private def vectorIn(parent: ColumnVector, index: Int): ColumnVector = parent match {
    case struct: StructColumnVector => struct.fields(index)
    case list: ListColumnVector => list.child
    case map: MapColumnVector => if (index == 0) map.keys else map.values
  }

  final override protected def struct(f: F, place: OrcPlace, fields: Vector[(OrcField[V], Int)]): OrcField[V] =
    new OrcStructField(place, rows, f.size, fields.map(_._1).toArray, fields.map(_._2).toArray)

  final override protected def list(place: OrcPlace, element: OrcField[V]): OrcField[V] =
    new OrcListField(place, rows, place.vector.asInstanceOf[ListColumnVector], element)

  final override protected def map(place: OrcPlace, key: OrcField[V], value: OrcField[V]): OrcField[V] =
    new OrcMapField(place, rows, place.vector.asInstanceOf[MapColumnVector], key, value)

  override protected def leaf(f: F, t: PrimitiveType, place: OrcPlace): OrcStoredField[V]
}
