package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StructType}

import iceberglite.spark.maintenance.importing.TableMigration

/** `CALL spark_catalog.system.migrate(table, ...)` */
object MigrateTableProcedure extends Procedure {
  private val dropBackup = Parameter.optional(
    "drop_backup",
    ParameterType.Flag,
    "Whether to drop the original table, but not its files, after a successful migration; by default false"
  )
  private val backupTableName = Parameter.optional(
    "backup_table_name",
    ParameterType.Text,
    "New name of the original table, without its database; by default the name of the table followed by _BACKUP_"
  )

  override val name = "migrate"
  override val description =
    "Replace a Parquet, ORC or Avro table of Spark's session catalog with an Iceberg table that refers to its files"
  override val parameters: Seq[Parameter[_]] = Seq(
    Parameter.table,
    ImportParameters.properties,
    dropBackup,
    backupTableName,
    ImportParameters.parallelism,
    ImportParameters.ignoreMissingFiles
  )
  override val createsTable: Boolean = true

  override val output: StructType =
    StructType(Seq(Procedure.column("migrated_files_count", LongType, "Number of files of the Iceberg table")))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    ImportParameters.check(arguments)
    val migration = TableMigration.of(
      context.session,
      context.catalog,
      context.identifier(arguments(Parameter.table)),
      arguments.get(backupTableName),
      arguments.get(dropBackup).contains(true),
      arguments.get(ImportParameters.ignoreMissingFiles).contains(true)
    )
    Seq(Row(migration.run(arguments.get(ImportParameters.properties).getOrElse(Map.empty))))
  }
}
