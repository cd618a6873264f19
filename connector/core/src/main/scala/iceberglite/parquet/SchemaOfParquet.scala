package iceberglite.parquet

import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.Type.Repetition.{REPEATED, REQUIRED}
import org.apache.parquet.schema.{GroupType, MessageType, PrimitiveType => ParquetPrimitive, Type => ParquetType}

import iceberglite.parquet.ParquetShapes._
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, PrimitiveType, Type}
import iceberglite.spec.types.Type._

/**
 * Converts the schema of a Parquet file to a table schema. [[ParquetSchemas]] converts a table schema to a Parquet
 * schema.
 */
object SchemaOfParquet {

  /** The lowest new id of a nested field. */
  private val FirstNestedId = 1000

  /**
   * Returns the columns of a file with the field ids in the file. If the file contains no field ids, the top-level
   * columns get ids from 1 on. Other fields without an id get ids from 1000 on that the file does not use.
   *
   * @throws Unsupported if a column has a type without an Iceberg equivalent, such as unsigned 64-bit integers
   */
  def of(file: MessageType): Schema = {
    val columns = childrenOf(file)
    val numbered =
      if (hasIds(file)) columns else columns.zipWithIndex.map { case (column, i) => column.withId(i + 1) }
    val freshIds = Iterator.from(math.max(FirstNestedId, highestId(numbered) + 1))
    Schema(0, numbered.map(new Fields(() => freshIds.next()).field(_, Vector.empty)))
  }

  private def highestId(nodes: Vector[ParquetType]): Int = nodes.foldLeft(0) { (highest, node) =>
    val highestInside = node match {
      case group: GroupType => highestId(childrenOf(group))
      case _ => 0
    }
    math.max(highest, math.max(highestInside, idOf(node).getOrElse(0)))
  }

  /** Converts fields. @param nextId returns a new id for a field that has no id in the file */
  final private class Fields(nextId: () => Int) {

    def field(t: ParquetType, parentPath: Vector[String]): NestedField = {
      val path = parentPath :+ t.getName
      if (t.isRepetition(REPEATED)) throw unsupported(t, path)
      val id = idOrNext(t)
      NestedField(id, t.getName, typeOf(t, path), t.isRepetition(REQUIRED))
    }

    private def idOrNext(t: ParquetType): Int = idOf(t).getOrElse(nextId())

    private def typeOf(t: ParquetType, path: Vector[String]): Type = t match {
      case primitive: ParquetPrimitive => primitiveOf(primitive).getOrElse(throw unsupported(t, path))
      case group: GroupType => shapeOf(group) match {
          case Some(Struct) => StructType(childrenOf(group).map(field(_, path)))
          case Some(shape: ListShape) =>
            val required = shape.twoLevel || shape.element.isRepetition(REQUIRED)
            ListType(idOrNext(shape.element), typeOf(shape.element, path :+ "element"), required)
          case Some(MapShape(keyValue)) =>
            val (key, value) = (keyValue.getType(0), keyValue.getType(1))
            val (keyId, valueId) = (idOrNext(key), idOrNext(value))
            val keyType = typeOf(key, path :+ "key")
            MapType(keyId, keyType, valueId, typeOf(value, path :+ "value"), value.isRepetition(REQUIRED))
          case None => throw unsupported(t, path)
        }
    }

    private def unsupported(t: ParquetType, path: Vector[String]): Unsupported = Unsupported(
      s"column ${path.mkString(".")} of a Parquet file, whose Parquet type is ${t.toString.replaceAll("\\s+", " ")}",
      "Iceberg has no equivalent type. Rewrite the file with another type"
    )
  }

  /** Returns the type of a primitive column; absent if Iceberg has no equivalent type. */
  private[iceberglite] def primitiveOf(t: ParquetPrimitive): Option[PrimitiveType] =
    (t.getPrimitiveTypeName, Option(t.getLogicalTypeAnnotation)) match {
      case (_, Some(d: DecimalLogicalTypeAnnotation)) => Some(DecimalType(d.getPrecision, d.getScale))
      case (BOOLEAN, _) => Some(BooleanType)
      case (INT32, Some(_: DateLogicalTypeAnnotation)) => Some(DateType)
      case (INT32 | INT64, Some(time: TimeLogicalTypeAnnotation)) =>
        if (time.getUnit == TimeUnit.NANOS) None else Some(TimeType)
      case (INT64, Some(t: TimestampLogicalTypeAnnotation)) => Some(timestamp(t))
      case (INT32, Some(i: IntLogicalTypeAnnotation)) if !i.isSigned && i.getBitWidth == 32 => Some(LongType)
      case (INT64, Some(i: IntLogicalTypeAnnotation)) if !i.isSigned && i.getBitWidth == 64 => None
      case (INT32, _) => Some(IntType)
      case (INT64, _) => Some(LongType)
      // An INT96 column is always read as a timestamp with time zone, because the file does not state the kind of
      // timestamp.
      case (INT96, _) => Some(TimestampTzType)
      case (FLOAT, _) => Some(FloatType)
      case (DOUBLE, _) => Some(DoubleType)
      case (
            BINARY,
            Some(_: StringLogicalTypeAnnotation | _: EnumLogicalTypeAnnotation | _: JsonLogicalTypeAnnotation)
          ) =>
        Some(StringType)
      case (BINARY, _) => Some(BinaryType)
      case (FIXED_LEN_BYTE_ARRAY, Some(_: UUIDLogicalTypeAnnotation)) => Some(UuidType)
      case (FIXED_LEN_BYTE_ARRAY, _) => Some(FixedType(t.getTypeLength))
    }

  private def timestamp(t: TimestampLogicalTypeAnnotation): PrimitiveType =
    (t.getUnit == TimeUnit.NANOS, t.isAdjustedToUTC) match {
      case (true, true) => TimestampTzNsType
      case (true, false) => TimestampNsType
      case (false, true) => TimestampTzType
      case (false, false) => TimestampType
    }
}
