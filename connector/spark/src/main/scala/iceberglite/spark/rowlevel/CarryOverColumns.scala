package iceberglite.spark.rowlevel

import iceberglite.spec.schema.MetadataColumns.{LastUpdatedSequenceNumber, RowId, SpecId}
import iceberglite.spec.types.NestedField

/** The metadata columns that copy-on-write reads with each row and passes to the write. */
private[iceberglite] object CarryOverColumns {

  /**
   * The lineage columns (spec, version 3: "Row Lineage"). Copy-on-write keeps both for an unchanged row. An updated row
   * keeps only its row id.
   */
  val Lineage: Vector[NestedField] = Vector(RowId, LastUpdatedSequenceNumber)

  /**
   * The metadata column in which the write receives a code for the change of a row (`RowChangeCode`). The read returns
   * the partition spec id in this column. For changed rows, Spark's plan replaces the id by the code.
   */
  val Change: NestedField = SpecId

  private val names: Set[String] = (Lineage :+ Change).map(_.name).toSet

  def contains(name: String): Boolean = names(name)
}
