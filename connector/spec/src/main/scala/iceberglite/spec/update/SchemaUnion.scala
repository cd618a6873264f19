package iceberglite.spec.update

import iceberglite.spec.FormatVersion
import iceberglite.spec.schema.ColumnPath
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type.{ListType, MapType, StructType, UnknownType, canPromote}

/**
 * Merges the columns of new rows into the columns of a table, by name. Missing columns are added. If a column of the
 * new rows has a wider type, the column of the table is promoted. A required column becomes optional if the column of
 * the new rows is nullable. Comments on the columns of the new rows replace existing comments. No column is dropped,
 * narrowed or made required.
 */
final private[update] class SchemaUnion(version: FormatVersion, caseSensitive: Boolean) {

  /**
   * Merges requested fields into a struct.
   *
   * @param parent the path to the struct; empty for the table
   * @param existing the fields of the struct in the table
   */
  def mergeStruct(
      update: SchemaChanges,
      parent: Vector[String],
      existing: Vector[NestedField],
      requested: Vector[NestedField]
  ): SchemaChanges = requested.foldLeft(update) { (update, field) =>
    ColumnPath.child(existing, field.name, caseSensitive) match {
      case Some(column) => mergeField(update, parent :+ column.name, column, field)
      case None => update.addColumn(parent, field.name, field.fieldType, field.doc)
    }
  }

  private def mergeField(update: SchemaChanges, path: Vector[String], existing: NestedField, requested: NestedField) = {
    val nullable = if (requested.optional && existing.required) update.makeOptional(path) else update
    val typed = mergeType(nullable, path, existing.fieldType, requested.fieldType)
    if (requested.doc.isEmpty || requested.doc == existing.doc) typed else typed.updateDoc(path, requested.doc)
  }

  private def mergeType(update: SchemaChanges, path: Vector[String], existing: Type, requested: Type): SchemaChanges =
    (existing, requested) match {
      case (StructType(columns), StructType(fields)) => mergeStruct(update, path, columns, fields)
      case (list: ListType, requestedList: ListType) =>
        mergeField(update, path :+ list.elementField.name, list.elementField, requestedList.elementField)
      case (map: MapType, requestedMap: MapType) =>
        val withKey = mergeType(update, path :+ map.keyField.name, map.key, requestedMap.key)
        mergeField(withKey, path :+ map.valueField.name, map.valueField, requestedMap.valueField)
      // The new rows contain only nulls in this column, or the table's type can represent their values.
      case _ if requested == UnknownType || canPromote(requested, existing, version) => update
      case _ => update.updateType(path, requested)
    }
}
