package iceberglite.spec.schema

import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType, Type}

/**
 * Field ids for files without field ids (spec: "Column Projection", property `schema.name-mapping.default`).
 *
 * Names are literal: a name with a dot is one name, and nested fields have their own mappings below their parent.
 */
final case class NameMapping(fields: Vector[MappedField]) {

  /** Returns the table's field for a top-level field of a file with this name. */
  def find(name: String): Option[MappedField] = MappedField.findByName(fields, name)

  /**
   * Returns the mapping after a change of columns. Earlier files are read as before the change. A renamed column keeps
   * its old names, an added column gets an entry with its name, and a dropped column keeps its entry, so that its
   * values do not appear in another column. If a renamed or added column gets a name, the name is removed from all
   * other entries.
   *
   * Existing columns that are not in the mapping, and their nested fields, are not added.
   */
  def evolve(from: Schema, to: Schema): NameMapping = NameMapping(NameMappingUpdate(from).fields(fields, to.asStruct))
}

/**
 * The mapping of a field.
 *
 * @param names the possible names of the field in a file
 * @param id absent for a field that the table does not have
 * @param fields the mapping of nested fields: `element` of a list, `key` and `value` of a map
 */
final case class MappedField(names: Vector[String], id: Option[Int], fields: Vector[MappedField]) {

  /** Returns the mapping of a nested field, by its name in a file. */
  def find(name: String): Option[MappedField] = MappedField.findByName(fields, name)

  private[iceberglite] def withoutNames(isTaken: String => Boolean): MappedField =
    copy(names = names.filterNot(isTaken))
}

object MappedField {
  private[iceberglite] def findByName(fields: Vector[MappedField], name: String): Option[MappedField] =
    fields.find(_.names.contains(name))
}

object NameMapping {

  /** Returns the mapping of a schema's own names. */
  def of(schema: Schema): NameMapping = NameMapping(fieldsOf(schema.asStruct))

  private[iceberglite] def fieldsOf(t: Type): Vector[MappedField] = t match {
    case nested: NestedType => nested.fields.map(mappedField)
    case _: PrimitiveType => Vector.empty
  }

  private[iceberglite] def mappedField(f: NestedField): MappedField =
    MappedField(Vector(f.name), Some(f.id), fieldsOf(f.fieldType))
}

/** Updates a mapping when the columns of `from` change. */
final private case class NameMappingUpdate(from: Schema) {

  /**
   * Updates the mappings of the children of a field.
   *
   * @param parentType the type of the field; the mappings of the children of a dropped field do not change
   */
  def fields(mapped: Vector[MappedField], parentType: Type): Vector[MappedField] = {
    val columns = parentType match {
      case nested: NestedType => nested.fields
      case _: PrimitiveType => Vector.empty
    }
    val byId = columns.map(c => c.id -> c).toMap
    val added = columns.filterNot(c => from.byId.contains(c.id))
    val renamed = columns.filter(c => from.byId.get(c.id).exists(_.name != c.name))
    val owners = (added ++ renamed).map(c => c.name -> c.id).toMap
    val kept = mapped.map { m =>
      val column = m.id.flatMap(byId.get)
      val nested = column.fold(m.fields)(c => fields(m.fields, c.fieldType))
      val names = (m.names ++ column.filter(renamed.contains).map(_.name)).distinct
      MappedField(names, m.id, nested).withoutNames(name => owners.get(name).exists(owner => !m.id.contains(owner)))
    }
    kept ++ added.filterNot(c => mapped.exists(_.id.contains(c.id))).map(NameMapping.mappedField)
  }
}
