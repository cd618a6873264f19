package iceberglite.inspect

import iceberglite.maintenance.health.{MaintenanceOptions, MaintenancePlan, TableHealth}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{BooleanType, DoubleType, LongType, MapType, StringType}
import iceberglite.table.{Environment, Table}

/**
 * The health of the table. Each row is an action of the procedure `maintain` with default options, and shows whether
 * the action is due. The rows are in the order in which the procedure runs the actions. Apache Iceberg has no such
 * metadata table.
 */
object HealthTable extends MetadataTable {
  override val name = "health"
  override val showsOneSnapshot = false

  private val columns = Schema(
    0,
    Vector(
      NestedField.required(1, "action", StringType, "Maintenance action"),
      NestedField.required(2, "is_due", BooleanType, "Whether the procedure maintain would run the action"),
      NestedField.required(3, "reason", StringType, "Why the action is or is not due"),
      NestedField.optional(
        4,
        "files",
        LongType,
        "Number of files that the action would replace or delete; snapshots for expire_snapshots"
      ),
      NestedField.optional(
        5,
        "files_after",
        LongType,
        "Expected number of files that replace the files counted in the column files; remaining snapshots for " +
          "expire_snapshots"
      ),
      NestedField.required(6, "bytes_to_rewrite", LongType, "Number of bytes that the action would rewrite"),
      NestedField.required(
        7,
        "gain_per_byte",
        DoubleType,
        "Bytes saved for each byte rewritten, including read.split.open-file-cost bytes for each file by which the " +
          "number of files decreases"
      ),
      NestedField.required(
        8,
        "measures",
        MapType(9, StringType, 10, LongType, valueRequired = true),
        "Measured values of the table that the decision is based on"
      )
    )
  )

  override def schema(table: Table): Schema = columns

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] = {
    val options = MaintenanceOptions.of(Map.empty, table.metadata)
    val health = TableHealth.of(table, options.rewrite(table.metadata), Environment.system.nowMs())
    MaintenancePlan.of(table, health, options).iterator.map { step =>
      MetadataRow.of(
        step.action.name,
        step.isDue,
        step.reason,
        step.filesBefore,
        step.filesAfter,
        step.bytesToRewrite,
        step.gainPerByte,
        step.measures
      )
    }
  }
}
