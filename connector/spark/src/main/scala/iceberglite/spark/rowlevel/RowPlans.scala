package iceberglite.spark.rowlevel

import org.apache.spark.sql.connector.write.LogicalWriteInfo
import org.apache.spark.sql.types.LongType

import iceberglite.spark.conf.{ColumnsWriteInfo, Settings, StatementWriteInfo}
import iceberglite.spark.write.{WritePlan, WriteRequest}
import iceberglite.spec.property.DistributionMode

/** Creates write plans for the rows of row-level statements. */
private[rowlevel] object RowPlans {

  /**
   * Returns the plan for writing rows of a statement.
   *
   * @param distribution the distribution of the rows; if absent, they have the default distribution of ordinary writes
   * @param replacesFiles whether the write replaces whole files, so that the rows may include copies of existing rows,
   *   even if they have no change column
   */
  def of(
      statement: RowLevelStatement,
      writeInfo: LogicalWriteInfo,
      distribution: Option[DistributionMode] = None,
      replacesFiles: Boolean = false
  ): WritePlan = {
    val info: LogicalWriteInfo = new StatementWriteInfo(writeInfo, statement.options)
    val request = WriteRequest(
      info,
      Settings.of(info.options, statement.session, statement.table.properties),
      statement.target,
      statement.session,
      statement.followUps
    )
    val lineage = if (statement.hasLineage) CarryOverColumns.Lineage else Vector.empty
    val changeColumnIndex = findChangeColumn(statement, info)
    val copiesRows = replacesFiles || changeColumnIndex.isDefined || !statement.addsRows
    val plan = WritePlan.of(statement.table, request, lineage, distribution, changeColumnIndex, copiesRows)
    val checked = if (statement.addsRows) plan.withConstraints else plan
    checked.copy(
      rows = checked.rows.copy(changeColumnIndex = changeColumnIndex),
      settings = plan.settings.copy(
        isolation = Some(statement.isolation),
        merge = statement.merge,
        rerun = statement.rerun
      )
    )
  }

  /**
   * Returns the index of the change column. If the SQL extensions of the connector are active, copy-on-write adds this
   * column after the stored columns.
   */
  private def findChangeColumn(statement: RowLevelStatement, info: LogicalWriteInfo): Option[Int] = {
    val last = info.schema.length - 1
    val isTableColumn = statement.schema.fields.exists(_.name == CarryOverColumns.Change.name)
    if (!isTableColumn && info.schema.lastOption.exists(_.name == CarryOverColumns.Change.name)) Some(last) else None
  }

  /**
   * Returns the write info with the lineage columns appended to its schema. Spark passes the values of these columns
   * separately, as metadata of the old version of a row.
   */
  def withLineage(info: LogicalWriteInfo): LogicalWriteInfo =
    new ColumnsWriteInfo(
      info,
      CarryOverColumns.Lineage.foldLeft(info.schema)((s, f) => s.add(f.name, LongType, nullable = true))
    )
}
