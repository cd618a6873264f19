package iceberglite.spec

import iceberglite.spec.DefaultValue.{EmptyStruct, OfList, OfMap, OfPrimitive}
import iceberglite.spec.Type.{ListType, MapType, StructType}

/**
 * Where the values of a field come from that a data file lacks (spec: "Column Projection", as adopted). Names that a
 * mapping resolves are resolved before: a field that one of them leads to is in the file.
 */
sealed trait ColumnSource[+A]

object ColumnSource {

  /** What stands in the file's metadata: the value of an identity partition field, which may be null, its path. */
  final case class Constant[A](value: A) extends ColumnSource[A]

  /** The field's `initial-default`. */
  final case class Default(value: DefaultValue) extends ColumnSource[Nothing]
  case object Null extends ColumnSource[Nothing]

  /**
   * The first of the rules that says something: the value of an identity partition field, the initial default, null.
   *
   * @param constants what stands in the metadata for a field, as the reader holds values
   * @return absent for a required field of which none of them says anything: the file cannot be read with it
   */
  def of[A](field: NestedField, constants: NestedField => Option[A]): Option[ColumnSource[A]] =
    constants(field).map(Constant(_)).orElse(field.initialDefault.map(Default))
      .orElse(if (field.required) None else Some(Null))

  /**
   * The value that a field has in all rows of a file that lacks it. A struct with the default `{}` is there, and its
   * fields follow the same rules; one without a default is null as a whole, whatever its fields say.
   *
   * @return left the path below `field`, from its own name on, of a required field that has no value
   */
  def valueOf[A](
      field: NestedField,
      constants: NestedField => Option[A],
      shape: ValueShape[A]
  ): Either[Vector[String], A] =
    of(field, constants) match {
      case Some(Constant(value)) => Right(value)
      case Some(Default(value)) => defaultOf(value, field.fieldType, constants, shape).left.map(field.name +: _)
      case Some(Null) => Right(shape.ofNull)
      case None => Left(Vector(field.name))
    }

  private def defaultOf[A](
      value: DefaultValue,
      t: Type,
      constants: NestedField => Option[A],
      shape: ValueShape[A]
  ): Either[Vector[String], A] = {
    def part(value: Option[DefaultValue], field: NestedField): Either[Vector[String], A] =
      value.fold[Either[Vector[String], A]](Right(shape.ofNull))(
        defaultOf(_, field.fieldType, constants, shape).left.map(field.name +: _)
      )
    (value, t) match {
      case (OfPrimitive(literal), primitive: PrimitiveType) => Right(shape.primitive(literal, primitive))
      case (EmptyStruct, struct: StructType) =>
        all(struct.fields)(valueOf(_, constants, shape)).map(shape.struct(_, struct))
      case (OfList(elements), list: ListType) =>
        all(elements)(part(_, list.elementField)).map(shape.list(_, list))
      case (OfMap(entries), map: MapType) =>
        all(entries) { case (k, v) =>
          for (key <- part(Some(k), map.keyField); value <- part(v, map.valueField)) yield (key, value)
        }.map(shape.map(_, map))
      // A default of another type than the field's never gets through SchemaCheck.
      case _ => Left(Vector.empty)
    }
  }

  private def all[A, B](values: Vector[A])(f: A => Either[Vector[String], B]): Either[Vector[String], Vector[B]] =
    values.foldLeft[Either[Vector[String], Vector[B]]](Right(Vector.empty)) { (done, value) =>
      for (before <- done; next <- f(value)) yield before :+ next
    }
}

/** How a reader holds values. */
trait ValueShape[A] {
  def ofNull: A

  /** @param value may be of a type that was promoted to `t` */
  def primitive(value: Literal, t: PrimitiveType): A

  /** @param values in the order of the fields */
  def struct(values: Vector[A], t: StructType): A

  def list(elements: Vector[A], t: ListType): A

  def map(entries: Vector[(A, A)], t: MapType): A
}
