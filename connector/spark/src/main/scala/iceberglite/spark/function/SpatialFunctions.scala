package iceberglite.spark.function

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog.functions.{BoundFunction, ScalarFunction, UnboundFunction}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

import iceberglite.spark.convert
import iceberglite.spark.error.SparkErrors
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.geo.BoundingBox

/**
 * The functions on geometries, which are WKB in binaries in Spark 3.5.
 *
 * Each function has a method `invoke`, which Spark compiles. Spark 3.5 fails when it pushes down a condition that is a
 * call of a boolean function, unless the function has this method. `RewriteFunctionsToRanges` pushes down the boxes of
 * such conditions.
 */
private[iceberglite] object SpatialFunctions {
  val all: Seq[UnboundFunction] = Seq(
    new SpatialFunction("wkt", "the geometry in well-known text", GeomFromText),
    new SpatialFunction("wkb", "checks well-known binary, and returns it", GeomFromWkb),
    new SpatialFunction("x, y", "a point", MakePoint),
    new SpatialFunction("xmin, ymin, xmax, ymax", "a rectangle", MakeBox),
    new SpatialFunction("geometry", "the well-known text of a geometry", AsText),
    new SpatialFunction("geometry", "the well-known binary of a geometry", AsWkb),
    new SpatialFunction("geometry, geometry", "whether geometries have a common point, on the plane", Intersects)
  )

  /** A function with its argument types. */
  sealed abstract private[function] class Spatial[R](
      override val name: String,
      arguments: Seq[DataType],
      override val resultType: DataType
  ) extends ScalarFunction[R] {
    override def canonicalName: String = s"iceberg.$name(${arguments.map(_.catalogString).mkString(",")})"
    override def inputTypes: Array[DataType] = arguments.toArray
    override def toString: String = name

    /** Returns the result for arguments that are not null. */
    protected def valueOf(input: InternalRow): R

    final override def produceResult(input: InternalRow): R =
      if (arguments.indices.exists(input.isNullAt)) null.asInstanceOf[R] else valueOf(input)

    /** Runs the function, so that an error is an error of Spark that names the function. */
    final protected def in(result: => R): R = SparkErrors.in(name)(result)
  }

  case object GeomFromText extends Spatial[Array[Byte]]("st_geomfromtext", Seq(StringType), BinaryType) {
    def invoke(wkt: UTF8String): Array[Byte] = if (wkt == null) null else in(Geometries.fromText(wkt.toString))
    override protected def valueOf(input: InternalRow): Array[Byte] = invoke(input.getUTF8String(0))
  }

  case object GeomFromWkb extends Spatial[Array[Byte]]("st_geomfromwkb", Seq(BinaryType), BinaryType) {
    def invoke(wkb: Array[Byte]): Array[Byte] = if (wkb == null) null else in(Geometries.checked(wkb))
    override protected def valueOf(input: InternalRow): Array[Byte] = invoke(input.getBinary(0))
  }

  case object AsWkb extends Spatial[Array[Byte]]("st_aswkb", Seq(BinaryType), BinaryType) {
    def invoke(wkb: Array[Byte]): Array[Byte] = if (wkb == null) null else in(Geometries.checked(wkb))
    override protected def valueOf(input: InternalRow): Array[Byte] = invoke(input.getBinary(0))
  }

  case object AsText extends Spatial[UTF8String]("st_astext", Seq(BinaryType), StringType) {
    def invoke(wkb: Array[Byte]): UTF8String =
      if (wkb == null) null else in(UTF8String.fromString(Geometries.toText(wkb)))
    override protected def valueOf(input: InternalRow): UTF8String = invoke(input.getBinary(0))
  }

  case object MakePoint extends Spatial[Array[Byte]]("st_point", Seq.fill(2)(DoubleType), BinaryType) {
    def invoke(x: Double, y: Double): Array[Byte] = in {
      if (x.isInfinite || y.isInfinite)
        throw InvalidArgument("point", s"$x, $y", "A coordinate is infinite. Use numbers, or NaN for an empty point")
      IsoWkb.point(x, y)
    }
    override protected def valueOf(input: InternalRow): Array[Byte] = invoke(input.getDouble(0), input.getDouble(1))
  }

  case object MakeBox extends Spatial[Array[Byte]]("st_box", Seq.fill(4)(DoubleType), BinaryType) {
    def invoke(xMin: Double, yMin: Double, xMax: Double, yMax: Double): Array[Byte] = in {
      val isFinite = Seq(xMin, yMin, xMax, yMax).forall(side => !side.isInfinite)
      val box = BoundingBox.of(xMin, yMin, xMax, yMax).filter(_ => isFinite).getOrElse(throw InvalidArgument(
        "box",
        s"$xMin, $yMin, $xMax, $yMax",
        "It needs xmin <= xmax and ymin <= ymax, without NaN and infinity. For a box across the antimeridian, " +
          "combine the two conditions of the boxes on both sides with OR"
      ))
      IsoWkb.rectangle(box)
    }
    override protected def valueOf(input: InternalRow): Array[Byte] =
      invoke(input.getDouble(0), input.getDouble(1), input.getDouble(2), input.getDouble(3))
  }

  case object Intersects extends Spatial[java.lang.Boolean]("st_intersects", Seq.fill(2)(BinaryType), BooleanType) {

    // Each task is a thread. Threads do not share the geometries, because the queries that they run may differ.
    @transient private lazy val latest = ThreadLocal.withInitial(() => new Geometries.LatestGeometries)

    def invoke(geometry: Array[Byte], other: Array[Byte]): java.lang.Boolean =
      if (geometry == null || other == null) null
      else in(Boolean.box(Geometries.intersect(geometry, other, latest.get)))

    override protected def valueOf(input: InternalRow): java.lang.Boolean =
      invoke(input.getBinary(0), input.getBinary(1))
  }

  /**
   * Whether the box of a geometry intersects a box: 1 or 0. Only the optimizer adds calls of this function, next to a
   * call of [[Intersects]], and a scan uses them to skip files. It has no method `invoke` so that Spark pushes it down,
   * and returns a number because Spark cannot push down a boolean function.
   */
  case object BoxTest
      extends Spatial[Integer]("st_boxtest", BinaryType +: Seq.fill(4)(DoubleType), IntegerType) {
    override def canonicalName: String = convert.BoxTest.CanonicalName
    override protected def valueOf(input: InternalRow): Integer = in {
      val box = BoundingBox(input.getDouble(1), input.getDouble(2), input.getDouble(3), input.getDouble(4))
      Int.box(if (Geometries.box(input.getBinary(0)).exists(_.intersects(box))) 1 else 0)
    }
  }

  /** A function before Spark knows the types of its arguments, which must be numbers, strings or binaries. */
  final private class SpatialFunction(parameters: String, result: String, function: Spatial[_])
      extends UnboundFunction {
    override def name: String = function.name
    override def description: String = s"$name($parameters) - $result"

    override def bind(inputType: StructType): BoundFunction = {
      val types = inputType.fields.map(_.dataType)
      if (types.length == function.inputTypes.length && types.zip(function.inputTypes).forall((accepts _).tupled))
        function
      else throw RejectedArguments.of(
        name,
        inputType,
        Seq(function.inputTypes.length),
        s"$name(${types.map(_.catalogString).mkString(", ")}) is not supported; use $name($parameters)"
      )
    }

    private def accepts(argument: DataType, parameter: DataType): Boolean =
      argument == parameter || argument == NullType || parameter == DoubleType && argument.isInstanceOf[NumericType]
  }
}
