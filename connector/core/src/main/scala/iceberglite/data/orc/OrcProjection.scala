package iceberglite.data.orc

import org.apache.orc.TypeDescription
import org.apache.orc.TypeDescription.Category

import iceberglite.data.{FieldSource, FileFaults, Projection}
import iceberglite.data.orc.OrcLeaf._
import iceberglite.spec.types.{DateTime, NestedField, PrimitiveType, Type, VariantFields}
import iceberglite.spec.types.Type._

/**
 * Determines which nodes of a file's schema are read, and how their values are converted to the requested columns.
 *
 * @param file the schema of the file, with ids
 */
final private[orc] class OrcProjection[V](file: TypeDescription, projection: Projection[V]) {

  private val MicrosPerSecond = 1000000L
  private val NanosPerSecond = 1000000000L

  /** The nodes of the file to read, by the library's column numbers. */
  val included = new Array[Boolean](file.getMaximumId + 1)

  /** Returns the read plan of the requested columns, and adds their nodes to `included`. */
  def readPlan(expected: StructType): OrcColumn.Struct[V] = struct(file, expected, Vector.empty)

  private def struct(t: TypeDescription, expected: StructType, path: Vector[String]): OrcColumn.Struct[V] = {
    included(t.getId) = true
    val children = OrcSchemas.children(t)
    val sources = projection.sources(expected, children.map(c => OrcSchemas.idOf(c._2)), path).toVector
    val stored = sources.zip(expected.fields).collect { case (FieldSource.Stored(i), field) =>
      i -> node(children(i)._2, field, path :+ field.name)
    }
    OrcColumn.Struct(sources, stored.toMap)
  }

  private def node(t: TypeDescription, expected: NestedField, path: Vector[String]): OrcColumn[V] = {
    included(t.getId) = true
    (expected.fieldType, t.getCategory) match {
      case (s: StructType, Category.STRUCT) => struct(t, s, path)
      case (list: ListType, Category.LIST) =>
        OrcColumn.OfList(node(t.getChildren.get(0), list.elementField, path :+ "element"))
      case (map: MapType, Category.MAP) =>
        val key = node(t.getChildren.get(0), map.keyField, path :+ "key")
        OrcColumn.OfMap(key, node(t.getChildren.get(1), map.valueField, path :+ "value"))
      case (VariantType, Category.STRUCT) => variant(t, path)
      case (primitive: PrimitiveType, _) =>
        val kind = leaf(t, primitive).getOrElse(mismatch(t, expected.fieldType, path))
        OrcColumn.Leaf(kind, FileFaults.column(path))
      case (other, _) => mismatch(t, other, path)
    }
  }

  /** Returns the read plan of a variant. Its parts `metadata` and `value` have no field ids and are matched by name. */
  private def variant(t: TypeDescription, path: Vector[String]): OrcColumn[V] = {
    val children = OrcSchemas.children(t)
    val parts = VariantFields.Encoded.map { name =>
      val index = children.indexWhere { case (n, part) => n == name && part.getCategory == Category.BINARY }
      if (index < 0) mismatch(t, VariantType, path)
      included(children(index)._2.getId) = true
      index
    }
    OrcColumn.OfVariant(parts(0), parts(1), FileFaults.column(path))
  }

  /**
   * Returns the target representation of a primitive column; absent if the file's type cannot be read as the expected
   * type. The promotions of the specification ("Schema Evolution") are supported.
   */
  private def leaf(t: TypeDescription, expected: PrimitiveType): Option[OrcLeaf] =
    (t.getCategory, expected) match {
      case (Category.BOOLEAN, BooleanType) => Some(Booleans)
      case (Category.BYTE | Category.SHORT | Category.INT, IntType) => Some(Ints)
      case (Category.BYTE | Category.SHORT | Category.INT, LongType) => Some(Longs)
      case (Category.LONG, LongType | TimeType) => Some(Longs)
      case (Category.FLOAT, FloatType) => Some(Floats)
      case (Category.FLOAT | Category.DOUBLE, DoubleType) => Some(Doubles)
      case (Category.DECIMAL, DecimalType(precision, scale)) if t.getScale == scale => Some(Decimals(precision, scale))
      case (Category.DATE, DateType) => Some(Ints)
      case (Category.DATE, TimestampType) => Some(Days(DateTime.MicrosPerDay))
      case (Category.DATE, TimestampNsType) => Some(Days(DateTime.NanosPerDay))
      case (Category.TIMESTAMP, TimestampType) | (Category.TIMESTAMP_INSTANT, TimestampTzType) =>
        if (OrcSchemas.isNanos(t)) None else Some(Timestamps(MicrosPerSecond))
      case (Category.TIMESTAMP, TimestampNsType) | (Category.TIMESTAMP_INSTANT, TimestampTzNsType) =>
        Some(Timestamps(NanosPerSecond))
      case (Category.STRING | Category.CHAR | Category.VARCHAR, StringType) => Some(Strings)
      case (Category.BINARY, BinaryType | _: GeometryType | _: GeographyType) => Some(Binaries)
      case (Category.BINARY, FixedType(length)) => Some(Fixed(length))
      case (Category.BINARY, UuidType) => Some(Uuids)
      case _ => None
    }

  private def mismatch(t: TypeDescription, expected: Type, path: Vector[String]): Nothing = {
    val text = t.toString
    projection.fail(path, s"The ORC type ${text.take(200)} cannot be read as $expected")
  }
}
