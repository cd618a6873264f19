package iceberglite.spark.write

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.write.LogicalWriteInfo
import org.apache.spark.sql.types.StructType

import iceberglite.io.DataLocations
import iceberglite.spark.AuditFirst
import iceberglite.spark.conf.{ApplicationOptions, Settings, WriteOptions}
import iceberglite.spark.write.partition.Partitioner
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.{ContentFile, DistributionMode, NestedField, PartitionSpec, Schema, Snapshot, SortOrder}
import iceberglite.table.action.RecordApplication
import iceberglite.table.{Destination, Isolation, Table}

/**
 * How a write goes about it, as far as that is known before there are rows.
 *
 * @param rows the columns of the rows, and their types in Spark
 * @param isolation of overwrites
 * @param summary entries for the snapshot's summary
 * @param changeAt where rows tell what became of them ([[RowChange]]); absent where they do not
 * @param once notes that the table has what is written, for an application that may write it again
 * @param merge what makes the table, which has it already, of the one that there is
 */
final private[write] case class WritePlan(
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
    to: Destination,
    summary: Map[String, String],
    once: Option[RecordApplication],
    changeAt: Option[Int] = None,
    merge: Option[SchemaMerge] = None
) {

  /** The table as it was when the write began. */
  def base: Table = merge.fold(table)(_.base)

  private lazy val partitionType = spec.partitionType(table.schema)

  /** A file of a task, as the table lists it. */
  def contentFile(file: WrittenFile): ContentFile =
    file.contentFile(format.format, spec.specId, partitionType, sortOrder.orderId)
}

private[write] object WritePlan {

  /**
   * @param lineage the fields besides those of the table that the rows have: what they keep of older versions of themselves
   * @param distribution absent: by the settings
   * @param besides where a column of the rows stands that is not stored
   * @throws iceberglite.spec.IcebergError for a setting or a column that does not fit the table
   */
  def of(
      table: Table,
      info: LogicalWriteInfo,
      settings: Settings,
      target: AuditFirst.Target,
      session: SparkSession,
      lineage: Vector[NestedField] = Vector.empty,
      distribution: Option[DistributionMode] = None,
      besides: Option[Int] = None
  ): WritePlan = {
    val columns = table.schema.copy(fields = table.schema.fields ++ lineage)
    val input = inputOf(table.name, columns, info, besides, settings, session)
    val spec = specOf(table, settings)
    // What a task could not partition by is refused before there are tasks.
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

  /** @param read the state that the write begins with */
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

  /** The columns that Spark can distribute and sort by: those that the rows have. */
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

  /** What a user has set for all of the session's shuffles, where that is more. */
  private def sparksAdvice(settings: Settings, session: SparkSession): Long =
    if (WriteOptions.AdvisoryPartitionSize.given(settings).isDefined) 0L
    else session.sessionState.conf.getConf(org.apache.spark.sql.internal.SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES)
}
