package iceberglite.data.orc

import java.math.BigDecimal

import scala.util.Try

import org.apache.orc.OrcFile.WriterVersion
import org.apache.orc.OrcProto.ColumnStatistics
import org.apache.orc.TypeDescription
import org.apache.orc.TypeDescription.Category

import iceberglite.spec.types.{Literal, NestedField}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** Converts the statistics of an ORC file, a stripe or a row group to bounds of columns. */
final private[orc] class OrcBounds(version: WriterVersion) {

  /** The lower and the upper bound of a column, each absent if it is unknown. */
  type Bounds = (Option[Literal], Option[Literal])

  /**
   * Returns the bounds of a column.
   *
   * @param timesInUtc whether timestamps without a zone were recorded in UTC
   * @param withoutNan whether the column is known to contain no NaN. The bounds of other floating point columns are not
   *   used
   * @return absent if the statistics contain no bounds that can be used for the type of the column
   */
  def of(
      field: NestedField,
      node: TypeDescription,
      s: ColumnStatistics,
      timesInUtc: Boolean,
      withoutNan: Boolean
  ): Option[Bounds] =
    if (s.getNumberOfValues <= 0) None
    else (field.fieldType, node.getCategory) match {
      case (IntType | LongType | TimeType, _) if s.hasIntStatistics => Some(numbers(field, s))
      case (DateType, Category.DATE) if s.hasDateStatistics => Some(dates(s))
      case (FloatType | DoubleType, _) if s.hasDoubleStatistics && withoutNan => Some(doubles(field, s))
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

  /**
   * Returns the bounds of a string column. Writers truncate long bounds. They round a truncated upper bound up, so that
   * it remains an upper bound.
   */
  private def texts(s: ColumnStatistics): Bounds = {
    val range = s.getStringStatistics
    val lower =
      if (range.hasLowerBound) Some(range.getLowerBound) else if (range.hasMinimum) Some(range.getMinimum) else None
    val upper =
      if (range.hasUpperBound) Some(range.getUpperBound) else if (range.hasMaximum) Some(range.getMaximum) else None
    (lower.filter(isText).map(StringLiteral(_)), upper.filter(isText).map(StringLiteral(_)))
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

  /**
   * Returns whether a bound is valid text. The library replaces bytes that are not valid UTF-8 with a replacement
   * character. The result is then not necessarily a bound.
   */
  private def isText(bound: String): Boolean = bound.indexOf('\ufffd') < 0
}
