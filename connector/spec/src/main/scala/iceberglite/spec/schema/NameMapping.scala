package iceberglite.spec.schema

import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType, Type}

/**
 * The name mapping of a table, which assigns field ids to the fields of files without field ids (spec: "Column
 * Projection", property `schema.name-mapping.default`).
 *
 * A dot in a name does not separate the names of nested fields. Nested fields are mapped by the entries of
 * [[MappedField.fields]].
 */
final case class NameMapping(fields: Vector[MappedField]) {

  /** Returns the mapping of a top-level field, by the name of the field in a file. */
  def find(name: String): Option[MappedField] = MappedField.findByName(fields, name)

  /**
   * Returns the mapping after a change to the columns. With the new mapping, existing files are read as before the
   * change. A renamed column keeps its old names, an added column gets an entry with its name, and a dropped column
   * keeps its entry, so that the values of the dropped column do not appear in another column. The new name of a
   * renamed or added column is removed from the other entries of the same struct.
   *
   * Existing columns that are not in the mapping, and their nested fields, are not added.
   */
  def evolve(from: Schema, to: Schema): NameMapping = NameMapping(NameMappingUpdate(from).fields(fields, to.asStruct))
}

/**
 * The mapping of a field in files to a field id.
 *
 * @param names the possible names of the field in a file
 * @param id the field id; absent if the table does not have the field
 * @param fields the mapping of nested fields: `element` of a list, `key` and `value` of a map
 */
final case class MappedField(names: Vector[String], id: Option[Int], fields: Vector[MappedField]) {

  /** Returns the mapping of a nested field, by the name of the field in a file. */
  def find(name: String): Option[MappedField] = MappedField.findByName(fields, name)

  private[iceberglite] def withoutNames(isTaken: String => Boolean): MappedField =
    copy(names = names.filterNot(isTaken))
}

object MappedField {
  private[iceberglite] def findByName(fields: Vector[MappedField], name: String): Option[MappedField] =
    fields.find(_.names.contains(name))
}

object NameMapping {

  /** Returns a mapping that contains the current names of a schema's fields. */
  def of(schema: Schema): NameMapping = NameMapping(fieldsOf(schema.asStruct))

  private[iceberglite] def fieldsOf(t: Type): Vector[MappedField] = t match {
    case nested: NestedType => nested.fields.map(mappedField)
    case _: PrimitiveType => Vector.empty
  }

  private[iceberglite] def mappedField(f: NestedField): MappedField =
    MappedField(Vector(f.name), Some(f.id), fieldsOf(f.fieldType))
}

/** Updates a name mapping after a change to the columns. @param from the columns before the change */
final private case class NameMappingUpdate(from: Schema) {

  /**
   * Updates the mappings of the child fields of a field.
   *
   * @param parentType the type of the field after the change
   */
  def fields(mapped: Vector[MappedField], parentType: Type): Vector[MappedField] = {
    val columns = parentType match {
      case nested: NestedType => nested.fields
      case _: PrimitiveType => Vector.empty
    }
    val byId = columns.map(c => c.id -> c).toMap
    val added = columns.filterNot(c => from.byId.contains(c.id))
    val renamed = columns.filter(c => from.byId.get(c.id).exists(_.name != c.name))
    val idsByNewName = (added ++ renamed).map(c => c.name -> c.id).toMap
    val updated = mapped.map { m =>
      val column = m.id.flatMap(byId.get)
      val nested = column.fold(m.fields)(c => fields(m.fields, c.fieldType))
      val names = (m.names ++ column.filter(renamed.contains).map(_.name)).distinct
      MappedField(names, m.id, nested).withoutNames(name => idsByNewName.get(name).exists(id => !m.id.contains(id)))
    }
    updated ++ added.filterNot(c => mapped.exists(_.id.contains(c.id))).map(NameMapping.mappedField)
  }
}
