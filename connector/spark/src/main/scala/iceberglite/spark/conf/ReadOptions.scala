package iceberglite.spark.conf

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.convert.VariantForm
import iceberglite.spec.property.{Declarations, TableProperty}
import iceberglite.table.KnownProperties

/** The options of reads; the options that select the rows to read are in [[TimeTravel]] and [[RangeOptions]]. */
object ReadOptions {
  private val declared = new Declarations[SparkOption[_]]

  val SplitSize: SparkOption[Long] = declared(SparkOption
    .bytes(
      "split-size",
      "Target number of bytes that one task reads; setting it turns off the adaptive split size",
      TableProperty.SplitSize.default
    )
    .inSession("spark.sql.iceberg.read.split-size")
    .inTable(TableProperty.SplitSize.key))

  val Lookback: SparkOption[Int] = declared(SparkOption
    .count(
      "lookback",
      "Number of open bins to consider when splits are packed into tasks",
      TableProperty.SplitLookback.default
    )
    .inTable(TableProperty.SplitLookback.key))

  val FileOpenCost: SparkOption[Long] = declared(SparkOption[Long](
    "file-open-cost",
    "It must be 0 or more, in bytes",
    "Minimum number of bytes that a file counts as when splits are packed into tasks, so that tasks do not get too " +
      "many small files",
    TableProperty.SplitOpenFileCost.default
  )(SparkOption.long(_).filter(_ >= 0)).inTable(TableProperty.SplitOpenFileCost.key))

  val AdaptiveSplits: SparkOption[Boolean] = declared(SparkOption
    .flag(
      "adaptive-split-size",
      KnownProperties.AdaptiveSplits.doc,
      default = true
    )
    .inSession("spark.sql.iceberg.read.adaptive-split-size.enabled")
    .inTable(KnownProperties.AdaptiveSplits.key))

  val Parallelism: SparkOption[Int] = declared(SparkOption
    .derived[Int](
      "adaptive-split-parallelism",
      s"It must be 1 to ${Int.MaxValue}",
      "Maximum number of tasks with an adaptive split size; a scan has more tasks if each would otherwise read more " +
        "than split-size",
      "four per core, but at most the larger of the number of cores and `spark.sql.shuffle.partitions`"
    )(text => scala.util.Try(text.toInt).toOption.filter(_ > 0))
    .inSession("spark.sql.iceberg.read.adaptive-split-size.parallelism"))

  val Vectorization: SparkOption[Boolean] = declared(SparkOption
    .flag("vectorization-enabled", KnownProperties.Vectorization.doc, default = true)
    .inSession("spark.sql.iceberg.vectorization.enabled")
    .inTable(KnownProperties.Vectorization.key))

  /** Maximum batch size. It is limited because memory is allocated for a whole batch, even if a file has few rows. */
  private val MaxBatchSize = 1 << 20

  /**
   * The default is Spark's batch size. In measurements, scans of many columns took 10 % longer with 5000, Apache
   * Iceberg's default.
   */
  val BatchSize: SparkOption[Int] = declared(SparkOption
    .count("batch-size", KnownProperties.BatchSize.doc, 4096, MaxBatchSize)
    .inTable(KnownProperties.BatchSize.key))

  val AggregatePushDown: SparkOption[Boolean] = declared(SparkOption
    .flag(
      "aggregate-push-down-enabled",
      "Whether to answer COUNT, MIN and MAX from metadata if the result is exact",
      default = true
    )
    .inSession("spark.sql.iceberg.aggregate-push-down.enabled"))

  val DataGrouping: SparkOption[Boolean] = declared(SparkOption
    .derived[Boolean](
      "preserve-data-grouping",
      "It must be true or false",
      "Whether to keep the files of a partition together and report the partitioning to Spark, which avoids shuffles " +
        "in joins and aggregates",
      "true if a join benefits from it"
    )(text => scala.util.Try(text.toBoolean).toOption)
    .inSession("spark.sql.iceberg.planning.preserve-data-grouping"))

  /** All options, in the order of the documentation. */
  val all: Seq[SparkOption[_]] = declared.all ++ PlanningOptions.all ++ StreamOptions.all

  /**
   * The valid options that are not in [[all]]: Spark's own options, the internal option [[FiltersByMetrics]], and the
   * options that select the snapshot or the commits to read.
   */
  private def others: Seq[String] =
    Seq("path", "paths", FiltersByMetrics) ++ TimeTravel.optionKeys ++ RangeOptions.keys

  /**
   * Option that allows a scan to use column metrics to determine whether all rows of a file match the filter. An
   * optimizer rule sets this option, not the user.
   */
  private[iceberglite] val FiltersByMetrics = "iceberg-lite.filters-by-metrics"

  private[iceberglite] def filtersByMetrics(options: CaseInsensitiveStringMap): Boolean =
    options.getBoolean(FiltersByMetrics, false)

  private[iceberglite] def isKnown(key: String): Boolean = all.exists(_.key.equalsIgnoreCase(key)) ||
    others.exists(_.equalsIgnoreCase(key))

