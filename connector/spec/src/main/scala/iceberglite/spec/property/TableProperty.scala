package iceberglite.spec.property

import scala.util.Try

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.file.FileFormat
import iceberglite.spec.json.NameMappingJson
import iceberglite.spec.metadata.Encryption

/**
 * A table property that the specification or this connector defines. The metadata also keeps properties that are not
 * defined here.
 *
 * @param key the key of the property; a prefix if there is one property for each column
 * @param defaultText the default value; absent if the property has no default value
 * @param expected a sentence for messages and documentation that describes valid values
 * @param parse converts a text to a value; returns `None` for an invalid text
 * @param absent the value if the property is not set
 */
final class TableProperty[A] private[iceberglite] (
    val key: String,
    val defaultText: Option[String],
    val expected: String,
    val doc: String,
    parse: String => Option[A],
    absent: => A
) {
  lazy val default: A = absent

  /** Parses a value. @throws InvalidArgument if the value is invalid; the message names the property */
  def read(text: String): A = parse(text.trim).getOrElse(throw InvalidArgument(s"table property $key", text, expected))

  override def toString: String = key
}

object TableProperty extends TablePropertyFactories {
  private val declared = new Declarations[TableProperty[_]]

  /** Returns the value of a property for a table with the given properties. @throws InvalidArgument if it is invalid */
  def of[A](property: TableProperty[A], properties: Map[String, String]): A =
    properties.get(property.key).fold(property.default)(property.read)

  /** Checks all values. @throws InvalidArgument if a value is invalid; the message names the property */
  def check(properties: Map[String, String]): Unit = {
    all.foreach(p => properties.get(p.key).foreach(p.read))
    properties.foreach { case (key, text) => if (key.startsWith(MetricsColumnPrefix)) metricsMode(key).read(text) }
    ParquetProperty.perColumn.foreach(_.of(properties))
    for (p <- locations; text <- properties.get(p.key)) {
      // A relative path is rejected, because it would refer to other directories for other users and on other machines.
      if (!text.startsWith("/") && !text.contains(":/")) {
        throw InvalidArgument(s"table property ${p.key}", text, "It must be a URI or an absolute path")
      }
    }
  }

  /**
   * Keys that refer to other parts of the table metadata, such as `format-version`. They are never stored as
   * properties.
   */
  val Reserved: Set[String] = Set(
    "format-version",
    "uuid",
    "snapshot-count",
    "current-snapshot-id",
    "current-snapshot-summary",
    "current-snapshot-timestamp-ms",
    "current-schema",
    "default-partition-spec",
    "default-sort-order"
  )

  val Version: TableProperty[FormatVersion] = declared(property(
    "format-version",
    FormatVersion.Default.number.toString,
    s"It must be one of ${FormatVersion.all.mkString(", ")}",
    "Format version of the table; it can be upgraded, but not downgraded. Version 4 is experimental",
    text => FormatVersion.all.find(_.number.toString == text)
  ))
  val Comment: TableProperty[Option[String]] = declared(optional(
    "comment",
    "It must be any text",
    "Description of the table",
    Some(_)
  ))

  val EncryptionKeyId: TableProperty[Option[String]] = declared(optional(
    Encryption.KeyIdProperty,
    "It must be the id of a key in the catalog's key management service",
    "Id of the master key of an encrypted table; it can be set only when the table is created",
    text => Some(text).filter(_.nonEmpty)
  ))
  val EncryptionKeyLength: TableProperty[Int] = declared(property(
    Encryption.KeyLengthProperty,
    "16",
    "It must be 16, 24 or 32",
    "Length of the keys of files of an encrypted table, in bytes",
    text => int(text).filter(Set(16, 24, 32))
  ))

  val WriteFormat: TableProperty[FileFormat] = declared(property(
    "write.format.default",
    FileFormat.Parquet.name,
    "It must be parquet, orc or avro",
    "Format of new data files",
    FileFormat.parseOfRows
  ))
  val ParquetRowGroupSize: TableProperty[Long] =
    declared(size("write.parquet.row-group-size-bytes", 128L << 20, "Target size of Parquet row groups"))
  val ParquetPageSize: TableProperty[Int] =
    declared(positiveInt("write.parquet.page-size-bytes", 1 << 20, "Target size of Parquet pages"))
  val ParquetPageRowLimit: TableProperty[Int] =
    declared(positiveInt("write.parquet.page-row-limit", 20000, "Maximum number of rows in a Parquet page"))
  val ParquetDictionarySize: TableProperty[Int] = declared(positiveInt(
    "write.parquet.dict-size-bytes",
    2 << 20,
    "Maximum Parquet dictionary size before falling back to plain encoding"
  ))

