package iceberglite.spec.schema

import iceberglite.spec.{IcebergError, ObjectKind}
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound}
import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType, Type}

/**
 * Finds columns by paths. A path consists of the names of the fields from the top-level column to the column, such as
 * `location`, `lat`. Unlike a full name with dots, a path is unambiguous, because names may contain dots. In a path,
 * the element of a list has the name `element`, and the key and value of a map have the names `key` and `value`.
 */
object ColumnPath {

  /**
   * Returns the fields on a path, from the top-level column to the field at the path.
   *
   * @throws NotFound if there is no such field; the message lists the existing fields
   * @throws InvalidArgument if the path is empty, or if case is ignored and several fields match
   */
  def require(schema: Schema, path: Vector[String], caseSensitive: Boolean): Vector[NestedField] = {
    val name = path.mkString(".")
    if (path.isEmpty) throw InvalidArgument("column name", s"'$name'", "It must not be empty")
    path.indices.foldLeft(Vector.empty[NestedField]) { (fields, depth) =>
      val siblings = fields.lastOption.fold(schema.fields)(f => childrenOf(f.fieldType))
      fields :+ child(siblings, path(depth), caseSensitive).getOrElse(throw missing(name, path.take(depth), siblings))
    }
  }

  /** Returns the field with the given name. @throws InvalidArgument if case is ignored and several fields match */
  def child(siblings: Vector[NestedField], name: String, caseSensitive: Boolean): Option[NestedField] =
    if (caseSensitive) siblings.find(_.name == name)
    else {
      val matches = siblings.filter(_.name.equalsIgnoreCase(name))
      if (matches.size > 1) {
        val names = matches.map(_.name).mkString(" and ")
        throw InvalidArgument("column name", name, Schema.ambiguous(names))
      }
      matches.headOption
    }

  private def childrenOf(t: Type): Vector[NestedField] = t match {
    case nested: NestedType => nested.fields
    case _: PrimitiveType => Vector.empty
  }

  private def missing(name: String, parent: Vector[String], siblings: Vector[NestedField]): IcebergError = {
    val names = siblings.map(_.name).mkString(", ")
    val advice =
      if (parent.isEmpty) s"The columns are $names"
      else if (siblings.isEmpty) s"${parent.mkString(".")} has no fields"
      else s"The fields of ${parent.mkString(".")} are $names"
    NotFound(ObjectKind.Column, name, advice)
  }
}
