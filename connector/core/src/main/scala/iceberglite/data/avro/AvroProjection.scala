package iceberglite.data.avro

import scala.collection.JavaConverters._

import org.apache.avro.{Schema => AvroSchema}
import org.apache.avro.Schema.Type._

import iceberglite.avro.{AvroSchemaCheck, AvroSchemas, AvroUnion, FieldDecoder}
import iceberglite.data.{FieldSource, FileFaults, Projection}
import iceberglite.data.avro.AvroColumn._
import iceberglite.data.avro.AvroLeaf._
import iceberglite.spec.types.{DateTime, PrimitiveType, Type, VariantFields}
import iceberglite.spec.types.Type._

/** Determines how the records of an Avro file are converted to the requested columns. */
final private[avro] class AvroProjection[V](projection: Projection[V]) {
  private val MicrosPerMilli = 1000L
  private val NanosPerMicro = 1000L
  private val NanosPerMilli = 1000000L

  def struct(record: AvroSchema, expected: StructType, ids: FieldIds, path: Vector[String]): Struct[V] = {
    val fields = record.getFields.asScala.toVector
    val sources = projection.sources(expected, fields.map(ids.of), path).toVector
    val fieldsInFile = fields.zipWithIndex.map { case (f, i) =>
      val target = sources.indexOf(FieldSource.Stored(i))
      if (target < 0) SkippedField(FieldDecoder.skipper(f.schema))
      else {
        val field = expected.fields(target)
        ReadField(target, values(f.schema, field.fieldType, ids.nestedIn(f), path :+ field.name))
      }
    }
    Struct(sources, fieldsInFile)
  }

  private def values(schema: AvroSchema, expected: Type, ids: FieldIds, path: Vector[String]): AvroColumn[V] =
    (schema.getType, expected) match {
      case (UNION, _) =>
        if (AvroTypes.valueOf(schema).isEmpty) mismatch(schema, expected, path)
        val union = AvroUnion.of(schema)
        Optional(union, values(union.value, expected, ids, path))
      case (NULL, _) => Nulls
      case (RECORD, s: StructType) => struct(schema, s, ids, path)
      case (RECORD, VariantType) if AvroTypes.isVariant(schema) =>
        OfVariant(schema.getFields.get(0).name == VariantFields.Metadata, FileFaults.column(path))
      case (ARRAY, list: ListType) if !AvroTypes.isMap(schema) =>
        OfList(
          values(schema.getElementType, list.element, ids.nestedInPart("element"), path :+ "element"),
          AvroSchemaCheck.isEmpty(schema.getElementType)
        )
      case (ARRAY, map: MapType) => entries(schema, map, ids, path)
      case (MAP, map: MapType) if map.key == StringType =>
        OfMap(Leaf(Strings), values(schema.getValueType, map.value, ids.nestedInPart("value"), path :+ "value"))
      case (_, primitive: PrimitiveType) =>
        Leaf(leaf(schema, primitive, path).getOrElse(mismatch(schema, expected, path)))
      case _ => mismatch(schema, expected, path)
    }

  private def entries(array: AvroSchema, map: MapType, ids: FieldIds, path: Vector[String]): AvroColumn[V] =
    AvroTypes.entries(array) match {
      case Some((key, value)) =>
        OfMap(
          values(key.schema, map.key, ids.nestedInPart("key"), path :+ "key"),
          values(value.schema, map.value, ids.nestedInPart("value"), path :+ "value")
        )
      case None => mismatch(array, map, path)
    }

  /**
   * Returns the decoder of a primitive column; absent if the file's type cannot be read as the expected type. The
   * promotions of the specification ("Schema Evolution") are supported.
   */
  private def leaf(schema: AvroSchema, expected: PrimitiveType, path: Vector[String]): Option[AvroLeaf] = {
    val column = FileFaults.column(path)
    (schema.getType, expected) match {
      case (BOOLEAN, BooleanType) => Some(Booleans)
      case (INT | LONG, _) => number(schema, expected, column)
      case (FLOAT, FloatType) => Some(Floats)
      case (FLOAT, DoubleType) => Some(FloatsAsDoubles)
      case (DOUBLE, DoubleType) => Some(Doubles)
      case (STRING, StringType) => Some(Strings)
      case (STRING, UuidType) => Some(new TextUuids(column))
      case (ENUM, StringType) => Some(new Symbols(schema.getEnumSymbols.asScala.toArray, column))
      case (BYTES, BinaryType | _: GeometryType | _: GeographyType) => Some(Binaries)
      case (BYTES, FixedType(length)) => Some(new BytesAsFixed(length, column))
      case (BYTES, t: DecimalType) => decimal(schema, Binaries, t, column)
      case (FIXED, FixedType(length)) if schema.getFixedSize == length => Some(new Fixed(length))
      case (FIXED, BinaryType) => Some(new Fixed(schema.getFixedSize))
      case (FIXED, UuidType) if schema.getFixedSize == AvroSchemas.UuidSize => Some(Uuids)
      case (FIXED, t: DecimalType) => decimal(schema, new Fixed(schema.getFixedSize), t, column)
      case _ => None
    }
  }

  private def decimal(schema: AvroSchema, bytes: AvroLeaf, t: DecimalType, column: String): Option[AvroLeaf] =
    if (AvroTypes.logicalName(schema).contains("decimal") && AvroTypes.scale(schema) == t.scale) {
      Some(new Decimals(bytes, t.precision, t.scale, column))
    } else None

  /**
   * Returns the decoder of a number; absent if the file's type cannot be read as the expected type. A long without a
   * logical type is accepted for every type that is stored as a long. The property `adjust-to-utc` is not checked,
   * because few writers other than Iceberg's set it.
   */
  private def number(schema: AvroSchema, expected: PrimitiveType, column: String): Option[AvroLeaf] = {
    val plain = if (schema.getType == INT) Ints else Longs
    (AvroTypes.logicalName(schema).map(_.stripPrefix("local-")), expected) match {
      case (None | Some("date"), DateType) if schema.getType == INT => Some(plain)
      case (Some("date"), TimestampType) => Some(new Scaled(DateTime.MicrosPerDay, column))
      case (Some("date"), TimestampNsType) => Some(new Scaled(DateTime.NanosPerDay, column))
      case (Some("time-millis"), TimeType) => Some(new Scaled(MicrosPerMilli, column))
      case (None | Some("time-micros"), TimeType) => Some(Longs)
      case (Some("timestamp-millis"), TimestampType | TimestampTzType) => Some(new Scaled(MicrosPerMilli, column))
      case (Some("timestamp-millis"), TimestampNsType | TimestampTzNsType) => Some(new Scaled(NanosPerMilli, column))
      case (Some("timestamp-micros"), TimestampNsType | TimestampTzNsType) => Some(new Scaled(NanosPerMicro, column))
      case (None | Some("timestamp-micros"), TimestampType | TimestampTzType) => Some(Longs)
      case (None | Some("timestamp-nanos"), TimestampNsType | TimestampTzNsType) => Some(Longs)
      case (other, LongType) if other.forall(isNoTimeOrDecimal) => Some(Longs)
      case (other, IntType) if schema.getType == INT && other.forall(isNoTimeOrDecimal) => Some(Ints)
      case _ => None
    }
  }

  private def isNoTimeOrDecimal(logicalName: String): Boolean =
    !logicalName.startsWith("time") && logicalName != "date" && logicalName != "decimal"

  private def mismatch(schema: AvroSchema, expected: Type, path: Vector[String]): Nothing =
    projection.fail(path, s"The Avro type ${AvroSchemaCheck.describe(schema)} cannot be read as $expected")
}
