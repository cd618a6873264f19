package iceberglite.spark.write.rows

import java.util.Optional

import org.apache.spark.sql.connector.write.LogicalWriteInfo
import org.apache.spark.sql.types.{LongType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.conf.Settings
import iceberglite.spark.write.WritePlan
import iceberglite.spec.MetadataColumns.{LastUpdatedSequenceNumber, RowId}
import iceberglite.spec.NestedField

/** How the rows of a statement are written. */
private[rows] object RowPlans {
  private val Lineage: Vector[NestedField] = Vector(RowId, LastUpdatedSequenceNumber)

  def of(statement: RowLevelStatement, info: LogicalWriteInfo): WritePlan = {
    val distribution = StatementRequirements.replacing(statement)
    val settings = Settings.of(info.options, statement.session, statement.table.properties)
    val lineage = if (statement.hasLineage) Lineage else Vector.empty
    WritePlan.of(statement.table, info, settings, statement.target, statement.session, lineage, distribution)
      .copy(isolation = Some(statement.isolation))
  }

  /** The same rows, with what Spark hands over beside them of their older versions. */
  def withLineage(info: LogicalWriteInfo): LogicalWriteInfo = new LogicalWriteInfo {
    override def schema: StructType = Lineage.foldLeft(info.schema)((s, f) => s.add(f.name, LongType, nullable = true))
    override def options: CaseInsensitiveStringMap = info.options
    override def queryId: String = info.queryId
    override def rowIdSchema: Optional[StructType] = info.rowIdSchema
    override def metadataSchema: Optional[StructType] = info.metadataSchema
  }
}
