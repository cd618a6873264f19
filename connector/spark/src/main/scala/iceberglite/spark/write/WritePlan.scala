package iceberglite.spark.write

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.write.LogicalWriteInfo
import org.apache.spark.sql.types.StructType

import iceberglite.data.parquet.ParquetSettings
import iceberglite.io.{DataLocations, MetricsModes}
import iceberglite.spark.AuditFirst
import iceberglite.spark.conf.{Settings, WriteOptions}
import iceberglite.spark.write.parquet.ParquetFormat
import iceberglite.spark.write.partition.Partitioner
import iceberglite.spec.IcebergError.{NotFound, Unsupported}
import iceberglite.spec.json.SchemaJson
import iceberglite.spec.{FileFormat, PartitionSpec, Schema, SortOrder, TableProperty}
import iceberglite.table.{Destination, Isolation, Table}

/**
 * How a write goes about it, as far as that is known before there are rows.
 *
 * @param rows the columns of the rows, and their types in Spark
 * @param isolation of overwrites
 * @param summary entries for the snapshot's summary
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
    rowGroupSize: Long,
    isolation: Option[Isolation],
    to: Destination,
    summary: Map[String, String]
)

private[write] object WritePlan {

  /** @throws iceberglite.spec.IcebergError for a setting or a column that does not fit the table */
  def of(
      table: Table,
      info: LogicalWriteInfo,
      settings: Settings,
      target: AuditFirst.Target,
      session: SparkSession
  ): WritePlan = {
    val input = inputOf(table, info, settings, session)
    val spec = specOf(table, settings)
    // What a task could not partition by is refused before there are tasks.
    Partitioner.of(spec, input)
    val order = sortOrderOf(table, settings)
    val parquet = parquetOf(table, settings)
    WritePlan(
      table = table,
      rows = info.schema,
      input = input,
      spec = spec,
      sortOrder = order,
      requirements = requirementsOf(schemaOf(table, input), spec, order, settings),
      advisorySize = math.max(settings(WriteOptions.AdvisoryPartitionSize), sparksAdvice(settings, session)),
      format = formatOf(table, input, order, parquet),
      locations = DataLocations.of(table.location, table.properties),
      targetSize = parquet.targetSize,
      rowGroupSize = parquet.rowGroupSize,
      isolation = isolationOf(settings),
      to = target.to,
      summary = EngineSummary.of(session) ++ WriteOptions.snapshotProperties(info.options) ++ target.summary
    )
  }

  private def inputOf(
      table: Table,
      info: LogicalWriteInfo,
      settings: Settings,
      session: SparkSession
  ): Vector[InputField] = {
    val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
    new InputColumns(table.name, table.schema, caseSensitive, settings(WriteOptions.CheckNullability)).of(info.schema)
  }

  private def formatOf(
      table: Table,
      input: Vector[InputField],
      order: SortOrder,
      settings: ParquetSettings
  ): DataFileFormat = {
    val modes = MetricsModes.of(table.properties, table.schema, order)
    val keyValues = Map("iceberg.schema" -> SchemaJson.toJson(table.schema))
    new ParquetFormat(input, table.schema.schemaId, modes, settings, keyValues, table.io)
  }

  private def isolationOf(settings: Settings): Option[Isolation] = WriteOptions.Isolation.given(settings)
    .map(level => Isolation(level, WriteOptions.ValidateFromSnapshot.given(settings)))

  private def specOf(table: Table, settings: Settings): PartitionSpec =
    WriteOptions.OutputSpecId.given(settings).fold(table.spec) { id =>
      table.metadata.specsById.getOrElse(
        id,
        throw NotFound("partition spec", id.toString, known(table, table.metadata.specs.map(_.specId)))
      )
    }

  private def known(table: Table, ids: Vector[Int]): String = s"Those of ${table.name} are ${ids.mkString(", ")}"

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
      settings: Settings
  ): RowRequirements =
    if (!settings(WriteOptions.UseTableDistribution)) RowRequirements.Nothing
    else RowRequirements.of(
      schema,
      spec,
      order,
      WriteOptions.Distribution.given(settings),
      WriteOptions.Fanout.given(settings).getOrElse(true)
    )

  /** What a user has set for all of the session's shuffles, where that is more. */
  private def sparksAdvice(settings: Settings, session: SparkSession): Long =
    if (WriteOptions.AdvisoryPartitionSize.given(settings).isDefined) 0L
    else session.sessionState.conf.getConf(org.apache.spark.sql.internal.SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES)

  private def parquetOf(table: Table, settings: Settings): ParquetSettings = {
    val format = settings(WriteOptions.Format)
    if (format != FileFormat.Parquet) {
      throw Unsupported(
        s"writing ${format.name} files to ${table.name}",
        "This release writes Parquet only: set the write option write-format or the table property " +
          s"${TableProperty.WriteFormat.key} to parquet"
      )
    }
    ParquetSettings(
      codec = ParquetSettings.codecOf(settings(WriteOptions.CompressionCodec), WriteOptions.CompressionCodec.key),
      level = WriteOptions.CompressionLevel.given(settings),
      rowGroupSize = TableProperty.of(TableProperty.ParquetRowGroupSize, table.properties),
      pageSize = TableProperty.of(TableProperty.ParquetPageSize, table.properties),
      pageRows = TableProperty.of(TableProperty.ParquetPageRowLimit, table.properties),
      dictionarySize = TableProperty.of(TableProperty.ParquetDictionarySize, table.properties),
      targetSize = settings(WriteOptions.TargetFileSize)
    )
  }
}
