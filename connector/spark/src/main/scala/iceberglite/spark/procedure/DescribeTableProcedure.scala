package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.connector.catalog.TableCatalog
import org.apache.spark.sql.types.{IntegerType, LongType, StringType, StructType}

import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.ObjectKind
import iceberglite.spec.json.{
  JsonFormat,
  PartitionSpecJson,
  PartitionStatisticsJson,
  SchemaJson,
  SortOrderJson,
  StatisticsJson
}
import iceberglite.table.Table

/** `CALL catalog.system.describe_table(table)` */
object DescribeTableProcedure extends Procedure {
  override val name = "describe_table"
  override val description =
    "Return the current metadata of the table, with its parts in the JSON form of the Iceberg specification"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table)

  override val output: StructType = StructType(Seq(
    Procedure.column("table_uuid", StringType, "UUID of the table", nullable = true),
    Procedure.column("location", StringType, "Location of the table, as a URI"),
    Procedure.column("metadata_location", StringType, "Location of the current metadata file, as a URI"),
    Procedure.column("format_version", IntegerType, "Version of the table format"),
    Procedure.column("current_snapshot_id", LongType, "Id of the current snapshot", nullable = true),
    Procedure.column("comment", StringType, "Description of the table", nullable = true),
    Procedure.column("schema", StringType, "Current schema, as JSON"),
    Procedure.column("partition_spec", StringType, "Default partition spec, as JSON"),
    Procedure.column("sort_order", StringType, "Default sort order, as JSON"),
    Procedure.column("statistics", StringType, "Table statistics files, as a JSON list"),
    Procedure.column("partition_statistics", StringType, "Partition statistics files, as a JSON list"),
    Procedure.column("partition_specs", StringType, "All partition specs, as a JSON list")
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val table = tableOf(arguments(Parameter.table), context)
    val metadata = table.metadata
    Seq(ResultRow(
      metadata.uuid.map(_.toString),
      metadata.location,
      table.metadataLocation,
      metadata.formatVersion.number,
      metadata.currentSnapshotId,
      metadata.properties.get(TableCatalog.PROP_COMMENT),
      SchemaJson.toJson(metadata.schema),
      PartitionSpecJson.toJson(metadata.spec),
      SortOrderJson.toJson(metadata.sortOrder),
      list(metadata.statistics, StatisticsJson),
      list(metadata.partitionStatistics, PartitionStatisticsJson),
      list(metadata.specs, PartitionSpecJson)
    ))
  }

  /** Returns the newest version of the table. The name may also be that of a branch of the table. */
  private def tableOf(name: String, context: ProcedureContext): Table =
    context.catalog.loadTable(context.identifier(name)) match {
      case table: SparkTable => table.table.refresh()
      case _ => throw NotFound(ObjectKind.Table, name, "The name does not refer to an Iceberg table or its branch")
    }

  private def list[A](values: Seq[A], format: JsonFormat[A]): String = values.map(format.toJson).mkString("[", ",", "]")
}
