package iceberglite.spec.partition

import iceberglite.spec.types.{DefaultValue, Literal, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.DefaultValue.{EmptyStruct, OfList, OfMap, OfPrimitive}
import iceberglite.spec.types.Type.{ListType, MapType, StructType}

/**
 * The source of the values of a field that a data file lacks (spec: "Column Projection"). If the name mapping assigns a
 * column of the file to the field, the file does not lack the field.
 */
sealed trait ColumnSource[+A]

object ColumnSource {

  /**
   * A value from the file's metadata, such as the path of the file or the value of an identity partition field. This
   * value may be null.
   */
  final case class Constant[A](value: A) extends ColumnSource[A]

  /** The field's `initial-default`. */
  final case class Default(value: DefaultValue) extends ColumnSource[Nothing]
  case object Null extends ColumnSource[Nothing]

  /**
   * Returns the first source that exists, in this order: the value from the file's metadata, the initial default, null.
   *
   * @param constants returns the value of a field from the file's metadata, in the reader's representation; absent if
   *   the metadata does not determine the value
   * @return absent if the field is required and has no source; the file cannot be read in this case
   */
  def of[A](field: NestedField, constants: NestedField => Option[A]): Option[ColumnSource[A]] =
    constants(field).map(Constant(_)).orElse(field.initialDefault.map(Default))
      .orElse(if (field.required) None else Some(Null))

  /**
   * Returns the value of a field in all rows of a file that lacks the field. A struct with the default `{}` is not
   * null, and the values of its fields are determined in the same way. A struct without a default is null, regardless
   * of its fields.
   *
   * @return `Left` with the path of a required field that has no value; the path begins with the name of `field`
   */
  def valueOf[A](
      field: NestedField,
      constants: NestedField => Option[A],
      factory: ValueFactory[A]
  ): Either[Vector[String], A] =
    of(field, constants) match {
      case Some(Constant(value)) => Right(value)
      case Some(Default(value)) => defaultOf(value, field.fieldType, constants, factory).left.map(field.name +: _)
      case Some(Null) => Right(factory.nullValue)
      case None => Left(Vector(field.name))
    }

  private def defaultOf[A](
      value: DefaultValue,
      t: Type,
      constants: NestedField => Option[A],
      factory: ValueFactory[A]
  ): Either[Vector[String], A] = {
    def nestedDefault(value: Option[DefaultValue], field: NestedField): Either[Vector[String], A] =
      value.fold[Either[Vector[String], A]](Right(factory.nullValue))(
        defaultOf(_, field.fieldType, constants, factory).left.map(field.name +: _)
      )
    (value, t) match {
      case (OfPrimitive(literal), primitive: PrimitiveType) => Right(factory.primitive(literal, primitive))
      case (EmptyStruct, struct: StructType) =>
        traverse(struct.fields)(valueOf(_, constants, factory)).map(factory.struct(_, struct))
      case (OfList(elements), list: ListType) =>
        traverse(elements)(nestedDefault(_, list.elementField)).map(factory.list(_, list))
      case (OfMap(entries), map: MapType) =>
        traverse(entries) { case (k, v) =>
          for {
            key <- nestedDefault(Some(k), map.keyField)
            value <- nestedDefault(v, map.valueField)
          } yield (key, value)
        }.map(factory.map(_, map))
      // This case does not occur, because SchemaCheck rejects a default whose type differs from the field's type.
      case _ => Left(Vector.empty)
    }
  }

  private def traverse[A, B](values: Vector[A])(f: A => Either[Vector[String], B]): Either[Vector[String], Vector[B]] =
    values.foldLeft[Either[Vector[String], Vector[B]]](Right(Vector.empty)) { (done, value) =>
      for (before <- done; next <- f(value)) yield before :+ next
    }
}

/** Creates values in the reader's representation. */
trait ValueFactory[A] {
  def nullValue: A

  /** Converts a primitive value. @param value the value, whose type is `t` or can be promoted to `t` */
  def primitive(value: Literal, t: PrimitiveType): A

  /** Converts a struct. @param values the values in the order of the fields */
  def struct(values: Vector[A], t: StructType): A

  def list(elements: Vector[A], t: ListType): A

  def map(entries: Vector[(A, A)], t: MapType): A
}
