package iceberglite.spark.conf

import java.util.Locale

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.property.Declarations

/**
 * The options of overwrites. They determine which rows are replaced, and whether the columns are replaced. An option
 * that contradicts a write is rejected, because the write could replace more rows than requested if the option were
 * ignored.
 */
object OverwriteOptions {
  private val declared = new Declarations[SparkOption[_]]

  /**
   * Option whose value `dynamic` makes an overwrite replace only the partitions with new rows. It is intended for
   * DataFrameWriter's mode `overwrite`, which cannot name partitions.
   */
  val Dynamic: SparkOption[Boolean] = declared(mode(
    "overwrite-mode",
    "Whether an overwrite replaces the partitions that it writes to (dynamic) or all rows (static)"
  ))

  val PartitionMode: SparkOption[Boolean] =
    declared(mode("partitionOverwriteMode", "Alias of overwrite-mode, as in Spark's file sources and Delta Lake"))

  val ReplaceWhere: SparkOption[String] = declared(SparkOption.name(
    "replaceWhere",
    "It must be a condition in SQL",
    "Condition for the rows that an overwrite replaces; new rows that do not satisfy it are rejected. Needs the SQL " +
      "extensions",
    "all rows"
  ))

  val OverwriteSchema: SparkOption[Boolean] = declared(SparkOption.derived[Boolean](
    "overwriteSchema",
    "It must be true or false",
    "Whether an overwrite also replaces the columns; it can only be true for saveAsTable, replace and " +
      "createOrReplace, and only false for other writes",
    "the only valid value for the write"
  )(SparkOption.boolean))

  /** All options, in the order of the documentation. */
  val all: Seq[SparkOption[_]] = declared.all

  private def mode(key: String, doc: String): SparkOption[Boolean] =
    SparkOption.derived[Boolean](key, "It must be dynamic or static", doc, "static") { text =>
      Map("static" -> false, "dynamic" -> true).get(text.toLowerCase(Locale.ROOT))
    }

  /**
   * The rows that a write replaces according to the method that Spark has called, before options such as `replaceWhere`
   * are applied.
   */
  sealed trait ReplacedRows
  object ReplacedRows {

    /** No rows, because the write is an append. */
    case object NoRows extends ReplacedRows

    /** No rows, because the write creates the table. */
    case object NewTable extends ReplacedRows

    /** The whole table, with its columns and partitioning. */
    case object Table extends ReplacedRows

    /** All rows; the table keeps its columns and its partitioning. */
    case object AllRows extends ReplacedRows

    /** The rows that satisfy a condition of the write. */
    case object Matching extends ReplacedRows

    /** The partitions for which there are new rows. */
    case object Partitions extends ReplacedRows
  }

  /**
   * Returns whether the options request a dynamic overwrite; absent if neither option is set.
   *
   * @throws InvalidArgument if the two options differ
   */
  def isDynamic(settings: Settings): Option[Boolean] =
    (Dynamic.get(settings), PartitionMode.get(settings)) match {
      case (Some(mode), Some(alias)) if mode != alias =>
        throw InvalidArgument(
          s"options ${Dynamic.key} and ${PartitionMode.key}",
          s"${text(mode)} and ${text(alias)}",
          "They are aliases; set only one of them"
        )
      case (mode, alias) => mode.orElse(alias)
    }

  /**
   * Rejects options that contradict the kind of overwrite. `replaceWhere` is always rejected here: where it is valid, a
   * rule of the SQL extensions has already converted it to the condition of the overwrite.
   *
   * @param table the name of the table, for messages
   * @throws InvalidArgument if an option contradicts the kind of overwrite; the message names the option and an
   *   alternative
   */
  def check(table: String, replacedRows: ReplacedRows, settings: Settings): Unit = {
    isDynamic(settings).foreach(checkDynamic(table, replacedRows, settings, _))
    ReplaceWhere.get(settings).foreach { condition =>
      throw InvalidArgument(s"option ${ReplaceWhere.key}", condition, replaceWhereAdvice(table, replacedRows))
    }
    OverwriteSchema.get(settings).foreach(checkSchema(table, replacedRows, _))
    if (replacedRows == ReplacedRows.Table)
      Seq(WriteOptions.Isolation, WriteOptions.ValidateFromSnapshot, WriteOptions.Branch)
        .foreach(option => option.requested(settings).foreach(v => throw notForReplace(table, option, v.toString)))
  }

