package iceberglite.spec.schema

/** The table properties that belong to one column, and whose keys end with its field id. */
private[iceberglite] object FieldProperties {
  private val prefixes: Seq[String] = Seq(DeclaredType.Prefix, GeneratedColumn.Prefix)

  def isKey(property: String): Boolean = prefixes.exists(property.startsWith)

  /**
   * Replaces the field ids in the property keys, if the columns of a schema get the field ids of another schema. A
   * property of a field that `from` does not have is removed.
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
   * Returns the keys of existing properties that must be removed when the table is replaced. These are the properties
   * of the columns in `schema` that the new definition does not declare. The properties of other columns are kept,
   * because earlier snapshots contain these columns.
   *
   * @param schema the columns of the new definition
   * @param declared the properties of the new definition
   */
  def staleKeys(properties: Map[String, String], schema: Schema, declared: Map[String, String]): Set[String] =
    schema.byId.keySet.flatMap(id => prefixes.map(_ + id)).filter(k => properties.contains(k) && !declared.contains(k))
}
