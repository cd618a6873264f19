package iceberglite.spec.file

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.schema.MetadataColumns
import iceberglite.spec.types.SingleValue

/** The content of a file (field 134 of a manifest). */
sealed abstract class Content(val code: Int, val name: String) extends Serializable
object Content {
  case object Data extends Content(0, "data")
  case object PositionDeletes extends Content(1, "position_deletes")
  case object EqualityDeletes extends Content(2, "equality_deletes")
  val all: Seq[Content] = Seq(Data, PositionDeletes, EqualityDeletes)
}

/** The status of a manifest entry (field 0 of a manifest). */
sealed abstract class EntryStatus(val code: Int) extends Serializable
object EntryStatus {
  case object Existing extends EntryStatus(0)
  case object Added extends EntryStatus(1)
  case object Deleted extends EntryStatus(2)
  val all: Seq[EntryStatus] = Seq(Existing, Added, Deleted)
}

/** The content of a manifest (field 517 of a manifest list, key `content` of a manifest). */
sealed abstract class ManifestContent(val code: Int, val name: String) extends Serializable
object ManifestContent {
  case object Data extends ManifestContent(0, "data")
  case object Deletes extends ManifestContent(1, "deletes")
  val all: Seq[ManifestContent] = Seq(Data, Deletes)
}

/** The format of a file. Its name is case-insensitive on read. */
sealed abstract class FileFormat(val name: String) extends Serializable {
  def extension: String = "." + name
}
object FileFormat {
  case object Parquet extends FileFormat("parquet")
  case object Orc extends FileFormat("orc")
  case object Avro extends FileFormat("avro")
  case object Puffin extends FileFormat("puffin")

  /** The formats of files with rows. */
  val ofRows: Seq[FileFormat] = Seq(Parquet, Orc, Avro)
  val all: Seq[FileFormat] = ofRows :+ Puffin
  private val byName = all.map(format => format.name -> format).toMap

  // Most writers use lower case, and each entry of a manifest has a format.
  def parse(name: String): Option[FileFormat] = byName.get(name).orElse(all.find(_.name.equalsIgnoreCase(name)))

  /** Returns the format with the given name; absent if files with rows cannot have this format. */
  def parseOfRows(name: String): Option[FileFormat] = parse(name).filter(ofRows.contains)
}

/**
 * Counts and bounds of a file's columns by field id (fields 108 to 128 of a manifest). The methods with a field id are
 * fast, whereas the methods that return maps decode the metrics of all columns. A bound is a value in binary form
 * (spec: "Appendix D"). The value has the type that the column had when the file was written, or a type to which the
 * column was promoted later.
 */
trait Metrics extends Serializable {
  def columnSize(id: Int): Option[Long]
  def valueCount(id: Int): Option[Long]
  def nullValueCount(id: Int): Option[Long]
  def nanValueCount(id: Int): Option[Long]
  def lowerBound(id: Int): Option[ByteBuffer]
  def upperBound(id: Int): Option[ByteBuffer]

  /**
   * Returns the lower bound of a column of integers, dates or times, without boxing; `Long.MinValue` if there is no
   * bound with `width` bytes.
   */
  def lowerNumber(id: Int, width: Int): Long = Metrics.number(lowerBound(id), width, Long.MinValue)

  /**
   * Returns the upper bound of a column of integers, dates or times, without boxing; `Long.MaxValue` if there is no
   * bound with `width` bytes.
   */
  def upperNumber(id: Int, width: Int): Long = Metrics.number(upperBound(id), width, Long.MaxValue)

  /** Returns the column sizes; `None` if the manifest entry of the file has no column sizes. */
  def columnSizes: Option[Map[Int, Long]]
  def valueCounts: Option[Map[Int, Long]]
  def nullValueCounts: Option[Map[Int, Long]]
  def nanValueCounts: Option[Map[Int, Long]]
  def lowerBounds: Option[Map[Int, ByteBuffer]]
  def upperBounds: Option[Map[Int, ByteBuffer]]

  /** Returns the metrics of the given columns. The result does not keep the metrics of other columns in memory. */
  def only(ids: Set[Int]): Metrics
}

