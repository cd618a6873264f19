package iceberglite.data.parquet.copy

import scala.annotation.tailrec
import scala.collection.JavaConverters._
import scala.collection.mutable

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.column.{ColumnDescriptor, Encoding}
import org.apache.parquet.hadoop.ParquetFileWriter
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.io.OutputFile

import iceberglite.data.FileToCopy
import iceberglite.data.parquet.{FinishedParquet, GuardedPages, OpenedOutput, ParquetFileSettings}
import iceberglite.metrics.{CollectedValues, SpatialCollector}
import iceberglite.storage.{FileIO, StorageErrors}

/**
 * Copies the rows of Parquet files to new files, column by column. The compressed pages of a column are copied
 * unchanged if they are large enough, not dictionary-encoded, and in the form that the new file requires, for example
 * with its codec; see [[PageRule]]. The values of other columns are decoded and encoded, without assembling rows.
 *
 * The row groups of old files are combined into row groups of about the size that the table requests. Old row groups
 * are not divided.
 */
final class ParquetCopy private (fileSettings: ParquetFileSettings, val files: Vector[CopiedRows], path: String) {
  private val codecs = new GuardedPages.Codecs(path)

  /** Writes one of the new files. @throws iceberglite.spec.IcebergError if an old file cannot be read */
  def write(rows: CopiedRows, output: OutputFile): CopiedParquet = {
    val target = new OpenedOutput(output)
    try {
      val file = target.writer(fileSettings, key = None)
      val columns = fileSettings.messageType.getColumns.asScala.toVector
      val values = columns.map { column =>
        val spatial = Option(column.getPrimitiveType.getId).flatMap(id => fileSettings.spatial.get(id.intValue))
        ColumnValues.of(column.getPrimitiveType, spatial.map(new SpatialCollector(_)))
      }
      rows.groups.foreach(writeGroups(file, _, columns.zip(values)))
      file.end(fileSettings.keyValues.asJava)
      val collected = columns.zip(values).flatMap { case (column, v) =>
        Option(column.getPrimitiveType.getId).flatMap(id => v.collected.map(id.intValue -> _))
      }
      CopiedParquet(FinishedParquet(file.getFooter, target.length), collected.toMap)
    } finally StorageErrors.quietly(target.close())
  }

  /** Writes old row groups to one new row group or, if their values take more bytes than expected, to several. */
  @tailrec private def writeGroups(
      file: ParquetFileWriter,
      groups: Vector[SourceGroup],
      columns: Vector[(ColumnDescriptor, ColumnValues)]
  ): Unit = {
    val rule = new PageRule(fileSettings, groups)
    val copied = columns.map(_._1).filter(rule.copiesPages)
    val outputs = columns.map { case (column, values) =>
      if (copied.contains(column)) new PageColumn(column, fileSettings, values, codecs)
      else new ValueColumn(column, fileSettings, values, codecs)
    }
    val added = addUntilFull(groups, outputs, copied)
    file.startBlock(groups.iterator.take(added).map(_.rows).sum)
    outputs.foreach(_.finish(file))
    file.endBlock()
    if (added < groups.size) writeGroups(file, groups.drop(added), columns)
  }

  /** Adds at least one old row group, until the new one has its maximum size. @return the number of old row groups */
  private def addUntilFull(
      groups: Vector[SourceGroup],
      outputs: Vector[OutputColumn],
      copied: Vector[ColumnDescriptor]
  ): Int = {
    var added = 0
    do {
      val group = groups(added)
      StorageErrors.wrapReadErrors(group.file.copied.path) {
        val bytes = GroupBytes.read(group, copied.map(column => group.chunks(column.getPath.toVector)))
        outputs.foreach(_.add(group, bytes))
      }
      added += 1
    } while (added < groups.size && outputs.iterator.map(_.bufferedSize).sum < fileSettings.settings.rowGroupSize)
    added
  }

  def close(): Unit = codecs.release()
}

/** The rows of a new file, as row groups that combine row groups of old files. */
final class CopiedRows private[copy] (private[copy] val groups: Vector[Vector[SourceGroup]])

/** A complete file. @param collected the metrics that are not in the footer, by field id */
final case class CopiedParquet(file: FinishedParquet, collected: Map[Int, CollectedValues])

object ParquetCopy {

  /** The maximum number of column chunks of the old files, which limits the memory for their footers. */
  private val MaxChunks = 200000

  /** The maximum size of an old row group in a copy, relative to the table's target size of row groups. */
  private val MaxGroupRatio = 1.5

