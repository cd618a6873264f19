package iceberglite.spark.read.stats

import scala.collection.mutable

import iceberglite.data.DataFormats
import iceberglite.metrics.ColumnBounds
import iceberglite.scan.FileScanTask
import iceberglite.spec.file.{FileFormat, Metrics}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.types.{Literal, LiteralConversion, PrimitiveType, SingleValue}
import iceberglite.spec.types.DefaultValue.OfPrimitive
import iceberglite.spec.types.Type._

/**
 * Returns the statistics of one column for each file. If the file's partition determines the value of the column, the
 * statistics follow from the partition. If the column is newer than the file, they follow from the default value of the
 * column. Otherwise, the statistics are the file's column metrics. Not thread-safe.
 */
final private[read] class ColumnStatsByFile(column: StatisticsColumn, metadata: TableMetadata)
    extends (FileScanTask => ColumnStats) {
  private val identities = mutable.Map.empty[Int, Option[Int]]
  private val age = new ColumnAge(column.id, metadata)

  override def apply(task: FileScanTask): ColumnStats = {
    val rows = FileRowCount.of(task)
    ofPartition(task, rows).orElse(ofAge(task, rows)).getOrElse(ofMetrics(task, rows))
  }

  private def ofPartition(task: FileScanTask, rows: FileRowCount): Option[ColumnStats] =
    identities.getOrElseUpdate(task.spec.specId, identityPosition(task.spec))
      .flatMap(task.file.partition.values.lift(_))
      .flatMap {
        case None => Some(ColumnStats.ofNull(rows))
        case Some(value) => constant(value, rows)
      }

  private def identityPosition(spec: PartitionSpec): Option[Int] = spec.identityPositions.get(column.id)

  private def ofAge(task: FileScanTask, rows: FileRowCount): Option[ColumnStats] =
    if (!age.isNewerThanDataOf(task)) None
    else column.field.initialDefault match {
      case None if column.field.optional => Some(ColumnStats.ofNull(rows))
      // The default is not used for a field of a struct, because the struct may be null.
      case Some(OfPrimitive(value)) if !column.isNested => constant(value, rows)
      case _ => None
    }

  private def constant(value: Literal, rows: FileRowCount): Option[ColumnStats] =
    LiteralConversion.to(value, column.fieldType).filterNot(ColumnBounds.isNan).map(ColumnStats.constant(rows, _))

  private def ofMetrics(task: FileScanTask, rows: FileRowCount): ColumnStats = {
    val metrics = task.file.metrics
    // A writer that did not inspect a column may have written a null count of 0 for this column.
    val isCounted = metrics.valueCount(column.id).contains(task.file.recordCount)
    val nulls = if (isCounted) metrics.nullValueCount(column.id) else None
    val (lower, upper) = bounds(metrics)
    ColumnStats(rows, nulls, lower, upper, boundsAreValues(column.fieldType, task.file.format))
  }

  /**
   * Returns the bounds of the values. NaN is the greatest value, but written bounds do not include it; therefore, a
   * column with NaN has no upper bound. If a writer did not count NaN values, the bounds are not used, because NaN
   * values may have affected the bounds.
   */
  private def bounds(metrics: Metrics): (Option[Literal], Option[Literal]) = column.fieldType match {
    // Bounds of UUIDs are not used, because writers compare UUIDs in different orders. Bounds of the other four types
    // are not values of these types.
    case UuidType | UnknownType | VariantType | _: GeometryType | _: GeographyType => (None, None)
    case t @ (FloatType | DoubleType) =>
      val nans = metrics.nanValueCount(column.id)
      val lower = read(t, metrics.lowerBound(column.id)).filter(_ => nans.isDefined)
      val upper = read(t, metrics.upperBound(column.id)).filter(_ => nans.contains(0L))
      (lower.map(v => ColumnBounds.ofStatistics(v, v)._1), upper.map(v => ColumnBounds.ofStatistics(v, v)._2))
    case t => (read(t, metrics.lowerBound(column.id)), read(t, metrics.upperBound(column.id)))
  }

  private def read(t: PrimitiveType, bound: Option[java.nio.ByteBuffer]): Option[Literal] =
    bound.flatMap(SingleValue.decodeValid(t, _)).filterNot(ColumnBounds.isNan)

  /**
   * Whether bounds are values of rows. Bounds of strings and binaries may be truncated to an unknown length, and some
   * formats round the bounds of timestamps.
   */
  private def boundsAreValues(t: PrimitiveType, format: FileFormat): Boolean = t match {
    case BooleanType | IntType | LongType | FloatType | DoubleType | _: DecimalType | DateType | TimeType => true
    case TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType =>
      DataFormats.find(format).exists(_.boundsAreExact)
    case StringType | UuidType | _: FixedType | BinaryType => false
    case UnknownType | VariantType | _: GeometryType | _: GeographyType => false
  }
}
