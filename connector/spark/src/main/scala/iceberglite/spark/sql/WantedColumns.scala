package iceberglite.spark.sql

import org.apache.spark.sql.types.{StructType => SparkStruct}

import iceberglite.spark.convert.SparkTypes
import iceberglite.spec.Type._
import iceberglite.spec.{ColumnPath, NestedField, PrimitiveType, Type}
import iceberglite.table.Table

/**
 * What the columns of a MERGE's source ask of those of its table. A type that the table's cannot be widened to is left to
 * Spark's store assignment; and no column may become optional because the source's may be null.
 */
final private[sql] class WantedColumns(table: Table, caseSensitive: Boolean) {
  private val version = table.metadata.formatVersion

  /** @throws iceberglite.spec.IcebergError.Unsupported for a new column of a type that tables do not have */
  def of(source: SparkStruct): Vector[NestedField] = fields(table.schema.fields, SparkTypes.fromSpark(source))

  private def fields(known: Vector[NestedField], given: Vector[NestedField]): Vector[NestedField] = given.map { field =>
    ColumnPath.child(known, field.name, caseSensitive) match {
      case Some(column) =>
        column.copy(id = field.id, fieldType = typeOf(column.fieldType, field.fieldType))
      case None => field.copy(required = false)
    }
  }

  private def typeOf(known: Type, given: Type): Type = (known, given) match {
    case (from: PrimitiveType, to: PrimitiveType) => if (canPromote(from, to, version)) to else from
    case (StructType(columns), StructType(parts)) => StructType(fields(columns, parts))
    case (list: ListType, ofSource: ListType) => list.copy(element = typeOf(list.element, ofSource.element))
    case (map: MapType, ofSource: MapType) =>
      map.copy(key = typeOf(map.key, ofSource.key), value = typeOf(map.value, ofSource.value))
    case _ => known
  }
}
