package iceberglite.spec

/**
 * Field ids for files that hold none (spec: "Column Projection", property `schema.name-mapping.default`).
 *
 * Names are literal: one with a dot is one name, and what is nested has a mapping of its own below its parent.
 */
final case class NameMapping(fields: Vector[MappedField]) {

  /** The field of the table that a field of a file with this name is, among those at the top. */
  def find(name: String): Option[MappedField] = MappedField.named(fields, name)

  /**
   * The mapping after a change of columns: files that were written before still read as they did. A renamed column is
   * found by its old names too, an added one by its name, and a dropped one keeps its entry so that its values do not
   * turn up under another. A name that a column takes belongs to that column alone.
   *
   * Columns that the mapping did not have stay out of it, as do the parts of those.
   */
  def follow(from: Schema, to: Schema): NameMapping = NameMapping(Renaming(from).fields(fields, to.asStruct))
}

/**
 * @param names what the field may be called in a file
 * @param id absent for a field that the table does not have
 * @param fields the mapping of the fields inside: of a list `element`, of a map `key` and `value`
 */
final case class MappedField(names: Vector[String], id: Option[Int], fields: Vector[MappedField]) {

  /** The mapping of a field inside, by its name in a file. */
  def find(name: String): Option[MappedField] = MappedField.named(fields, name)

  private[spec] def without(taken: String => Boolean): MappedField = copy(names = names.filterNot(taken))
}

object MappedField {
  private[spec] def named(fields: Vector[MappedField], name: String): Option[MappedField] =
    fields.find(_.names.contains(name))
}

object NameMapping {

  /** The mapping of a schema's own names. */
  def of(schema: Schema): NameMapping = NameMapping(fieldsOf(schema.asStruct))

  private[spec] def fieldsOf(t: Type): Vector[MappedField] = t match {
    case nested: NestedType => nested.fields.map(mapped)
    case _: PrimitiveType => Vector.empty
  }

  private[spec] def mapped(f: NestedField): MappedField =
    MappedField(Vector(f.name), Some(f.id), fieldsOf(f.fieldType))
}

/** What becomes of a mapping when the columns of `from` change. */
final private case class Renaming(from: Schema) {

  /** @param present the type whose parts these are; the parts of what is dropped stay as they are */
  def fields(mapped: Vector[MappedField], present: Type): Vector[MappedField] = {
    val columns = present match {
      case nested: NestedType => nested.fields
      case _: PrimitiveType => Vector.empty
    }
    val byId = columns.map(c => c.id -> c).toMap
    val added = columns.filterNot(c => from.byId.contains(c.id))
    val renamed = columns.filter(c => from.byId.get(c.id).exists(_.name != c.name))
    val owners = (added ++ renamed).map(c => c.name -> c.id).toMap
    val kept = mapped.map { m =>
      val now = m.id.flatMap(byId.get)
      val inside = now.fold(m.fields)(c => fields(m.fields, c.fieldType))
      val names = (m.names ++ now.filter(renamed.contains).map(_.name)).distinct
      MappedField(names, m.id, inside).without(name => owners.get(name).exists(owner => !m.id.contains(owner)))
    }
    kept ++ added.filterNot(c => mapped.exists(_.id.contains(c.id))).map(NameMapping.mapped)
  }
}