/** Metrics in the form of maps, for example as a writer has collected them. */
final case class MetricMaps(
    columnSizes: Option[Map[Int, Long]] = None,
    valueCounts: Option[Map[Int, Long]] = None,
    nullValueCounts: Option[Map[Int, Long]] = None,
    nanValueCounts: Option[Map[Int, Long]] = None,
    lowerBounds: Option[Map[Int, ByteBuffer]] = None,
    upperBounds: Option[Map[Int, ByteBuffer]] = None
) extends Metrics {
  override def columnSize(id: Int): Option[Long] = columnSizes.flatMap(_.get(id))
  override def valueCount(id: Int): Option[Long] = valueCounts.flatMap(_.get(id))
  override def nullValueCount(id: Int): Option[Long] = nullValueCounts.flatMap(_.get(id))
  override def nanValueCount(id: Int): Option[Long] = nanValueCounts.flatMap(_.get(id))
  override def lowerBound(id: Int): Option[ByteBuffer] = lowerBounds.flatMap(_.get(id))
  override def upperBound(id: Int): Option[ByteBuffer] = upperBounds.flatMap(_.get(id))

  override def only(ids: Set[Int]): Metrics = {
    def select[A](map: Option[Map[Int, A]]): Option[Map[Int, A]] = map.map(_.filter { case (id, _) => ids(id) })
    MetricMaps(
      select(columnSizes),
      select(valueCounts),
      select(nullValueCounts),
      select(nanValueCounts),
      select(lowerBounds),
      select(upperBounds)
    )
  }

  private def writeReplace(): AnyRef = new MetricMaps.Serialized(
    Array(columnSizes, valueCounts, nullValueCounts, nanValueCounts).map(_.map(MetricMaps.Counts(_))),
    Array(lowerBounds, upperBounds).map(_.map(MetricMaps.Bounds(_)))
  )
}

object MetricMaps {

  /**
   * The form in which Java serializes the maps. Arrays are used because they are smaller than maps, and because a
   * `ByteBuffer` is not serializable.
   */
  final private class Serialized(counts: Array[Option[Counts]], bounds: Array[Option[Bounds]]) extends Serializable {
    private def readResolve(): AnyRef = {
      val Array(sizes, values, nulls, nans) = counts.map(_.map(_.toMap))
      val Array(lower, upper) = bounds.map(_.map(_.toMap))
      MetricMaps(sizes, values, nulls, nans, lower, upper)
    }
  }

  final private case class Counts(ids: Array[Int], values: Array[Long]) {
    def toMap: Map[Int, Long] = ids.zip(values).toMap
  }

  private object Counts {
    def apply(map: Map[Int, Long]): Counts = Counts(map.keysIterator.toArray, map.valuesIterator.toArray)
  }

  final private case class Bounds(ids: Array[Int], values: Array[Array[Byte]]) {
    def toMap: Map[Int, ByteBuffer] = ids.zip(values.map(ByteBuffer.wrap)).toMap
  }

  private object Bounds {
    def apply(map: Map[Int, ByteBuffer]): Bounds =
      Bounds(map.keysIterator.toArray, map.valuesIterator.map(bytes).toArray)

  }

  private[file] def bytes(buffer: ByteBuffer): Array[Byte] = {
    val copy = new Array[Byte](buffer.remaining)
    buffer.duplicate().get(copy)
    copy
  }
}

object Metrics {
  val Empty: Metrics = MetricMaps()

  private def number(bound: Option[ByteBuffer], width: Int, absent: Long): Long = bound match {
    case Some(bytes) if bytes.remaining == width => SingleValue.number(bytes)
    case _ => absent
  }
}

/**
 * A data file or a delete file of a table (spec: `data_file`).
 *
 * @param partition the partition values, in the order of the fields of the partition spec `specId`
 * @param recordCount the number of records; for a data file, it may be [[ContentFile.UnknownRecords]]
 * @param firstRowId version 3: the row id of the first row; `None` until a commit assigns it
 * @param referencedDataFile the only data file to which the position deletes of this file apply; absent if they may
 *   apply to several data files
 */
