package iceberglite.table

import iceberglite.spec.property.{CheckConstraint, DeleteFileProperties, ParquetProperty, TableProperty}
import iceberglite.spec.schema.{DeclaredType, GeneratedColumn}

/**
 * A table property that the connector supports.
 *
 * @param default the default value; absent if the property has no default, or if its default is not constant
 */
final case class KnownProperty(key: String, default: Option[String], doc: String)

/** The table properties that the connector supports, including those that only one engine or catalog uses. */
object KnownProperties {
  val AdaptiveSplits: KnownProperty = KnownProperty(
    "read.split.adaptive-size.enabled",
    Some("true"),
    "Whether to adapt the split size to the size of the scan and the number of cores"
  )
  val Vectorization: KnownProperty = KnownProperty(
    "read.parquet.vectorization.enabled",
    Some("true"),
    "Whether to return columnar batches to Spark instead of rows"
  )
  val BatchSize: KnownProperty =
    KnownProperty("read.parquet.vectorization.batch-size", Some("4096"), "Number of rows in a batch")
  val MetadataSplitSize: KnownProperty = KnownProperty(
    "read.split.metadata-target-size",
    Some((32L << 20).toString),
    "Target number of bytes that one task reads for a metadata table; the driver reads up to this number itself"
  )
  val DataPlanning: KnownProperty = KnownProperty(
    "read.data-planning-mode",
    Some("auto"),
    "Where manifests of data files are read: on the driver (local) or on the cluster (distributed)"
  )
  val DeletePlanning: KnownProperty = KnownProperty(
    "read.delete-planning-mode",
    Some("auto"),
    "Where manifests of delete files are read: on the driver (local) or on the cluster (distributed)"
  )
  val AdvisoryPartitionSize: KnownProperty = KnownProperty(
    "write.spark.advisory-partition-size-bytes",
    None,
    "Advisory size of the shuffled rows of one task"
  )
  val AcceptAnySchema: KnownProperty = KnownProperty(
    "write.spark.accept-any-schema",
    Some("false"),
    "Whether writes may have other columns than the table, so that merge-schema can add columns"
  )
  val HiveEngine: KnownProperty = KnownProperty(
    "engine.hive.enabled",
    Some("false"),
    "Whether Hive can read the table through its storage handler; only for catalogs of type hive"
  )
  val HiveLock: KnownProperty = KnownProperty(
    "engine.hive.lock-enabled",
    Some("true"),
    "Whether commits take a lock in the Hive Metastore; only for catalogs of type hive"
  )

  private val ofEngines = Vector(
    AdaptiveSplits,
    Vectorization,
    BatchSize,
    MetadataSplitSize,
    DataPlanning,
    DeletePlanning,
    AdvisoryPartitionSize,
    AcceptAnySchema,
    HiveEngine,
    HiveLock
  )

  /** All properties that have a fixed key. */
  lazy val all: Vector[KnownProperty] =
    TableProperty.all.map(p => KnownProperty(p.key, p.defaultText, p.doc)).toVector ++ ofEngines

  private lazy val byKey: Map[String, KnownProperty] = all.map(p => p.key -> p).toMap

  /** Returns the property with the given key; absent if the connector does not support the key. */
  def find(key: String): Option[KnownProperty] =
    byKey.get(key).orElse(ofColumn(key)).orElse(ofDeleteFiles(key)).orElse(ofConstraint(key))
      .orElse(ofGeneratedColumn(key))

  private def ofColumn(key: String): Option[KnownProperty] = (TableProperty.ColumnPrefixes :+ DeclaredType.Prefix)
    .find(key.startsWith).map(prefix => KnownProperty(key, None, s"${prefix.stripSuffix(".")} of one column"))

  /** Returns the property of delete files that overrides a property of data files. */
  private def ofDeleteFiles(key: String): Option[KnownProperty] =
    DeleteFileProperties.keyOfDataFiles(key).filterNot(ParquetProperty.ofDataFiles).flatMap(byKey.get)
      .map(p => KnownProperty(key, None, s"${p.key} for delete files"))

  private def ofConstraint(key: String): Option[KnownProperty] =
    if (CheckConstraint.isKey(key)) Some(KnownProperty(key, None, "Condition of a CHECK constraint")) else None

  private def ofGeneratedColumn(key: String): Option[KnownProperty] =
    if (GeneratedColumn.isKey(key)) Some(KnownProperty(key, None, "Expression of a generated column")) else None
}
