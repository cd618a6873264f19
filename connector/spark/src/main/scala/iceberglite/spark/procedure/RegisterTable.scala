package iceberglite.spark.procedure

import scala.util.Try

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StructType}

/** `CALL catalog.system.register_table(table, metadata_file)` */
object RegisterTable extends Procedure {
  private val file = Parameter.required(
    "metadata_file",
    ParameterType.Text,
    "The table's newest metadata file; what other catalogs do to it later is not seen"
  )

  override val name = "register_table"
  override val description = "Takes a table into the catalog that is there as a metadata file"
  override val parameters: Seq[Parameter[_]] = Seq(Parameter.table, file)
  override val makesTable: Boolean = true

  override val output: StructType = StructType(Seq(
    Procedure.column("current_snapshot_id", LongType, "Its current snapshot", nullable = true),
    Procedure.column("total_records_count", LongType, "The rows in it", nullable = true),
    Procedure.column("total_data_files_count", LongType, "The data files in it", nullable = true)
  ))

  override def call(arguments: Arguments, place: Place): Seq[Row] = {
    val ident = place.identifier(arguments(Parameter.table))
    val current = place.catalog.registerTable(ident, arguments(file)).currentSnapshot
    def total(key: String): Any = current.flatMap(_.summary.get(key)).flatMap(n => Try(n.toLong).toOption).orNull
    Seq(Row(current.map(_.snapshotId).orNull, total("total-records"), total("total-data-files")))
  }
}