final case class ContentFile(
    content: Content,
    path: String,
    format: FileFormat,
    specId: Int,
    partition: PartitionTuple,
    recordCount: Long,
    fileSizeInBytes: Long,
    metrics: Metrics,
    keyMetadata: Option[ByteBuffer] = None,
    splitOffsets: Vector[Long] = Vector.empty,
    equalityIds: Vector[Int] = Vector.empty,
    sortOrderId: Option[Int] = None,
    firstRowId: Option[Long] = None,
    referencedDataFile: Option[String] = None,
    contentOffset: Option[Long] = None,
    contentSizeInBytes: Option[Long] = None
) extends HasMetrics {

  /**
   * Whether the file contains a deletion vector, and not rows of position deletes (spec, version 3: "Deletion
   * vectors").
   */
  def isDeletionVector: Boolean = content == Content.PositionDeletes && format == FileFormat.Puffin

  /**
   * Returns the path of the data file to which the position deletes of this file apply, if they apply to a single data
   * file. The path is the value of `referenced_data_file`. If this field is absent, and the lower and upper bounds of
   * `file_path` are equal, the path is the value of these bounds, because writers never truncate bounds of `file_path`.
   */
  def onlyDataFile: Option[String] =
    if (content != Content.PositionDeletes) None
    else referencedDataFile.orElse {
      val upper = metrics.upperBound(MetadataColumns.DeleteFilePath.id)
      metrics.lowerBound(MetadataColumns.DeleteFilePath.id).filter(upper.contains(_))
        .map(path => UTF_8.decode(path.duplicate()).toString)
    }

  def hasRecordCount: Boolean = recordCount >= 0

  /** The number of records, for use in sums; 0 if it is unknown. */
  def recordCountOrZero: Long = math.max(0L, recordCount)

  /** A `ByteBuffer` is not serializable. */
  private def writeReplace(): AnyRef =
    keyMetadata.fold[AnyRef](this)(key => new ContentFile.Serialized(copy(keyMetadata = None), MetricMaps.bytes(key)))
}

object ContentFile {

  /** The record count in entries for Avro files that Apache Iceberg imported without counting their records. */
  val UnknownRecords: Long = -1L

  /** The form in which Java serializes an encrypted file. */
  final private class Serialized(file: ContentFile, keyMetadata: Array[Byte]) extends Serializable {
    private def readResolve(): AnyRef = file.copy(keyMetadata = Some(ByteBuffer.wrap(keyMetadata)))
  }
}

/**
 * A row of a manifest (spec: `manifest_entry`). An entry to be written may lack the snapshot id and the sequence
 * numbers, which readers then inherit. An entry that was read has all these values.
 *
 * @param snapshotId the snapshot that added the file or, for an entry with the status deleted, removed the file
 * @param sequenceNumber the data sequence number
 */
final case class ManifestEntry(
    status: EntryStatus,
    snapshotId: Option[Long],
    sequenceNumber: Option[Long],
    fileSequenceNumber: Option[Long],
    file: ContentFile
) {
  def isLive: Boolean = status != EntryStatus.Deleted
}

/**
 * The summary of the values of a partition field in a manifest (spec: `field_summary`). The bounds have the binary form
 * of "Appendix D".
 */
final case class FieldSummary(
    containsNull: Boolean,
    containsNan: Option[Boolean],
    lowerBound: Option[ByteBuffer],
    upperBound: Option[ByteBuffer]
)

/**
 * A row of a manifest list (spec: `manifest_file`). A version 1 manifest list may omit counts, so an absent count must
 * be treated as greater than zero.
 *
 * @param sequenceNumber the sequence number at which the manifest was added; 0 in version 1
 * @param partitions one summary for each partition field; absent if the manifest list contains no summaries
 * @param firstRowId version 3: the first row id to assign to the data files in the manifest whose entries do not state
 *   a first row id
 */
final case class ManifestFile(
    path: String,
    length: Long,
    partitionSpecId: Int,
    content: ManifestContent,
    sequenceNumber: Long,
    minSequenceNumber: Long,
    addedSnapshotId: Long,
    addedFilesCount: Option[Int],
    existingFilesCount: Option[Int],
    deletedFilesCount: Option[Int],
    addedRowsCount: Option[Long],
    existingRowsCount: Option[Long],
    deletedRowsCount: Option[Long],
    partitions: Option[Vector[FieldSummary]],
    keyMetadata: Option[ByteBuffer] = None,
    firstRowId: Option[Long] = None
) extends PartSummary {
  override def specId: Int = partitionSpecId

  override def liveFiles: Option[Long] =
    for (added <- addedFilesCount; existing <- existingFilesCount) yield added.toLong + existing

  /** The record count is unknown, because the row counts of a manifest omit files with an unknown record count. */
  override def recordCount: Long = ContentFile.UnknownRecords

  /** Returns no metrics, because a manifest list has no column statistics. */
  override def metrics: Metrics = Metrics.Empty

  /**
   * Returns a copy without the fields that are not needed to read the manifest. Unlike the original, the copy contains
   * no byte buffers, so that Java can serialize it.
   */
  def forReading: ManifestFile = copy(partitions = None, keyMetadata = None)
}
