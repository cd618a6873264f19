package iceberglite.spark.inspect

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read.{InputPartition, PartitionReader, PartitionReaderFactory}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.inspect.{GroupRows, MetadataRows}
import iceberglite.spark.conf.{PlanningMode, PlanningModes, ReadOptions, Settings, SparkOption}
import iceberglite.spark.convert.InternalRows
import iceberglite.spark.error.SparkErrors
import iceberglite.spark.read.partitioning.SizeEstimate
import iceberglite.spec.schema.Schema
import iceberglite.table.KnownProperties

/**
 * Divides the rows of a metadata table into tasks.
 *
 * @param mode where the rows are produced; `auto` selects tasks if the files or the number of rows are too large for
 *   the driver
 * @param targetBytes the target number of bytes that one task reads
 */
final class MetadataSplits(mode: PlanningMode, targetBytes: Long) {

  /**
   * Returns the groups of rows that each task produces; absent if the driver produces the rows.
   *
   * @param columns the columns of the rows
   */
  def of(groups: Vector[MetadataRows], columns: StructType): Option[Vector[Vector[MetadataRows]]] = mode match {
    case PlanningMode.Local => None
    case PlanningMode.Distributed => Some(pack(groups))
    case PlanningMode.Auto => if (isLarge(groups, columns)) Some(pack(groups)) else None
  }

  /**
   * Whether tasks should produce the rows. The size of the rows matters too, because the driver would hold all rows in
   * memory, and a small deletion vector can contain many deleted rows.
   */
  private def isLarge(groups: Vector[MetadataRows], columns: StructType): Boolean = {
    val rows = groups.iterator.map(g => math.max(0L, g.estimatedRows)).foldLeft(0L)(SizeEstimate.plus)
    groups.iterator.map(_.bytes).sum > targetBytes ||
    SizeEstimate.of(rows, columns).bytes > MetadataSplits.MaxDriverBytes
  }

  /** Packs consecutive groups into one task until the task has the target size. */
  private def pack(groups: Vector[MetadataRows]): Vector[Vector[MetadataRows]] = {
    val tasks = Vector.newBuilder[Vector[MetadataRows]]
    var current = Vector.empty[MetadataRows]
    var bytes = 0L
    groups.foreach { group =>
      if (current.nonEmpty && bytes + group.bytes > targetBytes) {
        tasks += current
        current = Vector.empty
        bytes = 0L
      }
      current :+= group
      bytes += group.bytes
    }
    if (current.nonEmpty) tasks += current
    tasks.result().map(MetadataRows.combined)
  }
}

object MetadataSplits {
  private val DefaultBytes = 32L << 20

  /**
   * The maximum size of the rows that the driver produces, as Spark estimates it from the types of the columns. The
   * rows need several times as much memory, because paths are longer than the strings that Spark assumes.
   */
  private val MaxDriverBytes = 4L << 20

  private val TargetSize: SparkOption[Long] = SparkOption
    .bytes(ReadOptions.SplitSize.key, KnownProperties.MetadataSplitSize.doc, DefaultBytes)
    .inSession("spark.sql.iceberg.read.split-size")
    .inTable(KnownProperties.MetadataSplitSize.key)

  /** Reads the settings. @throws iceberglite.spec.IcebergError.InvalidArgument if a value is invalid */
  def of(options: CaseInsensitiveStringMap, session: SparkSession, properties: Map[String, String]): MetadataSplits =
    new MetadataSplits(
      PlanningModes.of(options, session, properties).data,
      Settings.of(options, session, properties)(TargetSize)
    )
}

/** The groups of rows that one task produces. */
final private case class MetadataInputPartition(groups: Vector[MetadataRows]) extends InputPartition

/** Creates the readers of tasks on the executors. @param output the columns of the rows */
final private class MetadataReaderFactory(name: String, output: Schema) extends PartitionReaderFactory {
  override def createReader(partition: InputPartition): PartitionReader[InternalRow] = partition match {
    case MetadataInputPartition(groups) => new MetadataReader(name, output, groups)
    case other => throw new IllegalArgumentException(s"${other.getClass.getName} is not part of a scan of $name")
  }
}

/** Reads the rows of one task, one group after the other. */
final private class MetadataReader(name: String, output: Schema, groups: Vector[MetadataRows])
    extends PartitionReader[InternalRow] {
  private val convert = InternalRows.of(output)
  private var left = groups
  private var current: Option[GroupRows] = None

  override def next(): Boolean = SparkErrors.in(name) {
    while (!current.exists(_.hasNext) && left.nonEmpty) {
      close()
      current = Some(left.head.rows())
      left = left.tail
    }
    current.exists(_.hasNext)
  }

  override def get(): InternalRow = SparkErrors.in(name)(convert(current.get.next()))

  override def close(): Unit = {
    current.foreach(_.close())
    current = None
  }
}
