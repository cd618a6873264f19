package iceberglite.spark.read.parquet

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapred.FileSplit
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl
import org.apache.hadoop.mapreduce.{TaskAttemptID, TaskType}
import org.apache.parquet.HadoopReadOptions
import org.apache.parquet.filter2.predicate.FilterPredicate
import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.hadoop.{ParquetFileReader, ParquetInputFormat}
import org.apache.spark.sql.execution.datasources.parquet.VectorizedParquetRecordReader
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.vectorized.{ColumnVector, ColumnarBatch}

import iceberglite.parquet.{ParquetEncryption, ParquetInput}
import iceberglite.spark.read.deletes.{FileDeletes, LiveBatch}
import iceberglite.spark.read.files.{BatchSettings, FileBatches, FileTask}
import iceberglite.spark.read.formats.{BatchFormat, FileReadParameters}
import iceberglite.spark.read.vector.RowCompactor
import iceberglite.spec.file.FileFormat

/**
 * The batches of one split of a Parquet file.
 *
 * @param positions the positions of the rows; absent if they are not needed, or if Spark's reader returns them as the
 *   last column
 * @param decodesRowByRow whether rows are decoded one by one. This is the case if Spark's vectorized reader cannot
 *   decode the file
 */
final private[read] class ParquetBatches(
    decoder: ColumnDecoder,
    columns: Vector[Source],
    positions: Option[BatchPositions],
    deletes: Option[FileDeletes],
    capacity: Int,
    override val decodesRowByRow: Boolean
) extends FileBatches {
  private val read: ColumnarBatch = decoder.columns
  private val allRows: ColumnarBatch =
    ParquetColumns.of(read, columns, positions.fold[ColumnVector](read.column(read.numCols - 1))(_.vector))

  private val liveBatch: Option[LiveBatch] =
    deletes.map(_.liveBatch(allRows, capacity, Some(RowCompactor.of(read, positions.map(_.vector)))))

  override def batch: ColumnarBatch = liveBatch.fold(allRows)(_.batch)

  override def next(): Boolean = {
    var hasRows = false
    while (!hasRows && decoder.next()) {
      positions.foreach(_.fill(read.numRows))
      if (allRows ne read) allRows.setNumRows(read.numRows)
      hasRows = liveBatch.forall(_.select(read.numRows))
    }
    hasRows
  }

  override def close(): Unit = decoder.close()
}

/** Reads the Parquet files of one Spark task. */
final private[read] class ParquetFiles(conf: Configuration) extends BatchFormat {
  private val jobs = new ReadJobs(conf)

  override def format: FileFormat = FileFormat.Parquet

  override def open(task: FileTask, read: FileReadParameters): ParquetBatches = {
    val projections =
      new FileProjections(
        read.fields,
        read.mapping,
        read.values,
        read.tableName,
        read.settings.variants,
        read.settings.parts
      )
    ParquetBatches.open(task, projections, jobs, read.settings, read.deletes)
  }
}