  /**
   * Returns the warnings for options without effect.
   *
   * @throws iceberglite.spec.IcebergError if an option is not supported or misspelled
   */
  private[iceberglite] def warnings(options: CaseInsensitiveStringMap): Vector[String] =
    // Accept write options without a warning, because a write that reads its own table passes its options to the read.
    SparkOption.check("read", options, all.map(_.key) ++ others, ForeignOptions.read)(WriteOptions.isKnown)

  /**
   * Rejects options that are misspelled or must not be ignored, and logs warnings for options without effect.
   *
   * @throws iceberglite.spec.IcebergError if an option is not supported or misspelled
   */
  def check(options: CaseInsensitiveStringMap, session: SparkSession): Unit =
    warnings(options).foreach(SessionSettings.warnings(session).once(_))
}

/**
 * The settings for splitting and reading the files of one scan.
 *
 * @param parallelism the number of tasks that a scan with an adaptive split size may have. A scan has more tasks only
 *   if its splits would otherwise be larger than the configured split size
 * @param cores number of tasks that run at the same time
 * @param variants the form in which variants are read
 */
final case class ReadSettings(
    splitSize: Long,
    adaptive: Boolean,
    parallelism: Int,
    cores: Int,
    lookback: Int,
    fileOpenCost: Long,
    vectorized: Boolean,
    batchSize: Int,
    aggregatePushDown: Boolean,
    dataGrouping: Option[Boolean],
    variants: VariantForm = VariantForm.Json
) {

  /**
   * The number of file groups up to which a storage-partitioned join is used regardless of the sizes of the groups.
   * Each group becomes one task.
   */
  def sufficientGroups: Int = cores * ReadSettings.TasksPerCore

  /** The minimum split size, unless a scan would have fewer tasks than cores. */
  def minSplitSize: Long = math.min(splitSize, ReadSettings.MinSplitSize)

  /**
   * Returns the size of splits for a scan: the configured size, or an adaptive size that is at most the configured
   * size.
   *
   * With the adaptive size, a scan has up to [[parallelism]] tasks of at least [[minSplitSize]] bytes. Below this
   * maximum, the number of tasks is a multiple of the number of cores. A smaller scan has one task per core, because
   * small files with good compression can have many rows. The adaptive size is a multiple of the cost of opening a
   * file, unless the configured size is smaller.
   *
   * @param weight the total size of the files in bytes; each file counts with at least the cost of opening it
   */
  def splitSizeFor(weight: Long): Long =
    if (!adaptive) splitSize
    else
      math.min(splitSize, roundUpToOpenCost(math.max(1L, math.max(fileOpenCost, ceilDivide(weight, tasksFor(weight))))))

  private def tasksFor(weight: Long): Long = {
    val tasks = weight / minSplitSize
    if (tasks >= parallelism) parallelism.toLong else math.max(cores.toLong, tasks / cores * cores)
  }

  /**
   * Rounds the split size up to a multiple of the cost of opening a file. This cost is the weight of each small file,
   * so tasks with any other size could not be filled completely.
   */
  private def roundUpToOpenCost(size: Long): Long =
    if (fileOpenCost <= 0) size else ceilDivide(size, fileOpenCost) * fileOpenCost

  private def ceilDivide(a: Long, b: Long): Long = a / b + (if (a % b == 0) 0 else 1)

  /**
   * Returns the size of splits for files that a statement rewrites. If there are enough files for all cores, no file is
   * split, because each split would be written as a smaller file.
   *
   * @param weight the total weight of the files in bytes, as in [[splitSizeFor]]
   * @param largest the weight of the largest file in bytes
   */
  def splitSizeForRewrite(weight: Long, largest: Long): Long = {
    val ordinarySize = splitSizeFor(weight)
    if (largest > ordinarySize && weight / largest >= cores) largest else ordinarySize
  }
}

object ReadSettings {
  private val TasksPerCore = 4

  /** Minimum split size in bytes, as in Apache Iceberg. */
  private val MinSplitSize = 16L << 20

  /** Reads the settings. @throws iceberglite.spec.IcebergError.InvalidArgument if a value is invalid */
  def of(options: CaseInsensitiveStringMap, session: SparkSession, properties: Map[String, String]): ReadSettings = {
    val settings = Settings.of(options, session, properties)
    val cores = session.sparkContext.defaultParallelism
    val shuffled = session.sessionState.conf.numShufflePartitions
    val parallelism =
      ReadOptions.Parallelism.get(settings).getOrElse(math.min(cores * TasksPerCore, math.max(cores, shuffled)))
    ReadSettings(
      splitSize = settings(ReadOptions.SplitSize),
      adaptive = ReadOptions.SplitSize.requested(settings).isEmpty && settings(ReadOptions.AdaptiveSplits),
      parallelism = parallelism,
      cores = math.min(cores, parallelism),
      lookback = settings(ReadOptions.Lookback),
      fileOpenCost = settings(ReadOptions.FileOpenCost),
      vectorized = settings(ReadOptions.Vectorization),
      batchSize = settings(ReadOptions.BatchSize),
      aggregatePushDown = settings(ReadOptions.AggregatePushDown),
      dataGrouping = ReadOptions.DataGrouping.get(settings)
    )
  }
}
