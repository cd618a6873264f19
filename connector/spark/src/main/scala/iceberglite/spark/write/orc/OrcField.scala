package iceberglite.spark.write.orc

import org.apache.hadoop.hive.ql.exec.vector.{ColumnVector, ListColumnVector, MapColumnVector}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

import iceberglite.data.orc.OrcEntries
import iceberglite.spark.write.files.RowFaults
import iceberglite.spec.types.Type

/** Puts the values of one field into the column vector of a batch of an ORC file. */
private[orc] trait OrcField {

  /**
   * Puts the value at an ordinal of a row, a struct or an array into the vector. The value may be null.
   *
   * @param slot the index of the value in the field's vector
   */
  def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit

  /** Counts a null of this field in the metrics. Called if an enclosing struct is null. */
  def countAbsent(): Unit
}

/**
 * A field with its own vector.
 *
 * @param name the full name, for messages
 * @param required whether the field is required
 */
abstract private[orc] class OrcStoredField(name: String, required: Boolean, vector: ColumnVector) extends OrcField {

  /** Puts a null into the vector if the value is null. @return whether the value is not null */
  final protected def isPresent(values: SpecializedGetters, ordinal: Int, slot: Int): Boolean =
    if (!values.isNullAt(ordinal)) true
    else {
      if (required) RowFaults.nullIn(name)
      vector.noNulls = false
      vector.isNull(slot) = true
      countAbsent()
      false
    }
}

/**
 * A struct.
 *
 * @param size the number of fields of the struct in the rows, including fields that are not written
 */
final private[orc] class OrcStructField(
    name: String,
    required: Boolean,
    vector: ColumnVector,
    size: Int,
    fields: Array[OrcField],
    ordinals: Array[Int]
) extends OrcStoredField(name, required, vector) {

  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val struct = values.getStruct(ordinal, size)
    var i = 0
    while (i < fields.length) {
      fields(i).put(struct, ordinals(i), slot)
      i += 1
    }
  }

  override def countAbsent(): Unit = fields.foreach(_.countAbsent())
}

final private[orc] class OrcListField(name: String, required: Boolean, vector: ListColumnVector, element: OrcField)
    extends OrcStoredField(name, required, vector) {

  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val array = values.getArray(ordinal)
    val size = array.numElements
    val first = OrcEntries.startEntries(vector, slot, size)
    OrcEntries.ensureCapacity(vector.child, vector.childCount)
    var i = 0
    while (i < size) {
      element.put(array, i, first + i)
      i += 1
    }
  }

  override def countAbsent(): Unit = ()
}

final private[orc] class OrcMapField(
    name: String,
    required: Boolean,
    vector: MapColumnVector,
    key: OrcField,
    value: OrcField
) extends OrcStoredField(name, required, vector) {

  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = if (isPresent(values, ordinal, slot)) {
    val map = values.getMap(ordinal)
    val size = map.numElements
    val first = OrcEntries.startEntries(vector, slot, size)
    OrcEntries.ensureCapacity(vector.keys, vector.childCount)
    OrcEntries.ensureCapacity(vector.values, vector.childCount)
    val keys = map.keyArray
    val contents = map.valueArray
    var i = 0
    while (i < size) {
      key.put(keys, i, first + i)
      value.put(contents, i, first + i)
      i += 1
    }
  }

  override def countAbsent(): Unit = ()
}

/**
 * A field of the table that the rows do not have. The same value is written to every row.
 *
 * @param constant a row that contains the value of the field
 */
final private[orc] class OrcConstantField(field: OrcField, constant: InternalRow) extends OrcField {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = field.put(constant, 0, slot)
  override def countAbsent(): Unit = field.countAbsent()
}

/**
 * A field of a type that cannot be written. Only nulls are allowed. The file does not contain the field, so readers
 * return null.
 */
final private[orc] class OrcUnwrittenField(name: String, fieldType: Type) extends OrcField {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit =
    if (!values.isNullAt(ordinal)) RowFaults.notWritten(name, fieldType)
  override def countAbsent(): Unit = ()
}
