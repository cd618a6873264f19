package iceberglite.spec

/** Field ids for files that hold none (spec: "Column Projection", property `schema.name-mapping.default`). */
final case class NameMapping(fields: Vector[MappedField])

/**
 * @param names what the field may be called in a file
 * @param id absent for a field that the table does not have
 * @param fields the mapping of the fields inside
 */
final case class MappedField(names: Vector[String], id: Option[Int], fields: Vector[MappedField])

object NameMapping {

  /** The mapping of a schema's own names. */
  def of(schema: Schema): NameMapping = NameMapping(fieldsOf(schema.asStruct))

  private def fieldsOf(t: Type): Vector[MappedField] = t match {
    case nested: NestedType => nested.fields.map(f => MappedField(Vector(f.name), Some(f.id), fieldsOf(f.fieldType)))
    case _: PrimitiveType => Vector.empty
  }
}