  private def checkDynamic(table: String, replacedRows: ReplacedRows, settings: Settings, dynamic: Boolean): Unit = {
    val option = Seq(Dynamic, PartitionMode).find(_.get(settings).isDefined).getOrElse(Dynamic)
    def reject(reason: String): Nothing = throw InvalidArgument(s"option ${option.key}", text(dynamic), reason)
    replacedRows match {
      case ReplacedRows.Table if dynamic =>
        reject(
          s"saveAsTable in mode overwrite, replace and createOrReplace replace all of $table. To replace partitions, " +
            s"""use df.writeTo("$table").overwritePartitions(), or save or insertInto in mode overwrite"""
        )
      case ReplacedRows.Matching if dynamic =>
        reject(
          "The overwrite has a condition, which a dynamic overwrite would ignore. Remove the option or the condition"
        )
      case ReplacedRows.AllRows if dynamic && ReplaceWhere.get(settings).isDefined =>
        reject(s"The option ${ReplaceWhere.key} already selects the rows to replace. Remove one of the two options")
      case ReplacedRows.Partitions if !dynamic =>
        reject(
          "The write replaces the partitions that it writes to, as overwritePartitions or " +
            "spark.sql.sources.partitionOverwriteMode=dynamic request. Remove the option or this request"
        )
      case _ =>
    }
  }

  private def replaceWhereAdvice(table: String, replacedRows: ReplacedRows): String = {
    val call = s"""df.writeTo("$table").overwrite(condition)"""
    replacedRows match {
      case ReplacedRows.NoRows => s"""An append replaces no rows. Use mode("overwrite"), or $call"""
      case ReplacedRows.NewTable | ReplacedRows.Table =>
        s"""The write creates or replaces all of $table. Use mode("overwrite").save("$table"), or $call"""
      case ReplacedRows.AllRows =>
        s"It needs the SQL extensions: set spark.sql.extensions=iceberglite.spark.SparkSessionExtensions, or use $call"
      case ReplacedRows.Matching => "The overwrite already has a condition. Remove the option or the condition"
      case ReplacedRows.Partitions =>
        s"The write replaces the partitions that it writes to. Remove the option, or use $call"
    }
  }

  private def checkSchema(table: String, replacedRows: ReplacedRows, overwrites: Boolean): Unit = {
    def reject(reason: String): Nothing =
      throw InvalidArgument(s"option ${OverwriteSchema.key}", overwrites.toString, reason)
    replacedRows match {
      case ReplacedRows.Table if !overwrites =>
        reject(
          s"saveAsTable in mode overwrite, replace and createOrReplace replace the columns of $table too. To keep " +
            s"""them, use mode("overwrite").save("$table") or df.writeTo("$table").overwrite(lit(true))"""
        )
      case ReplacedRows.AllRows | ReplacedRows.Matching | ReplacedRows.Partitions if overwrites =>
        reject(
          s"The write replaces rows of $table and keeps its columns. To replace them, use " +
            s"""df.writeTo("$table").createOrReplace() or saveAsTable; to add columns, the option merge-schema"""
        )
      case _ =>
    }
  }

  private def notForReplace(table: String, option: SparkOption[_], value: String): InvalidArgument = InvalidArgument(
    s"option ${option.key}",
    value,
    s"The write replaces all of $table, which does not support this option. To replace only its rows, use " +
      s"""mode("overwrite").save("$table") or df.writeTo("$table").overwrite(condition)"""
  )

  private def text(dynamic: Boolean): String = if (dynamic) "dynamic" else "static"
}
