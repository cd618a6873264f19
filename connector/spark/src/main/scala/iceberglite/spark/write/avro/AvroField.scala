package iceberglite.spark.write.avro

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

import iceberglite.avro.AvroOutput
import iceberglite.spark.write.files.RowFaults
import iceberglite.spec.types.Type

/** Encodes the values of one field, according to the schema that [[iceberglite.avro.AvroSchemas]] creates. */
private[avro] trait AvroField {

  /** Encodes the value at an ordinal of a row, a struct or an array. The value may be null. */
  def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit

  /** Counts a null of this field in the metrics. Called if an enclosing struct is null. */
  def countAbsent(): Unit
}

/**
 * A field that is stored in the file.
 *
 * @param name the full name, for messages
 * @param required whether the field is required; an optional field is a union with null
 */
abstract private[avro] class AvroStoredField(name: String, required: Boolean) extends AvroField {

  /** Encodes a null if the value is null. @return whether the value is not null */
  final protected def isPresent(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Boolean = {
    val present = !values.isNullAt(ordinal)
    if (!required) out.writeBranch(present) else if (!present) RowFaults.nullIn(name)
    if (!present) countAbsent()
    present
  }
}

/**
 * A struct.
 *
 * @param size the number of fields of the struct in the rows, including fields that are not written
 */
final private[avro] class AvroStructField(
    name: String,
    required: Boolean,
    size: Int,
    fields: Array[AvroField],
    ordinals: Array[Int]
) extends AvroStoredField(name, required) {

  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val struct = values.getStruct(ordinal, size)
      var i = 0
      while (i < fields.length) {
        fields(i).put(struct, ordinals(i), out)
        i += 1
      }
    }

  override def countAbsent(): Unit = fields.foreach(_.countAbsent())
}

/** A list, which is encoded as one block of elements and an end marker. */
final private[avro] class AvroListField(name: String, required: Boolean, element: AvroField)
    extends AvroStoredField(name, required) {

  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val array = values.getArray(ordinal)
      val size = array.numElements
      if (size > 0) out.writeLong(size.toLong)
      var i = 0
      while (i < size) {
        element.put(array, i, out)
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
final private[avro] class AvroMapField(name: String, required: Boolean, key: AvroField, value: AvroField)
    extends AvroStoredField(name, required) {

  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (isPresent(values, ordinal, out)) {
      val map = values.getMap(ordinal)
      val size = map.numElements
      if (size > 0) out.writeLong(size.toLong)
      val keys = map.keyArray
      val contents = map.valueArray
      var i = 0
      while (i < size) {
        key.put(keys, i, out)
        value.put(contents, i, out)
        i += 1
      }
      out.writeLong(0)
    }

  override def countAbsent(): Unit = ()
}

/**
 * A field of the table that the rows do not have. The same value is written to every row.
 *
 * @param constant a row that contains the value of the field
 */
final private[avro] class AvroConstantField(field: AvroField, constant: InternalRow) extends AvroField {
  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit = field.put(constant, 0, out)
  override def countAbsent(): Unit = field.countAbsent()
}

/**
 * A field of a type that cannot be written. Only nulls are allowed. The file does not contain the field, so readers
 * return null.
 */
final private[avro] class AvroUnwrittenField(name: String, fieldType: Type) extends AvroField {
  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (!values.isNullAt(ordinal)) RowFaults.notWritten(name, fieldType)
  override def countAbsent(): Unit = ()
}
