package iceberglite.spark.write.files

import iceberglite.spec.Place
import iceberglite.spec.IcebergError.{InvalidArgument, NullInRequired, StorageFailed, Unsupported}
import iceberglite.spec.types.Type

/** Creates the errors for invalid rows, for all file formats. */
private[iceberglite] object RowFaults {

  /**
   * Throws the error for a null in a required column.
   *
   * @param column the full name of the column
   */
  def nullIn(column: String): Nothing = throw NullInRequired(column)

  /** Throws the error for a value in a column of a type that cannot be written. */
  def notWritten(column: String, fieldType: Type): Nothing = throw Unsupported(
    s"writing a value to column $column of type $fieldType",
    "This release can only write null to such a column: omit it, or write the rows with another engine"
  )

  /**
   * Checks the length of a value of type `fixed`.
   *
   * @param length the length of the column's type, in bytes
   */
  def checkLength(bytes: Array[Byte], length: Int, column: String): Unit = if (bytes.length != length) {
    throw InvalidArgument(
      s"value of column $column",
      s"${bytes.length} bytes",
      s"It must have $length bytes, because the column is of type fixed[$length]"
    )
  }

  /**
   * Adds the name of the table to a failure, because Spark reports errors of tasks without the statement that they
   * belong to.
   */
  def ofTable(failed: StorageFailed, table: String): StorageFailed =
    failed.copy(place = Place.OfTable(failed.place, table), cause = Some(failed))
}
