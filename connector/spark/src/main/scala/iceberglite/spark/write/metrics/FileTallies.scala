package iceberglite.spark.write.metrics

import scala.collection.mutable

import iceberglite.io.{MetricsModes, SeenColumn}
import iceberglite.spec.Literal._
import iceberglite.spec.MetricsMode.{Counts, NoMetrics}
import iceberglite.spec.Type._
import iceberglite.spec.{Literal, MetricMaps, NestedField, PrimitiveType}

/**
 * The tallies of the columns of one file, for formats whose own statistics lack some: Avro has none, ORC none of binary
 * columns and none without NaN.
 *
 * What is inside of lists and maps is left out: its counts are not of rows, as Apache Iceberg sees it too.
 *
 * @param modes what is kept of each column
 */
final private[write] class FileTallies(modes: MetricsModes) {
  private val columns = mutable.ArrayBuffer.empty[(Int, ColumnTally)]

  /**
   * Of a column whose rows hold longs, ints, shorts, bytes or booleans, as 0 and 1.
   *
   * @param counted false inside of lists and maps
   */
  def ofLongs(field: NestedField, counted: Boolean): LongTally =
    noted(field, counted, new LongTally(FileTallies.literal(field)))

  /** Of decimals of up to 18 digits. */
  def ofUnscaled(field: NestedField, scale: Int, counted: Boolean): LongTally =
    noted(field, counted, new LongTally(v => DecimalLiteral(java.math.BigDecimal.valueOf(v, scale))))

  def ofFloats(field: NestedField, counted: Boolean): FloatTally = noted(field, counted, new FloatTally)

  def ofDoubles(field: NestedField, counted: Boolean): DoubleTally = noted(field, counted, new DoubleTally)

  def ofDecimals(field: NestedField, counted: Boolean): DecimalTally = noted(field, counted, new DecimalTally)

  def ofBytes(field: NestedField, t: PrimitiveType, counted: Boolean): BytesTally =
    noted(field, counted, new BytesTally(t, counted && FileTallies.hasBounds(t) && isBounded(field)))

  private def isBounded(field: NestedField): Boolean = modes.of(field.id) match {
    case NoMetrics | Counts => false
    case _ => true
  }

  private def noted[A <: ColumnTally](field: NestedField, counted: Boolean, tally: A): A = {
    if (counted && modes.of(field.id) != NoMetrics) columns += field.id -> tally
    tally
  }

  /**
   * @param records of the file
   * @param sizes of the columns in the file; absent for formats that store rows
   */
  def metrics(records: Long, sizes: Option[Map[Int, Long]]): MetricMaps = {
    val seen = columns.toVector.map { case (id, tally) =>
      SeenColumn(id, tally.nulls, tally.floating.map(_.nanCount), tally.bounds)
    }
    SeenColumn.metrics(records, seen, modes, sizes)
  }
}

private object FileTallies {

  /** What the bounds of shapes are is not what their bytes are. */
  private def hasBounds(t: PrimitiveType): Boolean = t match {
    case _: GeometryType | _: GeographyType => false
    case _ => true
  }

  /** Of what Spark holds as a number. */
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
