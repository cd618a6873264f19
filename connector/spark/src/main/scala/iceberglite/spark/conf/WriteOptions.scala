package iceberglite.spark.conf

import java.util.Locale

import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.file.FileFormat
import iceberglite.spec.property.{Declarations, DeleteGranularity, DistributionMode, RowLevelProperty, TableProperty}
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.KnownProperties

/** The options of writes. */
object WriteOptions {
  private val declared = new Declarations[SparkOption[_]]

  val Format: SparkOption[FileFormat] = declared(SparkOption[FileFormat](
    "write-format",
    TableProperty.WriteFormat.expected,
    TableProperty.WriteFormat.doc,
    TableProperty.WriteFormat.default
  )(FileFormat.parseOfRows).inTable(TableProperty.WriteFormat.key))

  val TargetFileSize: SparkOption[Long] = declared(SparkOption
    .bytes("target-file-size-bytes", TableProperty.TargetFileSize.doc, TableProperty.TargetFileSize.default)
    .inTable(TableProperty.TargetFileSize.key))

  val DeleteFormat: SparkOption[FileFormat] = declared(SparkOption
    .derived[FileFormat](
      "delete-format",
      RowLevelProperty.DeleteFormat.expected,
      "Format of new delete files; deletion vectors (version 3) are always Puffin",
      "the format of data files"
    )(FileFormat.parseOfRows).inTable(RowLevelProperty.DeleteFormat.key))

  val DeleteTargetSize: SparkOption[Long] = declared(SparkOption
    .bytes(
      "target-delete-file-size-bytes",
      "Target size of delete files",
      RowLevelProperty.DeleteTargetSize.default
    ).inTable(RowLevelProperty.DeleteTargetSize.key))

  val Granularity: SparkOption[DeleteGranularity] = declared(SparkOption[DeleteGranularity](
    "delete-granularity",
    RowLevelProperty.Granularity.expected,
    "Whether a position delete file covers one data file or all data files of a partition",
    RowLevelProperty.Granularity.default
  )(text => DeleteGranularity.all.find(_.name.equalsIgnoreCase(text))).inTable(RowLevelProperty.Granularity.key))

  val CheckNullability: SparkOption[Boolean] = declared(SparkOption
    .flag(
      "check-nullability",
      "Whether to reject a write of nullable columns to NOT NULL columns; if false, the write fails only at a null " +
        "in such a column",
      default = true
    )
    .inSession("spark.sql.iceberg.check-nullability"))

  val Fanout: SparkOption[Boolean] = declared(SparkOption
    .derived[Boolean](
      "fanout-enabled",
      "It must be true or false",
      "Whether to keep a file open for each partition instead of sorting the rows by partition",
      "true, except for tables with a sort order"
    )(SparkOption.boolean)
    .inTable(TableProperty.Fanout.key))

  val Distribution: SparkOption[DistributionMode] = declared(SparkOption
    .derived[DistributionMode](
      "distribution-mode",
      TableProperty.Distribution.expected,
      "Distribution of rows over tasks before a write",
      "range for a table with a sort order, hash for a partitioned table, else none"
    )(DistributionMode.parse)
    .inSession("spark.sql.iceberg.distribution-mode")
    .inTable(TableProperty.Distribution.key))

  val UseTableDistribution: SparkOption[Boolean] = declared(SparkOption
    .flag(
      "use-table-distribution-and-ordering",
      "Whether to distribute and sort the rows as the table requires before they are written",
      default = true
    ))

  /**
   * Approximate ratio of the size of rows in a shuffle to the size of the same rows in a Parquet file, as in Apache
   * Iceberg.
   */
  val ShuffleRatio = 3L
  private val DefaultAdvisorySize = (128L << 20) * ShuffleRatio

  /** The default of [[AdvisoryPartitionSize]] for a statement that writes only delete files. */
  val DeleteAdvisorySize: Long = (32L << 20) * ShuffleRatio
  val AdvisoryPartitionSize: SparkOption[Long] = declared(SparkOption
    .bytes("advisory-partition-size", KnownProperties.AdvisoryPartitionSize.doc, DefaultAdvisorySize)
    .inSession("spark.sql.iceberg.advisory-partition-size")
    .inTable(KnownProperties.AdvisoryPartitionSize.key))

  val OutputSpecId: SparkOption[Int] = declared(SparkOption
    .derived[Int](
      "output-spec-id",
      "It must be a number",
      "Id of the partition spec to write with",
      "the current partition spec of the table"
    )(text => scala.util.Try(text.toInt).toOption))

