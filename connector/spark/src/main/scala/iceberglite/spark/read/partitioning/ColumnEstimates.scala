package iceberglite.spark.read.partitioning

import java.lang.{Long => JavaLong}
import java.util.{Optional, OptionalLong}

import scala.util.Try

import org.apache.spark.sql.connector.read.colstats.ColumnStatistics

import iceberglite.maintenance.ComputeTableStatistics
import iceberglite.puffin.ThetaSketch
import iceberglite.spark.convert.SparkValues
import iceberglite.spark.read.planning.ScanFiles
import iceberglite.spark.read.stats.{ColumnStats, ColumnStatsByFile, StatisticsColumn}
import iceberglite.spec.IcebergError
import iceberglite.spec.expr.Evaluate
import iceberglite.spec.metadata.{BlobMetadata, BlobProperty, BlobType, StatisticsFile}
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType}
import iceberglite.spec.types.Type._

/**
 * Statistics of a column in the files of a scan, for Spark's cost-based optimizer.
 *
 * @param minValue the minimum in Spark's internal format; absent for strings and binaries, because Spark uses no bounds
 *   for these types
 * @param maxValue the maximum in Spark's internal format; absent for strings and binaries
 * @param length the average size of a value in bytes; absent unless values are longer than Spark assumes
 */
final private[read] case class ColumnEstimate(
    distinct: Long,
    nulls: Long,
    minValue: Option[AnyRef],
    maxValue: Option[AnyRef],
    length: Option[Long]
) extends ColumnStatistics {
  override def distinctCount(): OptionalLong = OptionalLong.of(distinct)
  override def nullCount(): OptionalLong = OptionalLong.of(nulls)
  override def min(): Optional[AnyRef] = minValue.fold(Optional.empty[AnyRef])(Optional.of(_))
  override def max(): Optional[AnyRef] = maxValue.fold(Optional.empty[AnyRef])(Optional.of(_))
  override def avgLen(): OptionalLong = length.fold(OptionalLong.empty)(OptionalLong.of(_))
}

/** Statistics of a column that contain only the average length of its values, in bytes. */
final private[read] case class AverageLength(bytes: Long) extends ColumnStatistics {
  override def avgLen(): OptionalLong = OptionalLong.of(bytes)
}

/**
 * Estimates column statistics from the metrics of the files, and from the sketches in the statistics file of the
 * snapshot or of its nearest ancestor that has one. Without a sketch, the distinct values of integers, dates, times and
 * timestamps are estimated from their bounds.
 */