private[read] object ParquetBatches {

  /**
   * The calendar in which Spark's reader interprets dates and timestamps. It is always the proleptic Gregorian calendar
   * of the specification, even if the session's settings request another calendar or the file does not state its
   * calendar.
   */
  private val RebaseMode = "CORRECTED"
  private val RebaseZone = "UTC"

  private[parquet] def open(
      task: FileTask,
      projections: FileProjections,
      jobs: ReadJobs,
      settings: BatchSettings,
      deletes: Option[FileDeletes] = None
  ): ParquetBatches = {
    val read = prepareRead(task, projections, jobs, deletes)
    if (read.encodings.byRows) openRowByRow(read, settings, deletes) else openVectorized(read, settings, deletes)
  }

  private[parquet] def prepareRead(
      task: FileTask,
      projections: FileProjections,
      jobs: ReadJobs,
      deletes: Option[FileDeletes]
  ): PreparedRead = {
    val splitFooter = readFooter(new Path(task.path), task, jobs.base)
    val candidates = deletes.flatMap(_.candidatePositions).fold(splitFooter)(RowGroups.containing(splitFooter, _))
    val footer = projections.matching(candidates, task)
    val projection = projections.of(footer, task)
    val filter = new ParquetFilter(projection.filterable, task.withoutNan).of(task.filter)
    val encodings = ChunkEncodings.of(footer, projection.requested, projections.undecodable(task))
    PreparedRead(task, footer, projection, filter, encodings, jobs)
  }

  /** The inputs for reading a split of a file. @param footer the footer, with only the row groups to read */
  final private[parquet] case class PreparedRead(
      task: FileTask,
      footer: ParquetMetadata,
      projection: FileProjection,
      filter: Option[FilterPredicate],
      encodings: ChunkEncodings,
      jobs: ReadJobs
  ) {
    def path: Path = new Path(task.path)

    def job(projection: FileProjection): ReadJob =
      jobs.of(ReadJobs.Key(projection.requested, projection.readSchema, filter, encodings.wholePages))
  }

  private[parquet] def openVectorized(
      read: PreparedRead,
      settings: BatchSettings,
      deletes: Option[FileDeletes]
  ): ParquetBatches = {
    import read.{footer, projection, task}
    // If no filter skips rows, the positions of the rows are computed from the footer, because Spark's reader would
    // create an object for each position.
    val positions =
      if (read.filter.isEmpty && projection.needsPosition) BatchPositions.of(footer, settings.rows) else None
    val fromReader = projection.needsPosition && positions.isEmpty
    val job = read.job(if (fromReader) projection.withPositions else projection)
    val reader = vectorizedReader(settings)
    try {
      val split = new FileSplit(read.path, task.start, task.length, Array.empty[String])
      val attempt = new TaskAttemptID("", 0, TaskType.MAP, 0, 0)
      reader.initialize(split, new TaskAttemptContextImpl(job, attempt), Some(footer))
      val decoder = new VectorDecoder(reader)
      new ParquetBatches(decoder, projection.columns, positions, deletes, settings.rows, decodesRowByRow = false)
    } catch {
      case e: Throwable =>
        reader.close()
        throw e
    }
  }

  private def vectorizedReader(settings: BatchSettings): VectorizedParquetRecordReader =
    new VectorizedParquetRecordReader(
      null,
      RebaseMode,
      RebaseZone,
      RebaseMode,
      RebaseZone,
      settings.offHeap,
      settings.rows
    )

  private[parquet] def openRowByRow(
      read: PreparedRead,
      settings: BatchSettings,
      deletes: Option[FileDeletes]
  ): ParquetBatches = {
    val job = read.job(read.projection)
    val (decoder, footer) = RowDecoder.open(read.path, read.footer, read.projection, job, settings.rows)
    try {
      val positions = if (read.projection.needsPosition) Some(positionsOf(footer, settings)) else None
      new ParquetBatches(decoder, read.projection.columns, positions, deletes, settings.rows, decodesRowByRow = true)
    } catch {
      case e: Throwable =>
        decoder.close()
        throw e
    }
  }

  private def positionsOf(footer: ParquetMetadata, settings: BatchSettings): BatchPositions =
    BatchPositions.of(footer, settings.rows)
      .getOrElse(throw new IllegalStateException("The footer does not state the positions of row groups"))

  /**
   * Reads the footer, and keeps only the row groups in the task's split of the file. The file's reader uses this footer
   * and does not read it again. For an encrypted file, the `ParquetMetadata` also contains the decryptor of the pages.
   */
  private def readFooter(path: Path, task: FileTask, base: Configuration): ParquetMetadata = {
    val file = ParquetInput.of(HadoopInputFile.fromPath(path, base), task.key)
    val options = ParquetEncryption.withKey(HadoopReadOptions.builder(base, path), task.key)
      .withRange(task.start, task.start + task.length).build()
    val stream = file.newStream()
    try ParquetFileReader.readFooter(file, options, stream)
    finally stream.close()
  }

  /**
   * Sets in `base` the configuration that Spark's reader needs, regardless of the session's settings, and returns
   * `base`. Only the verification of checksums can be configured.
   */
  def prepare(base: Configuration): Configuration = {
    base.setBoolean(SQLConf.PARQUET_BINARY_AS_STRING.key, false)
    base.setBoolean(SQLConf.PARQUET_INT96_AS_TIMESTAMP.key, true)
    base.setBoolean(SQLConf.PARQUET_INFER_TIMESTAMP_NTZ_ENABLED.key, true)
    base.setBoolean(SQLConf.LEGACY_PARQUET_NANOS_AS_LONG.key, false)
    base.setBoolean(SQLConf.PARQUET_FIELD_ID_READ_ENABLED.key, false)
    base.setBoolean(SQLConf.CASE_SENSITIVE.key, true)
    // Checksums are verified, because a flipped bit in a page would result in a wrong row. The verification costs
    // little compared to decompression.
    base.setBooleanIfUnset(ParquetInputFormat.PAGE_VERIFY_CHECKSUM_ENABLED, true)
    base
  }
}
