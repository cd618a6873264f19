package iceberglite.spark.sql

import org.apache.spark.sql.types.{StructType => SparkStruct}

import iceberglite.spark.convert.SparkTypes
import iceberglite.spec.schema.ColumnPath
import iceberglite.spec.types.{NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Type._
import iceberglite.table.Table

/**
 * Determines which columns the source of a MERGE adds to the target table, and which columns it widens. If the type of
 * a table column cannot be widened to the type of the source column, the table column keeps its type, and Spark's store
 * assignment converts the values. A required column stays required even if the source column is nullable.
 */
final private[sql] class SourceColumns(table: Table, caseSensitive: Boolean) {
  private val version = table.metadata.formatVersion

  /**
   * Returns the columns of the source, with the types that the columns will have in the table.
   *
   * @throws iceberglite.spec.IcebergError.Unsupported if a new column has an unsupported type
   */
  def of(source: SparkStruct): Vector[NestedField] = fields(table.schema.fields, SparkTypes.fromSpark(source))

  private def fields(columns: Vector[NestedField], source: Vector[NestedField]): Vector[NestedField] =
    source.map { field =>
      ColumnPath.child(columns, field.name, caseSensitive) match {
        case Some(column) =>
          column.copy(id = field.id, fieldType = typeOf(column.fieldType, field.fieldType))
        case None => field.copy(required = false)
      }
    }

  private def typeOf(inTable: Type, inSource: Type): Type = (inTable, inSource) match {
    case (from: PrimitiveType, to: PrimitiveType) => if (canPromote(from, to, version)) to else from
    case (StructType(columns), StructType(parts)) => StructType(fields(columns, parts))
    case (list: ListType, ofSource: ListType) => list.copy(element = typeOf(list.element, ofSource.element))
    case (map: MapType, ofSource: MapType) =>
      map.copy(key = typeOf(map.key, ofSource.key), value = typeOf(map.value, ofSource.value))
    case _ => inTable
  }
}
