package iceberglite.spark.write

import org.apache.spark.sql.types.{ArrayType, DataType, MapType => SparkMap, StructType => SparkStruct}

import iceberglite.spark.constraint.GenerationExpression
import iceberglite.spark.convert.SparkTypes
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.schema.{ColumnPath, Schema}
import iceberglite.spec.types.{NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Type._
import iceberglite.spec.update.{MetadataUpdate, SchemaChanges}
import iceberglite.table.{Action, Table}
import iceberglite.table.action.MergeSchema

/**
 * The schema changes of a write whose rows have columns that the table lacks, or columns of wider types. The commit
 * that adds the rows also commits these changes. Therefore, EXPLAIN and a failed write do not change the table.
 *
 * @param base the current table
 * @param merged the table with the schema changes; the write uses this version
 * @param rowColumns the columns of the rows
 */
final private[iceberglite] class SchemaMerge private (
    val base: Table,
    val merged: Table,
    rowColumns: Schema,
    caseSensitive: Boolean
) {

  /** Returns the action that changes the schema. It precedes the other actions of the commit. */
  def action: Action = new MergeSchema(merged.schema, rowColumns, caseSensitive)
}

private[iceberglite] object SchemaMerge {

  /**
   * Returns the schema changes that the given rows require.
   *
   * @return absent if the rows have no new columns and no wider types
   * @throws iceberglite.spec.IcebergError if a column has incompatible types, or a wider column is used by a generated
   *   column; the message names the column
   */
  def of(table: Table, rows: SparkStruct, caseSensitive: Boolean): Option[SchemaMerge] = {
    val rowColumns = new RowColumnConverter(caseSensitive).fields(table.schema.fields, SparkTypes.fromSpark(rows), rows)
    ofColumns(table, Schema(0, rowColumns), caseSensitive)
  }

  /**
   * Returns the schema changes that rows with the given columns require; absent if no columns are new or wider.
   *
   * @param rowColumns the columns of the rows, matched by name; their ids are ignored
   */
  def ofColumns(table: Table, rowColumns: Schema, caseSensitive: Boolean): Option[SchemaMerge] =
    if (MergeSchema.mergedSchema(table.metadata, rowColumns, caseSensitive) == table.schema) None
    else {
      val updates = SchemaChanges(table.metadata, caseSensitive).unionByNameWith(rowColumns).updates
      val metadata = MetadataUpdate.applyAll(table.metadata, updates, table.metadata.lastUpdatedMs)
      val merged = table.at(table.version.copy(metadata = metadata))
      requireSameTypes(table, merged.schema)
      Some(new SchemaMerge(table, merged, rowColumns, caseSensitive))
    }

  /** Requires that the columns that generated columns use keep their types. Stored values can depend on the types. */
  private def requireSameTypes(table: Table, merged: Schema): Unit =
    GenerationExpression.all(table.schema, table.properties, table.name)
      .find(g => !GenerationExpression.isKept(g, merged, table.properties, table.name)).foreach { g =>
        throw Unsupported(
          s"changing the type of a column of ${table.name} that the generated column ${g.column} uses",
          "Cast the column of the rows to the type of the table's column"
        )
      }

  /**
   * Converts the columns of rows to Iceberg types. If Spark represents a type of the table by another type, such as
   * uuid by string, the table's type is used.
   */
  final private class RowColumnConverter(caseSensitive: Boolean) {
    def fields(columns: Vector[NestedField], rows: Vector[NestedField], struct: SparkStruct): Vector[NestedField] =
      rows.zip(struct.fields).map { case (field, sparkField) =>
        ColumnPath.child(columns, field.name, caseSensitive).fold(field) { column =>
          field.copy(fieldType = typeOf(column.fieldType, field.fieldType, sparkField.dataType))
        }
      }

    private def typeOf(inTable: Type, inRows: Type, dataType: DataType): Type = (inTable, inRows, dataType) match {
      case (p: PrimitiveType, _, _) if SparkTypes.toSpark(p) == dataType => p
      case (StructType(columns), StructType(parts), struct: SparkStruct) => StructType(fields(columns, parts, struct))
      case (list: ListType, rowList: ListType, ArrayType(element, _)) =>
        rowList.copy(element = typeOf(list.element, rowList.element, element))
      case (map: MapType, rowMap: MapType, SparkMap(key, value, _)) =>
        rowMap.copy(key = typeOf(map.key, rowMap.key, key), value = typeOf(map.value, rowMap.value, value))
      case _ => inRows
    }
  }
}
