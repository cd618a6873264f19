package iceberglite.spark.session

import java.util

import scala.annotation.nowarn

import org.apache.spark.sql.connector.catalog.{Column, Identifier, StagedTable, StagingTableCatalog, Table}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.iceberglite.ColumnDefinitions

/**
 * A catalog whose tables can have generated columns. The overloads with column definitions keep the expressions of
 * generated columns in the schema that they pass to the overloads with a schema.
 */
@nowarn("cat=deprecation") // Spark deprecates the overloads with a schema
trait ColumnDefinitionCatalog extends StagingTableCatalog {

  override def createTable(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): Table = createTable(ident, ColumnDefinitions.schemaOf(columns), partitions, properties)

  override def stageCreate(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): StagedTable = stageCreate(ident, ColumnDefinitions.schemaOf(columns), partitions, properties)

  override def stageReplace(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): StagedTable = stageReplace(ident, ColumnDefinitions.schemaOf(columns), partitions, properties)

  override def stageCreateOrReplace(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: util.Map[String, String]
  ): StagedTable = stageCreateOrReplace(ident, ColumnDefinitions.schemaOf(columns), partitions, properties)
}
