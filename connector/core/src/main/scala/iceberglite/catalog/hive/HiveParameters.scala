package iceberglite.catalog.hive

import org.slf4j.LoggerFactory

import iceberglite.spec.json.{PartitionSpecJson, SchemaJson, SortOrderJson, SummaryJson}
import iceberglite.spec.metadata.{Snapshot, SummaryKey, TableMetadata}
import iceberglite.spec.schema.Schema
import iceberglite.table.{TableVersion, ViewState}

/**
 * The parameters of Iceberg tables and views in the Metastore, as Apache Iceberg writes them. This connector reads only
 * the parameters with the kind of object, the location of the metadata file, the id of the master key of an encrypted
 * table, and the table property `engine.hive.lock-enabled`. The other parameters are for users and for Hive.
 */
private[hive] object HiveParameters {
  val TypeKey = "table_type"
  val LocationKey = "metadata_location"
  private val PreviousKey = "previous_metadata_location"
  val OwnerKey = "hive.metastore.table.owner"
  val LockKey = "engine.hive.lock-enabled"
  private val EngineKey = "engine.hive.enabled"
  private val StorageHandler = "storage_handler" -> "org.apache.iceberg.mr.hive.HiveIcebergStorageHandler"
  private val StatisticsAccurate = "COLUMN_STATS_ACCURATE"

  /**
   * A hash of the table metadata, with which Apache Iceberg checks the metadata of encrypted tables. Apache Iceberg
   * computes the hash from its own JSON text of the metadata, which other programs cannot reproduce. Without a hash,
   * Apache Iceberg only checks that the key id in the metadata equals the key id in the parameters, and logs a warning.
   */
  private val MetadataHash = "metadata_hash"

  /** Prevents the server from listing all files of the table to count them. */
  val NoStatistics: (String, String) = "DO_NOT_UPDATE_STATS" -> "true"

  /**
   * The table properties that are stored as parameters with another name, because Hive has its own parameter. Each
   * property is mapped to the name of the parameter.
   */
  private val renamedParameters = Map("gc.enabled" -> "external.table.purge")

  private val log = LoggerFactory.getLogger("iceberglite.catalog.hive.HiveParameters")

  /** Whether Hive may read the table. */
  def isHiveEnabled(properties: Map[String, String], settings: HiveSettings): Boolean =
    properties.get(EngineKey).fold(settings.engine)(_.equalsIgnoreCase("true"))

  /**
   * Returns a table's new parameters.
   *
   * @param before the current parameters, including those that other tools have set
   */
  def ofTable(
      before: Map[String, String],
      base: Option[TableVersion],
      next: TableVersion,
      settings: HiveSettings
  ): Map[String, String] = {
    val metadata = next.metadata
    val summary = new SummaryParameters(settings.maxParameter)
    val removed = removedKeys(base.map(_.metadata.properties), metadata.properties) ++ SummaryParameters.keys
    val kept = before -- removed - StorageHandler._1 - MetadataHash
    val common = kept ++ toHive(metadata.properties) ++
      metadata.uuid.map(SummaryParameters.Uuid -> _.toString) ++
      pointers("ICEBERG", base.map(_.metadataLocation), next.metadataLocation) ++
      metadata.currentSnapshot.fold(Map.empty[String, String])(counts) ++ summary.of(metadata)
    val withEngine = if (isHiveEnabled(metadata.properties, settings)) common + StorageHandler else common
    if (settings.keepStatistics) withEngine else withEngine - StatisticsAccurate + NoStatistics
  }

  /** Returns a view's new parameters. @param before as for [[ofTable]] */
  def ofView(
      before: Map[String, String],
      base: Option[ViewState],
      next: ViewState,
      settings: HiveSettings
  ): Map[String, String] = {
    val view = next.metadata
    val removed = removedKeys(base.map(_.metadata.properties), view.properties) + SummaryParameters.SchemaKey
    before -- removed ++ toHive(view.properties) ++
      view.uuid.map(SummaryParameters.Uuid -> _.toString) ++
      pointers("ICEBERG-VIEW", base.map(_.metadataLocation), next.metadataLocation) ++
      new SummaryParameters(settings.maxParameter).schema(view.schema)
  }

  private def toHive(properties: Map[String, String]): Map[String, String] =
    (properties - OwnerKey).map { case (key, value) => renamedParameters.getOrElse(key, key) -> value }

  private def removedKeys(base: Option[Map[String, String]], next: Map[String, String]): Set[String] =
    (base.getOrElse(Map.empty).keySet -- next.keySet).map(key => renamedParameters.getOrElse(key, key))

  private def pointers(kind: String, base: Option[String], next: String): Map[String, String] =
    Map(TypeKey -> kind, LocationKey -> next) ++ base.map(PreviousKey -> _)

  /** Returns the parameters with Hive's table statistics, computed from the snapshot summary. */
  private def counts(snapshot: Snapshot): Map[String, String] =
    Seq(
      SummaryKey.TotalDataFiles -> "numFiles",
      SummaryKey.TotalRecords -> "numRows",
      SummaryKey.TotalFilesSize -> "totalSize"
    )
      .flatMap { case (key, hive) => snapshot.summary.get(key).map(hive -> _) }.toMap

  private object SummaryParameters {
    val Uuid = "uuid"
    val SnapshotCount = "snapshot-count"
    val SnapshotId = "current-snapshot-id"
    val SnapshotTime = "current-snapshot-timestamp-ms"
    val SnapshotSummary = "current-snapshot-summary"
    val SchemaKey = "current-schema"
    val SpecKey = "default-partition-spec"
    val OrderKey = "default-sort-order"
    val keys: Seq[String] = Seq(SnapshotId, SnapshotTime, SnapshotSummary, SchemaKey, SpecKey, OrderKey)
  }

  /**
   * Creates the parameters that show parts of the metadata to users of the Metastore.
   *
   * @param max maximum number of characters of each parameter
   */
  final private class SummaryParameters(max: Long) {
    import SummaryParameters._

    def of(metadata: TableMetadata): Map[String, String] = Map(SnapshotCount -> metadata.snapshots.size.toString) ++
      metadata.currentSnapshot.fold(Map.empty[String, String])(snapshot) ++
      schema(metadata.schema) ++
      (if (metadata.spec.isPartitioned) unlessTooLong(SpecKey, PartitionSpecJson.toJson(metadata.spec)) else None) ++
      (if (metadata.sortOrder.isSorted) unlessTooLong(OrderKey, SortOrderJson.toJson(metadata.sortOrder)) else None)

    def schema(schema: Schema): Option[(String, String)] = unlessTooLong(SchemaKey, SchemaJson.toJson(schema))

    private def snapshot(snapshot: Snapshot): Map[String, String] =
      if (max <= 0) Map.empty
      else Map(
        SnapshotId -> snapshot.snapshotId.toString,
        SnapshotTime -> snapshot.timestampMs.toString
      ) ++ unlessTooLong(SnapshotSummary, SummaryJson.toJson(snapshot))

    private def unlessTooLong(key: String, text: => String): Option[(String, String)] =
      if (max <= 0) None
      else Some(key -> text).filter { case (_, value) =>
        if (value.length > max)
          log.info(s"$key is not stored in the Hive Metastore: it has ${value.length} characters, more than $max")
        value.length <= max
      }
  }
}
