package iceberglite.spark.write.avro

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

import iceberglite.avro.AvroOutput
import iceberglite.data.avro.AvroField
import iceberglite.spark.write.files.{RowFaults, VariantParts}
import iceberglite.spec.types.Type

/**
 * A field of the table that the rows do not have. The same value is written to every row.
 *
 * @param constant a row that contains the value of the field
 */
final private[avro] class AvroConstantField(field: AvroField[SpecializedGetters], constant: InternalRow)
    extends AvroField[SpecializedGetters] {
  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit = field.put(constant, 0, out)
  override def countAbsent(): Unit = field.countAbsent()
}

/** A field whose values are variants in strings. @param struct encodes the parts of a variant */
final private[avro] class AvroVariantField(struct: AvroField[SpecializedGetters], parts: VariantParts)
    extends AvroField[SpecializedGetters] {
  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    struct.put(parts.of(values, ordinal), 0, out)
  override def countAbsent(): Unit = struct.countAbsent()
}

/**
 * A field of a type that cannot be written. Only nulls are allowed. The file does not contain the field, so readers
 * return null.
 */
final private[avro] class AvroUnwrittenField(name: String, fieldType: Type) extends AvroField[SpecializedGetters] {
  override def put(values: SpecializedGetters, ordinal: Int, out: AvroOutput): Unit =
    if (!values.isNullAt(ordinal)) RowFaults.notWritten(name, fieldType)
  override def countAbsent(): Unit = ()
}
