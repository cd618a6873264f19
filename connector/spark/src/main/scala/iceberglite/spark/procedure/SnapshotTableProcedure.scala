package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.connector.catalog.TableCatalog
import org.apache.spark.sql.types.{LongType, StructType}

import iceberglite.spark.maintenance.importing.{ImportSource, TableFromSource, TableSource}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.property.TableProperty
import iceberglite.storage.StoragePath
import iceberglite.table.Table

/** `CALL catalog.system.snapshot(source_table, table, ...)` */
object SnapshotTableProcedure extends Procedure {
  private val sourceTable = Parameter.required(
    "source_table",
    ParameterType.Text,
    "Parquet, ORC or Avro table of Spark's session catalog"
  )
  private val location = Parameter.optional(
    "location",
    ParameterType.Text,
    "Location of the new table; by default chosen by the catalog. It must not overlap the location of the source"
  )

  override val name = "snapshot"
  override val description =
    "Create a table that refers to the files of another table, for example for tests; the other table is not changed"
  override val parameters: Seq[Parameter[_]] = Seq(
    sourceTable,
    Parameter.table,
    location,
    ImportParameters.properties,
    ImportParameters.parallelism,
    ImportParameters.ignoreMissingFiles
  )
  override val createsTable: Boolean = true

  override val output: StructType =
    StructType(Seq(Procedure.column("imported_files_count", LongType, "Number of files of the new table")))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    ImportParameters.check(arguments)
    val ident = context.identifier(arguments(Parameter.table))
    val source = ImportSource.table(context.session, arguments(sourceTable))
    val properties = arguments.get(ImportParameters.properties).getOrElse(Map.empty) ++
      Map(TableProperty.Gc.key -> "false", "snapshot" -> "true") ++
      arguments.get(location).map(TableCatalog.PROP_LOCATION -> _)
    val ignoresMissing = arguments.get(ImportParameters.ignoreMissingFiles).contains(true)
    val files = new TableFromSource(context.session, context.catalog, source, ignoresMissing)
      .create(ident, properties)(rejectOverlap(_, source))
    Seq(Row(files))
  }

  private def rejectOverlap(table: Table, source: TableSource): Unit = {
    def parse(path: String): Option[StoragePath] = StoragePath.of(path, table.io.defaultFileSystem)
    val overlaps = parse(table.location).exists(own => parse(source.location).exists(own.overlaps))
    if (overlaps) throw InvalidArgument(
      "argument location",
      table.location,
      s"It overlaps the location of the source, ${source.location}, so that the files of both tables would be mixed"
    )
  }
}
