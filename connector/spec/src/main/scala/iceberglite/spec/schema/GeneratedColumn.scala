package iceberglite.spec.schema

import iceberglite.spec.types.NestedField

/**
 * A top-level column whose values are computed from other columns of the same row. The expression is a table property
 * whose key contains the field id of the column. Therefore a renamed column remains generated. Only this connector
 * computes and checks the values. Other Iceberg implementations preserve the property, and ignore it.
 *
 * @param field the generated column
 * @param expression the expression in SQL
 */
final case class GeneratedColumn(field: NestedField, expression: String) {
  override def toString: String = s"${field.name} ($expression)"
}

object GeneratedColumn {

  /** The prefix of the property keys. A field id follows the prefix. */
  val Prefix = "iceberg-lite.generated."

  def key(fieldId: Int): String = Prefix + fieldId

  def isKey(property: String): Boolean = property.startsWith(Prefix)

  /** Returns the generated columns of a table. Properties of dropped columns are ignored. */
  def of(schema: Schema, properties: Map[String, String]): Vector[GeneratedColumn] =
    schema.fields.flatMap(field => properties.get(key(field.id)).map(GeneratedColumn(field, _)))
}
