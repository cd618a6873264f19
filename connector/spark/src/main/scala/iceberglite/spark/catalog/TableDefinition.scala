package iceberglite.spark.catalog

import org.apache.spark.sql.catalyst.util.{GeneratedColumn => SparkGeneratedColumn}
import org.apache.spark.sql.connector.catalog.TableCatalog
import org.apache.spark.sql.connector.expressions.{Transform => SparkTransform}
import org.apache.spark.sql.types.StructType

import iceberglite.data.DataFormats
import iceberglite.spark.convert.{DeclaredTypes, PartitionTerm, SparkTypes}
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.partition.UnboundPartitionField
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.{ColumnPath, FieldProperties, GeneratedColumn, Schema}
import iceberglite.spec.types.NestedField
import iceberglite.table.TableCreation
import iceberglite.table.action.RecordApplicationVersion

/**
 * The definition of a table in CREATE TABLE and similar statements, as Spark passes it.
 *
 * @param properties the user's properties, and the properties that Spark adds for other clauses of the statement
 */
final case class TableDefinition(
    columns: StructType,
    partitions: Seq[SparkTransform],
    properties: Map[String, String],
    caseSensitive: Boolean
) {

  /**
   * Returns the parameters with which a catalog creates the table.
   *
   * @throws iceberglite.spec.IcebergError if the definition is not supported
   */
  def creation: TableCreation = {
    val fields = SparkTypes.fromSpark(columns)
    TableCreation(
      Schema(0, fields),
      partitions.toVector.map(PartitionTerm.of).map(term => UnboundPartitionField(term.source, term.transform)),
      location = properties.get(TableCatalog.PROP_LOCATION),
      properties = formatOf(properties.get(TableCatalog.PROP_PROVIDER)) ++ storedProperties ++
        DeclaredTypes.properties(columns, fields) ++ generatedColumns(fields),
      caseSensitive = caseSensitive
    )
  }

  /**
   * Returns the expressions of the generated columns as table properties whose keys contain the field ids. The
   * expressions come from the clauses of the columns, or from properties whose keys contain the names of the columns.
   */
  private def generatedColumns(fields: Vector[NestedField]): Map[String, String] = {
    val named = properties.collect {
      case (key, expression) if GeneratedColumn.isKey(key) =>
        val name = key.stripPrefix(GeneratedColumn.Prefix)
        val column = ColumnPath.child(fields, name, caseSensitive)
          .getOrElse(throw InvalidArgument(s"table property $key", expression, s"The table has no column $name"))
        GeneratedColumn.key(column.id) -> expression
    }
    val declared = columns.fields.zip(fields).flatMap { case (column, field) =>
      SparkGeneratedColumn.getGenerationExpression(column).map(GeneratedColumn.key(field.id) -> _)
    }
    named ++ declared
  }

  private def storedProperties: Map[String, String] = {
    TableDefinition.rejectedKeys.foreach { case (key, reason) =>
      properties.get(key).foreach(value => throw InvalidArgument(s"table property $key", value, reason))
    }
    properties.filterNot { case (key, _) => TableDefinition.isOmitted(key) || isCopyOfOption(key) }
  }

  /** Whether Spark has added the key: each option of an `OPTIONS` clause becomes a property with and without prefix. */
  private def isCopyOfOption(key: String): Boolean =
    key.startsWith(TableCatalog.OPTION_PREFIX) &&
      properties.get(key.stripPrefix(TableCatalog.OPTION_PREFIX)) == properties.get(key)

  /** Returns the file format for a provider: `USING orc` creates an iceberg-lite table with ORC files. */
  private def formatOf(provider: Option[String]): Map[String, String] = provider.map(_.toLowerCase) match {
    case None | Some(Providers.Iceberg | Providers.IcebergLite) => Map.empty
    case Some(name) => DataFormats.named(name) match {
        case Some(data) => Map(TableProperty.WriteFormat.key -> data.format.name)
        case None => throw InvalidArgument("table provider", name, "Create tables of this catalog with USING iceberg")
      }
  }
}

object TableDefinition {

  /**
   * Returns the location of a table, if it is absolute.
   *
   * @throws InvalidArgument for a relative path, which would refer to other directories for other users and on other
   *   machines
   */
  def absolute(location: String): String =
    if (location.startsWith("/") || location.contains(":/")) location
    else throw InvalidArgument("location", location, "It must be a URI or an absolute path")

  /** Keys that are not stored as properties: keys that Spark adds, and computed keys that `SHOW CREATE TABLE` shows. */
  private val omittedKeys: Set[String] = TableDescription.Computed - TableDescription.FormatVersion ++
    Set(TableCatalog.PROP_EXTERNAL, TableCatalog.PROP_IS_MANAGED_LOCATION)

  private def isOmitted(key: String): Boolean =
    omittedKeys(key) || FieldProperties.isKey(key) || key.startsWith(RecordApplicationVersion.Prefix)

  private val rejectedKeys: Map[String, String] = Map(
    TableDescription.SortOrder -> "A sort order cannot be set as a property; use ALTER TABLE ... WRITE ORDERED BY",
    TableDescription.IdentifierFields ->
      "Identifier fields cannot be set as a property; use ALTER TABLE ... SET IDENTIFIER FIELDS",
    "hive.stored-as" -> "STORED AS is for Hive tables; write USING iceberg",
    "hive.serde" -> "ROW FORMAT is for Hive tables; write USING iceberg"
  )
}
