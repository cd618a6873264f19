package iceberglite.data

import iceberglite.data.avro.AvroData
import iceberglite.data.orc.OrcData
import iceberglite.data.parquet.ParquetData
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.file.FileFormat

object DataFormats {

  /** All supported formats of data files. */
  val all: Seq[DataFormat] = Seq(ParquetData, OrcData, AvroData)

  /** Returns the format with the given name in table properties; absent if data files cannot have this format. */
  def named(name: String): Option[DataFormat] = FileFormat.parse(name).flatMap(find)

  def find(format: FileFormat): Option[DataFormat] = all.find(_.format == format)

  /** Returns the implementation of a format. @throws Unsupported if data files cannot have this format */
  def of(format: FileFormat): DataFormat = find(format).getOrElse(
    throw Unsupported(s"data files of format ${format.name}", s"Supported: ${all.map(_.format.name).mkString(", ")}")
  )
}
