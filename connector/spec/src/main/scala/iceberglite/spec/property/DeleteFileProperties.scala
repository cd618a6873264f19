package iceberglite.spec.property

import iceberglite.spec.file.FileFormat

/** The table properties for delete files. */
object DeleteFileProperties {
  private val Formats: Seq[String] = FileFormat.ofRows.map(_.name)

  /** Returns the property of data files that a property of delete files overrides; `None` for other properties. */
  def keyOfDataFiles(key: String): Option[String] =
    Formats.find(f => key.startsWith(s"write.delete.$f.")).map(_ => s"write.${key.stripPrefix("write.delete.")}")

  /**
   * Returns the properties for writing delete files. A property with the prefix `write.delete.parquet.` overrides the
   * corresponding property with the prefix `write.parquet.`. The properties of the other formats are overridden in the
   * same way. Parquet properties of single columns without the prefix `write.delete.` are omitted, because they apply
   * only to data files.
   */
  def of(properties: Map[String, String]): Map[String, String] = {
    val renamed = for {
      (key, value) <- properties
      keyOfDataFiles <- keyOfDataFiles(key)
    } yield keyOfDataFiles -> value
    properties.filterNot { case (key, _) => ParquetProperty.perColumn.exists(p => key.startsWith(p.prefix)) } ++ renamed
  }
}
