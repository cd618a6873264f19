package iceberglite.spark.read.partitioning

import iceberglite.scan.{BloomIndex, FileScanTask}
import iceberglite.spark.read.planning.ScanFiles
import iceberglite.spark.read.stats.{ColumnStatsByFile, StatisticsColumn}
import iceberglite.spec.expr.Evaluate
import iceberglite.spec.types.{Literal, NestedField, NestedType, PrimitiveType}
import iceberglite.spec.types.Type.StructType

/**
 * The columns for which a runtime filter may skip files. The runtime filter contains the join keys of the other join
 * side. The columns are the source columns of partition fields, the columns for which the bounds of files overlap
 * little, the columns with a Bloom index, and the columns whose metrics the driver did not keep. Other columns are not
 * reported, because a runtime filter on a reported column may replace a Bloom filter that Spark would otherwise create.
 */
private[read] object RuntimeFilterColumns {

  /** The maximum number of files whose metrics are inspected. */
  private val SampleSize = 64

  /**
   * Returns the columns, among the given columns, for which a runtime filter may skip files. A struct is returned if a
   * runtime filter on one of its fields may skip files.
   */
  def of(files: ScanFiles, columns: Vector[NestedField]): Vector[NestedField] = {
    val sources = files.table.metadata.specs.flatMap(_.fields).flatMap(_.sourceIds).toSet
    lazy val sample = sampleOf(files.plan.tasks)
    columns.filter { column =>
      val fields = fieldsOf(Vector(column))
      fields.exists(f => sources.contains(f.id) || BloomIndex.isIndexed(files.table.tree(), f.id)) ||
      fields.exists { f =>
        !files.plan.statsToKeep.hasAll(Set(f.id)) || haveDistinctRanges(
          new ColumnStatsByFile(f, files.table.metadata),
          sample
        )
      }
    }
  }

  private def fieldsOf(path: Vector[NestedField]): Vector[StatisticsColumn] = path.last.fieldType match {
    case t: PrimitiveType => Vector(StatisticsColumn(path, t))
    case StructType(fields) => fields.flatMap(f => fieldsOf(path :+ f))
    case _: NestedType => Vector.empty
  }

  private def sampleOf(tasks: Vector[FileScanTask]): Vector[FileScanTask] =
    if (tasks.size <= SampleSize) tasks
    else Vector.tabulate(SampleSize)(i => tasks((i.toLong * tasks.size / SampleSize).toInt))

  /**
   * Whether the value ranges of a column differ between files: on average, a bound of one file must be within the
   * bounds of at most half of the files.
   */
  private def haveDistinctRanges(stats: ColumnStatsByFile, tasks: Vector[FileScanTask]): Boolean = {
    val ranges = tasks.map(stats).flatMap(f => f.lower.flatMap(low => f.upper.map(low -> _)))
    val hits = ranges.iterator.map { case (low, high) =>
      countContaining(ranges, low) + countContaining(ranges, high)
    }.sum
    ranges.nonEmpty && 2 * ranges.size >= tasks.size && hits <= ranges.size.toLong * ranges.size
  }

  /** Returns the number of ranges that contain the given value. */
  private def countContaining(ranges: Vector[(Literal, Literal)], value: Literal): Long =
    ranges.count { case (low, high) =>
      Evaluate.ordering.lteq(low, value) && Evaluate.ordering.lteq(value, high)
    }.toLong
}
