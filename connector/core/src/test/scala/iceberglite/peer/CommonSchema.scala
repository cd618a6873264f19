package iceberglite.peer

import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{DefaultValue, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.DefaultValue.OfPrimitive
import iceberglite.spec.types.Literal.{DoubleLiteral, FloatLiteral}
import iceberglite.spec.types.Type._

/** Converts random schemas to schemas that both iceberg-lite and Apache Iceberg accept. */
object CommonSchema {

  /**
   * Returns a similar schema that Apache Iceberg also accepts. Its defaults are finite values of primitive types, its
   * names are unique, columns of type `unknown` are optional, no field is an identifier field, and the type `binary`
   * replaces `variant`.
   */
  def of(schema: Schema): Schema = Schema(schema.schemaId, schema.fields.map(common))

  private def common(field: NestedField): NestedField = field.copy(
    name = s"${field.name}${field.id}",
    fieldType = common(field.fieldType),
    required = field.required && field.fieldType != UnknownType,
    initialDefault = field.initialDefault.filter(isCommon),
    writeDefault = field.writeDefault.filter(isCommon)
  )

  private def common(t: Type): Type = t match {
    case StructType(fields) => StructType(fields.map(common))
    case list: ListType =>
      list.copy(element = common(list.element), elementRequired = list.elementRequired && list.element != UnknownType)
    case map: MapType =>
      map.copy(
        key = if (map.key == UnknownType) StringType else common(map.key),
        value = common(map.value),
        valueRequired = map.valueRequired && map.value != UnknownType
      )
    case VariantType => BinaryType
    case primitive: PrimitiveType => primitive
  }

  private def isCommon(value: DefaultValue): Boolean = value match {
    case OfPrimitive(FloatLiteral(v)) => !v.isNaN && !v.isInfinite
    case OfPrimitive(DoubleLiteral(v)) => !v.isNaN && !v.isInfinite
    case OfPrimitive(_) => true
    case _ => false
  }
}
