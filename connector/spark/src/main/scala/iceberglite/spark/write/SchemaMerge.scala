package iceberglite.spark.write

import org.apache.spark.sql.types.{ArrayType, DataType, MapType => SparkMap, StructType => SparkStruct}

import iceberglite.spark.convert.SparkTypes
import iceberglite.spec.Type._
import iceberglite.spec.{ColumnPath, MetadataUpdate, NestedField, PrimitiveType, Schema, SchemaUpdate, Type}
import iceberglite.table.Table
import iceberglite.table.action.{Action, MergeSchema}

/**
 * A write whose rows have columns that the table lacks, or has narrower: they are merged in the commit of the rows, so
 * that a write that fails, or is only explained, leaves the table's columns as they are.
 *
 * @param base the table as it is
 * @param merged the table as the rows are written to it
 */
final private[spark] class SchemaMerge private (
    val base: Table,
    val merged: Table,
    rows: Schema,
    caseSensitive: Boolean
) {

  /** What the commit of the rows begins with. */
  def action: Action = new MergeSchema(merged.schema, rows, caseSensitive)
}

private[spark] object SchemaMerge {

  /**
   * @return absent where the table has all that the rows have
   * @throws iceberglite.spec.IcebergError that names the column where types do not go together
   */
  def of(table: Table, rows: SparkStruct, caseSensitive: Boolean): Option[SchemaMerge] = {
    val wanted = new Wanted(caseSensitive).fields(table.schema.fields, SparkTypes.fromSpark(rows), rows)
    ofColumns(table, Schema(0, wanted), caseSensitive)
  }

  /** @param wanted the columns of the rows, by name; their ids do not matter */
  def ofColumns(table: Table, wanted: Schema, caseSensitive: Boolean): Option[SchemaMerge] =
    if (MergeSchema.merged(table.metadata, wanted, caseSensitive) == table.schema) None
    else {
      val updates = SchemaUpdate(table.metadata, caseSensitive).unionByNameWith(wanted).updates
      val metadata = MetadataUpdate.applyAll(table.metadata, updates, table.metadata.lastUpdatedMs)
      Some(new SchemaMerge(table, table.at(table.version.copy(metadata = metadata)), wanted, caseSensitive))
    }

  /** The columns of rows; where the table's type is one that Spark has another for, such as uuid, it is the table's. */
  final private class Wanted(caseSensitive: Boolean) {
    def fields(known: Vector[NestedField], given: Vector[NestedField], struct: SparkStruct): Vector[NestedField] =
      given.zip(struct.fields).map { case (field, in) =>
        ColumnPath.child(known, field.name, caseSensitive).fold(field) { column =>
          field.copy(fieldType = typeOf(column.fieldType, field.fieldType, in.dataType))
        }
      }

    private def typeOf(known: Type, given: Type, dataType: DataType): Type = (known, given, dataType) match {
      case (p: PrimitiveType, _, _) if SparkTypes.toSpark(p) == dataType => p
      case (StructType(columns), StructType(parts), struct: SparkStruct) => StructType(fields(columns, parts, struct))
      case (list: ListType, ofRows: ListType, ArrayType(element, _)) =>
        ofRows.copy(element = typeOf(list.element, ofRows.element, element))
      case (map: MapType, ofRows: MapType, SparkMap(key, value, _)) =>
        ofRows.copy(key = typeOf(map.key, ofRows.key, key), value = typeOf(map.value, ofRows.value, value))
      case _ => given
    }
  }
}
