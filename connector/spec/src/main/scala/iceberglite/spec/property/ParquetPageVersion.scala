package iceberglite.spec.property

/** The version of the data pages of Parquet files, in `write.parquet.page-version`. */
sealed abstract class ParquetPageVersion private (name: String) extends NamedValue(name)

object ParquetPageVersion {
  case object V1 extends ParquetPageVersion("v1")
  case object V2 extends ParquetPageVersion("v2")
  val all: Seq[ParquetPageVersion] = Seq(V1, V2)
}
