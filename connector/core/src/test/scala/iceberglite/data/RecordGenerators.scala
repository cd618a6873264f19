package iceberglite.data

import java.math.{BigDecimal, BigInteger}
import java.nio.ByteBuffer
import java.util.UUID

import org.scalacheck.Gen

import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{DefaultValue, Literal, NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Literal.{IntLiteral, StringLiteral}
import iceberglite.spec.types.Type._

/** Generates random schemas, whose field ids are ascending or descending, and random rows of these schemas. */
object RecordGenerators {

  /** The primitive types of format version 2, with sample parameters. */
  val ofVersion2: Vector[PrimitiveType] = Vector(
    BooleanType,
    IntType,
    LongType,
    FloatType,
    DoubleType,
    DecimalType(9, 2),
    DecimalType(18, 0),
    DecimalType(38, 10),
    DateType,
    TimeType,
    TimestampType,
    TimestampTzType,
    StringType,
    UuidType,
    FixedType(7),
    BinaryType
  )

  val addedByVersion3: Vector[PrimitiveType] = Vector(
    TimestampNsType,
    TimestampTzNsType,
    UnknownType,
    VariantType,
    GeometryType(DefaultCrs),
    GeographyType(DefaultCrs, DefaultEdgeAlgorithm)
  )

  val all: Vector[PrimitiveType] = ofVersion2 ++ addedByVersion3

  /** Generates column names. Some of them must be escaped in file formats. */
  private val names: Gen[String] = Gen.frequency(
    8 -> Gen.identifier.map(_.take(8)),
    1 -> Gen.oneOf("a.b", "1st", "größe", "with space", "élan", "_x2E", "element", "key", "価格", "a-b"),
    1 -> Gen.oneOf("Upper", "value", "metadata", "list", "row")
  )

  /** Returns a schema with one column per type, alternately optional and required, with simple names. */
  def flat(types: Vector[PrimitiveType]): Schema = Schema(
    0,
    types.zipWithIndex.map { case (t, i) =>
      NestedField(i + 1, s"c${i + 1}", t, required = i % 2 == 1 && (t: Type) != UnknownType)
    }
  )

  /** Generates up to six columns, nested at most three levels deep. */
  def schema(types: Vector[PrimitiveType] = all): Gen[Schema] = for {
    struct <- structOf(types, depth = 3, most = 6)
    offset <- Gen.choose(0, 50)
    reversed <- Gen.oneOf(true, false)
  } yield {
    val count = Schema.fieldsOf(struct).size
    val ids = (1 to count).map(_ + offset)
    val freshIds = (if (reversed) ids.reverse else ids).iterator
    Schema(0, Schema.withFreshIds(struct.fields, () => freshIds.next()))
  }

  private def structOf(types: Vector[PrimitiveType], depth: Int, most: Int): Gen[StructType] = for {
    count <- Gen.choose(1, most)
    names <- Gen.listOfN(count * 2, names).map(_.distinctBy(_.toLowerCase).take(count))
    fields <- Gen.sequence[List[NestedField], NestedField](names.map(field(_, types, depth)))
  } yield StructType(fields.toVector)

  implicit private class Distinct(list: List[String]) {
    def distinctBy(key: String => String): List[String] =
      list.foldLeft(List.empty[String]) { (kept, s) =>
        if (kept.exists(k => key(k) == key(s))) kept else s :: kept
      }.reverse
  }

  private def field(name: String, types: Vector[PrimitiveType], depth: Int): Gen[NestedField] = for {
    t <- typeOf(types, depth)
    required <- Gen.oneOf(true, false)
  } yield NestedField(0, name, t, required && t != UnknownType)

  private def typeOf(types: Vector[PrimitiveType], depth: Int): Gen[Type] =
    if (depth <= 0) Gen.oneOf(types)
    else Gen.frequency(
      6 -> Gen.oneOf(types),
      1 -> structOf(types, depth - 1, most = 4),
      1 -> part(types, depth - 1).flatMap(e => Gen.oneOf(true, false).map(ListType(0, e, _))),
      1 -> mapOf(types, depth - 1)
    )

  /**
   * Generates the type of the elements of a list, or of the values of a map. The type is never `unknown`, because
   * elements and values are always stored in files.
   */
  private def part(types: Vector[PrimitiveType], depth: Int): Gen[Type] = typeOf(types.filter(_ != UnknownType), depth)

  private def mapOf(types: Vector[PrimitiveType], depth: Int): Gen[Type] = for {
    key <- Gen.frequency(2 -> Gen.const(StringType), 3 -> Gen.oneOf(types.filter(isKey)))
    value <- part(types, depth)
    required <- Gen.oneOf(true, false)
  } yield MapType(0, key, 0, value, required)

  private def isKey(t: PrimitiveType): Boolean = t match {
    case UnknownType | VariantType | _: GeometryType | _: GeographyType => false
    case _ => true
  }

  def records(schema: Schema, most: Int = 30): Gen[Vector[Record]] =
    Gen.choose(0, most).flatMap(Gen.listOfN(_, record(schema.asStruct))).map(_.toVector)

  def record(struct: StructType): Gen[Record] =
    Gen.sequence[List[AnyRef], AnyRef](struct.fields.map(slot)).map(values => new Record(values.toArray))

  private def slot(f: NestedField): Gen[AnyRef] =
    if (f.required) value(f.fieldType)
    else Gen.frequency(1 -> Gen.const(null), 4 -> Gen.lzy(value(f.fieldType)))

  def value(t: Type): Gen[AnyRef] = t match {
    case struct: StructType => record(struct)
    case list: ListType => few(slot(list.elementField))
    case map: MapType =>
      few(value(map.key).flatMap(k => slot(map.valueField).map(k -> _))).map(
        _.groupBy(_._1).values.map(_.head).toVector
      )
    case primitive: PrimitiveType => primitiveValue(primitive)
  }

  private def few[A](item: Gen[A]): Gen[Vector[A]] = Gen.choose(0, 4).flatMap(Gen.listOfN(_, item)).map(_.toVector)

  private def primitiveValue(t: PrimitiveType): Gen[AnyRef] = t match {
    case BooleanType => Gen.oneOf(true, false).map(Boolean.box)
    case IntType => Gen.oneOf(edges(Int.MinValue, Int.MaxValue), Gen.choose(-100L, 100L)).map(v => Int.box(v.toInt))
    case LongType => Gen.oneOf(edges(Long.MinValue, Long.MaxValue), Gen.choose(-100L, 100L)).map(Long.box)
    case FloatType =>
      Gen.oneOf(Gen.oneOf(Float.NaN, -0.0f, 0.0f, Float.PositiveInfinity, Float.MinValue), Gen.choose(-1e3f, 1e3f))
        .map(Float.box)
    case DoubleType =>
      Gen.oneOf(Gen.oneOf(Double.NaN, -0.0, 0.0, Double.NegativeInfinity, Double.MaxValue), Gen.choose(-1e3, 1e3))
        .map(Double.box)
    case DecimalType(precision, scale) => decimal(precision, scale)
    case DateType => edges(Dates.head, Dates.last).map(v => Int.box(v.toInt))
    case TimeType => edges(0L, 86399999999L).map(Long.box)
    case TimestampType | TimestampTzType =>
      edges(Dates.head * 86400000000L, Dates.last * 86400000000L + 1).map(Long.box)
    case TimestampNsType | TimestampTzNsType => edges(-9223372036854775L * 1000, 9223372036854775L * 1000).map(Long.box)
    case StringType => Gen.oneOf(Gen.alphaNumStr, Gen.listOf(characters).map(_.mkString))
    case UuidType => Gen.uuid
    case FixedType(length) => bytes(length)
    case BinaryType => Gen.choose(0, 40).flatMap(bytes)
    case UnknownType => Gen.const(null)
    case VariantType => variant
    case _: GeometryType | _: GeographyType => point
  }

  /** The first day of the year 1 and the last day of the year 9999, in days from 1970-01-01. */
  private val Dates = Seq(-719162L, 2932896L)

  /**
   * Generates values between the limits, often near a limit, near the start of 1970, or near the start of 2015, which
   * is ORC's epoch.
   */
  private def edges(least: Long, greatest: Long): Gen[Long] = {
    val start2015 = if (greatest == Dates.last) 16436L else 1420070400000000L
    val near = Seq(least, least + 1, greatest, greatest - 1, 0L, -1L, 1L, -999L, -1001L, start2015, start2015 - 1)
    Gen.frequency(
      1 -> Gen.oneOf(near.filter(v => v >= least && v <= greatest)),
      2 -> Gen.choose(least, greatest)
    )
  }

  private def decimal(precision: Int, scale: Int): Gen[AnyRef] = for {
    digits <- Gen.choose(1, precision)
    unscaled <- Gen.listOfN(digits, Gen.numChar).map(_.mkString)
    negative <- Gen.oneOf(true, false)
  } yield new BigDecimal(if (negative) new BigInteger(unscaled).negate else new BigInteger(unscaled), scale)

  private val characters: Gen[String] =
    Gen.frequency(5 -> Gen.alphaNumChar.map(_.toString), 1 -> Gen.oneOf("ß", "語", "🙂", "\uffff", "\n", "\u0000"))

  def bytes(length: Int): Gen[ByteBuffer] =
    Gen.listOfN(length, Gen.choose(Byte.MinValue, Byte.MaxValue)).map(b => ByteBuffer.wrap(b.toArray))

  /** Generates variants that are neither objects nor arrays: null, a boolean, a small number, or a short string. */
  private val variant: Gen[AnyRef] = Gen.oneOf(
    Gen.oneOf(Array[Byte](0), Array[Byte](4), Array[Byte](8)),
    Gen.choose(Byte.MinValue, Byte.MaxValue).map(b => Array[Byte](12, b)),
    Gen.alphaNumStr.map(_.take(20)).map(s => ((s.length << 2) | 1).toByte +: s.getBytes("US-ASCII"))
  ).map(value => Variant(ByteBuffer.wrap(Array[Byte](1, 0, 0)), ByteBuffer.wrap(value)))

  /** Generates points in little-endian well-known binary. */
  private val point: Gen[AnyRef] = for (x <- Gen.choose(-180.0, 180.0); y <- Gen.choose(-90.0, 90.0)) yield {
    val buffer = ByteBuffer.allocate(21).order(java.nio.ByteOrder.LITTLE_ENDIAN)
    buffer.put(1.toByte).putInt(1).putDouble(x).putDouble(y).flip()
    buffer.order(java.nio.ByteOrder.BIG_ENDIAN)
  }

  /**
   * Generates a schema that evolved from the given one: columns are dropped, moved, renamed, promoted and added, at
   * every level except in map keys.
   *
   * @param defaults whether added columns have initial defaults
   */
  def evolved(schema: Schema, defaults: Boolean = true): Gen[Schema] = {
    val free = Iterator.from(schema.highestFieldId + 1)
    evolvedStruct(schema.asStruct, defaults, () => free.next()).map(s => Schema(1, s.fields))
  }

  private def evolvedStruct(struct: StructType, defaults: Boolean, id: () => Int): Gen[StructType] = for {
    kept <- Gen.someOf(struct.fields)
    fields <- Gen.sequence[List[NestedField], NestedField](kept.map(evolvedField(_, defaults, id)))
    more <- Gen.oneOf(Seq(Seq.empty, Seq(addedField(defaults, id))))
    added <- Gen.sequence[List[NestedField], NestedField](more)
    first <- Gen.oneOf(true, false)
    all = if (first) added ++ fields else fields.reverse ++ added
  } yield StructType(if (all.isEmpty) struct.fields else all.toVector)

  private def evolvedField(f: NestedField, defaults: Boolean, id: () => Int): Gen[NestedField] = for {
    t <- evolvedType(f.fieldType, defaults, id)
    renamed <- Gen.oneOf(true, false)
    optional <- Gen.oneOf(true, false)
  } yield {
    val name = if (renamed) s"${f.name}_${f.id}" else f.name
    f.copy(name = name, fieldType = t, required = f.required && !optional)
  }

  private def evolvedType(t: Type, defaults: Boolean, id: () => Int): Gen[Type] = t match {
    case s: StructType => evolvedStruct(s, defaults, id)
    case l: ListType => evolvedType(l.element, defaults, id).map(e => l.copy(element = e))
    case m: MapType => evolvedType(m.value, defaults, id).map(v => m.copy(value = v))
    case primitive: PrimitiveType => Gen.oneOf(primitive, promotion(primitive))
  }

  private def promotion(t: PrimitiveType): PrimitiveType = t match {
    case IntType => LongType
    case FloatType => DoubleType
    case DecimalType(p, s) => DecimalType(math.min(38, p + 5), s)
    case DateType => TimestampType
    case other => other
  }

  private def addedField(defaults: Boolean, id: () => Int): Gen[NestedField] =
    Gen.oneOf[Option[Literal]](None, Some(StringLiteral("old")), Some(IntLiteral(7))).flatMap { literal =>
      Gen.oneOf(true, false).map { required =>
        val n = id()
        val default = literal.filter(_ => defaults).map(DefaultValue.OfPrimitive(_))
        val t = literal.fold[Type](BooleanType)(_.dataType)
        NestedField(n, s"added_$n", t, required && default.isDefined, None, default, default)
      }
    }

  /** Returns the expected value when a value that was written with type `from` is read with type `to`. */
  def projected(value: AnyRef, from: Type, to: Type): AnyRef = (value, from, to) match {
    case (null, _, _) => null
    case (r: Record, a: StructType, b: StructType) => new Record(b.fields.map { f =>
        a.fields.indexWhere(_.id == f.id) match {
          case -1 => f.initialDefault match {
              case Some(DefaultValue.OfPrimitive(v)) => RecordValues.primitive(v, v.dataType)
              case _ => null
            }
          case i => projected(r(i), a.fields(i).fieldType, f.fieldType)
        }
      }.toArray)
    case (v: Vector[_], a: ListType, b: ListType) =>
      v.map(e => projected(e.asInstanceOf[AnyRef], a.element, b.element))
    case (v: Vector[_], a: MapType, b: MapType) =>
      v.asInstanceOf[Vector[(AnyRef, AnyRef)]].map { case (k, e) => (k, projected(e, a.value, b.value)) }
    case (v: Integer, DateType, TimestampType) => Long.box(v * 86400000000L)
    case (v: Integer, _, LongType) => Long.box(v.toLong)
    case (v: java.lang.Float, _, DoubleType) => Double.box(v.toDouble)
    case (v, _, _) => v
  }

  /**
   * Replaces timestamps within the last second of 1969, which ORC files cannot represent, with the start of the second.
   */
  def withoutLastSecondOf1969(value: AnyRef, t: Type): AnyRef = (value, t) match {
    case (r: Record, s: StructType) =>
      new Record(s.fields.zipWithIndex.map { case (f, i) => withoutLastSecondOf1969(r(i), f.fieldType) }.toArray)
    case (v: Vector[_], l: ListType) => v.map(e => withoutLastSecondOf1969(e.asInstanceOf[AnyRef], l.element))
    case (v: Vector[_], m: MapType) => v.asInstanceOf[Vector[(AnyRef, AnyRef)]].map { case (k, e) =>
        (withoutLastSecondOf1969(k, m.key), withoutLastSecondOf1969(e, m.value))
      }.groupBy(_._1).values.map(_.head).toVector
    case (v: java.lang.Long, TimestampType | TimestampTzType) => if (v < 0 && v > -1000000L) Long.box(-1000000L) else v
    case (v: java.lang.Long, TimestampNsType | TimestampTzNsType) =>
      if (v < 0 && v > -1000000000L) Long.box(-1000000000L) else v
    case (v, _) => v
  }

  /** Converts floating-point numbers to bits and bytes to text, so that `==` compares values correctly. */
  def comparable(value: Any): Any = value match {
    case r: Record => r.values.toVector.map(comparable)
    case v: Variant => ("variant", comparable(v.metadata), comparable(v.value))
    case elements: Vector[_] => elements.map(comparable)
    case (k, v) => (comparable(k), comparable(v))
    case f: java.lang.Float => ("float", java.lang.Float.floatToIntBits(f))
    case d: java.lang.Double => ("double", java.lang.Double.doubleToLongBits(d))
    case i: Integer => ("int", i.intValue)
    case l: java.lang.Long => ("long", l.longValue)
    case d: BigDecimal => ("decimal", d.unscaledValue, d.scale)
    case b: ByteBuffer => ("bytes", (b.position() until b.limit()).map(i => f"${b.get(i)}%02x").mkString)
    case u: UUID => u
    case other => other
  }
}
