package iceberglite.spark.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{ResolvedPersistentView, ResolvedTable, ResolvedTempView}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableCatalog}
import org.apache.spark.sql.types.StructType

import iceberglite.spark.catalog.TableDefinition
import iceberglite.spark.conf.TimeTravel
import iceberglite.spark.session.LiteCatalog
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.metadata.{Encryption, TableMetadata}
import iceberglite.spec.partition.{Identity, UnboundPartitionField, UnboundSortField, Void}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.{FieldProperties, Schema}
import iceberglite.table.TableCreation

/**
 * The definition of a new table that CREATE TABLE LIKE derives from its source. The new table has the columns of the
 * source with their comments, defaults and nullability. From an iceberg-lite table, it also has the partition fields,
 * the sort order, the identifier fields, the format version, the file format and the distribution mode. If the
 * source is a table of another connector, the partition columns are copied too; if it is a view, only the columns are
 * copied. As in Spark's own statement, other properties and the comment of the source are not copied.
 */
private[sql] object TableLike {

  /**
   * Returns the definition.
   *
   * @param source the resolved source
   */
  def creation(session: SparkSession, source: LogicalPlan, clauses: LikeClauses): TableCreation = {
    val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
    val properties = Map("owner" -> session.sparkContext.sparkUser) ++ clauses.properties ++
      clauses.provider.map(TableCatalog.PROP_PROVIDER -> _) ++ clauses.location.map(TableCatalog.PROP_LOCATION -> _)
    def definition(columns: StructType) = TableDefinition(columns, Nil, properties, caseSensitive).creation
    source match {
      case ResolvedTable(catalog: LiteCatalog, ident, table: SparkTable, _) =>
        requireLatest(table)
        ofIceberg(newest(catalog, ident), definition(new StructType))
      case ResolvedTable(_, _, table, _) =>
        definition(CharVarcharUtils.getRawSchema(DataTypeUtils.fromAttributes(source.output))).copy(partitioning =
          partitioning(table)
        )
      case ResolvedPersistentView(_, _, schema) => definition(CharVarcharUtils.getRawSchema(schema))
      case ResolvedTempView(_, schema) => definition(CharVarcharUtils.getRawSchema(schema))
      case LocalRelation(output, _, _) => definition(DataTypeUtils.fromAttributes(output))
      case other => throw new IllegalStateException(s"${other.nodeName} is not a resolved table or view")
    }
  }

  private def requireLatest(table: SparkTable): Unit = if (table.travel != TimeTravel.Latest) throw Unsupported(
    s"CREATE TABLE LIKE ${table.name} at ${table.travel.selector}",
    "It copies the current definition of a table. Remove the snapshot, branch or tag from the name of the table"
  )

  private def newest(catalog: LiteCatalog, ident: Identifier): TableMetadata = {
    val shared = catalog.sharedTable(ident)
    shared.refresh()
    shared.current.metadata
  }

  private def ofIceberg(source: TableMetadata, requested: TableCreation): TableCreation = {
    def path(id: Int) = source.schema.paths(id)
    requested.copy(
      schema = Schema(0, source.schema.fields, source.schema.identifierFieldIds),
      partitioning = source.spec.fields.filter(_.transform != Void)
        .map(f => UnboundPartitionField(path(f.sourceId), f.transform, Some(f.name))),
      order =
        source.sortOrder.fields.map(f => UnboundSortField(path(f.sourceId), f.transform, f.direction, f.nullOrder)),
      properties = inherited(source) ++ requested.properties,
      caseSensitive = true
    )
  }

  private val copiedKeys = Set(
    TableProperty.WriteFormat.key,
    TableProperty.Distribution.key,
    Encryption.KeyIdProperty,
    Encryption.KeyLengthProperty
  )

  /**
   * Returns the properties to copy: those of columns, the file format, the distribution mode, the version, and the key
   * of an encrypted table, so that rows that are copied to the new table stay encrypted.
   */
  private def inherited(source: TableMetadata): Map[String, String] =
    source.properties.filter { case (key, _) => FieldProperties.isKey(key) || copiedKeys(key) } + (TableProperty.Version
      .key -> source.formatVersion.toString)

  /**
   * Returns the partition columns of a table of another connector. The buckets of Spark's own tables are omitted,
   * because their hash function differs from that of Iceberg tables.
   */
  private def partitioning(table: Table): Vector[UnboundPartitionField] =
    table.partitioning.toVector.filter(_.name == Identity.name).flatMap(_.references)
      .map(reference => UnboundPartitionField(reference.fieldNames.toVector, Identity))
}
