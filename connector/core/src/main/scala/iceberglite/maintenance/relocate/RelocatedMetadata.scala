package iceberglite.maintenance.relocate

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.TableProperty

/** The metadata of a table whose files are in another location. */
private[relocate] object RelocatedMetadata {

  private val locationKeys = TableProperty.locations.map(_.key).toSet

  /**
   * Returns the metadata with other paths. Everything else stays the same, including the table's UUID.
   *
   * @throws iceberglite.spec.IcebergError.ValidationFailed a path does not begin with the source prefix
   */
  def of(metadata: TableMetadata, prefixes: PathPrefixes): TableMetadata = metadata.copy(
    location = prefixes("table location", metadata.location),
    properties = metadata.properties.map {
      case (key, path) if locationKeys(key) => key -> prefixes(s"table property $key", path)
      case other => other
    },
    snapshots = metadata.snapshots.map { snapshot =>
      snapshot.copy(
        manifestList = snapshot.manifestList.map(prefixes("manifest list", _)),
        manifests = snapshot.manifests.map(prefixes("manifest", _))
      )
    },
    metadataLog = metadata.metadataLog.map(e => e.copy(metadataFile = prefixes("metadata file", e.metadataFile))),
    statistics =
      metadata.statistics.map(f => f.copy(statisticsPath = prefixes("statistics file", f.statisticsPath))),
    partitionStatistics = metadata.partitionStatistics
      .map(f => f.copy(statisticsPath = prefixes("partition statistics file", f.statisticsPath)))
  )
}
