package iceberglite.data

import java.math.BigDecimal
import java.nio.ByteBuffer
import java.util.Comparator

import iceberglite.metrics.{ColumnMetrics, DoubleCollector, FloatCollector, MetricsModes, SpatialCollector}
import iceberglite.spec.file.MetricMaps
import iceberglite.spec.property.MetricsMode
import iceberglite.spec.property.MetricsMode.{Counts, NoMetrics}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, PrimitiveType, Type}
import iceberglite.spec.types.Type._

/**
 * Collects counts and bounds of the columns of a file while it is written (spec: `data_file`). This class is used for
 * Avro files, which have no statistics, and for ORC files, whose own statistics have no bounds of binary columns and do
 * not exclude NaN from the bounds of floating point columns.
 *
 * Columns in lists and maps are omitted, as in Apache Iceberg, because their counts do not refer to rows.
 */
final private[data] class RecordMetrics(schema: Schema, modes: MetricsModes) {
  private val columns = new StructColumn(schema.asStruct)
  private var records = 0L

  def add(record: Record): Unit = {
    records += 1
    columns.add(record)
  }

  def recordCount: Long = records

  /**
   * Returns the metrics of all rows.
   *
   * @param sizes sizes of the columns in the file, in bytes; absent for row-oriented formats
   */
  def metrics(sizes: Option[Map[Int, Long]]): MetricMaps =
    ColumnMetrics.metrics(records, columns.leaves.map(_.collected), modes, sizes)

  sealed abstract private class Column {
    def add(value: AnyRef): Unit
    def leaves: Vector[Leaf]
  }

  /** A struct column. If the struct is null, all of its fields are counted as null. */
  final private class StructColumn(struct: StructType) extends Column {
    private val (ordinals, children) = {
      val counted = struct.fields.zipWithIndex.flatMap { case (f, i) => column(f.id, f.fieldType).map(i -> _) }
      (counted.map(_._1).toArray, counted.map(_._2).toArray)
    }

    override def add(value: AnyRef): Unit = {
      val record = value.asInstanceOf[Record]
      var i = 0
      while (i < ordinals.length) {
        children(i).add(if (record eq null) null else record(ordinals(i)))
        i += 1
      }
    }

    override def leaves: Vector[Leaf] = children.toVector.flatMap(_.leaves)
  }

  private def column(id: Int, t: Type): Option[Column] = t match {
    case struct: StructType => Some(new StructColumn(struct)).filter(_.leaves.nonEmpty)
    case primitive: PrimitiveType if modes.of(id) != NoMetrics && t != UnknownType =>
      Some(new Leaf(id, primitive, modes.of(id)))
    case _ => None
  }

  final private class Leaf(val id: Int, t: PrimitiveType, mode: MetricsMode) extends Column {
    private val values = if (mode == Counts && !isFloating) NoValues else MinMax.of(t)
    var nulls = 0L

    override def add(value: AnyRef): Unit = if (value eq null) nulls += 1 else values.add(value)

    override def leaves: Vector[Leaf] = Vector(this)

    private def isFloating: Boolean = t == FloatType || t == DoubleType

    def collected: ColumnMetrics = ColumnMetrics(id, nulls, if (isFloating) Some(values.nans) else None, values.bounds)
  }
}

/** Tracks the minimum and maximum of a column. */
sealed abstract private class MinMax {
  def add(value: AnyRef): Unit
  def nans: Long = 0L
  def bounds: Option[(Literal, Literal)]
}

private object NoValues extends MinMax {
  override def add(value: AnyRef): Unit = ()
  override def bounds: Option[(Literal, Literal)] = None
}

private object MinMax {
  def of(t: PrimitiveType): MinMax = t match {
    case FloatType => new Floats
    case DoubleType => new Doubles
    case _: GeometryType | _: GeographyType => new Geometries(t)
    case _ => comparator(t).fold[MinMax](NoValues)(new Compared(t, _))
  }

  final private class Floats extends MinMax {
    private val range = new FloatCollector
    override def add(value: AnyRef): Unit = range.add(value.asInstanceOf[java.lang.Float].floatValue)
    override def nans: Long = range.nanCount
    override def bounds: Option[(Literal, Literal)] = range.values.bounds
  }

  final private class Doubles extends MinMax {
    private val range = new DoubleCollector
    override def add(value: AnyRef): Unit = range.add(value.asInstanceOf[java.lang.Double].doubleValue)
    override def nans: Long = range.nanCount
    override def bounds: Option[(Literal, Literal)] = range.values.bounds
  }

  final private class Geometries(t: PrimitiveType) extends MinMax {
    private val collector = new SpatialCollector(t)
    override def add(value: AnyRef): Unit = collector.addStored(value.asInstanceOf[ByteBuffer])
    override def bounds: Option[(Literal, Literal)] = collector.values.bounds
  }

  /** Tracks the bounds of values with a comparator, so that values of most types need not be converted to literals. */
  final private class Compared(t: PrimitiveType, order: Comparator[AnyRef]) extends MinMax {
    private var minimum: AnyRef = _
    private var maximum: AnyRef = _

    override def add(value: AnyRef): Unit =
      if (minimum eq null) {
        minimum = value
        maximum = value
      } else if (order.compare(value, minimum) < 0) minimum = value
      else if (order.compare(value, maximum) > 0) maximum = value

    override def bounds: Option[(Literal, Literal)] =
      for (low <- RecordValues.literal(minimum, t); high <- RecordValues.literal(maximum, t)) yield (low, high)
  }

  private def natural[A <: Comparable[A]]: Comparator[AnyRef] =
    (a, b) => a.asInstanceOf[A].compareTo(b.asInstanceOf[A])

  private def byLiteral(t: PrimitiveType): Comparator[AnyRef] = (a, b) =>
    (RecordValues.literal(a, t), RecordValues.literal(b, t)) match {
      case (Some(x), Some(y)) => Literal.ordering.compare(x, y)
      case _ => 0
    }

  /**
   * Returns a comparator with the order of [[Literal.ordering]]; absent for types without an order, and for floating
   * point types, whose bounds [[Floats]] and [[Doubles]] track.
   */
  private def comparator(t: PrimitiveType): Option[Comparator[AnyRef]] = t match {
    case BooleanType => Some(natural[java.lang.Boolean])
    case IntType | DateType => Some(natural[Integer])
    case LongType | TimeType | TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType =>
      Some(natural[java.lang.Long])
    case _: DecimalType => Some(natural[BigDecimal])
    case StringType => Some((a, b) => Literal.compareCodePoints(a.asInstanceOf[String], b.asInstanceOf[String]))
    case UuidType => Some(byLiteral(t))
    case _: FixedType | BinaryType =>
      Some((a, b) => Literal.compareUnsigned(a.asInstanceOf[ByteBuffer], b.asInstanceOf[ByteBuffer]))
    case FloatType | DoubleType | UnknownType | VariantType | _: GeometryType | _: GeographyType => None
  }
}
