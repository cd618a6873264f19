package iceberglite.spark.read.partitioning

import org.apache.spark.sql.types.{StructType => SparkStruct}

import iceberglite.scan.FileScanTask
import iceberglite.spark.convert.SparkTypes
import iceberglite.spark.read.planning.ScanFiles
import iceberglite.spec.metadata.SummaryKey
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, NestedType, PrimitiveType, Type}
import iceberglite.spec.types.Type._

/**
 * Estimates the size of a scan in memory. The estimate is the number of rows that remain after planning, times the
 * width that Spark assumes for the columns that are read. Apache Iceberg computes the same estimate, with two
 * differences. First, this class does not count the rows that deletion vectors remove. Second, the size of a column of
 * strings, binaries, lists or maps is at least the number of its bytes in the files, because the values are at least as
 * long in memory.
 *
 * @param columns the columns of the table that the scan reads
 * @param schema these columns and the metadata columns that the scan reads
 */
final private[read] class ScanSize(files: ScanFiles, columns: Vector[NestedField], schema: SparkStruct) {

  /** Returns the estimate. The scan is planned only if the snapshot summary is not sufficient for the estimate. */
  def estimate: SizeEstimate =
    (if (files.isPlanNeeded) None else fromSummary).getOrElse {
      val fixedSize = SizeEstimate.of(rows, schema)
      fixedSize.copy(bytes = SizeEstimate.plus(fixedSize.bytes, excessBytes.values.foldLeft(0L)(SizeEstimate.plus)))
    }

  /** Returns the average size of a column's values in bytes; absent unless the values are longer than Spark assumes. */
  def averageLength(column: NestedField): Option[Long] =
    excessBytes.get(column.id).filter(_ => rows > 0).map(excess => width(column) + excess / rows)

  /**
   * Returns the estimate from the snapshot summary. The estimate is the size of the whole table. It is absent if the
   * summary lacks a count, if there are delete files, or if the data files are so large that values may be longer than
   * Spark assumes.
   */
  private def fromSummary: Option[SizeEstimate] = files.snapshot match {
    case None => Some(SizeEstimate(0L, 0L))
    case Some(snapshot) =>
      for {
        rows <- snapshot.count(SummaryKey.TotalRecords) if rows >= 0
        bytes <- snapshot.count(SummaryKey.TotalFilesSize)
        deletes <- snapshot.count(SummaryKey.TotalDeleteFiles) if deletes == 0
        size = SizeEstimate.of(rows, schema) if variableLengthColumns.isEmpty || bytes <= size.bytes
      } yield size
  }

  private lazy val rows: Long = {
    val bytesWithoutRecordCount = files.plan.tasks.iterator.filterNot(_.file.hasRecordCount).map(_.length).sum
    SizeEstimate.plus(
      files.plan.report.liveRecords,
      bytesWithoutRecordCount / math.max(1, SparkTypes.toSpark(files.schema).defaultSize)
    )
  }

  /** The columns with values of variable length. */
  private lazy val variableLengthColumns: Vector[NestedField] = columns.filter(c => isVariable(c.fieldType))

  private def isVariable(t: Type): Boolean = t match {
    case StringType | BinaryType | VariantType | _: GeometryType | _: GeographyType | _: ListType | _: MapType => true
    case StructType(fields) => fields.exists(f => isVariable(f.fieldType))
    case BooleanType | IntType | LongType | FloatType | DoubleType | _: DecimalType | DateType | TimeType |
        TimestampType | TimestampTzType | TimestampNsType | TimestampTzNsType | UuidType | _: FixedType | UnknownType =>
      false
  }

  private def width(column: NestedField): Long = SparkTypes.toSpark(column.fieldType).defaultSize.toLong

  /**
   * The bytes that each column needs beyond Spark's assumption, by column id. The metrics of files are used only if the
   * files are larger than Spark assumes for all columns together.
   */
  private lazy val excessBytes: Map[Int, Long] =
    if (variableLengthColumns.isEmpty || files.plan.report.resultBytes <= SizeEstimate.of(rows, schema).bytes) Map.empty
    else {
      val tasks = ScanSize.sample(files.plan.tasks)
      val share = tasks.iterator.map(_.length).sum.toDouble / math.max(1L, files.plan.report.resultBytes)
      variableLengthColumns.map { column =>
        val stored =
          tasks.iterator.map(storedBytes(_, ScanSize.leaves(column))).sum / math.max(share, Double.MinPositiveValue)
        column.id -> (stored - SizeEstimate.times(rows, width(column)).toDouble).toLong
      }.filter(_._2 > 0).toMap
    }

  /** Returns the number of bytes that the remaining rows of a file have in the given columns. */
  private def storedBytes(task: FileScanTask, leaves: Vector[Int]): Double = {
    val stored = leaves.iterator.flatMap(task.file.metrics.columnSize(_)).filter(_ > 0).sum.toDouble
    if (task.file.recordCount > 0) stored * task.liveRecords / task.file.recordCount else stored
  }
}

private[iceberglite] object ScanSize {

  /** The maximum number of files whose metrics are inspected. */
  private val SampleSize = 256

  private def sample(tasks: Vector[FileScanTask]): Vector[FileScanTask] =
    if (tasks.size <= SampleSize) tasks
    else Vector.tabulate(SampleSize)(i => tasks((i.toLong * tasks.size / SampleSize).toInt))

  private def leaves(column: NestedField): Vector[Int] = column.fieldType match {
    case _: PrimitiveType => Vector(column.id)
    case _: NestedType => Schema(0, Vector(column)).byId.keys.toVector
  }
}
