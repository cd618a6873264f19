package iceberglite.spec.update

import iceberglite.spec.FormatVersion
import iceberglite.spec.schema.ColumnPath
import iceberglite.spec.types.{NestedField, Type}
import iceberglite.spec.types.Type.{ListType, MapType, StructType, UnknownType, canPromote}

/**
 * Merges the columns of rows to write into those of a table, by name: missing columns are added, types are widened, and
 * nullable columns become optional. Nothing is dropped, narrowed or made required.
 */
final private[update] class SchemaUnion(version: FormatVersion, caseSensitive: Boolean) {

  /** Merges fields of a struct. @param parent the path to the struct whose fields are `known` and get `wanted` */
  def mergeStruct(
      update: SchemaUpdate,
      parent: Vector[String],
      known: Vector[NestedField],
      wanted: Vector[NestedField]
  ): SchemaUpdate = wanted.foldLeft(update) { (update, field) =>
    ColumnPath.child(known, field.name, caseSensitive) match {
      case Some(column) => mergeField(update, parent :+ column.name, column, field)
      case None => update.addColumn(parent, field.name, field.fieldType, field.doc)
    }
  }

  private def mergeField(update: SchemaUpdate, path: Vector[String], known: NestedField, wanted: NestedField) = {
    val nullable = if (wanted.optional && known.required) update.makeOptional(path) else update
    val typed = mergeType(nullable, path, known.fieldType, wanted.fieldType)
    if (wanted.doc.isEmpty || wanted.doc == known.doc) typed else typed.updateDoc(path, wanted.doc)
  }

  private def mergeType(update: SchemaUpdate, path: Vector[String], known: Type, wanted: Type): SchemaUpdate =
    (known, wanted) match {
      case (StructType(columns), StructType(fields)) => mergeStruct(update, path, columns, fields)
      case (list: ListType, other: ListType) =>
        mergeField(update, path :+ list.elementField.name, list.elementField, other.elementField)
      case (map: MapType, other: MapType) =>
        val keyed = mergeType(update, path :+ map.keyField.name, map.key, other.key)
        mergeField(keyed, path :+ map.valueField.name, map.valueField, other.valueField)
      // Only nulls, or values that the table's type can represent.
      case _ if wanted == UnknownType || canPromote(wanted, known, version) => update
      case _ => update.updateType(path, wanted)
    }
}
