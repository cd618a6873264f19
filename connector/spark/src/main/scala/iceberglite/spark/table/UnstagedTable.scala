package iceberglite.spark.table

import java.util

import scala.annotation.nowarn

import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, WriteBuilder}
import org.apache.spark.sql.types.StructType

import iceberglite.spark.error.SparkErrors
import iceberglite.spec.IcebergError.Unsupported

/**
 * A table in a catalog that does not support staging. The table exists immediately, and is dropped if the query that
 * fills it fails.
 */
@nowarn("cat=deprecation") // every catalog and table has the deprecated methods
final private[iceberglite] class UnstagedTable(catalog: TableCatalog, ident: Identifier, table: Table)
    extends StagedTable
    with SupportsWrite {
  override def name: String = table.name
  override def schema: StructType = table.schema
  override def columns: Array[Column] = table.columns
  override def partitioning: Array[Transform] = table.partitioning
  override def properties: util.Map[String, String] = table.properties
  override def capabilities: util.Set[TableCapability] = table.capabilities

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = table match {
    case writable: SupportsWrite => writable.newWriteBuilder(info)
    case _ => throw SparkErrors.of(name, Unsupported(s"writing to $name", "Its catalog creates read-only tables"))
  }

  override def commitStagedChanges(): Unit = ()

  override def abortStagedChanges(): Unit = catalog.dropTable(ident)
}

@nowarn("cat=deprecation") // every catalog and table has the deprecated methods
private[iceberglite] object UnstagedTable {
  def create(
      catalog: TableCatalog,
      ident: Identifier,
      schema: StructType,
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): StagedTable = new UnstagedTable(catalog, ident, catalog.createTable(ident, schema, partitions, properties))
}
