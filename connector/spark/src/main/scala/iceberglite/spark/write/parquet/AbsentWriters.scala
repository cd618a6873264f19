package iceberglite.spark.write.parquet

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

import iceberglite.spec.IcebergError.Unsupported

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
final private[parquet] class UnwrittenField(name: String, fieldType: String)
    extends FieldWriter(name, optional = true, definition = 0) {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (!values.isNullAt(ordinal)) throw Unsupported(
      s"writing a value to column $name of type $fieldType",
      "This release writes nothing but null to such a column: leave it out, or write the rows with another engine"
    )
  override def writeAbsent(repetition: Int, level: Int): Unit = ()
  override def leaves: Vector[LeafWriter] = Vector.empty
}
