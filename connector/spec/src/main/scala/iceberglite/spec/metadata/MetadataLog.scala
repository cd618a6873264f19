package iceberglite.spec.metadata

/** The log of a table's earlier metadata files (spec: "Table Metadata Fields", `metadata-log`). */
object MetadataLog {

  /**
   * Returns a copy of `next` with the metadata log that [[append]] returns. For the other parameters, see [[append]].
   */
  def extend(next: TableMetadata, base: TableMetadata, file: String, max: Int): TableMetadata =
    next.copy(metadataLog = append(base, file, max))

  /**
   * Returns the metadata log of the metadata file that replaces the file of `base`.
   *
   * @param file the location of the metadata file of `base`
   * @param max the maximum number of entries, at least one (`write.metadata.previous-versions-max`)
   */
  def append(base: TableMetadata, file: String, max: Int): Vector[MetadataLogEntry] =
    (base.metadataLog :+ MetadataLogEntry(base.lastUpdatedMs, file)).takeRight(math.max(max, 1))

  /** Returns the files that are in the log of `base`, but not in the log of `next`. */
  def removedFiles(base: TableMetadata, next: TableMetadata): Vector[String] = {
    val kept = next.metadataLog.map(_.metadataFile).toSet
    base.metadataLog.map(_.metadataFile).filterNot(kept)
  }
}
