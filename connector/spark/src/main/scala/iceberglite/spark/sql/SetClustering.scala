package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import iceberglite.maintenance.cluster.ClusterColumns
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.TableProperty
import iceberglite.table.MetadataAction
import iceberglite.table.action.UpdateProperties

/**
 * `ALTER TABLE t CLUSTER BY { (column, ...) | NONE }`: sets the columns by which `rewrite_data_files` clusters rows
 * along a Hilbert curve. Existing files do not change. The field ids of the columns are stored in a table property.
 *
 * @param columns the columns; empty for `CLUSTER BY NONE`
 */
final case class SetClustering(table: Seq[String], columns: Vector[Vector[String]]) extends MetadataCommand {

  override private[iceberglite] def metadataActions(
      base: TableMetadata,
      caseSensitive: Boolean
  ): Seq[MetadataAction] = {
    val key = TableProperty.ClusterBy.key
    if (columns.isEmpty) Seq(new UpdateProperties(Map.empty, Set(key)))
    else Seq(new UpdateProperties(Map(key -> ClusterColumns.require(base.schema, columns, caseSensitive).ids)))
  }

  override protected def loadsNewestVersion: Boolean = true
}

object SetClustering extends AlterTableStatement {
  override val words: Seq[String] = Seq("CLUSTER", "BY")

  override def parse(table: Seq[String], reader: SqlReader): LogicalPlan =
    if (reader.skip("NONE")) SetClustering(table, Vector.empty)
    else {
      if (!reader.skipSymbol("(")) reader.fail("expected NONE or columns in parentheses")
      val columns = AlterTableStatement.columns(reader)
      reader.expectSymbol(")")
      SetClustering(table, columns)
    }
}
