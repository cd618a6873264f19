package iceberglite.spark.write.orc

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

import iceberglite.data.orc.OrcField
import iceberglite.spark.write.files.{RowFaults, VariantParts}
import iceberglite.spec.types.Type

/**
 * A field of the table that the rows do not have. The same value is written to every row.
 *
 * @param constant a row whose first value is the value of the field
 */
final private[orc] class OrcConstantField(field: OrcField[SpecializedGetters], constant: InternalRow)
    extends OrcField[SpecializedGetters] {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit = field.put(constant, 0, slot)
  override def countAbsent(): Unit = field.countAbsent()
}

/** A field whose values are variants in strings. @param struct puts the parts of a variant into the batch */
final private[orc] class OrcVariantField(struct: OrcField[SpecializedGetters], parts: VariantParts)
    extends OrcField[SpecializedGetters] {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit =
    struct.put(parts.of(values, ordinal), 0, slot)
  override def countAbsent(): Unit = struct.countAbsent()
}

/**
 * A field of a type that cannot be written. Only nulls are allowed. The file does not contain the field, so readers
 * return null.
 */
final private[orc] class OrcUnwrittenField(name: String, fieldType: Type) extends OrcField[SpecializedGetters] {
  override def put(values: SpecializedGetters, ordinal: Int, slot: Int): Unit =
    if (!values.isNullAt(ordinal)) RowFaults.notWritten(name, fieldType)
  override def countAbsent(): Unit = ()
}
