package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import iceberglite.maintenance.ComputeBloomIndex
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.{BloomIndexProperty, TableProperty}
import iceberglite.table.MetadataAction
import iceberglite.table.action.UpdateProperties

/**
 * `ALTER TABLE t SET BLOOM INDEX (column, ...)` or `ALTER TABLE t DROP BLOOM INDEX [(column, ...)]`: changes the
 * columns for which `compute_table_stats` writes Bloom filters. Their names are stored in a table property.
 *
 * @param columns the columns; empty for all indexed columns
 * @param isDrop whether the columns are removed from the index; otherwise they replace its columns
 */
final case class ChangeBloomIndex(table: Seq[String], columns: Vector[Vector[String]], isDrop: Boolean)
    extends MetadataCommand {

  override private[iceberglite] def metadataActions(base: TableMetadata, caseSensitive: Boolean): Seq[MetadataAction] =
    Seq(propertyAction(if (isDrop) remaining(base, caseSensitive) else indexed(base, caseSensitive)))

  private def indexed(base: TableMetadata, caseSensitive: Boolean): Vector[String] =
    ComputeBloomIndex.require(base.schema, columns, caseSensitive)

  private def remaining(base: TableMetadata, caseSensitive: Boolean): Vector[String] = {
    lazy val current = TableProperty.of(BloomIndexProperty.Columns, base.properties).getOrElse(Vector.empty)
    if (columns.isEmpty) Vector.empty
    else columns.map(_.mkString(".")).foldLeft(current) { (names, name) =>
      val (dropped, kept) = names.partition(n => if (caseSensitive) n == name else n.equalsIgnoreCase(name))
      if (dropped.isEmpty) throw InvalidArgument(
        "column of a Bloom index",
        name,
        s"It is not indexed, so it cannot be dropped from the index. The indexed columns are ${current.mkString(", ")}"
      )
      kept
    }
  }

  private def propertyAction(names: Vector[String]): MetadataAction = {
    val key = BloomIndexProperty.Columns.key
    if (names.isEmpty) new UpdateProperties(Map.empty, Set(key))
    else new UpdateProperties(Map(key -> names.mkString(",")))
  }

  override protected def loadsNewestVersion: Boolean = true
}

/** `ALTER TABLE t SET BLOOM INDEX (column, ...)` */
object SetBloomIndex extends AlterTableStatement {
  override val words: Seq[String] = Seq("SET", "BLOOM", "INDEX")

  override def parse(table: Seq[String], reader: SqlReader): LogicalPlan =
    if (reader.peek.isSymbol("(")) ChangeBloomIndex(table, BloomIndexColumns.parse(reader), isDrop = false)
    else reader.fail("expected columns in parentheses")
}

/** `ALTER TABLE t DROP BLOOM INDEX [(column, ...)]` */
object DropBloomIndex extends AlterTableStatement {
  override val words: Seq[String] = Seq("DROP", "BLOOM", "INDEX")

  override def parse(table: Seq[String], reader: SqlReader): LogicalPlan =
    ChangeBloomIndex(table, BloomIndexColumns.parse(reader), isDrop = true)
}

private object BloomIndexColumns {

  /** Parses columns in parentheses; none if there are no parentheses. */
  def parse(reader: SqlReader): Vector[Vector[String]] =
    if (!reader.skipSymbol("(")) Vector.empty
    else {
      val columns = AlterTableStatement.columns(reader)
      reader.expectSymbol(")")
      columns
    }
}
