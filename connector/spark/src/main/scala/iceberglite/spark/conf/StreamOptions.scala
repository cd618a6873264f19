package iceberglite.spark.conf

import java.util.Locale

import scala.util.Try

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.scan.stream.{StreamContent, StreamLimit, StreamStart}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.property.Declarations
import iceberglite.table.StreamConsumer

/** The options of streaming reads. */
object StreamOptions {
  private val declared = new Declarations[SparkOption[_]]

  private val NotSet = "not set"

  val From: SparkOption[StreamStart] = declared(SparkOption.derived[StreamStart](
    "stream-from",
    "It must be oldest, current or now",
    "Snapshot with which a new streaming query begins: `oldest` reads the rows of the oldest snapshot and then the " +
      "later commits, `current` reads the rows of the current snapshot and then the later commits, `now` reads only " +
      "later commits",
    "oldest"
  )(start))

  val FromTimestamp: SparkOption[Long] = declared(SparkOption.derived[Long](
    "stream-from-timestamp",
    "It must be a number of ms since 1970",
    "Time in ms since 1970 from which a new streaming query reads commits",
    NotSet
  )(SparkOption.long))

  val FromSnapshot: SparkOption[Long] = declared(SparkOption.derived[Long](
    StreamContent.AfterSnapshot,
    "It must be the id of a snapshot",
    "Snapshot after which a new streaming query reads commits",
    NotSet
  )(SparkOption.long))

  val SkipDeletes: SparkOption[Boolean] = declared(SparkOption.flag(
    StreamContent.SkipDeletes,
    "Whether a streaming query skips commits with the operation `delete`; otherwise it fails, unless it reads changes",
    default = false
  ))

  val SkipOverwrites: SparkOption[Boolean] = declared(SparkOption.flag(
    StreamContent.SkipOverwrites,
    "Whether a streaming query skips commits with the operation `overwrite`; otherwise it fails, unless it reads " +
      "changes",
    default = false
  ))

  val MaxFiles: SparkOption[Long] = declared(limit(
    "streaming-max-files-per-micro-batch",
    "Maximum number of files in a micro-batch"
  ))

  val MaxRows: SparkOption[Long] = declared(limit(
    "streaming-max-rows-per-micro-batch",
    "Number of rows after which a micro-batch gets no more files"
  ))

  val MaxBytes: SparkOption[Long] = declared(limit(
    "streaming-max-bytes-per-micro-batch",
    "Number of bytes after which a micro-batch gets no more files"
  ))

  val Changes: SparkOption[Boolean] = declared(SparkOption.flag(
    "streaming-changes",
    "Whether a streaming query reads the inserted and deleted rows of each commit, with the columns of `t.changes`",
    default = false
  ))

  val SchemaId: SparkOption[Int] = declared(SparkOption.derived[Int](
    "streaming-schema-id",
    "It must be the id of a schema",
    "Id of the schema of the table whose columns a streaming query reads, also after columns were added or dropped",
    "the current one of the table"
  )(text => Try(text.toInt).toOption))

  val SchemaTracking: SparkOption[String] = declared(SparkOption.derived[String](
    "schema-tracking",
    "It must be the path of a directory",
    "Directory, such as the checkpoint location, in which a streaming query records the columns that it reads. Rows " +
      "of commits before a change of the columns are then read with the columns before the change",
    NotSet
  )(text => Some(text).filter(path => path.trim.nonEmpty && Try(new Path(path)).isSuccess)))

  val ConsumerId: SparkOption[String] = declared(SparkOption.name(
    "consumer-id",
    "It must be a name that is not blank",
    "Name of the consumer. The tag `stream-` followed by this name protects from expiration the snapshots that the " +
      "streaming query has not read yet",
    NotSet
  ))

  val ConsumerRetention: SparkOption[Long] = declared(SparkOption[Long](
    "consumer-retention-ms",
    "It must be a positive number of ms",
    "Time in ms since the last move of a consumer's tag after which an expiration removes the tag",
    7L * 24 * 60 * 60 * 1000
  )(SparkOption.long(_).filter(_ > 0)))

