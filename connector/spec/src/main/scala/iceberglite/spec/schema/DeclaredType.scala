package iceberglite.spec.schema

/**
 * The SQL type of a column, if it is more specific than the column's Iceberg type: `varchar(20)` is a `string` in a
 * table. Each declared type is a table property whose key contains the field id. Therefore a renamed column keeps its
 * declared type, and a later column with the old name does not get it. The property is kept when the column is dropped,
 * because earlier snapshots have the column. Other engines preserve these properties, and use the Iceberg type.
 */
object DeclaredType {

  /** The prefix of the keys, which is followed by a field id. The value of the property is the declared type. */
  val Prefix = "schema.declared-type."

  def key(fieldId: Int): String = Prefix + fieldId

  def isKey(property: String): Boolean = property.startsWith(Prefix)

  /** Returns the declared type of a field in a table with these properties. */
  def of(fieldId: Int, properties: Map[String, String]): Option[String] = properties.get(key(fieldId))

  /** Converts properties with the ids of one schema to those of another schema with the same columns. */
  private[iceberglite] def renumber(properties: Map[String, String], from: Schema, to: Schema): Map[String, String] =
    properties.flatMap {
      case (property, text) if isKey(property) =>
        from.paths.collectFirst { case (id, path) if key(id) == property => path }
          .map(path => key(ColumnPath.require(to, path, caseSensitive = true).last.id) -> text)
      case other => Some(other)
    }

  /**
   * Returns the keys of existing properties that a replacement of the table does not declare for the columns of
   * `schema`.
   */
  private[iceberglite] def staleKeys(
      properties: Map[String, String],
      schema: Schema,
      declared: Map[String, String]
  ): Set[String] =
    schema.byId.keySet.map(key).filter(k => properties.contains(k) && !declared.contains(k))
}
