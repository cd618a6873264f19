package iceberglite.spark.maintenance.importing

import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.importing.{FileImport, ImportResult, ImportSpec, OwnDirectories}
import iceberglite.spark.conf.EngineSummary
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.table.Table

/** Adds the files of a source to a table. The table may be staged. */
final private[iceberglite] class SourceImport(session: SparkSession, table: Table) {
  private val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
  private val text = new PartitionText(session)

  /**
   * Adds the files of a source in one commit.
   *
   * @param filter the required partition values as text, by column name; partitions with other values are not added
   * @throws InvalidArgument if the filter or the source does not fit the table; in this case, nothing is changed
   */
  def run(source: ImportSource, filter: Map[String, String], files: FileImport): ImportResult = {
    source.directories.foreach(OwnDirectories.reject(table, _))
    val selection = new PartitionSelection(table.schema, filter, text, caseSensitive)
    val listed = source.list(table.io, selection, files.ignoresMissing)
    selection.unknown(listed.columns).foreach { name =>
      throw InvalidArgument(
        "argument partition_filter",
        name,
        if (listed.columns.isEmpty) "The source has no partitions. Remove the argument"
        else s"The partition columns of the source are ${listed.columns.mkString(", ")}"
      )
    }
    val spec = ImportSpec.of(table.metadata, listed.columns, caseSensitive)(text.parse)
    val inspection = new SparkInspection(session, table.name)
    files.run(table, spec, listed.partitions, inspection, EngineSummary.of(session))
  }
}