  /**
   * Plans a copy of files; absent if the files must be read and written row by row. This is the case if their columns
   * differ from those of the table, if they have features that are not supported, if they have no rows, or if they have
   * too many column chunks or too large row groups.
   *
   * @param files the files to copy, at least one
   * @param fileSettings the settings of the new files, with the columns of the table
   * @param targetSize the target size of a new file in bytes
   */
  def of(
      files: Vector[FileToCopy],
      fileSettings: ParquetFileSettings,
      io: FileIO,
      targetSize: Long
  ): Option[ParquetCopy] = for {
    sources <- open(files, io)
    schema <- CopySchema.of(fileSettings.messageType, sources.map(_.schema))
    groups = sources.flatMap(_.groups).filter(_.rows > 0)
    rowGroupSize = fileSettings.settings.rowGroupSize
    codec = fileSettings.codec
    limit = math.min(targetSize.toDouble, rowGroupSize * MaxGroupRatio)
    if groups.nonEmpty && groups.forall(group => math.max(group.span, group.bytesIn(codec)) <= limit)
  } yield {
    val blocks = combined(groups, rowGroupSize)(_.bytesIn(codec))
    val rows = combined(blocks, targetSize)(_.iterator.map(_.bytesIn(codec)).sum).map(new CopiedRows(_))
    new ParquetCopy(fileSettings.copy(messageType = schema), rows, files.head.path)
  }

  /** Reads the footers; absent if a file is not supported. */
  private def open(files: Vector[FileToCopy], io: FileIO): Option[Vector[CopySource]] = {
    val sources = Vector.newBuilder[CopySource]
    var chunks = 0
    val isSupported = files.forall { file =>
      val source = CopySource.open(io, file)
      sources += source
      chunks += source.groups.iterator.map(_.chunks.size).sum
      source.isSupported && chunks <= MaxChunks
    }
    if (isSupported) Some(sources.result()) else None
  }

  /** Combines consecutive elements up to a total size. */
  private def combined[A](elements: Vector[A], maxSize: Long)(size: A => Long): Vector[Vector[A]] = {
    val result = mutable.ArrayBuffer.empty[Vector[A]]
    var total = 0L
    elements.foreach { element =>
      if (result.nonEmpty && total + size(element) <= maxSize) result(result.size - 1) = result.last :+ element
      else {
        result += Vector(element)
        total = 0L
      }
      total += size(element)
    }
    result.toVector
  }
}

/** Decides for which columns of a row group pages are copied. */
final private[copy] class PageRule(fileSettings: ParquetFileSettings, groups: Vector[SourceGroup]) {
  private val rows = groups.iterator.map(_.rows).sum

  def copiesPages(column: ColumnDescriptor): Boolean = {
    val chunks = groups.flatMap(_.chunks.get(column.getPath.toVector))
    // If the table sets a compression level, no page is copied, because the level of the old pages is unknown.
    fileSettings.settings.level.isEmpty && !fileSettings.properties.isBloomFilterEnabled(column) &&
    chunks.size == groups.size && chunks.forall(isCopyable(_, column)) && hasLargePages(chunks)
  }

  private def isCopyable(chunk: ColumnChunkMetaData, column: ColumnDescriptor): Boolean = {
    val statistics: Statistics[_] = chunk.getStatistics
    val encodings = chunk.getEncodingStats
    val isComplete = !CopySchema.isLineage(column.getPrimitiveType) || statistics.getNumNulls == 0
    chunk.getCodec == fileSettings.codec && chunk.getPrimitiveType == column.getPrimitiveType && isComplete &&
    !encodings.hasDictionaryPages && !encodings.hasDictionaryEncodedPages &&
    encodings.getDataEncodings.asScala.forall(_ == Encoding.PLAIN) &&
    statistics.isNumNullsSet && (statistics.hasNonNullValue || statistics.getNumNulls == chunk.getValueCount) &&
    chunk.getColumnIndexReference != null && chunk.getOffsetIndexReference != null
  }

  /** Whether the average page has at least a sixteenth of the number of rows or bytes of a full page. */
  private def hasLargePages(chunks: Vector[ColumnChunkMetaData]): Boolean = {
    val pages = chunks.iterator.map(_.getEncodingStats.getNumDataPagesEncodedAs(Encoding.PLAIN).toLong).sum
    val bytes = chunks.iterator.map(_.getTotalUncompressedSize).sum
    val least = pages / PageRule.MaxPages
    rows >= least * fileSettings.settings.pageRows || bytes >= least * fileSettings.settings.pageSize
  }
}

private object PageRule {

  /** The maximum number of copied pages for each page that the encoder would write. */
  private val MaxPages = 16.0
}
