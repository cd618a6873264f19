package iceberglite.data.orc

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.orc.TypeDescription
import org.apache.orc.TypeDescription.Category

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, PrimitiveType, Type, VariantFields}
import iceberglite.spec.types.Type._

/**
 * Converts Iceberg schemas to ORC schemas with field ids (spec: "Appendix A: ORC"), and ORC schemas to Iceberg schemas.
 */
object OrcSchemas {
  val IdKey = "iceberg.id"
  val RequiredKey = "iceberg.required"
  val LongTypeKey = "iceberg.long-type"
  val BinaryTypeKey = "iceberg.binary-type"
  val StructTypeKey = "iceberg.struct-type"
  val LengthKey = "iceberg.length"
  val TimestampUnitKey = "iceberg.timestamp-unit"

  private[orc] val Nanos = "NANOS"
  private val Micros = "MICROS"
  private val Variant = "VARIANT"

  /**
   * Returns the ORC schema of the files of a table. Columns of type `unknown` are not stored.
   *
   * @throws Unsupported if a column has a type that ORC cannot store
   */
  def of(schema: Schema): TypeDescription = struct(schema.asStruct)

  private def struct(t: StructType): TypeDescription =
    t.fields.filter(isStored).foldLeft(TypeDescription.createStruct)((s, f) => s.addField(f.name, node(f)))

  private[orc] def isStored(f: NestedField): Boolean = (f.fieldType: Type) != UnknownType

  private def node(f: NestedField): TypeDescription = {
    val t = typeOf(f)
    t.setAttribute(IdKey, f.id.toString)
    t.setAttribute(RequiredKey, f.required.toString)
    t
  }

  private def typeOf(f: NestedField): TypeDescription = f.fieldType match {
    case s: StructType => struct(s)
    case list: ListType => TypeDescription.createList(part(list.elementField))
    case map: MapType => TypeDescription.createMap(part(map.keyField), part(map.valueField))
    case primitive: PrimitiveType => leaf(primitive, f)
  }

  /**
   * Returns the element of a list, or the key or value of a map.
   *
   * @throws Unsupported if the type is `unknown`. This type is not stored, and a list or map without a type for its
   *   elements, keys or values is not valid in ORC
   */
  private def part(f: NestedField): TypeDescription =
    if (isStored(f)) node(f)
    else throw Unsupported(s"a list or map whose ${f.name} has type ${f.fieldType} in ORC", "Use another type")

  private def leaf(t: PrimitiveType, f: NestedField): TypeDescription = t match {
    case BooleanType => TypeDescription.createBoolean
    case IntType => TypeDescription.createInt
    case LongType => TypeDescription.createLong.setAttribute(LongTypeKey, "LONG")
    case FloatType => TypeDescription.createFloat
    case DoubleType => TypeDescription.createDouble
    case DecimalType(precision, scale) =>
      if (scale < 0) throw Unsupported(s"column ${f.name} of type $t in ORC", "Use a scale of 0 or more")
      TypeDescription.createDecimal.withScale(scale).withPrecision(precision)
    case DateType => TypeDescription.createDate
    case TimeType => TypeDescription.createLong.setAttribute(LongTypeKey, "TIME")
    case TimestampType => TypeDescription.createTimestamp.setAttribute(TimestampUnitKey, Micros)
    case TimestampTzType => TypeDescription.createTimestampInstant.setAttribute(TimestampUnitKey, Micros)
    case TimestampNsType => TypeDescription.createTimestamp.setAttribute(TimestampUnitKey, Nanos)
    case TimestampTzNsType => TypeDescription.createTimestampInstant.setAttribute(TimestampUnitKey, Nanos)
    case StringType => TypeDescription.createString
    case UuidType => binary("UUID")
    case FixedType(length) => binary("FIXED").setAttribute(LengthKey, length.toString)
    case BinaryType => binary("BINARY")
    case _: GeometryType => binary("GEOMETRY")
    case _: GeographyType => binary("GEOGRAPHY")
    case VariantType =>
      VariantFields.Encoded.foldLeft(TypeDescription.createStruct)((s, p) =>
        s.addField(p, TypeDescription.createBinary)
      )
        .setAttribute(StructTypeKey, Variant)
    case UnknownType =>
      throw Unsupported(s"storing column ${f.name} of type $t", "Columns of type unknown are always null")
  }

