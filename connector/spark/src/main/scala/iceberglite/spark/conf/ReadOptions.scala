package iceberglite.spark.conf

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.TimeTravel
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.TableProperty

/** The settings of reads; those that choose what is read are in [[TimeTravel]] and [[RangeOptions]]. */
object ReadOptions {
  val SplitSize: SparkOption[Long] = SparkOption
    .bytes("split-size", "Bytes that one task reads; once set, no longer adapted", TableProperty.SplitSize.default)
    .inSession("spark.sql.iceberg.read.split-size")
    .inTable(TableProperty.SplitSize.key)

  val Lookback: SparkOption[Int] = SparkOption
    .count("lookback", "How many open bins a split is tried in", TableProperty.SplitLookback.default)
    .inTable(TableProperty.SplitLookback.key)

  val FileOpenCost: SparkOption[Long] = SparkOption[Long](
    "file-open-cost",
    "It must be 0 or more, in bytes",
    "What opening a file counts for, so that a task does not get too many small ones",
    TableProperty.SplitOpenFileCost.default
  )(SparkOption.long(_).filter(_ >= 0)).inTable(TableProperty.SplitOpenFileCost.key)

  val AdaptiveSplits: SparkOption[Boolean] = SparkOption
    .flag("adaptive-split-size", "Read small scans in smaller splits, so that all cores have work", default = true)
    .inSession("spark.sql.iceberg.read.adaptive-split-size.enabled")
    .inTable("read.split.adaptive-size.enabled")

  val Parallelism: SparkOption[Int] = SparkOption
    .derived[Int](
      "adaptive-split-parallelism",
      s"It must be 1 to ${Int.MaxValue}",
      "How many tasks an adapted scan is spread over",
      "four for each core of the application"
    )(text => scala.util.Try(text.toInt).toOption.filter(_ > 0))
    .inSession("spark.sql.iceberg.read.adaptive-split-size.parallelism")

  val Vectorization: SparkOption[Boolean] = SparkOption
    .flag("vectorization-enabled", "Hand batches of columns to Spark rather than rows", default = true)
    .inSession("spark.sql.iceberg.vectorization.enabled")
    .inTable("read.parquet.vectorization.enabled")

  /** Memory is taken for a whole batch, however few rows a file has. */
  private val MaxBatchSize = 1 << 20

  /** By default as in Spark: with 5000, as in Apache Iceberg, scans of many columns took a tenth longer. */
  val BatchSize: SparkOption[Int] = SparkOption
    .count("batch-size", "Rows in a batch", 4096, MaxBatchSize)
    .inTable("read.parquet.vectorization.batch-size")

  val AggregatePushDown: SparkOption[Boolean] = SparkOption
    .flag("aggregate-push-down-enabled", "Answer COUNT, MIN and MAX from metadata where that is exact", default = true)
    .inSession("spark.sql.iceberg.aggregate-push-down.enabled")

  val DataGrouping: SparkOption[Boolean] = SparkOption
    .derived[Boolean](
      "preserve-data-grouping",
      "It must be true or false",
      "Keep files of one partition together and tell Spark so, which joins and aggregates need no shuffle for",
      "where a join gains by it"
    )(text => scala.util.Try(text.toBoolean).toOption)
    .inSession("spark.sql.iceberg.planning.preserve-data-grouping")

  /** In the order of the documentation. */
  val all: Seq[SparkOption[_]] = Seq(
    SplitSize,
    Lookback,
    FileOpenCost,
    AdaptiveSplits,
    Parallelism,
    Vectorization,
    BatchSize,
    AggregatePushDown,
    DataGrouping
  ) ++ PlanningOptions.all

  /** Options that Apache Iceberg knows and that change what is read: to leave them unheard would give wrong rows. */
  private val refused: Map[String, String] = Map("scan-task-set-id" -> "Reads of staged tasks")

  /** Options that Apache Iceberg knows and that change no result: accepted, so that a job moves over as it is. */
  private val withoutEffect: Seq[String] =
    Seq("path", "paths", "locality", "stream-from-timestamp")

  private val known: Seq[String] =
    all.map(_.key) ++ TimeTravel.optionKeys ++ RangeOptions.keys ++ refused.keys ++ withoutEffect

  /** @throws iceberglite.spec.IcebergError for an option that is not supported or misspelled */
  def check(options: CaseInsensitiveStringMap): Unit = {
    refused.foreach { case (key, what) =>
      if (options.containsKey(key)) {
        val given = s"read option $key=${options.get(key)}"
        throw Unsupported(given, s"$what come in a later release; leave the option out")
      }
    }
    SparkOption.check("read", options, known)
  }
}

/** How one scan cuts its files and reads them. */
final case class ReadSettings(
    splitSize: Long,
    adaptive: Boolean,
    parallelism: Int,
    lookback: Int,
    fileOpenCost: Long,
    vectorized: Boolean,
    batchSize: Int,
    aggregatePushDown: Boolean,
    dataGrouping: Option[Boolean]
) {

  /**
   * The size of splits for a scan of so many bytes. Small files are small for their compression, not for their rows: down to
   * the cost of opening one they are spread over the cores, as Spark's own Parquet scans are.
   */
  def splitSizeFor(bytes: Long): Long =
    if (!adaptive) splitSize else math.max(bytes / parallelism, fileOpenCost).min(splitSize)

  /**
   * The same for files that are written again: where there are enough of them for all cores they are not cut, or smaller
   * ones would take their place.
   *
   * @param largest the bytes of the largest file
   */
  def splitSizeOfReplaced(bytes: Long, largest: Long): Long = {
    val usual = splitSizeFor(bytes)
    if (largest > usual && bytes / largest >= parallelism / ReadSettings.TasksPerCore) largest else usual
  }
}

object ReadSettings {
  private val TasksPerCore = 4

  /** @throws iceberglite.spec.IcebergError.InvalidArgument for a value that cannot be */
  def of(options: CaseInsensitiveStringMap, session: SparkSession, properties: Map[String, String]): ReadSettings = {
    val settings = Settings.of(options, session, properties)
    ReadSettings(
      splitSize = settings(ReadOptions.SplitSize),
      adaptive = ReadOptions.SplitSize.asked(settings).isEmpty && settings(ReadOptions.AdaptiveSplits),
      parallelism = ReadOptions.Parallelism.given(settings)
        .getOrElse(session.sparkContext.defaultParallelism * TasksPerCore),
      lookback = settings(ReadOptions.Lookback),
      fileOpenCost = settings(ReadOptions.FileOpenCost),
      vectorized = settings(ReadOptions.Vectorization),
      batchSize = settings(ReadOptions.BatchSize),
      aggregatePushDown = settings(ReadOptions.AggregatePushDown),
      dataGrouping = ReadOptions.DataGrouping.given(settings)
    )
  }
}
