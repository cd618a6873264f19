package iceberglite.spark.stream.source

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.scan.stream.StreamContent
import iceberglite.spark.conf.{
  ChangeStreamOptions,
  RangeOptions,
  SparkOption,
  StreamOptions,
  StreamSettings,
  TimeTravel
}
import iceberglite.spark.read.{ChangeView, IcebergScan, ScanStream, StreamSource}
import iceberglite.spark.session.BucketingSettings
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.schema.Schema
import iceberglite.table.Table

/**
 * Creates the streams of a table.
 *
 * @param table the table when the query begins
 * @param travel selects the branch or tag that the stream follows; a stream of a fixed snapshot is rejected
 * @param columns returns the columns that a new stream would read from a version of the table
 * @param content the rows that the streams return
 */
final private[iceberglite] class TableStreams(
    table: Table,
    travel: TimeTravel,
    columns: TableMetadata => Schema,
    content: TableStreams.Content,
    options: CaseInsensitiveStringMap,
    session: SparkSession
) extends StreamSource {

  override def streamOf(scan: IcebergScan, checkpoint: String): ScanStream = {
    if (!travel.canChange(table.metadata)) throw Unsupported(
      s"a stream of the fixed state ${travel.selector} of ${table.name}, which never has new rows",
      "Select a branch or a tag, or set stream-from-snapshot-id or stream-from-timestamp to begin at this state"
    )
    val settings = StreamSettings.of(options, session)
    rejectIgnoredSchema(session)
    val initial = new InitialOffset(checkpoint, session.sessionState.newHadoopConf())
    val followed = new StreamTable(table, travel, columns)
    content match {
      case TableStreams.Appends =>
        if (StreamOptions.readsChanges(options)) throw withoutExtensions(
          StreamOptions.Changes,
          s"Configure spark.sql.extensions, or stream ${table.name}.changes"
        )
        ChangeStreamOptions.rejectForOtherReads(options, table.name)
        new IcebergStream(scan, followed, settings, initial, tracking = tracking(initial, session))
      case TableStreams.Changes(viewOf) =>
        RangeOptions.rejectForStream(options, table.name)
        val view = viewOf()
        if (view.isDefined && !BucketingSettings.hasExtensions(session)) throw withoutExtensions(
          ChangeStreamOptions.all.find(o => options.containsKey(o.key)).getOrElse(ChangeStreamOptions.ComputeUpdates),
          "Configure spark.sql.extensions"
        )
        new IcebergStream(scan, followed, settings.copy(content = StreamContent.Changes), initial, view)
    }
  }

  private def tracking(initial: InitialOffset, session: SparkSession): Option[QueryColumns] =
    StreamOptions.schemaTracking(options).map { location =>
      val tracking = new SchemaTracking(location, session.sessionState.newHadoopConf())
      new QueryColumns(tracking, initial.reader, table.name)
    }

  /** Rejects the options for the columns of a stream if the table was resolved without them. */
  private def rejectIgnoredSchema(session: SparkSession): Unit =
    for (option <- Seq(StreamOptions.SchemaId, StreamOptions.SchemaTracking) if options.containsKey(option.key))
      content match {
        case TableStreams.Appends => if (!BucketingSettings.hasExtensions(session))
            throw withoutExtensions(option, "Configure spark.sql.extensions, or select the columns by name")
        case TableStreams.Changes(_) => throw Unsupported(
            s"option ${option.key} for a stream of changes of ${table.name}",
            "Select the columns by name instead"
          )
      }

  override def rejectForBatch(): Unit = ChangeStreamOptions.rejectForOtherReads(options, table.name)

  private def withoutExtensions(option: SparkOption[_], advice: String): Unsupported =
    Unsupported(s"option ${option.key} for a stream of ${table.name} in a session without the SQL extensions", advice)
}

private[iceberglite] object TableStreams {

  /** The rows that a stream returns. */
  sealed trait Content

  /** The rows that commits appended. */
  case object Appends extends Content

  /**
   * The changes of commits, with the columns of a changelog.
   *
   * @param viewOf returns how the rows of a micro-batch are computed; the result is absent if the stream returns each
   *   deleted and inserted row. Called for streams only, because batch reads reject the options of the view
   */
  final case class Changes(viewOf: () => Option[ChangeView]) extends Content
}
