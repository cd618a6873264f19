package iceberglite.spark.read.partitioning

import java.util
import java.util.{Collections, OptionalLong}

import org.apache.spark.sql.connector.expressions.NamedReference
import org.apache.spark.sql.connector.read.Statistics
import org.apache.spark.sql.connector.read.colstats.ColumnStatistics
import org.apache.spark.sql.types.StructType

/**
 * The number of rows of a scan and their size in memory, for Spark's choice of joins.
 *
 * The total size of the files is not used, because it says little about the size in memory: a column that compresses
 * very well in files needs as much memory as any other column.
 */
final private[iceberglite] case class SizeEstimate(rows: Long, bytes: Long) {

  /** Returns this estimate in the form that Spark expects of scans. */
  def statistics(columns: util.Map[NamedReference, ColumnStatistics] = Collections.emptyMap()): Statistics =
    new ScanStatistics(this, columns)
}

private[iceberglite] object SizeEstimate {

  /**
   * The size of a row without columns: the overhead that Spark assumes for each row. It is not added to rows with
   * columns.
   */
  private val RowOverhead = 8

  /** Statistics of an unknown size, which Spark assumes to be too large for a broadcast. */
  val Unknown: Statistics = new Statistics {
    override def sizeInBytes(): OptionalLong = OptionalLong.empty()
    override def numRows(): OptionalLong = OptionalLong.empty()
  }

  /** Returns the estimated size of rows: the default sizes of their columns' types in Spark, without an overhead. */
  def of(rows: Long, schema: StructType): SizeEstimate = {
    val width = if (schema.isEmpty) RowOverhead else schema.defaultSize
    SizeEstimate(rows, times(math.max(0L, rows), width.toLong))
  }

  /** Returns the product, or the maximum value on overflow. Neither factor is negative. */
  def times(a: Long, b: Long): Long = if (a != 0 && b > Long.MaxValue / a) Long.MaxValue else a * b

  /** Returns the sum, or the maximum value on overflow. Neither summand is negative. */
  def plus(a: Long, b: Long): Long = if (b > Long.MaxValue - a) Long.MaxValue else a + b
}

final private class ScanStatistics(
    size: SizeEstimate,
    override val columnStats: util.Map[NamedReference, ColumnStatistics]
) extends Statistics {

  /** Returns at least 1, because Spark multiplies the sizes of both sides of a join. */
  override def sizeInBytes(): OptionalLong = OptionalLong.of(math.max(1L, size.bytes))

  override def numRows(): OptionalLong = OptionalLong.of(size.rows)
}
