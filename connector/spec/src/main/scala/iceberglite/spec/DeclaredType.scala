package iceberglite.spec

/**
 * What an engine calls the type of a column, where the table's own type says less: a `varchar(20)` of SQL is a `string`
 * here. Each is a property of its own, by the id of the column, so that the column keeps it under a new name and a
 * later column of its old name does not get it. It outlives the column, which earlier snapshots have. Engines that do
 * not know these properties keep them, and read and write the type that the table has.
 */
object DeclaredType {

  /** Followed by a field id; the value is the type. */
  val Prefix = "schema.declared-type."

  def key(fieldId: Int): String = Prefix + fieldId

  def isKey(property: String): Boolean = property.startsWith(Prefix)

  /** What a table with these properties says of a field. */
  def of(fieldId: Int, properties: Map[String, String]): Option[String] = properties.get(key(fieldId))

  /** Properties that speak of the ids of one schema, for another with the same columns. */
  private[spec] def renumbered(properties: Map[String, String], from: Schema, to: Schema): Map[String, String] =
    properties.flatMap {
      case (property, text) if isKey(property) =>
        from.paths.collectFirst { case (id, path) if key(id) == property => path }
          .map(path => key(ColumnPath.require(to, path, caseSensitive = true).last.id) -> text)
      case other => Some(other)
    }

  /** The properties of a table that speak of columns which another table in its place declares otherwise. */
  private[spec] def stale(properties: Map[String, String], schema: Schema, declared: Map[String, String]): Set[String] =
    schema.byId.keySet.map(key).filter(k => properties.contains(k) && !declared.contains(k))
}
