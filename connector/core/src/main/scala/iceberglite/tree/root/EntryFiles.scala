package iceberglite.tree.root

import java.nio.ByteBuffer

import iceberglite.spec.file._
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.{Literal, LiteralConversion, PrimitiveType, SingleValue}
import iceberglite.spec.types.Literal.{DoubleLiteral, FloatLiteral}
import iceberglite.spec.types.Type._
import iceberglite.tree.SharedTuples
import iceberglite.tree.root.VectorContent.{InPuffin, Inline}

/**
 * Converts the entries of data and delete files between [[ManifestEntry]] and [[ContentEntry]]. An entry of version 4
 * has no partition tuple. Its statistics contain the partition values.
 */
final private[root] class EntryFiles(columns: StatsColumns) extends Serializable {

  /** Returns the entry as an entry of version 4. */
  def toContent(e: ManifestEntry): ContentEntry = {
    val file = e.file
    val vector = for (offset <- file.contentOffset; size <- file.contentSizeInBytes) yield InPuffin(offset, size)
    ContentEntry(
      content = EntryContent.of(file.content),
      location = file.path,
      format = file.format,
      version = VersionInfo(e.status, e.snapshotId, e.sequenceNumber, e.fileSequenceNumber),
      specId = file.specId,
      recordCount = file.recordCount,
      fileSizeInBytes = Some(file.fileSizeInBytes),
      stats = statsOf(file),
      vector = vector,
      sortOrderId = file.sortOrderId.filter(_ => file.content == Content.Data),
      referencedFile = file.referencedDataFile.filter(_ => file.content == Content.PositionDeletes),
      keyMetadata = file.keyMetadata,
      // Readers reject unsorted offsets, which manifests of earlier versions may contain.
      splitOffsets = file.splitOffsets.sorted,
      equalityIds = if (file.content == Content.EqualityDeletes) file.equalityIds else Vector.empty,
      firstRowId = file.firstRowId.filter(_ => file.content == Content.Data)
    )
  }

  /**
   * Returns the statistics of the columns, and the statistics that contain the partition values. A deletion vector has
   * only the latter: docs/v4.md explains why the bounds of its data file are not copied.
   */
  private def statsOf(file: ContentFile): ContentStats = {
    val measured = file.metrics match {
      // The metrics may also have statistics of expressions, which are kept.
      case typed: TypedMetrics =>
        typed.allStats.flatMap { case (id, stats) => columns.byId.get(id).map(c => id -> promoted(stats, c)) }
      case encoded =>
        columns.all.filter(_.isColumn).map(c => c.id -> statsOf(encoded, c)).filterNot(_._2.isEmpty)
    }
    val known = measured.toMap
    val partition = columns.keysOf(file.specId).zip(file.partition.values).collect {
      case (Some(key), value) if !columns.isOpaque(key.id) || !known.contains(key.id) =>
        key.id -> value.map(typed(_, key))
    }
    ContentStats(partition.foldLeft(known) { case (stats, (id, value)) =>
      stats.updated(id, withValue(stats.getOrElse(id, FieldStats.Empty), columns.byId.get(id), value, file.recordCount))
    })
  }

  /** Returns the statistics of a column in encoded metrics. */
  def statsOf(metrics: Metrics, column: StatsColumn): FieldStats = FieldStats(
    lower = boundOf(metrics.lowerBound(column.id), column),
    upper = boundOf(metrics.upperBound(column.id), column),
    valueCount = metrics.valueCount(column.id).filter(_ >= 0),
    nullCount = metrics.nullValueCount(column.id).filter(_ >= 0),
    nanCount = metrics.nanValueCount(column.id).filter(n => n >= 0 && column.isFloating)
  )

  /** Returns a bound; absent if it is not a value of the column's type, for example a truncated bound of type fixed. */
  private def boundOf(bytes: Option[ByteBuffer], column: StatsColumn): Option[Literal] =
    for (t <- column.boundType; b <- bytes; value <- SingleValue.decodeValid(t, b) if fits(value, t)) yield value

  /**
   * Returns statistics with bounds of the column's type. The statistics may have the type that the column had before it
   * was promoted, because cached entries of a leaf are shared by all versions of the table.
   */
  private def promoted(stats: FieldStats, column: StatsColumn): FieldStats =
    if (column.isOpaque) stats
    else stats.copy(lower = promotedBound(stats.lower, column), upper = promotedBound(stats.upper, column))

  private def promotedBound(bound: Option[Literal], column: StatsColumn): Option[Literal] =
    for (t <- column.boundType; b <- bound; value <- LiteralConversion.to(b, t) if fits(value, t)) yield value

  private def fits(value: Literal, t: PrimitiveType): Boolean = (value, t) match {
    case (Literal.FixedLiteral(bytes), FixedType(length)) => bytes.remaining == length
    case (Literal.DecimalLiteral(v), DecimalType(precision, _)) => v.precision <= precision
    case _ => !EntryFiles.isNan(value)
  }

  /**
   * Returns the statistics of the column or expression of a partition field, which has the same value in all rows of
   * the file. For an expression, the upper bound is omitted, because it equals the lower bound.
   */
  private def withValue(
      stats: FieldStats,
      column: Option[StatsColumn],
      value: Option[Literal],
      rows: Long
  ): FieldStats = {
    val counted = stats.copy(valueCount = stats.valueCount.orElse(Some(rows).filter(_ >= 0)))
    val isFloating = column.exists(_.isFloating)
    value match {
      case None => counted.copy(lower = None, upper = None, tight = None, nullCount = counted.valueCount)
      case Some(v) if EntryFiles.isNan(v) =>
        counted.copy(lower = None, upper = None, tight = None, nullCount = Some(0L), nanCount = counted.valueCount)
      case Some(v) => counted.copy(
          lower = Some(v),
          upper = Some(v).filter(_ => column.exists(_.isColumn)),
          tight = Some(true),
          nullCount = Some(0L),
          nanCount = if (isFloating) Some(0L) else None
        )
    }
  }

  /**
   * Returns the entry of a data or delete file as a [[ManifestEntry]].
   *
   * @throws EntryFault if the entry is not of a data or delete file, if the table does not have its partition spec, or
   *   if the statistics do not contain the partition values
   */
  def toEntry(e: ContentEntry): ManifestEntry =
    toEntry(e, e.version, partitionOf(e), metricsOf(e), e.firstRowId)

  /** Returns the metrics in the entry of a data or delete file. */
  def metricsOf(e: ContentEntry): Metrics = columns.metrics(upperCompleted(e), e.specId)

  private def partitionOf(e: ContentEntry): PartitionTuple = {
    val keys = columns.keysOf(e.specId)
    if (keys.isEmpty) PartitionTuple.Empty else PartitionTuple(keys.map(_.flatMap(valueOf(_, e))))
  }

  /**
   * Returns the partition values of data or delete files one after the other. Equal tuples are the same instance.
   * Adjacent files often have the same partition, whose tuple is not created again. Not thread-safe.
   */
  final class Partitions {
    private val shared = new SharedTuples
    private var last = Option.empty[ContentEntry]
    private var tuple = PartitionTuple.Empty

    /** The ids of the statistics that contain the partition values of the last entry. */
    private var ids = Array.emptyIntArray

    /** Returns the partition values of an entry. Throws the errors of [[toEntry]]. */
    def of(e: ContentEntry): PartitionTuple = {
      if (last.isEmpty || !hasSameValues(last.get, e)) {
        tuple = shared.share(partitionOf(e))
        ids = columns.keysOf(e.specId).flatten.map(_.id).toArray
        last = Some(e)
      }
      tuple
    }

    private def hasSameValues(a: ContentEntry, b: ContentEntry): Boolean = a.specId == b.specId && {
      var i = 0
      while (i < ids.length && isSameValue(a.stats.get(ids(i)), b.stats.get(ids(i)))) i += 1
      i == ids.length
    }

    /** Compares only the statistics that [[valueOf]] uses. */
    private def isSameValue(a: Option[FieldStats], b: Option[FieldStats]): Boolean =
      a.isDefined && b.isDefined && a.get.lower == b.get.lower && a.get.nanCount == b.get.nanCount
  }

  /**
   * Returns the entry of a data or delete file with the given values, which need not be those of the entry.
   *
   * @throws EntryFault if the entry is not of a data or delete file
   */
  def toEntry(
      e: ContentEntry,
      version: VersionInfo,
      partition: PartitionTuple,
      metrics: Metrics,
      firstRowId: Option[Long]
  ): ManifestEntry = {
    val file = fileOf(e, partition, metrics, firstRowId)
    ManifestEntry(version.status, version.snapshotId, version.sequenceNumber, version.fileSequenceNumber, file)
  }

  private def fileOf(
      e: ContentEntry,
      partition: PartitionTuple,
      metrics: Metrics,
      firstRowId: Option[Long]
  ): ContentFile = {
    val blob = e.vector match {
      case Some(stored: InPuffin) => Some(stored)
      case Some(_: Inline) | None => None
    }
    ContentFile(
      content = contentOf(e),
      path = e.location,
      format = e.format,
      specId = e.specId,
      partition = partition,
      recordCount = e.recordCount,
      fileSizeInBytes = e.fileSizeInBytes.getOrElse(0L),
      metrics = metrics,
      keyMetadata = e.keyMetadata,
      splitOffsets = e.splitOffsets,
      equalityIds = e.equalityIds,
      sortOrderId = e.sortOrderId,
      firstRowId = firstRowId,
      referencedDataFile = e.referencedFile,
      contentOffset = blob.map(_.offset),
      contentSizeInBytes = blob.map(_.size)
    )
  }

  private def contentOf(e: ContentEntry): Content = e.content match {
    case EntryContent.Data => Content.Data
    case EntryContent.PositionDeletes => Content.PositionDeletes
    case EntryContent.EqualityDeletes => Content.EqualityDeletes
    case other => throw EntryFault(s"The entry of ${e.location} is a ${other.name}, not a data or delete file")
  }

  private def valueOf(key: PartitionFieldKey, e: ContentEntry): Option[Literal] = {
    val stats = e.stats.get(key.id).getOrElse(throw EntryFault(
      s"The entry of ${e.location} has no statistics of the column or expression ${key.id}, which determine a " +
        s"partition value of the partition spec ${e.specId}"
    ))
    stats.lower.map(typed(_, key))
      .orElse(if (stats.nanCount.exists(_ > 0)) EntryFiles.nanOf(key.partitionType) else None)
  }

  /**
   * Returns a partition value with the type of the partition field, because the file may have been written before the
   * source column of the field was promoted. The values of an unknown transform keep their type, as in Avro manifests.
   */
  private def typed(value: Literal, key: PartitionFieldKey): Literal =
    if (columns.isOpaque(key.id)) value else LiteralConversion.to(value, key.partitionType).getOrElse(value)

  /**
   * Adds missing upper bounds of identity partition columns. Other writers may omit these bounds, because they equal
   * the lower bounds.
   */
  private def upperCompleted(e: ContentEntry): ContentStats = {
    columns.identities(e.specId).foldLeft(e.stats) { (stats, id) =>
      stats.get(id).filter(s => s.lower.isDefined && s.upper.isEmpty)
        .fold(stats)(s => ContentStats(stats.byId.updated(id, s.copy(upper = s.lower))))
    }
  }
}

private[root] object EntryFiles {
  def isNan(value: Literal): Boolean = value match {
    case FloatLiteral(v) => v.isNaN
    case DoubleLiteral(v) => v.isNaN
    case _ => false
  }

  private def nanOf(t: PrimitiveType): Option[Literal] = t match {
    case FloatType => Some(FloatLiteral(Float.NaN))
    case DoubleType => Some(DoubleLiteral(Double.NaN))
    case _ => None
  }
}
