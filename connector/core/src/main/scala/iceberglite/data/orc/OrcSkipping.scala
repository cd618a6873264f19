package iceberglite.data.orc

import java.math.BigDecimal
import java.nio.ByteBuffer

import scala.util.Try

import org.apache.orc.OrcFile.WriterVersion
import org.apache.orc.OrcProto.ColumnStatistics
import org.apache.orc.TypeDescription
import org.apache.orc.TypeDescription.Category

import iceberglite.spec.expr.Expression
import iceberglite.spec.file.{Content, ContentFile, FileFormat, InclusiveMetrics, MetricMaps, Metrics}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType, SingleValue}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/**
 * Uses the statistics of a file to find the parts that cannot contain matching rows. Individual rows are not tested.
 *
 * @param schema schema of the file, with field ids
 * @param withoutNan the columns that are known to contain no NaN. The bounds of other floating point columns are not
 *   used
 */
final private[orc] class OrcSkipping(
    schema: TypeDescription,
    filter: Expression,
    withoutNan: Set[Int],
    version: WriterVersion
) {
  private val test = new InclusiveMetrics(filter)
  private val columns: Vector[OrcSkipping.Column] =
    filter.fields.filter(_.fieldType.isInstanceOf[PrimitiveType]).flatMap(f =>
      OrcSkipping.find(schema, f).map(OrcSkipping.Column(f, _))
    ).toVector

  /** Returns whether no part can be skipped, because the file has no primitive column of the filter. */
  def hasNoFilter: Boolean = columns.isEmpty

  /**
   * Returns whether a part may contain matching rows.
   *
   * @param rows number of rows in the part
   * @param statistics returns the statistics of the part by the library's column number
   * @param timesInUtc whether timestamps without a zone were recorded in UTC
   */
  def mightMatch(rows: Long, statistics: Int => Option[ColumnStatistics], timesInUtc: Boolean): Boolean = {
    val statisticsByColumn =
      columns.flatMap(c => statistics(c.node.getId).filter(_.hasNumberOfValues).map(c -> _)).toMap
    val nullCounts = statisticsByColumn.map { case (c, s) => c.field.id -> math.max(0L, rows - s.getNumberOfValues) }
    val bounds = statisticsByColumn.flatMap { case (c, s) => boundsOf(c, s, timesInUtc).map(c.field.id -> _) }
    val metrics = MetricMaps(
      valueCounts = Some(nullCounts.map { case (id, _) => id -> rows }),
      nullValueCounts = Some(nullCounts),
      nanValueCounts = Some(withoutNan.map(_ -> 0L).toMap),
      lowerBounds = Some(bounds.flatMap { case (id, (lower, _)) => lower.map(id -> OrcSkipping.encoded(_)) }),
      upperBounds = Some(bounds.flatMap { case (id, (_, upper)) => upper.map(id -> OrcSkipping.encoded(_)) })
    )
    test.mightMatch(OrcSkipping.contentFile(rows, metrics))
  }

  /** The lower and the upper bound of a column, each absent if it is unknown. */
  private type Bounds = (Option[Literal], Option[Literal])

  private def boundsOf(c: OrcSkipping.Column, s: ColumnStatistics, timesInUtc: Boolean): Option[Bounds] =
    if (s.getNumberOfValues <= 0) None
    else (c.field.fieldType, c.node.getCategory) match {
      case (IntType | LongType | TimeType, _) if s.hasIntStatistics => Some(numbers(c.field, s))
      case (DateType, Category.DATE) if s.hasDateStatistics => Some(dates(s))
      case (FloatType | DoubleType, _) if s.hasDoubleStatistics && withoutNan(c.field.id) => Some(doubles(c.field, s))
      case (DecimalType(_, scale), _) if s.hasDecimalStatistics && version.includes(WriterVersion.ORC_517) =>
        Some(decimals(s, scale))
      case (StringType, Category.STRING) if s.hasStringStatistics && version.includes(WriterVersion.HIVE_8732) =>
        Some(texts(s))
      case (TimestampType, Category.TIMESTAMP) if timesInUtc => times(s, TimestampLiteral(_))
      case (TimestampTzType, Category.TIMESTAMP_INSTANT) => times(s, TimestampTzLiteral(_))
      case _ => None
    }

  private def numbers(field: NestedField, s: ColumnStatistics): Bounds = {
    val ints = s.getIntStatistics
    def literal(v: Long): Literal = field.fieldType match {
      case IntType => IntLiteral(v.toInt)
      case TimeType => TimeLiteral(v)
      case _ => LongLiteral(v)
    }
    (
      if (ints.hasMinimum) Some(literal(ints.getMinimum)) else None,
      if (ints.hasMaximum) Some(literal(ints.getMaximum)) else None
    )
  }

  private def dates(s: ColumnStatistics): Bounds = {
    val days = s.getDateStatistics
    (
      if (days.hasMinimum) Some(DateLiteral(days.getMinimum)) else None,
      if (days.hasMaximum) Some(DateLiteral(days.getMaximum)) else None
    )
  }

  /**
   * Returns the bounds of a floating point column. The library does not distinguish -0.0 from 0.0, so a lower bound of
   * zero becomes -0.0, and an upper bound of zero becomes 0.0.
   */
  private def doubles(field: NestedField, s: ColumnStatistics): Bounds = {
    val range = s.getDoubleStatistics
    def literal(v: Double): Literal = if (field.fieldType == FloatType) FloatLiteral(v.toFloat) else DoubleLiteral(v)
    (
      if (range.hasMinimum) Some(literal(if (range.getMinimum == 0.0) -0.0 else range.getMinimum)) else None,
      if (range.hasMaximum) Some(literal(if (range.getMaximum == 0.0) 0.0 else range.getMaximum)) else None
    )
  }

  private def decimals(s: ColumnStatistics, scale: Int): Bounds = {
    val range = s.getDecimalStatistics
    def literal(text: String): Option[Literal] =
      Try(new BigDecimal(text.trim).setScale(scale)).toOption.map(DecimalLiteral(_))
    (
      if (range.hasMinimum) literal(range.getMinimum) else None,
      if (range.hasMaximum) literal(range.getMaximum) else None
    )
  }

  /** Returns the bounds of a string column. Writers truncate long bounds and then round the upper bound up. */
  private def texts(s: ColumnStatistics): Bounds = {
    val range = s.getStringStatistics
    val lower =
      if (range.hasLowerBound) Some(range.getLowerBound) else if (range.hasMinimum) Some(range.getMinimum) else None
    val upper =
      if (range.hasUpperBound) Some(range.getUpperBound) else if (range.hasMaximum) Some(range.getMaximum) else None
    (lower.filter(OrcSkipping.isText).map(StringLiteral(_)), upper.filter(OrcSkipping.isText).map(StringLiteral(_)))
  }

  /**
   * Returns the bounds of a timestamp column. The bounds in the file are in milliseconds, and writers round them
   * differently. Therefore the bounds are widened by 1 ms.
   */
  private def times(s: ColumnStatistics, literal: Long => Literal): Option[Bounds] =
    if (!s.hasTimestampStatistics || !version.includes(WriterVersion.ORC_135)) None
    else {
      val range = s.getTimestampStatistics
      def micros(millis: Long): Option[Literal] = Try(Math.multiplyExact(millis, 1000L)).toOption.map(literal)
      Some((
        if (range.hasMinimumUtc) micros(range.getMinimumUtc - 1) else None,
        if (range.hasMaximumUtc) micros(range.getMaximumUtc + 1) else None
      ))
    }
}

private[orc] object OrcSkipping {

  /** A primitive column of the filter that is in the file, outside of lists and maps. */
  final private case class Column(field: NestedField, node: TypeDescription)

  private def find(struct: TypeDescription, field: NestedField): Option[TypeDescription] =
    OrcSchemas.children(struct).iterator.flatMap { case (_, t) =>
      if (t.getCategory == Category.STRUCT) find(t, field) else Some(t).filter(OrcSchemas.idOf(_).contains(field.id))
    }.take(1).toVector.headOption

  private def encoded(value: Literal): ByteBuffer = SingleValue.encode(value)

  /**
   * Returns whether a bound is valid text. The library replaces bytes that are not valid text with a replacement
   * character, which changes the order of the bound.
   */
  private def isText(bound: String): Boolean = bound.indexOf('\ufffd') < 0

  /** Returns a content file with the metrics of a part, because [[InclusiveMetrics]] tests content files. */
  private def contentFile(rows: Long, metrics: Metrics): ContentFile =
    ContentFile(Content.Data, "", FileFormat.Orc, 0, PartitionTuple.Empty, rows, 0L, metrics)
}