  /** All options, in the order of the documentation. */
  val all: Seq[SparkOption[_]] = declared.all ++ ChangeStreamOptions.all

  private def limit(key: String, doc: String): SparkOption[Long] =
    SparkOption.derived[Long](key, "It must be 1 or more", doc, "no limit")(SparkOption.long(_).filter(_ > 0))

  private def start(text: String): Option[StreamStart] = text.toLowerCase(Locale.ROOT) match {
    case "oldest" => Some(StreamStart.Oldest)
    case "current" => Some(StreamStart.Current)
    case "now" => Some(StreamStart.Now)
    case _ => None
  }

  /** Returns the id of the schema that a streaming query reads. @throws InvalidArgument if it is not a number */
  def schemaId(options: CaseInsensitiveStringMap): Option[Int] = SchemaId.get(Settings(options, _ => None, Map.empty))

  /**
   * Returns the location in which a streaming query records its columns.
   *
   * @throws InvalidArgument if the query also selects the columns by [[SchemaId]]
   */
  def schemaTracking(options: CaseInsensitiveStringMap): Option[String] = {
    val location = SchemaTracking.get(Settings(options, _ => None, Map.empty))
    location.filter(_ => options.containsKey(SchemaId.key)).foreach { directory =>
      throw InvalidArgument(
        s"option ${SchemaTracking.key}",
        directory,
        s"${SchemaId.key} already selects the columns of the query; remove one of the two options"
      )
    }
    location
  }

  /** Whether a streaming query reads changes. @throws InvalidArgument if the value of the option is invalid */
  def readsChanges(options: CaseInsensitiveStringMap): Boolean =
    Settings(options, _ => None, Map.empty)(Changes)
}

/**
 * The settings of a stream.
 *
 * @param start where a new query begins
 * @param consumer the consumer, which is the query under the name in the option `consumer-id`. Its tag protects unread
 *   snapshots from expiration. Absent if the option is not set
 * @param retentionMs how long the consumer's tag is kept after it was last moved, in ms
 */
final case class StreamSettings(
    start: StreamStart,
    content: StreamContent,
    limit: StreamLimit,
    consumer: Option[StreamConsumer],
    retentionMs: Long
)

object StreamSettings {

  /**
   * Reads the settings of a stream of appended rows.
   *
   * @throws InvalidArgument if a value is invalid, or if two starts are set
   */
  def of(options: CaseInsensitiveStringMap, session: SparkSession): StreamSettings = {
    val settings = Settings.of(options, session, Map.empty)
    StreamSettings(
      start(settings, System.currentTimeMillis),
      StreamContent.Appends(settings(StreamOptions.SkipDeletes), settings(StreamOptions.SkipOverwrites)),
      StreamLimit(
        StreamOptions.MaxFiles.get(settings),
        StreamOptions.MaxRows.get(settings),
        StreamOptions.MaxBytes.get(settings)
      ),
      StreamOptions.ConsumerId.get(settings).map(StreamConsumer(_)),
      settings(StreamOptions.ConsumerRetention)
    )
  }

  private def start(settings: Settings, nowMs: Long): StreamStart = {
    val requested = Seq[(String, Option[StreamStart])](
      StreamOptions.From.key -> StreamOptions.From.get(settings),
      StreamOptions.FromTimestamp.key -> StreamOptions.FromTimestamp.get(settings).map(atTime(_, nowMs)),
      StreamOptions.FromSnapshot.key -> StreamOptions.FromSnapshot.get(settings).map(StreamStart.AfterSnapshot)
    ).collect { case (key, Some(start)) => key -> start }
    requested match {
      case Seq() => StreamStart.Oldest
      case Seq((_, start)) => start
      case several => throw InvalidArgument(
          "read options",
          several.map(_._1).mkString(", "),
          "Only one of these options may be set"
        )
    }
  }

  private def atTime(epochMs: Long, nowMs: Long): StreamStart =
    if (epochMs <= nowMs) StreamStart.AtTime(epochMs)
    else throw InvalidArgument(
      s"option ${StreamOptions.FromTimestamp}",
      epochMs.toString,
      "It is in the future. To read only commits after the start of the query, set stream-from=now"
    )
}
