package iceberglite.spark.catalog

import scala.collection.immutable.ListMap

import org.apache.spark.sql.connector.catalog.TableCatalog

import iceberglite.spark.convert.PartitionTerm
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{NullOrder, SortDirection, SortField}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.{FieldProperties, GeneratedColumn}

/**
 * The table properties in `SHOW TBLPROPERTIES` and `DESCRIBE`: the table's own properties, and properties that are
 * computed from other metadata.
 */
object TableDescription {
  val Provider = "iceberg"
  val Format = "format"
  val CurrentSnapshotId = "current-snapshot-id"
  val FormatVersion = "format-version"
  val Location: String = TableCatalog.PROP_LOCATION
  val SortOrder = "sort-order"
  val IdentifierFields = "identifier-fields"

  /** The keys of computed properties, which are never stored in a table. */
  val Computed: Set[String] = Set(
    Format,
    CurrentSnapshotId,
    FormatVersion,
    SortOrder,
    IdentifierFields,
    TableCatalog.PROP_PROVIDER,
    Location
  )

  def properties(table: TableMetadata): Map[String, String] = {
    val format = TableProperty.of(TableProperty.WriteFormat, table.properties).name
    ListMap(
      Format -> s"$Provider/$format",
      TableCatalog.PROP_PROVIDER -> Provider,
      CurrentSnapshotId -> table.currentSnapshotId.fold("none")(_.toString),
      Location -> table.location,
      FormatVersion -> table.formatVersion.toString
    ) ++ sortOrder(table).map(SortOrder -> _) ++ identifierFields(table).map(IdentifierFields -> _) ++
      table.properties.filterNot { case (key, _) => Computed(key) || FieldProperties.isKey(key) } ++ generatedColumns(
        table
      )
  }

  /** Returns the expressions of the generated columns. The keys have the names of the columns instead of their ids. */
  private def generatedColumns(table: TableMetadata): Map[String, String] =
    GeneratedColumn.of(table.schema, table.properties).map(g => GeneratedColumn.Prefix + g.field.name -> g.expression)
      .toMap

  private def sortOrder(table: TableMetadata): Option[String] =
    Some(table.sortOrder).filter(_.isSorted).map(_.fields.map(describe(table, _)).mkString(", "))

  private def describe(table: TableMetadata, field: SortField): String = {
    val term = PartitionTerm(table.schema.paths.getOrElse(field.sourceId, Vector("?")), field.transform)
    val direction = if (field.direction == SortDirection.Ascending) "ASC" else "DESC"
    val nulls = if (field.nullOrder == NullOrder.NullsFirst) "NULLS FIRST" else "NULLS LAST"
    s"${term.propertyText} $direction $nulls"
  }

  private def identifierFields(table: TableMetadata): Option[String] =
    Some(table.schema.identifierFieldIds).filter(_.nonEmpty)
      .map(_.toVector.sorted.flatMap(table.schema.names.get).mkString("[", ",", "]"))
}
