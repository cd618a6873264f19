package iceberglite.spark.read.partitioning

import iceberglite.spark.convert.SparkValues
import iceberglite.spark.read.planning.ScanFiles
import iceberglite.spark.read.stats.{ColumnStats, ColumnStatsByFile, StatisticsColumn}
import iceberglite.spec.expr.Evaluate
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType}
import iceberglite.spec.types.Type.{BinaryType, FixedType, StringType}

/**
 * The statistics that metadata contains for a column. `DESCRIBE EXTENDED` shows them. They include rows that delete
 * files have deleted.
 *
 * @param min the minimum in Spark's internal format; absent for strings and binaries, whose bounds may be truncated
 * @param max the maximum in Spark's internal format; absent for strings and binaries
 * @param nulls the number of nulls
 * @param distinct the number of distinct values, from the statistics file of the snapshot or of its nearest ancestor
 *   that has one
 */
final private[iceberglite] case class KnownStatistics(
    min: Option[Any] = None,
    max: Option[Any] = None,
    nulls: Option[Long] = None,
    distinct: Option[Long] = None
)

private[iceberglite] object KnownStatistics {

  /** Returns the statistics of a column in the files of a scan. A value is absent if a file's metadata lacks it. */
  def of(scanned: ScanFiles, column: NestedField): KnownStatistics = column.fieldType match {
    case t: PrimitiveType =>
      val files = scanned.withMetricsOf(Set(column.id))
      val byFile = new ColumnStatsByFile(StatisticsColumn(Vector(column), t), files.table.metadata)
      val stats = files.plan.tasks.map(byFile)
      val withValues = stats.filterNot(_.hasNoValue)
      def bound(of: ColumnStats => Option[Literal])(choose: Vector[Literal] => Literal): Option[Any] =
        allDefined(withValues.map(of)).filter(bounds => bounds.nonEmpty && !hasTruncatedBounds(t))
          .map(bounds => withoutSignOfZero(SparkValues.toSpark(choose(bounds), t)))
      KnownStatistics(
        bound(_.lower)(_.min(Evaluate.ordering)),
        bound(_.upper)(_.max(Evaluate.ordering)),
        allDefined(stats.map(_.nulls)).map(_.sum),
        ColumnEstimates.distinctValues(files)(column.id)
      )
    case _ => KnownStatistics()
  }

  /** Replaces -0.0 by 0.0, because bounds do not keep the sign of a zero: a lower bound of 0.0 is stored as -0.0. */
  private def withoutSignOfZero(value: Any): Any = value match {
    case v: Float if v == 0.0f => 0.0f
    case v: Double if v == 0.0 => 0.0
    case other => other
  }

  private def hasTruncatedBounds(t: PrimitiveType): Boolean = t match {
    case StringType | BinaryType | _: FixedType => true
    case _ => false
  }

  private def allDefined[A](values: Vector[Option[A]]): Option[Vector[A]] =
    if (values.forall(_.isDefined)) Some(values.flatten) else None
}