  /**
   * The value of the property `write.parquet.compression-codec` in new tables. A table without the property continues
   * to use gzip, which was the default of earlier releases.
   */
  val ParquetCodecOfNewTables: ParquetCompression = ParquetCompression.Zstd
  val ParquetCodec: TableProperty[ParquetCompression] = declared(memberOf(
    "write.parquet.compression-codec",
    ParquetCompression.Gzip,
    "Compression codec of Parquet files; new tables set it to zstd",
    ParquetCompression.all
  ))
  val ParquetCompressionLevel: TableProperty[Option[Int]] = declared(optional(
    "write.parquet.compression-level",
    "It must be a number",
    "Compression level of Parquet files",
    int
  ))

  val OrcStripeSize: TableProperty[Long] =
    declared(size("write.orc.stripe-size-bytes", 64L << 20, "Target size of ORC stripes"))
  val OrcBlockSize: TableProperty[Long] =
    declared(size("write.orc.block-size-bytes", 256L << 20, "File system block size of ORC files"))
  val OrcBatchSize: TableProperty[Int] =
    declared(positiveInt("write.orc.vectorized.batch-size", 1024, "Number of rows in a batch of the ORC writer"))
  val OrcCodec: TableProperty[OrcCompression] = declared(memberOf(
    "write.orc.compression-codec",
    OrcCompression.Zlib,
    "Compression codec of ORC files",
    OrcCompression.all
  ))
  val OrcCompressionStrategy: TableProperty[OrcStrategy] = declared(memberOf(
    "write.orc.compression-strategy",
    OrcStrategy.Speed,
    "Compression strategy of ORC files: faster writes (speed) or smaller files (compression)",
    OrcStrategy.all
  ))
  val OrcBloomFilterColumns: TableProperty[Option[String]] = declared(optional(
    "write.orc.bloom.filter.columns",
    "It must be a comma-separated list of column names",
    "Columns with a Bloom filter in ORC files",
    Some(_)
  ))
  val OrcBloomFilterFpp: TableProperty[Double] = declared(property(
    "write.orc.bloom.filter.fpp",
    "0.05",
    "It must be between 0 and 1",
    "False positive probability of Bloom filters in ORC files",
    text => Try(text.toDouble).toOption.filter(p => p > 0 && p < 1)
  ))
  val AvroCodec: TableProperty[AvroCompression] = declared(memberOf(
    "write.avro.compression-codec",
    AvroCompression.Gzip,
    "Compression codec of Avro files",
    AvroCompression.all
  ))
  val AvroCompressionLevel: TableProperty[Option[Int]] =
    declared(optional("write.avro.compression-level", "It must be a number", "Compression level of Avro files", int))

  val TargetFileSize: TableProperty[Long] =
    declared(size("write.target-file-size-bytes", 512L << 20, "Target size of data files"))
  val Distribution: TableProperty[Option[DistributionMode]] = declared(optional(
    "write.distribution-mode",
    s"It must be one of ${DistributionMode.all.mkString(", ")}",
    "Distribution of rows over tasks before a write",
    DistributionMode.parse
  ))
  val Fanout: TableProperty[Boolean] = declared(flag(
    "write.spark.fanout.enabled",
    default = false,
    "Whether to keep a file open for each partition instead of sorting the rows by partition"
  ))
  val ClusterBy: TableProperty[Option[Vector[Int]]] = declared(optional(
    "iceberg-lite.cluster-by",
    "It must be a list of field ids, such as 1,2",
    "Field ids of the columns by which rewrite_data_files clusters rows along a Hilbert curve; ALTER TABLE ... " +
      "CLUSTER BY sets it",
    text => Try(text.split(",", -1).toVector.map(_.trim.toInt)).toOption
  ))
  val WriteAuditPublish: TableProperty[Boolean] = declared(flag(
    "write.wap.enabled",
    default = false,
    "Whether writes are published after an audit (WAP): a session with spark.wap.id stages its writes, and a session " +
      "with spark.wap.branch writes to the branch that it names"
  ))
  val DataPath: TableProperty[Option[String]] = declared(optional(
    "write.data.path",
    "It must be the URI of a directory",
    "Directory of new data files; by default the directory data in the table location",
    text => Some(text.stripSuffix("/"))
  ))
  val ObjectStorage: TableProperty[Boolean] = declared(flag(
    "write.object-storage.enabled",
    default = false,
    "Whether to distribute data files over directories by a hash of their names, which suits object stores"
  ))
  val ObjectStoragePartitions: TableProperty[Boolean] = declared(flag(
    "write.object-storage.partitioned-paths",
    default = true,
    "Whether the paths of data files that are distributed by a hash include the partition"
  ))

