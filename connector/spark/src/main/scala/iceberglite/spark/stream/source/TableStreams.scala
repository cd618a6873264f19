package iceberglite.spark.stream.source

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.scan.stream.StreamContent
import iceberglite.spark.conf.{RangeOptions, StreamOptions, StreamSettings, TimeTravel}
import iceberglite.spark.read.{IcebergScan, ScanStream, StreamSource}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.table.Table

/**
 * Creates the streams of a table.
 *
 * @param table the table when the query begins
 * @param travel selects the snapshot, branch or tag that the stream follows
 * @param changes whether the streams read changes, with the columns of a changelog
 */
final private[iceberglite] class TableStreams(
    table: Table,
    travel: TimeTravel,
    changes: Boolean,
    options: CaseInsensitiveStringMap,
    session: SparkSession
) extends StreamSource {

  override def streamOf(scan: IcebergScan, checkpoint: String): ScanStream = {
    val settings = StreamSettings.of(options, session)
    if (!changes && StreamOptions.readsChanges(options)) throw Unsupported(
      s"option ${StreamOptions.Changes} for a stream of ${table.name} in a session without the SQL extensions",
      s"Configure spark.sql.extensions, or stream ${table.name}.changes"
    )
    if (changes) RangeOptions.rejectForStream(options, table.name)
    val content = if (changes) StreamContent.Changes else settings.content
    val initial = new InitialOffset(checkpoint, session.sessionState.newHadoopConf())
    new IcebergStream(scan, new StreamTable(table, travel), settings.copy(content = content), initial)
  }
}
