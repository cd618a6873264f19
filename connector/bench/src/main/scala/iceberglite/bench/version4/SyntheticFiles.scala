package iceberglite.bench.version4

import java.nio.ByteBuffer
import java.util.UUID

import iceberglite.spec.file.{Content, ContentFile, FileFormat, Metrics, MetricMaps}
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, SingleValue}
import iceberglite.spec.types.Literal.{DoubleLiteral, IntLiteral, LongLiteral, StringLiteral}
import iceberglite.spec.types.Type.{DoubleType, IntType, LongType, StringType}

/**
 * Generates the metadata of data files that do not exist. The table is partitioned by the column `p`. Files with
 * consecutive numbers have consecutive ranges of the column `k`, as if the data had arrived in the order of `k`. The
 * bounds of all columns except `p` and `k` are random.
 *
 * @param columns the number of columns, all of which have statistics; at least 2
 * @param files the total number of files, which are distributed evenly over the partitions
 */
final class SyntheticFiles(val columns: Int, files: Int) {
  import SyntheticFiles._

  val schema: Schema = Schema(
    0,
    Vector(NestedField.required(1, Partition, IntType), NestedField.optional(2, Clustered, LongType)) ++
      (3 to columns).map { id =>
        NestedField.optional(id, s"column_$id", Vector(LongType, StringType, DoubleType)(id % 3))
      }
  )
  val spec: PartitionSpec = PartitionSpec(0, Vector(PartitionField(1, 1000, Partition, Identity)))

  private val ids = (1 to columns).toVector
  private val nulls = ids.map(id => id -> (if (id <= 2) 0L else id * 3L)).toMap
  private val counts = Vector.tabulate(Variants)(i => ids.map(_ -> rows(i)).toMap)
  private val sizes = Vector.tabulate(Variants)(i => ids.map(id => id -> (mix(i, id) >>> 43)).toMap)

  /** Returns the partition of a file. */
  def partition(number: Int): Int = math.min(Partitions - 1, (number.toLong * Partitions / files).toInt)

  /** Returns the lowest value of the column `k` in a file. */
  def clusteredFrom(number: Int): Long = number * KeysPerFile

  def range(from: Int, until: Int): Vector[ContentFile] = (from until until).iterator.map(file).toVector

  def file(number: Int): ContentFile = entry(number, metrics(number))

  /** Returns a file without metrics, which identifies a file that is removed. */
  def identity(number: Int): ContentFile = entry(number, Metrics.Empty)

  private def entry(number: Int, metrics: Metrics): ContentFile = {
    val p = partition(number)
    val job = new UUID(mix(number / FilesPerJob, 1), mix(number / FilesPerJob, 2))
    ContentFile(
      Content.Data,
      f"$Location/data/p=$p/${number % FilesPerJob}%05d-$number-$job-00001.parquet",
      FileFormat.Parquet,
      spec.specId,
      PartitionTuple(Vector(Some(IntLiteral(p)))),
      rows(number % Variants),
      (64L << 20) + (mix(number, 0) >>> 44),
      metrics,
      splitOffsets = Vector(4L),
      sortOrderId = Some(0)
    )
  }

  private def metrics(number: Int): Metrics = {
    val bounds = ids.map(id => id -> boundsOf(number, id))
    MetricMaps(
      columnSizes = Some(sizes(number % Variants)),
      valueCounts = Some(counts(number % Variants)),
      nullValueCounts = Some(nulls),
      lowerBounds = Some(bounds.map { case (id, (lower, _)) => id -> encoded(lower) }.toMap),
      upperBounds = Some(bounds.map { case (id, (_, upper)) => id -> encoded(upper) }.toMap)
    )
  }

  private def boundsOf(number: Int, id: Int): (Literal, Literal) = {
    val low = mix(number, id) >>> 24
    id match {
      case 1 => (IntLiteral(partition(number)), IntLiteral(partition(number)))
      case 2 => (LongLiteral(clusteredFrom(number)), LongLiteral(clusteredFrom(number + 1) - 1))
      case _ => id % 3 match {
          case 0 => (LongLiteral(low), LongLiteral(low + 100000L))
          case 1 =>
            val texts = Seq(text(low), text(low + 1))
            (StringLiteral(texts.min), StringLiteral(texts.max))
          case _ => (DoubleLiteral(low * 0.01), DoubleLiteral(low * 0.01 + 1000))
        }
    }
  }

  private def encoded(value: Literal): ByteBuffer = SingleValue.encode(value)
}

private object SyntheticFiles {
  val Location = "memory://warehouse/db/t"
  val Partition = "p"
  val Clustered = "k"
  val Partitions = 50

  private val KeysPerFile = 100L

  /** The number of different row counts and column sizes. Files share the maps of these counts to save memory. */
  private val Variants = 61

  /** The number of files that a job writes with the same id in their names. */
  private val FilesPerJob = 1000

  private def rows(variant: Int): Long = 100000L + (mix(variant, 0) >>> 50)

  /** Returns a random text of 16 characters, which is the length to which the bounds of texts are truncated. */
  private def text(seed: Long): String = f"${mix(seed, 7)}%016x".take(16)

  /** Returns a pseudo-random number (SplitMix64). */
  def mix(a: Long, b: Long): Long = {
    val start = a * 0x9e3779b97f4a7c15L + b * 0xbf58476d1ce4e5b9L + 0x94d049bb133111ebL
    val first = (start ^ (start >>> 30)) * 0xbf58476d1ce4e5b9L
    val second = (first ^ (first >>> 27)) * 0x94d049bb133111ebL
    second ^ (second >>> 31)
  }
}
