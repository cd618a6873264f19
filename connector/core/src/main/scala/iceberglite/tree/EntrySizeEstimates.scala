package iceberglite.tree

import iceberglite.spec.file.{ContentFile, ManifestEntry, ManifestFile, MetricMaps, Metrics}

/** Metrics whose statistics are decoded values in memory, and not the encoded values of a manifest. */
private[tree] trait DecodedMetrics extends Metrics {

  /** Returns the estimated size of the statistics in a manifest, in bytes. */
  def encodedBytes: Long
}

/**
 * Estimates the sizes of manifest entries. [[ManifestCache]] and rewrites of manifests use the estimated heap size. A
 * commit uses the estimated encoded size to write manifests of about the target size.
 */
private[tree] object EntrySizeEstimates {

  /** The heap size of an entry and its file, including boxed values and object headers, in bytes. */
  private val EntryOverhead = 400L
  private val PartitionValue = 40L
  private val BufferOverhead = 80L
  private val MapSlot = 64L
  private val ManifestOverhead = 300L
  private val SummaryOverhead = 120L

  /**
   * The assumed ratio of a manifest's uncompressed blocks to its file size. Metrics that were read from a manifest
   * retain its blocks in memory.
   */
  private val Inflation = 8L

  /** The assumed ratio of the decoded statistics of a manifest's files to its file size. */
  private val DecodedInflation = 20L

  /** The assumed encoded size, in bytes, of the metrics of a file whose entry was read from an Avro manifest. */
  private val ReadMetrics = 200L

  /**
   * Returns the estimated heap size of a manifest's decoded entries, in bytes.
   *
   * @param length length of the manifest in bytes
   */
  def heapBytes(entries: Array[ManifestEntry], length: Long): Long = {
    var inflation, bytes = 0L
    var i = 0
    while (i < entries.length) {
      val file = entries(i).file
      inflation = math.max(inflation, inflationOf(file.metrics))
      bytes += heapBytes(file)
      i += 1
    }
    length * inflation + bytes
  }

  /** Returns the minimum heap size of the entries of a part in bytes, without their metrics. */
  def minHeapBytes(part: FilePart): Long = EntryOverhead * part.estimatedLiveFiles

  /** Returns the estimated heap size of the entries of a part with their metrics, in bytes. */
  def maxHeapBytes(part: FilePart): Long = minHeapBytes(part) + part.length * Inflation

  /** Returns the estimated heap size of the entries of a part in bytes, if all metrics of the entries are decoded. */
  def maxDecodedBytes(part: FilePart): Long = minHeapBytes(part) + part.length * DecodedInflation

  private def heapBytes(file: ContentFile): Long =
    EntryOverhead + file.path.length + PartitionValue * file.partition.values.size + 8L * file.splitOffsets.size +
      (if (file.keyMetadata.isEmpty) 0L else BufferOverhead + file.keyMetadata.get.remaining) + metrics(file)

  /** Returns the assumed ratio of what metrics keep of their manifest in memory to the manifest's file size. */
  private def inflationOf(metrics: Metrics): Long = metrics match {
    case _: MetricMaps => 0L
    case _: DecodedMetrics => DecodedInflation
    case _ => Inflation
  }

  private def metrics(file: ContentFile): Long = file.metrics match {
    case m: MetricMaps => MapSlot * (counts(m) + bounds(m).size) + bounds(m).sum
    case _ => 0L
  }

  def manifestHeapBytes(manifests: Vector[ManifestFile]): Long = manifests.iterator.map { m =>
    ManifestOverhead + m.path.length + SummaryOverhead * m.partitions.fold(0)(_.size) +
      m.keyMetadata.fold(0L)(BufferOverhead + _.remaining)
  }.sum

  /** Returns the estimated compressed size of an entry in a manifest, in bytes. */
  def encodedBytes(file: ContentFile): Long = {
    val metricsBytes = file.metrics match {
      case m: MetricMaps => 3L * counts(m) + bounds(m).map(_ + 3L).sum
      case m: DecodedMetrics => m.encodedBytes
      case _ => ReadMetrics
    }
    60L + file.path.length / 4 + metricsBytes + file.keyMetadata.fold(0L)(_.remaining.toLong)
  }

  private def counts(m: MetricMaps): Long =
    Seq(m.columnSizes, m.valueCounts, m.nullValueCounts, m.nanValueCounts).flatten.map(_.size.toLong).sum

  private def bounds(m: MetricMaps): Seq[Long] =
    Seq(m.lowerBounds, m.upperBounds).flatten.flatMap(_.values.map(_.remaining.toLong))
}
