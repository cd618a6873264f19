package iceberglite.spark.read.rows

import iceberglite.spec.MetadataColumns.{LastUpdatedSequenceNumber, RowId, SpecId}
import iceberglite.spec.NestedField

/** The metadata columns that come to the write with rows that copy-on-write has read. */
private[spark] object CarriedRows {

  /** What a row keeps of older versions of itself (adopted version 3: "Row Lineage"). */
  val Lineage: Vector[NestedField] = Vector(RowId, LastUpdatedSequenceNumber)

  /** In its place stands what became of a row, as long as it is not the partition spec of the row's file. */
  val Change: NestedField = SpecId

  private val names: Set[String] = (Lineage :+ Change).map(_.name).toSet

  def contains(name: String): Boolean = names(name)
}