  private def binary(kind: String): TypeDescription = TypeDescription.createBinary.setAttribute(BinaryTypeKey, kind)

  /** Returns the columns of a file that have field ids. Columns whose type has no Iceberg equivalent are omitted. */
  def toStruct(file: TypeDescription): StructType = StructType(children(file).flatMap { case (name, t) =>
    field(name, t)
  })

  private[orc] def children(struct: TypeDescription): Vector[(String, TypeDescription)] =
    struct.getFieldNames.asScala.zip(struct.getChildren.asScala).toVector

  private def field(name: String, t: TypeDescription): Option[NestedField] =
    for (id <- idOf(t); fieldType <- icebergType(t))
      yield NestedField(id, name, fieldType, required = attribute(t, RequiredKey).contains("true"))

  private def icebergType(t: TypeDescription): Option[Type] = t.getCategory match {
    case Category.STRUCT => if (isVariant(t)) Some(VariantType) else Some(toStruct(t))
    case Category.LIST =>
      field("element", t.getChildren.get(0)).map(e => ListType(e.id, e.fieldType, e.required))
    case Category.MAP =>
      for (k <- field("key", t.getChildren.get(0)); v <- field("value", t.getChildren.get(1)))
        yield MapType(k.id, k.fieldType, v.id, v.fieldType, v.required)
    case _ => leafType(t)
  }

  private def leafType(t: TypeDescription): Option[PrimitiveType] = t.getCategory match {
    case Category.BOOLEAN => Some(BooleanType)
    case Category.BYTE | Category.SHORT | Category.INT => Some(IntType)
    case Category.LONG => Some(if (attribute(t, LongTypeKey).contains("TIME")) TimeType else LongType)
    case Category.FLOAT => Some(FloatType)
    case Category.DOUBLE => Some(DoubleType)
    case Category.DECIMAL => Some(DecimalType(t.getPrecision, t.getScale))
    case Category.DATE => Some(DateType)
    case Category.TIMESTAMP => Some(if (isNanos(t)) TimestampNsType else TimestampType)
    case Category.TIMESTAMP_INSTANT => Some(if (isNanos(t)) TimestampTzNsType else TimestampTzType)
    case Category.STRING | Category.CHAR | Category.VARCHAR => Some(StringType)
    case Category.BINARY => binaryType(t)
    case _ => None
  }

  /** Returns whether the unit of a timestamp is nanoseconds. If the file states no unit, the unit is microseconds. */
  private[orc] def isNanos(t: TypeDescription): Boolean = attribute(t, TimestampUnitKey).exists(Nanos.equalsIgnoreCase)

  private def binaryType(t: TypeDescription): Option[PrimitiveType] = attribute(t, BinaryTypeKey) match {
    case Some("UUID") => Some(UuidType)
    case Some("FIXED") => attribute(t, LengthKey).flatMap(number).map(FixedType)
    case Some("GEOMETRY") => Some(GeometryType(DefaultCrs))
    case Some("GEOGRAPHY") => Some(GeographyType(DefaultCrs, DefaultEdgeAlgorithm))
    case _ => Some(BinaryType)
  }

  private[orc] def isVariant(t: TypeDescription): Boolean =
    t.getCategory == Category.STRUCT && attribute(t, StructTypeKey).contains(Variant)

  /** Returns the field id of a node; absent if there is none, or if it is not a number. */
  def idOf(t: TypeDescription): Option[Int] = attribute(t, IdKey).flatMap(number)

  private def number(text: String): Option[Int] = Try(text.toInt).toOption

  private def attribute(t: TypeDescription, key: String): Option[String] = Option(t.getAttributeValue(key))

  /** Returns whether any field at any depth has an id. */
  def hasIds(t: TypeDescription): Boolean =
    idOf(t).isDefined || Option(t.getChildren).exists(_.asScala.exists(hasIds))
}
