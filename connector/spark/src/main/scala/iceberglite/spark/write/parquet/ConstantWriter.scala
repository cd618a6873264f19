package iceberglite.spark.write.parquet

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

import iceberglite.data.parquet.shred.{FieldShredder, FileColumn}
import iceberglite.spark.write.files.{RowFaults, VariantParts}
import iceberglite.spec.types.Type

/**
 * A field of the table that the rows do not have. The same value is written to every row.
 *
 * @param constant a row that contains the value of the field
 */
final private[parquet] class ConstantWriter(field: FieldShredder[SpecializedGetters], constant: InternalRow)
    extends FieldShredder[SpecializedGetters] {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    field.write(constant, 0, repetition)
  override def writeAbsent(repetition: Int, level: Int): Unit = field.writeAbsent(repetition, level)
  override def leaves: Vector[FileColumn] = field.leaves
}

/** A field whose values are variants in strings. @param group writes the parts of a variant */
final private[parquet] class ParquetVariantField(group: FieldShredder[SpecializedGetters], parts: VariantParts)
    extends FieldShredder[SpecializedGetters] {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    group.write(parts.of(values, ordinal), 0, repetition)
  override def writeAbsent(repetition: Int, level: Int): Unit = group.writeAbsent(repetition, level)
  override def leaves: Vector[FileColumn] = group.leaves
}

/**
 * A field of a type that cannot be written. Only nulls are allowed. The file does not contain the field, so readers
 * return null.
 */
final private[parquet] class ParquetUnwrittenField(name: String, fieldType: Type)
    extends FieldShredder[SpecializedGetters] {
  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (!values.isNullAt(ordinal)) RowFaults.notWritten(name, fieldType)
  override def writeAbsent(repetition: Int, level: Int): Unit = ()
  override def leaves: Vector[FileColumn] = Vector.empty
}
