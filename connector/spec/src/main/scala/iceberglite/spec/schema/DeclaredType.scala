package iceberglite.spec.schema

/**
 * The SQL type of a column, if it is more specific than the column's Iceberg type. For example, `varchar(20)` is
 * declared for a column with the Iceberg type `string`. Each declared type is a table property whose key contains the
 * field id. Therefore a renamed column keeps its declared type, and a new column with the old name does not get the
 * declared type. The property is kept when the column is dropped, because earlier snapshots contain the column. Other
 * Iceberg implementations preserve these properties, but use the Iceberg type.
 */
object DeclaredType {

  /** The prefix of the property keys. A field id follows the prefix. The value of the property is the declared type. */
  val Prefix = "schema.declared-type."

  def key(fieldId: Int): String = Prefix + fieldId

  def isKey(property: String): Boolean = property.startsWith(Prefix)

  /** Returns the declared type of a field in a table with the given properties. */
  def of(fieldId: Int, properties: Map[String, String]): Option[String] = properties.get(key(fieldId))
}
