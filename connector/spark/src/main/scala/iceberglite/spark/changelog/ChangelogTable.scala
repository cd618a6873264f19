package iceberglite.spark.changelog

import java.util

import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{MetadataColumn, SupportsMetadataColumns, TableCapability}
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.conf.{ChangeStreamOptions, RangeOptions, StreamedChanges, TimeTravel}
import iceberglite.spark.convert.{DeclaredTypes, SparkTypes}
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.{ChangeView, RowMetadataColumns}
import iceberglite.spark.read.files.CommitScan
import iceberglite.spark.session.PinnableTable
import iceberglite.spark.stream.source.TableStreams
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.spec.schema.Schema
import iceberglite.table.Table

/**
 * `db.t.changes`: the rows that each commit inserted and deleted, as a read-only table. The options `start-snapshot-id`
 * or `start-timestamp`, and `end-snapshot-id` or `end-timestamp`, select the range of commits.
 *
 * @param source returns the current table
 * @param travel selects the snapshot at which the range of commits ends
 */
final class ChangelogTable(source: () => Table, val travel: TimeTravel)
    extends PinnableTable
    with SupportsMetadataColumns
    with ErrorBoundary {
  private val resolved = source()

  /** The columns of the table, without the columns of the changelog. */
  val tableSchema: Schema = ChangelogTable.checkNames(travel.schema(resolved.metadata), name)

  override def name: String = s"${resolved.name}.${ChangelogTable.Name}"

  override lazy val schema: StructType = in {
    DeclaredTypes.withDeclaredTypes(
      SparkTypes.toSpark(tableSchema.fields ++ CommitScan.changelogColumns),
      tableSchema.fields,
      resolved.properties
    )
  }

  override private[iceberglite] def pinned: ChangelogTable = in {
    val current = source()
    new ChangelogTable(() => current, travel)
  }

  override def capabilities: util.Set[TableCapability] = in {
    Set(TableCapability.BATCH_READ, TableCapability.MICRO_BATCH_READ).asJava
  }

  override def metadataColumns: Array[MetadataColumn] =
    in(RowMetadataColumns.of(ChangelogScanBuilder.metadata(resolved)))

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = in {
    val current = CommitRange.withAllSnapshots(source())
    val state = TimeTravel.ofOptions(options) match {
      case TimeTravel.Latest => travel
      case requested if travel == TimeTravel.Latest || travel == requested => requested
      case requested => throw InvalidArgument(
          "read options",
          requested.toString,
          s"$name already selects a state of the table, ${travel.selector}; remove one of the two selections"
        )
    }
    val range = CommitRange.of(current.metadata, state, RangeOptions.of(options))
    val session = SparkSession.active
    val content = TableStreams.Changes(() => viewOf(options, session))
    val streams = new TableStreams(current, state, travel.schema(_), content, options, session)
    new ChangelogScanBuilder(current, range, tableSchema, options, session, streams)
  }

  /** Returns the view of the changes that a stream with the given options returns. */
  private def viewOf(options: CaseInsensitiveStringMap, session: SparkSession): Option[ChangeView] = {
    def changesAs(view: ChangelogView): ChangeView = ChangelogView.of(_, view)
    StreamedChanges.of(options) match {
      case StreamedChanges.EachRow => None
      case StreamedChanges.Net => Some(changesAs(ChangelogView.NetChanges))
      case StreamedChanges.Updates(names) =>
        val setting = s"option ${ChangeStreamOptions.IdentifierColumns}"
        Some(changesAs(ChangelogView.WithUpdates(new ChangelogIdentifiers(tableSchema, session, setting).of(names))))
    }
  }

  override protected def errorName: String = name

  override def toString: String = name

  override def equals(that: Any): Boolean = that match {
    case other: ChangelogTable => other.name == name && other.travel == travel
    case _ => false
  }

  override def hashCode: Int = (name, travel).hashCode
}

object ChangelogTable {

  /** The name that users write after the table's name. */
  val Name = "changes"

  /** Returns the checked schema. @throws Unsupported if a column of the table has the name of a changelog column */
  private def checkNames(schema: Schema, table: String): Schema = {
    val changelogNames = CommitScan.changelogColumns.map(_.name)
    changelogNames.find(name => schema.fields.exists(_.name.equalsIgnoreCase(name))).foreach { name =>
      throw Unsupported(
        s"the changelog $table, because the table has a column $name",
        "The changelog has its own column with this name; rename the column of the table"
      )
    }
    schema
  }
}
