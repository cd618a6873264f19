package iceberglite.data

import iceberglite.spec.FileFormat
import iceberglite.spec.IcebergError.Unsupported

object DataFormats {

  /** All formats of data files. */
  val all: Seq[DataFormat] = Seq.empty

  def of(format: FileFormat): DataFormat = all.find(_.format == format).getOrElse(
    throw Unsupported(s"rows in ${format.name} files", s"Rows stand in ${all.map(_.format.name).mkString(", ")} files")
  )
}
