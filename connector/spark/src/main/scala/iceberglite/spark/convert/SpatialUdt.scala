package iceberglite.spark.convert

import org.apache.spark.sql.types.{BinaryType, DataType, UserDefinedType}

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.types.PrimitiveType
import iceberglite.spec.types.Type.{DefaultCrs, DefaultEdgeAlgorithm, GeographyType, GeometryType}

/**
 * The types `GEOMETRY` and `GEOGRAPHY` of columns in statements, because Spark 3.5 has no such types. A table of the
 * connector returns the values as WKB in binaries, so these types occur only in the definitions of columns, and in the
 * results of `DESCRIBE` and `SHOW CREATE TABLE`.
 *
 * @param columnType the type in the table
 */
final private[iceberglite] class SpatialUdt(val columnType: PrimitiveType) extends UserDefinedType[Array[Byte]] {
  override def sqlType: DataType = BinaryType
  override def serialize(value: Array[Byte]): Any = value
  override def deserialize(datum: Any): Array[Byte] = datum match { case bytes: Array[Byte] => bytes }
  override def userClass: Class[Array[Byte]] = classOf[Array[Byte]]
  override def sql: String = columnType match {
    case GeographyType(crs, DefaultEdgeAlgorithm) => "GEOGRAPHY" + parameters(crs)
    case GeographyType(crs, algorithm) => s"GEOGRAPHY(${quote(crs)}, ${quote(algorithm)})"
    case GeometryType(crs) => "GEOMETRY" + parameters(crs)
    case other => throw new IllegalStateException(s"$other is not a spatial type")
  }
  override def catalogString: String = simpleString
  override def simpleString: String = columnType.toString
  override def equals(that: Any): Boolean = that match {
    case other: SpatialUdt => other.columnType == columnType
    case _ => false
  }
  override def hashCode: Int = columnType.hashCode

  private def parameters(crs: String): String = if (crs == DefaultCrs) "" else s"(${quote(crs)})"

  private def quote(text: String): String = "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
}

private[iceberglite] object SpatialUdt {
  val Geometry = "GEOMETRY"
  val Geography = "GEOGRAPHY"

  /** The algorithms that the specification defines for the edges between the points of a geography. */
  private val EdgeAlgorithms = Vector("spherical", "vincenty", "thomas", "andoyer", "karney")

  /**
   * Returns the type with a name and parameters.
   *
   * @param parameters the texts in parentheses after the name; empty if there are no parentheses
   * @throws InvalidArgument if the parameters are not valid
   */
  def of(name: String, parameters: Vector[String]): SpatialUdt = (name, parameters) match {
    case (Geometry, Vector()) => new SpatialUdt(GeometryType(DefaultCrs))
    case (Geometry, Vector(crs)) => new SpatialUdt(GeometryType(valid(crs)))
    case (Geography, Vector()) => new SpatialUdt(GeographyType(DefaultCrs, DefaultEdgeAlgorithm))
    case (Geography, Vector(crs)) => new SpatialUdt(GeographyType(valid(crs), DefaultEdgeAlgorithm))
    case (Geography, Vector(crs, algorithm)) if EdgeAlgorithms.contains(algorithm.toLowerCase) =>
      new SpatialUdt(GeographyType(valid(crs), algorithm.toLowerCase))
    case (Geography, Vector(_, algorithm)) =>
      throw InvalidArgument("edge algorithm", algorithm, s"It must be one of ${EdgeAlgorithms.mkString(", ")}")
    case _ => throw InvalidArgument("parameters of a type", parameters.mkString(", "), s"$name takes one CRS")
  }

  /** Checks the name of a coordinate reference system, which is a part of the type in the table's metadata. */
  private def valid(crs: String): String =
    if (crs.nonEmpty && crs.trim == crs && !crs.exists(c => c == ',' || c == ')' || c == '(' || c.isControl)) crs
    else throw InvalidArgument(
      "coordinate reference system",
      s"'$crs'",
      "It must be a name such as EPSG:3857, without commas and parentheses"
    )
}
