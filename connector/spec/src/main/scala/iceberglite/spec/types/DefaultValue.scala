package iceberglite.spec.types

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/**
 * The default of a field (spec, version 3: "Default values"). A null default is represented by `None`.
 *
 * Fields of type unknown, variant, geometry and geography can only have the default null.
 */
sealed trait DefaultValue extends Product with Serializable

object DefaultValue {
  final case class OfPrimitive(value: Literal) extends DefaultValue

  /**
   * The default `{}` of a struct. It means that the struct is not null, and that the fields of the struct have their
   * own defaults. The only other possible default of a struct is null.
   */
  case object EmptyStruct extends DefaultValue
  final case class OfList(elements: Vector[Option[DefaultValue]]) extends DefaultValue

  /** The default of a map. @param entries the keys and values in the order of the metadata */
  final case class OfMap(entries: Vector[(DefaultValue, Option[DefaultValue])]) extends DefaultValue

  /** Returns the reason why a default is invalid for a type; absent if the default is valid. */
  def invalidReason(value: DefaultValue, t: Type): Option[String] = (value, t) match {
    case (_, UnknownType | VariantType | _: GeometryType | _: GeographyType) =>
      Some(s"The default of type $t must be null")
    case (OfPrimitive(v), primitive: PrimitiveType) =>
      if (isOfType(v, primitive)) None else Some(s"It is not a value of type $primitive")
    case (EmptyStruct, _: StructType) => None
    case (OfList(elements), list: ListType) => firstInvalidReason(elements, list.elementField)
    case (OfMap(entries), map: MapType) =>
      firstInvalidReason(entries.map { case (key, _) => Some(key) }, map.keyField)
        .orElse(firstInvalidReason(entries.map(_._2), map.valueField))
    case (_, _: StructType) => Some("The default of a struct must be {} or null; set defaults for its fields")
    case _ => Some(s"It is not a value of type $t")
  }

  private def firstInvalidReason(values: Vector[Option[DefaultValue]], field: NestedField): Option[String] =
    values.flatMap {
      case Some(value) => invalidReason(value, field.fieldType)
      case None =>
        if (field.required) Some(s"It contains a null ${field.name}, but the ${field.name} is required") else None
    }.headOption

  /**
   * Whether a value belongs to a type. A decimal must have exactly the scale of the type, and a fixed value must
   * have exactly the length of the type.
   */
  private def isOfType(value: Literal, t: PrimitiveType): Boolean = (t, value.dataType) match {
    case (DecimalType(precision, scale), DecimalType(p, s)) => p <= precision && s == scale
    case (expected, actual) => expected == actual
  }

  /**
   * Returns the default of a column whose type is promoted.
   *
   * @throws InvalidArgument if the default contains a date that a timestamp cannot represent
   */
  def promote(name: String, value: DefaultValue, to: Type): DefaultValue = (value, to) match {
    case (OfPrimitive(v), primitive: PrimitiveType) => OfPrimitive(promote(name, v, primitive))
    case (OfList(elements), list: ListType) => OfList(elements.map(_.map(promote(name, _, list.element))))
    case (OfMap(entries), map: MapType) =>
      OfMap(entries.map { case (k, v) => promote(name, k, map.key) -> v.map(promote(name, _, map.value)) })
    case _ => value
  }

  private def promote(name: String, value: Literal, to: PrimitiveType): Literal = (value, to) match {
    case (IntLiteral(v), LongType) => LongLiteral(v.toLong)
    case (FloatLiteral(v), DoubleType) => DoubleLiteral(v.toDouble)
    case (date: DateLiteral, TimestampType | TimestampNsType) =>
      LiteralConversion.to(date, to).getOrElse {
        val defaultDate = DateTime.formatDate(date.days)
        throw InvalidArgument(s"default of column $name", defaultDate, s"It is out of the range of $to")
      }
    case _ => value
  }
}
