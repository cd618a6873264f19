package iceberglite.spark.rowlevel

import iceberglite.spec.schema.MetadataColumns.{LastUpdatedSequenceNumber, RowId, SpecId}
import iceberglite.spec.types.NestedField

/** The metadata columns that are passed to the write with rows that copy-on-write has read. */
private[iceberglite] object CarryOverColumns {

  /** The columns that a row keeps across its versions (adopted version 3: "Row Lineage"). */
  val Lineage: Vector[NestedField] = Vector(RowId, LastUpdatedSequenceNumber)

  /**
   * The column with the change of a row (`RowChangeCode`). It temporarily replaces the partition spec id of the row's
   * file.
   */
  val Change: NestedField = SpecId

  private val names: Set[String] = (Lineage :+ Change).map(_.name).toSet

  def contains(name: String): Boolean = names(name)
}
