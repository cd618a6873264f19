package iceberglite.spec

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.Literal._
import iceberglite.spec.Type._

/** Edits of a tree of fields. */
private[spec] object FieldEdit {

  /** @param way the ids of the fields to pass on the way to those that `edit` changes */
  def apply(
      fields: Vector[NestedField],
      way: List[Int],
      edit: Vector[NestedField] => Vector[NestedField]
  ): Vector[NestedField] = way match {
    case Nil => edit(fields)
    case id :: rest =>
      fields.map(f => if (f.id == id) f.copy(fieldType = parts(f.fieldType, apply(_, rest, edit))) else f)
  }

  private def parts(t: Type, edit: Vector[NestedField] => Vector[NestedField]): Type = t match {
    case StructType(fields) => StructType(edit(fields))
    case list: ListType =>
      val element = edit(list.fields).head
      ListType(element.id, element.fieldType, element.required)
    case map: MapType =>
      val Vector(key, value) = edit(map.fields)
      MapType(key.id, key.fieldType, value.id, value.fieldType, value.required)
    case primitive: PrimitiveType => primitive
  }

  /** The default of a column whose type is promoted. */
  def promoted(name: String, value: Literal, to: Type): Literal = (value, to) match {
    case (IntLiteral(v), LongType) => LongLiteral(v.toLong)
    case (FloatLiteral(v), DoubleType) => DoubleLiteral(v.toDouble)
    case (DateLiteral(days), TimestampType) => TimestampLiteral(days * DateTime.MicrosPerDay)
    case (DateLiteral(days), TimestampNsType) =>
      val nanos = BigInt(days) * DateTime.NanosPerDay
      if (!nanos.isValidLong) throw InvalidArgument(s"default of column $name", value.toString, s"It is no $to")
      TimestampNsLiteral(nanos.toLong)
    case _ => value
  }
}
