package iceberglite.scan.deletes

import java.nio.ByteBuffer
import java.util.Arrays
import java.util.concurrent.atomic.AtomicReferenceArray

import iceberglite.spec.file.{ContentFile, KeyRanges, ManifestEntry}
import iceberglite.spec.schema.MetadataColumns

/** A delete file in a [[DeleteIndex]]. The file's metrics show to which data files it cannot apply. */
sealed abstract private[scan] class IndexedDelete(entry: ManifestEntry) {
  val file: ContentFile = entry.file
  protected val sequenceNumber: Long = entry.sequenceNumber.getOrElse(0L)

  /**
   * The highest data sequence number of data files to which the deletes apply. The deletes also apply to data files
   * with lower numbers.
   */
  def newestData: Long

  def delete: DeleteFile

  /** Returns whether the deletes may apply to a data file, according to metrics. Sequence numbers are not compared. */
  def mayApplyTo(data: DeleteTarget): Boolean
}

/** A position delete file. The bounds of `file_path` show to which data files it cannot apply. */
final private[scan] class PositionDelete(entry: ManifestEntry) extends IndexedDelete(entry) {
  override val delete: DeleteFile = DeleteFile(file, sequenceNumber, Vector.empty)

  /** Position deletes also apply to data of the same commit. */
  override def newestData: Long = sequenceNumber

  private val first: Option[Array[Byte]] = file.metrics.lowerBound(MetadataColumns.DeleteFilePath.id).map(bytes)
  private val last: Option[Array[Byte]] = file.metrics.upperBound(MetadataColumns.DeleteFilePath.id).map(bytes)

  /** The path of the data file to which the deletes apply, if they apply to a single data file. */
  val dataFile: Option[String] = file.onlyDataFile

  override def mayApplyTo(data: DeleteTarget): Boolean =
    if (dataFile.isDefined) {
      data.requireSamePartition(delete)
      true
    } else
      first.forall(Arrays.compareUnsigned(_, data.path) <= 0) &&
      last.forall(Arrays.compareUnsigned(_, data.path) >= 0)

  private def bytes(bound: ByteBuffer): Array[Byte] = {
    val array = new Array[Byte](bound.remaining)
    bound.duplicate().get(array)
    array
  }
}

/**
 * An equality delete file. The `equality_ids` of the file are validated only if it may apply to a data file of the
 * scan, so that invalid ids do not affect scans of other data.
 */
final private[scan] class EqualityDelete(entry: ManifestEntry, keys: EqualityIdColumns) extends IndexedDelete(entry) {

  /** Equality deletes apply only to strictly older data. */
  override def newestData: Long = sequenceNumber - 1

  private lazy val key: EqualityKey = keys.of(file)
  private lazy val ranges: KeyRanges = key.overlap.keysOf(file)
  override lazy val delete: DeleteFile = DeleteFile(file, sequenceNumber, key.columns)

  override def mayApplyTo(data: DeleteTarget): Boolean = ranges.mayOverlap(data.rangesOf(key))
}

/** The deletes of one partition, without position deletes that reference a single data file. */
final private[scan] class PartitionDeletes(val equality: SortedDeletes, val positions: SortedDeletes)

private[scan] object PartitionDeletes {
  def of(deletes: Vector[IndexedDelete]): PartitionDeletes = {
    val (equality, positions) = deletes.partition(_.isInstanceOf[EqualityDelete])
    new PartitionDeletes(SortedDeletes.of(equality), SortedDeletes.of(positions))
  }
}

/**
 * Delete files, sorted by [[IndexedDelete.newestData]]: those of one partition, those that reference one data file, or
 * the equality deletes that apply to all partitions.
 */
final private[scan] class SortedDeletes private (deletes: Array[IndexedDelete]) {
  private val newestData: Array[Long] = deletes.map(_.newestData)

  /**
   * For each index, a cached list of all deletes from this index on. Data files to which all of these deletes apply
   * share the list.
   */
  private val shared = new AtomicReferenceArray[Vector[DeleteFile]](deletes.length)

  def isEmpty: Boolean = deletes.isEmpty

  /** Returns the delete files that may apply to a data file. */
  def of(data: DeleteTarget): Vector[DeleteFile] = {
    val start = firstFor(data.sequenceNumber)
    if (start == deletes.length) Vector.empty
    else {
      val applicable = (start until deletes.length).count(deletes(_).mayApplyTo(data))
      if (applicable == 0) Vector.empty
      else if (applicable == deletes.length - start) allFrom(start)
      else deletes.iterator.drop(start).filter(_.mayApplyTo(data)).map(_.delete).toVector
    }
  }

  private def allFrom(start: Int): Vector[DeleteFile] = Option(shared.get(start)).getOrElse {
    val all = deletes.iterator.drop(start).map(_.delete).toVector
    shared.compareAndSet(start, null, all)
    all
  }

  /**
   * Returns the index of the first delete that applies to data with this sequence number. All later deletes apply as
   * well.
   */
  private def firstFor(sequenceNumber: Long): Int = {
    var from = 0
    var until = deletes.length
    while (from < until) {
      val middle = (from + until) >>> 1
      if (newestData(middle) < sequenceNumber) from = middle + 1 else until = middle
    }
    from
  }
}

private[scan] object SortedDeletes {
  def of(deletes: Vector[IndexedDelete]): SortedDeletes = new SortedDeletes(deletes.sortBy(_.newestData).toArray)
}
