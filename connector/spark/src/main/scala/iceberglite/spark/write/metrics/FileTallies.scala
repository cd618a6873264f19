package iceberglite.spark.write.metrics

import scala.collection.mutable

import iceberglite.metrics.{ColumnMetrics, MetricsModes, SpatialCollector}
import iceberglite.spark.write.files.InputField
import iceberglite.spec.file.MetricMaps
import iceberglite.spec.property.MetricsMode.{Counts, NoMetrics}
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/**
 * Collects the metrics of the columns of one file, for formats whose own statistics are incomplete. Avro has no
 * statistics. ORC has no bounds of binary columns, and its statistics of floating-point columns include NaN.
 *
 * Fields inside lists and maps are omitted, as in Apache Iceberg, because their counts are not counts of rows.
 *
 * @param modes the metrics mode of each column
 */
final private[write] class FileTallies(modes: MetricsModes) {
  private val columns = mutable.ArrayBuffer.empty[(Int, ColumnTally)]

  /**
   * Returns the tally of a column whose values are longs, ints, shorts, bytes, or booleans as 0 and 1.
   *
   * @param counted whether metrics are collected; false inside lists and maps
   */
  def ofLongs(field: NestedField, counted: Boolean): LongTally =
    registered(field, counted, new LongTally(FileTallies.literal(field)))

  /** Returns the tally of a column of decimals with up to 18 digits, whose unscaled values fit in a long. */
  def ofUnscaled(field: NestedField, scale: Int, counted: Boolean): LongTally =
    registered(field, counted, new LongTally(v => DecimalLiteral(java.math.BigDecimal.valueOf(v, scale))))

  def ofFloats(field: NestedField, counted: Boolean): FloatTally = registered(field, counted, new FloatTally)

  def ofDoubles(field: NestedField, counted: Boolean): DoubleTally = registered(field, counted, new DoubleTally)

  def ofDecimals(field: NestedField, counted: Boolean): DecimalTally = registered(field, counted, new DecimalTally)

  /** @param column the full name of the column, for messages */
  def ofBytes(field: InputField, t: PrimitiveType, column: String, counted: Boolean): BytesTally =
    if (SpatialCollector.isSpatial(t))
      registered(field.field, counted, new SpatialTally(t, column, field.checksGeometries))
    else registered(field.field, counted, new OrderedTally(t, counted && field.hasBounds && hasBounds(field.field)))

  private def hasBounds(field: NestedField): Boolean = modes.of(field.id) match {
    case NoMetrics | Counts => false
    case _ => true
  }

  private def registered[A <: ColumnTally](field: NestedField, counted: Boolean, tally: A): A = {
    if (counted && modes.of(field.id) != NoMetrics) columns += field.id -> tally
    tally
  }

  /**
   * Returns the metrics.
   *
   * @param records the number of records in the file
   * @param sizes the sizes of the columns in the file; absent for formats that store rows
   */
  def metrics(records: Long, sizes: Option[Map[Int, Long]]): MetricMaps = {
    val columnMetrics = columns.toVector.map { case (id, tally) =>
      ColumnMetrics(id, tally.nulls, tally.collected.flatMap(_.nans), tally.bounds)
    }
    ColumnMetrics.metrics(records, columnMetrics, modes, sizes)
  }
}

private[iceberglite] object FileTallies {

  /** Returns a function that converts Spark's representation of a value, a number, to a literal of the field's type. */
  private def literal(field: NestedField): Long => Literal = field.fieldType match {
    case BooleanType => v => BooleanLiteral(v != 0)
    case IntType => v => IntLiteral(v.toInt)
    case DateType => v => DateLiteral(v.toInt)
    case TimeType => TimeLiteral(_)
    case TimestampType => TimestampLiteral(_)
    case TimestampTzType => TimestampTzLiteral(_)
    case TimestampNsType => TimestampNsLiteral(_)
    case TimestampTzNsType => TimestampTzNsLiteral(_)
    case _ => LongLiteral(_)
  }
}
