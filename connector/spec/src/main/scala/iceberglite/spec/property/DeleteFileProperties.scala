package iceberglite.spec.property

import iceberglite.spec.file.FileFormat

/** The table properties for delete files. */
object DeleteFileProperties {
  private val Formats: Seq[String] = FileFormat.ofRows.map(_.name)

  /**
   * Returns the properties for writing delete files. A property with the prefix `write.delete.parquet.` overrides the
   * corresponding property with the prefix `write.parquet.`. The properties of the other formats are overridden in the
   * same way. Parquet properties of single columns without the prefix `write.delete.` are omitted, because they apply
   * only to data files.
   */
  def of(properties: Map[String, String]): Map[String, String] = {
    val renamed = for {
      (key, value) <- properties
      format <- Formats.find(f => key.startsWith(s"write.delete.$f."))
    } yield s"write.$format.${key.stripPrefix(s"write.delete.$format.")}" -> value
    properties.filterNot { case (key, _) => ParquetProperty.perColumn.exists(p => key.startsWith(p.prefix)) } ++ renamed
  }
}
