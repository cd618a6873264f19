package iceberglite.spec.table

import iceberglite.spec.metadata.{SummaryKey, TableMetadata}
import iceberglite.spec.property.TableProperty

/** Computes the metadata of a table whose files are moved or copied to another location. */
object RelocatedMetadata {

  private val locationKeys = TableProperty.locations.map(_.key).toSet

  /**
   * Returns the metadata with new paths. All other values stay the same, including the table's UUID, except that the
   * recorded lengths of root manifests are removed.
   *
   * @param relocate returns the new path of a file or location. Its arguments are a description of the path for
   *   messages, such as `manifest list`, and the path
   */
  def of(metadata: TableMetadata, relocate: (String, String) => String): TableMetadata = metadata.copy(
    location = relocate("table location", metadata.location),
    properties = metadata.properties.map {
      case (key, path) if locationKeys(key) => key -> relocate(s"table property $key", path)
      case other => other
    },
    snapshots = metadata.snapshots.map { snapshot =>
      snapshot.copy(
        manifestList = snapshot.manifestList.map(relocate("manifest list", _)),
        manifests = snapshot.manifests.map(relocate("manifest", _)),
        // The root manifest with the new paths may have another length.
        summary = snapshot.summary - SummaryKey.RootLength
      )
    },
    metadataLog = metadata.metadataLog.map(e => e.copy(metadataFile = relocate("metadata file", e.metadataFile))),
    statistics =
      metadata.statistics.map(f => f.copy(statisticsPath = relocate("statistics file", f.statisticsPath))),
    partitionStatistics = metadata.partitionStatistics
      .map(f => f.copy(statisticsPath = relocate("partition statistics file", f.statisticsPath)))
  )
}
