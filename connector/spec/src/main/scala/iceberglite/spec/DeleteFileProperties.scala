package iceberglite.spec

/** How a table's properties speak of its delete files. */
object DeleteFileProperties {
  private val Formats: Seq[String] = Seq(FileFormat.Parquet, FileFormat.Orc, FileFormat.Avro).map(_.name)

  /**
   * The properties to write delete files by: where `write.delete.parquet.` has a setting, it stands in the place of the
   * one below `write.parquet.`, and so with the other formats. Those of single columns are about data files alone.
   */
  def of(properties: Map[String, String]): Map[String, String] = {
    val own = for {
      (key, value) <- properties
      format <- Formats.find(f => key.startsWith(s"write.delete.$f."))
    } yield s"write.$format.${key.stripPrefix(s"write.delete.$format.")}" -> value
    properties.filterNot { case (key, _) => ParquetProperty.ofColumns.exists(p => key.startsWith(p.prefix)) } ++ own
  }
}
