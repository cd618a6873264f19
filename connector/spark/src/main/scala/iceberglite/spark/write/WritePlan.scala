package iceberglite.spark.write

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.write.LogicalWriteInfo
import org.apache.spark.sql.types.StructType

import iceberglite.spark.conf.{ApplicationOptions, EngineSummary, Settings, WriteAuditPublish, WriteOptions}
import iceberglite.spark.write.files.{DataFileFormat, InputColumns, InputField, InputSource}
import iceberglite.spark.write.partition.Partitioner
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.{PartitionSpec, SortOrder}
import iceberglite.spec.property.DistributionMode
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.table.{Action, DataLocations, Isolation, SnapshotTarget, Table}
import iceberglite.table.action.RecordApplication

/**
 * The properties of a write that are known before it gets rows.
 *
 * @param rows the columns of the rows, and their types in Spark
 * @param isolation the validation of overwrites
 * @param summary entries for the snapshot's summary
 * @param changeAt the index of the column that tells what happened to a row ([[RowChange]]); absent if there is none
 * @param once records the version of an application's write, which may be run again
 * @param merge the changes of the table's columns, which this table already has
 */
final private[iceberglite] case class WritePlan(
    table: Table,
    rows: StructType,
    input: Vector[InputField],
    spec: PartitionSpec,
    sortOrder: SortOrder,
    requirements: RowRequirements,
    advisorySize: Long,
    format: DataFileFormat,
    locations: DataLocations,
    targetSize: Long,
    isolation: Option[Isolation],
    to: SnapshotTarget,
    summary: Map[String, String],
    once: Option[RecordApplication],
    changeAt: Option[Int] = None,
    merge: Option[SchemaMerge] = None
) {

  /** Returns the table at the start of the write. */
  def base: Table = merge.fold(table)(_.base)

  /** Returns the commit of the write. @param counts entries for the snapshot's summary in addition to the plan's */
  def pending(action: Option[Action], counts: Map[String, String] = Map.empty): PendingCommit =
    PendingCommit(base, summary ++ counts, action, once, merge.map(_.action))
}

private[iceberglite] object WritePlan {

  /**
   * Creates a plan.
   *
   * @param lineage the additional fields of the rows for row lineage
   * @param distribution absent to use the settings
   * @param besides the index of a column of the rows that is not stored
   * @throws iceberglite.spec.IcebergError for a setting or a column that is not valid for the table
   */
  def of(
      table: Table,
      info: LogicalWriteInfo,
      settings: Settings,
      target: WriteAuditPublish.Target,
      session: SparkSession,
      lineage: Vector[NestedField] = Vector.empty,
      distribution: Option[DistributionMode] = None,
      besides: Option[Int] = None
  ): WritePlan = {
    val columns = table.schema.copy(fields = table.schema.fields ++ lineage)
    val input = inputOf(table.name, columns, info, besides, settings, session)
    val spec = specOf(table, settings)
    // Reject unsupported partitioning before tasks are started.
    Partitioner.of(spec, input)
    val order = sortOrderOf(table, settings)
    val format = DataFileFormats.of(table, input, order, settings)
    WritePlan(
      table = table,
      rows = info.schema,
      input = input,
      spec = spec,
      sortOrder = order,
      requirements = requirementsOf(schemaOf(table, input), spec, order, settings, distribution),
      advisorySize = math.max(settings(WriteOptions.AdvisoryPartitionSize), sparksAdvice(settings, session)),
      format = format,
      locations = DataLocations.of(table.location, table.properties),
      targetSize = settings(WriteOptions.TargetFileSize),
      isolation = isolationOf(settings, target.to.head(table.metadata)),
      to = target.to,
      summary = EngineSummary.of(session) ++ WriteOptions.snapshotProperties(info.options, session) ++ target.summary,
      once = ApplicationOptions.of(settings)
    )
  }

  private def inputOf(
      name: String,
      columns: Schema,
      info: LogicalWriteInfo,
      besides: Option[Int],
      settings: Settings,
      session: SparkSession
  ): Vector[InputField] = {
    val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
    new InputColumns(name, columns, caseSensitive, settings(WriteOptions.CheckNullability)).of(info.schema, besides)
  }

  /** Returns the validation of an overwrite. @param read the state at which the write begins */
  private def isolationOf(settings: Settings, read: Option[Snapshot]): Option[Isolation] =
    WriteOptions.Isolation.given(settings).map { level =>
      Isolation(level, WriteOptions.ValidateFromSnapshot.given(settings).orElse(read.map(_.snapshotId)))
    }

  private def specOf(table: Table, settings: Settings): PartitionSpec =
    WriteOptions.OutputSpecId.given(settings).fold(table.spec) { id =>
      table.metadata.specsById.getOrElse(
        id,
        throw NotFound("partition spec", id.toString, known(table, table.metadata.specs.map(_.specId)))
      )
    }

  private def known(table: Table, ids: Vector[Int]): String = s"The ids in ${table.name} are ${ids.mkString(", ")}"

  private def sortOrderOf(table: Table, settings: Settings): SortOrder =
    WriteOptions.OutputSortOrderId.given(settings).fold(table.sortOrder) { id =>
      val orders = table.metadata.sortOrders
      orders.find(_.orderId == id).getOrElse(
        throw NotFound("sort order", id.toString, known(table, orders.map(_.orderId)))
      )
    }

  /** Returns the columns by which Spark can distribute and sort: those in the rows. */
  private def schemaOf(table: Table, input: Vector[InputField]): Schema = {
    val given = input.collect { case InputField(field, InputSource.Rows(_), _, _, _) => field.id }.toSet
    table.schema.copy(fields = table.schema.fields.filter(f => given(f.id)))
  }

  private def requirementsOf(
      schema: Schema,
      spec: PartitionSpec,
      order: SortOrder,
      settings: Settings,
      distribution: Option[DistributionMode]
  ): RowRequirements =
    if (!settings(WriteOptions.UseTableDistribution)) RowRequirements.Nothing
    else RowRequirements.of(
      schema,
      spec,
      order,
      distribution.orElse(WriteOptions.Distribution.given(settings)),
      WriteOptions.Fanout.given(settings).getOrElse(true)
    )

  /** Returns the session's advisory size for all shuffles, if it is larger. */
  private def sparksAdvice(settings: Settings, session: SparkSession): Long =
    if (WriteOptions.AdvisoryPartitionSize.given(settings).isDefined) 0L
    else session.sessionState.conf.getConf(org.apache.spark.sql.internal.SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES)
}