  /**
   * Creates a property whose key is a former name of `write.data.path`.
   *
   * @param use text that states when the property applies
   */
  private def formerDataPath(key: String, use: String): TableProperty[Option[String]] =
    optional(
      key,
      "It must be the URI of a directory",
      s"Former name of write.data.path$use",
      text => Some(text.stripSuffix("/"))
    )

  val ObjectStoragePath: TableProperty[Option[String]] =
    declared(formerDataPath("write.object-storage.path", ", for data files that are distributed by a hash"))
  val FolderStoragePath: TableProperty[Option[String]] = declared(formerDataPath("write.folder-storage.path", ""))
  val MetadataPath: TableProperty[Option[String]] = declared(optional(
    "write.metadata.path",
    "It must be the URI of a directory",
    "Directory of new metadata files; by default the directory metadata in the table location",
    text => Some(text.stripSuffix("/"))
  ))

  /** The properties that set locations of new files. */
  val locations: Seq[TableProperty[Option[String]]] = Seq(DataPath, ObjectStoragePath, FolderStoragePath, MetadataPath)

  val SummaryPartitionLimit: TableProperty[Int] = declared(count(
    "write.summary.partition-limit",
    0,
    "Maximum number of changed partitions that a snapshot summary lists individually"
  ))

  val MetadataCodec: TableProperty[MetadataCompression] = declared(memberOf(
    "write.metadata.compression-codec",
    MetadataCompression.Uncompressed,
    "Compression codec of metadata files",
    MetadataCompression.all
  ))
  val PreviousVersionsMax: TableProperty[Int] = declared(positiveInt(
    "write.metadata.previous-versions-max",
    100,
    "Maximum number of previous metadata files in the metadata log"
  ))
  val DeleteAfterCommit: TableProperty[Boolean] = declared(flag(
    "write.metadata.delete-after-commit.enabled",
    default = false,
    "Whether to delete metadata files that are removed from the metadata log"
  ))
  val MetricsDefault: TableProperty[MetricsMode] = declared(metricsMode("write.metadata.metrics.default"))

  /** The prefix of the metrics mode of a column. The full name of the column follows the prefix. */
  val MetricsColumnPrefix = "write.metadata.metrics.column."

  /**
   * The prefixes of properties of one column. The full name of the column follows the prefix. If a column is renamed,
   * its properties are renamed. If a column is dropped, its properties are removed.
   */
  lazy val ColumnPrefixes: Seq[String] = MetricsColumnPrefix +: ParquetProperty.perColumn.map(_.prefix)
  val MetricsMaxInferredColumns: TableProperty[Int] = declared(count(
    "write.metadata.metrics.max-inferred-column-defaults",
    100,
    "Maximum number of columns with metrics if the table does not set write.metadata.metrics.default"
  ))
  val ManifestCodec: TableProperty[AvroCompression] = declared(memberOf(
    "write.manifest.compression-codec",
    AvroCompression.Gzip,
    "Compression codec of manifests and manifest lists",
    AvroCompression.all
  ))
  val ManifestCompressionLevel: TableProperty[Option[Int]] = declared(optional(
    "write.manifest.compression-level",
    "It must be a number",
    "Compression level of manifests and manifest lists",
    int
  ))