  val OutputSortOrderId: SparkOption[Int] = declared(SparkOption
    .derived[Int](
      "output-sort-order-id",
      "It must be a number",
      "Id of the sort order to write with",
      "the current sort order of the table"
    )(text => scala.util.Try(text.toInt).toOption))

  val Isolation: SparkOption[IsolationLevel] = declared(SparkOption
    .derived[IsolationLevel](
      "isolation-level",
      s"It must be one of ${IsolationLevel.all.mkString(", ")}",
      "Isolation level at which an overwrite, DELETE, UPDATE or MERGE is validated against concurrent commits",
      "no validation of an overwrite; for DELETE, UPDATE and MERGE, a table property such as " +
        "write.delete.isolation-level"
    )(IsolationLevel.parse))

  val ValidateFromSnapshot: SparkOption[Long] = declared(SparkOption
    .derived[Long](
      "validate-from-snapshot-id",
      "It must be the id of a snapshot",
      "Snapshot after which commits count as concurrent; used only with isolation-level",
      "the newest snapshot when the write is planned"
    )(SparkOption.long))

  val Branch: SparkOption[String] =
    declared(SparkOption.name("branch", "It must be the name of a branch", "Branch to write to", "main"))

  /** The prefix of options that add an entry to the snapshot summary. The key of the entry follows the prefix. */
  val SnapshotPropertyPrefix = "snapshot-property."

  /** All options, in the order of the documentation. */
  val all: Seq[SparkOption[_]] = declared.all ++ CompressionOptions.all ++ OverwriteOptions.all ++
    ApplicationOptions.all ++ SchemaOptions.all ++ UpsertOptions.all ++ AutoCompactOptions.all ++ StreamWriteOptions.all

  /** Spark's own options. */
  private val others: Seq[String] = Seq("path", "paths") ++ StreamWriteOptions.ofSpark

  private[iceberglite] def isKnown(key: String): Boolean = all.exists(_.key.equalsIgnoreCase(key)) ||
    others.contains(key) || key.toLowerCase(Locale.ROOT).startsWith(SnapshotPropertyPrefix) ||
    ForeignOptions.write.find(key).isDefined

  /**
   * Rejects options that are misspelled or must not be ignored, and logs warnings for options without effect.
   *
   * @throws iceberglite.spec.IcebergError if an option is not supported or misspelled
   */
  def check(options: CaseInsensitiveStringMap, session: SparkSession): Unit =
    warnings(options).foreach(SessionSettings.warnings(session).once(_))

  /**
   * Returns the warnings for options without effect.
   *
   * @throws iceberglite.spec.IcebergError if an option is not supported or misspelled
   */
  private[iceberglite] def warnings(options: CaseInsensitiveStringMap): Vector[String] = {
    val otherOptions = options.asScala.filterNot(_._1.startsWith(SnapshotPropertyPrefix))
    SparkOption.check(
      "write",
      new CaseInsensitiveStringMap(otherOptions.asJava),
      all.map(_.key) ++ others :+ SnapshotPropertyPrefix,
      ForeignOptions.write
    )(_ => false)
  }

  /**
   * The prefix of configurations that add an entry to the summary of each snapshot that the session creates. Write
   * options take precedence.
   */
  val SessionSnapshotPropertyPrefix = "spark.sql.iceberg.snapshot-property."

  /** Returns the summary entries that the session's configuration and the options request. */
  def snapshotProperties(options: CaseInsensitiveStringMap, session: SparkSession): Map[String, String] =
    session.conf.getAll.collect {
      case (key, value) if key.startsWith(SessionSnapshotPropertyPrefix) =>
        val name = key.substring(SessionSnapshotPropertyPrefix.length)
        if (name.isEmpty) throw InvalidArgument(
          "configuration key",
          key,
          "It must be followed by a key for the snapshot summary"
        )
        name -> value
    } ++ snapshotProperties(options)

  /** Returns the summary entries that the options request. The keys keep their case. */
  def snapshotProperties(options: CaseInsensitiveStringMap): Map[String, String] =
    options.asCaseSensitiveMap.asScala.collect {
      case (key, value) if key.toLowerCase(Locale.ROOT).startsWith(SnapshotPropertyPrefix) =>
        val name = key.substring(SnapshotPropertyPrefix.length)
        if (name.isEmpty) throw InvalidArgument(
          "write option name",
          key,
          "It must be followed by a key for the snapshot summary"
        )
        name -> value
    }.toMap
}