private[read] object ColumnEstimates {

  /**
   * Returns the statistics of the columns for which all statistics are known. Incomplete statistics are omitted,
   * because Spark treats a column with a distinct count but without bounds as all null, and estimates no rows for a
   * join on such a column. Only for strings and binaries, the average length is returned without other statistics.
   *
   * @param averageLength returns the average size of a column's values in bytes; absent unless values are longer than
   *   Spark assumes
   */
  def of(
      files: ScanFiles,
      columns: Vector[NestedField],
      averageLength: NestedField => Option[Long]
  ): Map[String, ColumnStatistics] = {
    val distinct = distinctValues(files)
    columns.flatMap { column =>
      val length = averageLength(column)
      val estimated = estimate(files, column, distinct(column.id)).map(_.copy(length = length))
      estimated.orElse(length.filter(_ => needsNoBounds(column)).map(AverageLength)).map(column.name -> _)
    }.toMap
  }

  /** Estimates the statistics of one column. @param sketched the number of distinct values from a sketch */
  private def estimate(files: ScanFiles, column: NestedField, sketched: => Option[Long]): Option[ColumnEstimate] =
    column.fieldType match {
      case t: PrimitiveType if files.plan.tasks.nonEmpty && files.plan.statsToKeep.hasAll(Set(column.id)) =>
        val stats =
          files.plan.tasks.map(new ColumnStatsByFile(StatisticsColumn(Vector(column), t), files.table.metadata))
        val rows = files.plan.report.liveRecords
        for {
          nulls <- allDefined(stats.map(_.nulls)).map(n => math.min(n.sum, rows))
          (minValue, maxValue) <- bounds(t, stats.filterNot(_.hasNoValue))
          distinct <- sketched.orElse(countBetween(minValue, maxValue))
        } yield ColumnEstimate(math.min(distinct, math.max(1L, rows - nulls)), nulls, minValue, maxValue, None)
      case _ => None
    }

  /**
   * Whether Spark needs no bounds for a column. For columns of other types, Spark compares values with the bounds, and
   * estimates no matching rows if there are no bounds.
   */
  private def needsNoBounds(column: NestedField): Boolean = column.fieldType match {
    case StringType | BinaryType => true
    case _ => false
  }

  private type Bounds = (Option[AnyRef], Option[AnyRef])

  /**
   * Returns the number of values from the minimum to the maximum, which is the maximum number of distinct values;
   * absent unless Spark stores the values as ints or longs. Most join keys are dense, so this number is accurate enough
   * for choosing the order of joins.
   */
  private def countBetween(minValue: Option[AnyRef], maxValue: Option[AnyRef]): Option[Long] =
    (minValue, maxValue) match {
      case (Some(from: Integer), Some(to: Integer)) => Some(to.toLong - from.toLong + 1)
      case (Some(from: JavaLong), Some(to: JavaLong)) =>
        Try(Math.addExact(Math.subtractExact(to.longValue, from.longValue), 1L)).toOption.orElse(Some(Long.MaxValue))
      case _ => None
    }

  private def bounds(t: PrimitiveType, stats: Vector[ColumnStats]): Option[Bounds] = t match {
    case StringType | BinaryType | UuidType | _: FixedType => Some((None, None))
    case BooleanType | IntType | LongType | FloatType | DoubleType | _: DecimalType | DateType | TimestampType |
        TimestampTzType | TimeType | TimestampNsType | TimestampTzNsType =>
      def value(bound: Literal): Option[AnyRef] = Some(SparkValues.toSpark(bound, t).asInstanceOf[AnyRef])
      for {
        lower <- allDefined(stats.map(_.lower)).filter(_.nonEmpty)
        upper <- allDefined(stats.map(_.upper))
      } yield (value(lower.min(Evaluate.ordering)), value(upper.max(Evaluate.ordering)))
    case UnknownType | VariantType | _: GeometryType | _: GeographyType => None
  }

  private def allDefined[A](values: Vector[Option[A]]): Option[Vector[A]] =
    if (values.forall(_.isDefined)) Some(values.flatten) else None

  /**
   * Returns a function from a column's id to its number of distinct values, from the statistics file of the snapshot or
   * of its nearest ancestor that has one.
   */
  private[partitioning] def distinctValues(files: ScanFiles): Int => Option[Long] = {
    val file = files.snapshot.flatMap(ComputeTableStatistics.fileOf(files.table.metadata, _))
    id =>
      for {
        statistics <- file
        blob <- statistics.blobMetadata.find(b => b.blobType == BlobType.ThetaSketch && b.fields == Vector(id))
        count <- blob.properties.get(BlobProperty.Ndv).flatMap(v => Try(v.toLong).toOption)
          .orElse(ndvOf(files, statistics, blob))
        if count > 0
      } yield count
  }

  /**
   * Reads the number of distinct values from a sketch. A statistics file that cannot be read may result in a slower
   * query plan, but not in an error.
   */
  private def ndvOf(files: ScanFiles, statistics: StatisticsFile, blob: BlobMetadata): Option[Long] =
    try {
      val file = files.table.tree().openStatistics(statistics)
      file.blobs.find(_.metadata.fields == blob.fields).map(b => ThetaSketch.parse(file.path, file.read(b)).ndv)
    } catch { case _: IcebergError => None }
}