  val CommitRetries: TableProperty[Int] =
    declared(count("commit.retry.num-retries", 4, "Maximum number of commit retries"))
  val CommitMinWait: TableProperty[Long] = declared(millis(
    "commit.retry.min-wait-ms",
    100,
    "Initial wait between commit retries"
  ))
  val CommitMaxWait: TableProperty[Long] = declared(millis(
    "commit.retry.max-wait-ms",
    60000,
    "Maximum wait between commit retries"
  ))
  val CommitTotalTimeout: TableProperty[Long] =
    declared(millis("commit.retry.total-timeout-ms", 1800000, "Maximum total retry time"))
  val StatusCheckRetries: TableProperty[Int] =
    declared(count("commit.status-check.num-retries", 3, "Maximum number of commit status checks"))
  val StatusCheckMinWait: TableProperty[Long] =
    declared(millis("commit.status-check.min-wait-ms", 1000, "Initial wait between commit status checks"))
  val StatusCheckMaxWait: TableProperty[Long] =
    declared(millis("commit.status-check.max-wait-ms", 60000, "Maximum wait between commit status checks"))
  val StatusCheckTotalTimeout: TableProperty[Long] = declared(millis(
    "commit.status-check.total-timeout-ms",
    1800000,
    "Maximum total time for checking the commit status"
  ))
  val ManifestMerge: TableProperty[Boolean] =
    declared(flag("commit.manifest-merge.enabled", default = true, "Whether commits merge small manifests"))
  val ManifestTargetSize: TableProperty[Long] =
    declared(size("commit.manifest.target-size-bytes", 8L << 20, "Target size of merged manifests"))
  val ManifestMinCountToMerge: TableProperty[Int] = declared(positiveInt(
    "commit.manifest.min-count-to-merge",
    100,
    "Minimum number of manifests before any are merged"
  ))

  val SplitSize: TableProperty[Long] = declared(size(
    "read.split.target-size",
    128L << 20,
    "Target number of bytes that one task reads"
  ))
  val SplitLookback: TableProperty[Int] = declared(positiveInt(
    "read.split.planning-lookback",
    10,
    "Number of open bins to consider when splits are packed into tasks"
  ))
  val SplitOpenFileCost: TableProperty[Long] = declared(property(
    "read.split.open-file-cost",
    (4L << 20).toString,
    "It must be 0 or more, in bytes",
    "Minimum number of bytes that a file counts as when splits are packed into tasks, so that tasks do not get too " +
      "many small files",
    long(_).filter(_ >= 0)
  ))
  val NameMappingDefault: TableProperty[Option[String]] = declared(optional(
    "schema.name-mapping.default",
    "It must be JSON as specified in Name Mapping Serialization",
    "Name mapping, which gives field ids to data files without field ids",
    text => Try(NameMappingJson.parse("schema.name-mapping.default", text)).toOption.map(_ => text)
  ))

  val Gc: TableProperty[Boolean] =
    declared(flag("gc.enabled", default = true, "Whether files that are no longer needed may be deleted"))
  val ClonedFrom: TableProperty[Option[String]] = declared(optional(
    "iceberg-lite.cloned-from",
    "It must be the name of a table",
    "Table whose files this table also uses; the procedure `clone` sets it",
    Some(_)
  ))
  val MaxSnapshotAge: TableProperty[Long] =
    declared(millis("history.expire.max-snapshot-age-ms", 432000000L, "Age at which snapshots expire"))
  val MinSnapshotsToKeep: TableProperty[Int] = declared(positiveInt(
    "history.expire.min-snapshots-to-keep",
    1,
    "Minimum number of snapshots to keep for each branch"
  ))
  val MaxSnapshotsToKeep: TableProperty[Option[Int]] = declared(optional(
    "iceberg-lite.max-snapshots-to-keep",
    "It must be an integer of 1 or more",
    "Maximum number of snapshots to keep for each branch, regardless of their age; a higher minimum number takes " +
      "precedence",
    text => Try(text.trim.toInt).toOption.filter(_ > 0)
  ))
  val MaxRefAge: TableProperty[Long] = declared(millis(
    "history.expire.max-ref-age-ms",
    Long.MaxValue,
    "Age at which branches and tags other than main expire"
  ))

  /** All properties except those of [[ColumnPrefixes]], in the order of the documentation. */
  lazy val all: Seq[TableProperty[_]] =
    declared.all ++ ParquetProperty.all ++ RowLevelProperty.all ++ Version4Property.all ++ AutoCompactProperty.all ++
      BloomIndexProperty.all

  /** Returns the configured metrics mode of a column by its full name. @throws InvalidArgument if a value is invalid */
  def metricsModeOf(column: String, properties: Map[String, String]): Option[MetricsMode] = {
    val key = MetricsColumnPrefix + column
    properties.get(key).map(metricsMode(key).read)
  }
}
