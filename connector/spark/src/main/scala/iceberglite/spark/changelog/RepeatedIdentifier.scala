package iceberglite.spark.changelog

import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spec.IcebergError.ValidationFailed

/** Throws an error if a query finds several rows with the same identifier. */
object RepeatedIdentifier {

  /**
   * Throws the error. The method has a return type because it is called as an expression of a query.
   *
   * @param columns the names of the identifier columns
   * @param values the values of `columns`
   * @throws ValidationFailed always
   */
  def throwError(columns: UTF8String, values: UTF8String, snapshotId: Long): UTF8String = throw ValidationFailed(
    s"Snapshot $snapshotId changed several rows with the same identifier ($columns) = $values, so it is unclear " +
      "which row was updated to which. Choose identifier_columns that are unique, or set compute_updates to false"
  )
}
