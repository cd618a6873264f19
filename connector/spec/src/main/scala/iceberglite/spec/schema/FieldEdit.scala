package iceberglite.spec.schema

import iceberglite.spec.types.{DefaultValue, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Type._

/** Edits fields at any depth of a schema. */
private[iceberglite] object FieldEdit {

  /**
   * Edits the child fields of a field.
   *
   * @param path the ids of the fields from the top-level field to the field whose child fields are edited; empty to
   *   edit the top-level fields
   */
  def apply(
      fields: Vector[NestedField],
      path: List[Int],
      edit: Vector[NestedField] => Vector[NestedField]
  ): Vector[NestedField] = path match {
    case Nil => edit(fields)
    case id :: rest =>
      fields.map(f => if (f.id == id) f.copy(fieldType = editIn(f.fieldType, apply(_, rest, edit))) else f)
  }

  /** Edits each field on a path, from the innermost to the outermost. */
  def editPath(fields: Vector[NestedField], path: List[Int], edit: NestedField => NestedField): Vector[NestedField] =
    path match {
      case Nil => fields
      case id :: rest =>
        fields.map(f => if (f.id == id) edit(f.copy(fieldType = editIn(f.fieldType, editPath(_, rest, edit)))) else f)
    }

  /** Converts the defaults of a field to the type of the field after a promotion. */
  def promoteDefaults(name: String)(f: NestedField): NestedField = {
    def promote(value: DefaultValue): DefaultValue = DefaultValue.promote(name, value, f.fieldType)
    f.copy(initialDefault = f.initialDefault.map(promote), writeDefault = f.writeDefault.map(promote))
  }

  private def editIn(t: Type, edit: Vector[NestedField] => Vector[NestedField]): Type = t match {
    case StructType(fields) => StructType(edit(fields))
    case list: ListType =>
      val element = edit(list.fields).head
      ListType(element.id, element.fieldType, element.required)
    case map: MapType =>
      val Vector(key, value) = edit(map.fields)
      MapType(key.id, key.fieldType, value.id, value.fieldType, value.required)
    case primitive: PrimitiveType => primitive
  }
}
