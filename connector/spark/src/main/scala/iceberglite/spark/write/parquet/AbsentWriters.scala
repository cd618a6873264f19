package iceberglite.spark.write.parquet

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

import iceberglite.spark.write.RowFaults
import iceberglite.spec.Type

/**
 * A field that the rows do not have.
 *
 * @param constant holds its value
 */
final private[parquet] class ConstantWriter(
    name: String,
    optional: Boolean,
    definition: Int,
    field: FieldWriter,
    constant: InternalRow
) extends FieldWriter(name, optional, definition) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    field.write(constant, 0, repetition)
  override def writeAbsent(repetition: Int, level: Int): Unit = field.writeAbsent(repetition, level)
  override def leaves: Vector[LeafWriter] = field.leaves
}

/** A field of a type that is not written: null, which a reader takes a column for that a file lacks, or an error. */
final private[parquet] class UnwrittenField(name: String, fieldType: Type)
    extends FieldWriter(name, optional = true, definition = 0) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (!values.isNullAt(ordinal)) RowFaults.notWritten(name, fieldType)
  override def writeAbsent(repetition: Int, level: Int): Unit = ()
  override def leaves: Vector[LeafWriter] = Vector.empty
}
