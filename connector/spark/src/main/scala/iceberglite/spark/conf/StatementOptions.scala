package iceberglite.spark.conf

import java.util.Locale

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.Spelling
import iceberglite.spec.property.DistributionMode
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.action.RecordApplicationVersion

/**
 * The options of one statement: `DELETE FROM t WITH ('key' = 'value') WHERE ...`.
 *
 * @param values the options as written in the statement
 */
final case class StatementOptions(values: Map[String, String]) {

  /** The options in the form that Spark passes to writes. */
  val asOptions: CaseInsensitiveStringMap = new CaseInsensitiveStringMap(values.asJava)

  private val settings = Settings(asOptions, _ => None, Map.empty)

  def isEmpty: Boolean = values.isEmpty

  /** Returns the maximum number of retries in the options, whatever the session's configuration is. */
  def retries: Int = settings(StatementOptions.Retries)

  def isolation: Option[IsolationLevel] = WriteOptions.Isolation.get(settings)

  /** Returns the id of the snapshot after which commits count as concurrent with an overwrite. */
  def validateFromSnapshot: Option[Long] = WriteOptions.ValidateFromSnapshot.get(settings)

  /** Whether an overwrite replaces the partitions that it writes to. */
  def isDynamic: Boolean = OverwriteOptions.isDynamic(settings).contains(true)

  /** The condition of an overwrite, in SQL. */
  def replaceWhere: Option[String] = OverwriteOptions.ReplaceWhere.get(settings)

  /** Returns the options without the given option. */
  def without(option: SparkOption[_]): StatementOptions =
    StatementOptions(values.filterNot { case (key, _) => key.equalsIgnoreCase(option.key) })

  /**
   * Checks the options of an overwrite with a condition.
   *
   * @throws InvalidArgument if an option does not apply to such an overwrite
   */
  def checkOverwriteByCondition(table: String): Unit =
    OverwriteOptions.check(table, OverwriteOptions.ReplacedRows.Matching, settings)

  def branch: Option[String] = WriteOptions.Branch.get(settings)

  def distribution: Option[DistributionMode] = WriteOptions.Distribution.get(settings)

  /**
   * Returns the application and version that the commit records, so that the statement can safely be rerun.
   *
   * @throws InvalidArgument if only one of the two options is set, or an option and its alias differ
   */
  def application: Option[RecordApplicationVersion] = ApplicationOptions.of(settings)

  /** Whether an INSERT is an upsert. */
  def isUpsert: Boolean = UpsertOptions.isRequested(settings)

  /** Whether source columns that the table lacks are added to the table, and column types are widened. */
  def mergesSchema: Boolean = SchemaOptions.merges(settings)

  /** Returns the options that are passed to the table, without the options that the statement itself handles. */
  def tableOptions: StatementOptions =
    StatementOptions(values.filterNot { case (key, _) => StatementOptions.statementKeys(key.toLowerCase(Locale.ROOT)) })
}

object StatementOptions {
  val Empty: StatementOptions = StatementOptions(Map.empty)

  private val MaxRetries = 1000

  val Retries: SparkOption[Int] = SparkOption(
    "statement-retries",
    s"It must be 0 to $MaxRetries",
    "Maximum number of times that a DELETE, UPDATE or MERGE, or a write of the Scala API, is planned and run again " +
      "after a commit conflict; the session setting does not apply to the writes of the Scala API",
    0
  )(text => Try(text.toInt).toOption.filter(n => n >= 0 && n <= MaxRetries))
    .inSession("spark.sql.iceberg-lite.statement-retries")

  /** The options of DELETE, UPDATE and MERGE in addition to write options, in the order of the documentation. */
  val statementOnly: Seq[SparkOption[_]] = Seq(Retries)

  /** The write options that apply to DELETE, UPDATE and MERGE. */
  private val rowLevelOptions: Seq[SparkOption[_]] = Seq(
    WriteOptions.Format,
    WriteOptions.TargetFileSize,
    WriteOptions.DeleteFormat,
    WriteOptions.DeleteTargetSize,
    WriteOptions.Granularity,
    WriteOptions.Fanout,
    WriteOptions.Distribution,
    WriteOptions.UseTableDistribution,
    WriteOptions.AdvisoryPartitionSize,
    WriteOptions.OutputSortOrderId,
    WriteOptions.Isolation,
    WriteOptions.Branch
  ) ++ CompressionOptions.all ++ ApplicationOptions.all ++ AutoCompactOptions.all

  private val statementKeys: Set[String] =
    (statementOnly ++ SchemaOptions.all).map(_.key.toLowerCase(Locale.ROOT)).toSet

  /**
   * Rejects options that a statement does not support, and invalid values of options.
   *
   * @param verb DELETE, UPDATE, MERGE or INSERT
   * @throws InvalidArgument if the statement does not support an option, or if a value is invalid; the message names
   *   the option
   */
  def check(verb: String, options: StatementOptions): Unit = {
    val validOptions = optionsFor(verb)
    val validKeys = validOptions.map(_.key.toLowerCase(Locale.ROOT)).toSet
    val keys = options.values.keys.toSeq.map(_.toLowerCase(Locale.ROOT)).filterNot(isSnapshotProperty)
    keys.sorted.find(!validKeys(_)).foreach { key =>
      val optionKeys = validOptions.map(_.key)
      val hint = Spelling.closest(key, optionKeys).fold("The options are " + optionKeys.mkString(", "))(n =>
        s"Did you mean $n?"
      )
      throw InvalidArgument(s"option name of $verb", key, s"$verb has no such option. $hint")
    }
    val settings = Settings(options.asOptions, _ => None, Map.empty)
    validOptions.foreach(_.get(settings))
    WriteOptions.snapshotProperties(options.asOptions)
    ()
  }

  private def isSnapshotProperty(key: String): Boolean = key.startsWith(WriteOptions.SnapshotPropertyPrefix)

  private def optionsFor(verb: String): Seq[SparkOption[_]] = verb match {
    case "INSERT" => WriteOptions.all
    case "MERGE" => statementOnly ++ rowLevelOptions ++ SchemaOptions.all
    case _ => statementOnly ++ rowLevelOptions
  }

  /** Returns the maximum number of retries of a statement. */
  def retries(options: StatementOptions, session: SparkSession): Int =
    Settings.of(options.asOptions, session, Map.empty)(Retries)
}
