package iceberglite.spec.schema

/** The table properties that belong to one column, and whose keys end with its field id. */
private[iceberglite] object FieldProperties {
  private val prefixes: Seq[String] = Seq(DeclaredType.Prefix, GeneratedColumn.Prefix)

  def isKey(property: String): Boolean = prefixes.exists(property.startsWith)

  /**
   * Returns table properties with new field ids in the keys of columns' properties. A field has its old id in `from`
   * and its new id in `to`. The property of a field that `from` does not have is removed.
   *
   * @param to a schema with the same field paths as `from`, but other field ids
   */
  def renumber(properties: Map[String, String], from: Schema, to: Schema): Map[String, String] =
    properties.flatMap {
      case (property, text) if isKey(property) =>
        for {
          prefix <- prefixes.find(property.startsWith)
          path <- from.paths.collectFirst { case (id, path) if prefix + id == property => path }
        } yield prefix + ColumnPath.require(to, path, caseSensitive = true).last.id -> text
      case other => Some(other)
    }

  /**
   * Returns the keys of existing properties that must be removed when the table is replaced. If a column of the new
   * definition has an existing property, but the new definition does not set this property, the property is removed.
   * The properties of columns that the new definition does not contain are kept, because earlier snapshots contain
   * these columns.
   *
   * @param schema the columns of the new definition
   * @param declared the properties that the new definition sets
   */
  def staleKeys(properties: Map[String, String], schema: Schema, declared: Map[String, String]): Set[String] =
    schema.byId.keySet.flatMap(id => prefixes.map(_ + id)).filter(k => properties.contains(k) && !declared.contains(k))
}
