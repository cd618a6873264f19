package iceberglite.spec.schema

/**
 * The type of a column in an engine, if the table's type is less specific: SQL's `varchar(20)` is a `string` in a
 * table. Each is a property with the id of the column in its key, so that a renamed column keeps it, and a later column
 * with the old name does not get it. It outlives the column, which earlier snapshots have. Engines that do not know
 * these properties keep them, and read and write the table's type.
 */
object DeclaredType {

  /** The prefix, followed by a field id; the value is the type. */
  val Prefix = "schema.declared-type."

  def key(fieldId: Int): String = Prefix + fieldId

  def isKey(property: String): Boolean = property.startsWith(Prefix)

  /** Returns the declared type of a field in a table with these properties. */
  def of(fieldId: Int, properties: Map[String, String]): Option[String] = properties.get(key(fieldId))

  /** Converts properties with the ids of one schema to those of another schema with the same columns. */
  private[iceberglite] def renumbered(properties: Map[String, String], from: Schema, to: Schema): Map[String, String] =
    properties.flatMap {
      case (property, text) if isKey(property) =>
        from.paths.collectFirst { case (id, path) if key(id) == property => path }
          .map(path => key(ColumnPath.require(to, path, caseSensitive = true).last.id) -> text)
      case other => Some(other)
    }

  /** Returns properties of columns that a replacement of the table declares differently. */
  private[iceberglite] def stale(
      properties: Map[String, String],
      schema: Schema,
      declared: Map[String, String]
  ): Set[String] =
    schema.byId.keySet.map(key).filter(k => properties.contains(k) && !declared.contains(k))
}
