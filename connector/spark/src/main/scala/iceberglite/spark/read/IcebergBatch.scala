package iceberglite.spark.read

import java.util.IdentityHashMap

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.{Batch, InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.util.SerializableConfiguration

import iceberglite.encryption.FileKey
import iceberglite.scan.FileScanTask
import iceberglite.scan.deletes.DeleteFile
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.deletes.DeleteCacheSettings
import iceberglite.spark.read.files.{BatchSettings, FileTask, IcebergInputPartition, TableStorage}
import iceberglite.spark.read.partitioning.{KeyGrouping, ScanRuntimeFilter}
import iceberglite.spark.read.planning.TaskFilePacking
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.ContentFile
import iceberglite.spec.types.Type.{DoubleType, FloatType}

/**
 * The tasks of a scan, and the information that executors need to run them.
 *
 * @param runtimeFilter the runtime filter that Spark creates from the join keys of the other join side. The scan may
 *   return rows that do not match the filter, because Spark evaluates the join condition for all rows.
 * @param selectedFiles the files to read; if absent, the batch reads the planned files that match the runtime filter
 * @param packing how the selected files are packed into tasks; if absent, they are packed by size, and are split only
 *   if there are too few files for all cores
 */
final private[read] class IcebergBatch(
    private val scan: IcebergScan,
    runtimeFilter: ScanRuntimeFilter,
    selectedFiles: Option[Vector[FileScanTask]],
    session: SparkSession,
    packing: Option[TaskFilePacking] = None
) extends Batch
    with ErrorBoundary {
  private val table = scan.files.table
  private val settings = scan.settings

  override protected def errorName: String = table.name

  private lazy val partitions: Array[InputPartition] = in {
    val packed = selectedFiles.fold(if (runtimeFilter.isEmpty) scan.tasks else scan.packing.pack(runtimeFilter.tasks))(
      scan.packing.packForRewrite(_, packing)
    )
    if (packed.nonEmpty) scan.files.widened.check(scan.scanColumns.fields)
    val deletes = new SharedDeletes
    if (selectedFiles.isEmpty) scan.reportMetrics()
    packed.map { task =>
      val files = task.files.map(fileTask(_, deletes))
      task.key.fold[InputPartition](IcebergInputPartition.Packed(files)) { key =>
        IcebergInputPartition.Grouped(files, KeyGrouping.row(key))
      }
    }.toArray
  }

  override def planInputPartitions(): Array[InputPartition] = partitions

  override def createReaderFactory(): PartitionReaderFactory = in {
    val storage = TableStorage.configuration(scan.files.io, session)
    val deleteCache = DeleteCacheSettings.of(session, table, storage)
    val conf = new SerializableConfiguration(BatchFormats.prepare(storage))
    val offHeap = session.sessionState.conf.getConf(SQLConf.COLUMN_VECTOR_OFFHEAP_ENABLED)
    new IcebergReaderFactory(
      table.name,
      scan.scanColumns,
      table.metadata.specsById,
      table.nameMapping,
      session.sparkContext.broadcast(conf),
      BatchSettings(scan.isColumnar, settings.batchSize, offHeap, settings.variants, scan.scanColumns.parts),
      deleteCache
    )
  }

  /**
   * The residual filter of the previous file. The values that are derived from this filter are reused for the next
   * file, because files of one partition usually have the same residual filter.
   */
  private var lastResidual: Expression = AlwaysTrue
  private var lastFilter: Option[(Expression, Set[Int])] = None

  private def filterOf(task: FileScanTask): (Expression, Set[Int]) = lastFilter match {
    case Some(cached) if lastResidual eq task.residual => cached
    case _ =>
      val filter = Expression.and(task.residual, runtimeFilter.forRows)
      val filterWithColumns = (filter, floatingColumns(filter))
      lastResidual = task.residual
      lastFilter = Some(filterWithColumns)
      filterWithColumns
  }

  private def fileTask(task: FileScanTask, deletes: SharedDeletes): FileTask = {
    val (filter, floating) = filterOf(task)
    FileTask(
      task.file.path,
      task.start,
      task.length,
      task.spec.specId,
      task.file.partition,
      filter,
      if (floating.isEmpty) floating else floating.filter(task.file.metrics.nanValueCount(_).contains(0L)),
      task.file.firstRowId,
      task.dataSequenceNumber,
      deletes(task.deletes),
      task.file.format,
      task.file.fileSizeInBytes,
      task.change.map(c => c.copy(deletesOfChangedRows = c.deletesOfChangedRows.map(deletes))),
      keyOf(task.file)
    )
  }

  /**
   * Returns the encryption key of a data file; absent if the file is not encrypted. An encrypted table must not contain
   * such a file. Tasks do not check this for all file formats, so the driver checks it here.
   */
  private def keyOf(file: ContentFile): Option[FileKey] = {
    val key = FileKey.of(file)
    if (key.isEmpty) scan.files.table.io.requireUnencrypted(file.path)
    key
  }

  private def floatingColumns(filter: Expression): Set[Int] = filter.fieldIds.filter(isFloating)

  private def isFloating(id: Int): Boolean =
    scan.files.schema.byId.get(id).exists(f => f.fieldType == FloatType || f.fieldType == DoubleType)

  override def equals(that: Any): Boolean = that match {
    case batch: IcebergBatch => batch.scan == scan && batch.selectedPaths == selectedPaths
    case _ => false
  }

  private def selectedPaths: Option[Vector[String]] = selectedFiles.map(_.map(_.file.path))

  override def hashCode: Int = scan.hashCode
}

/** Deduplicates delete files, so that the tasks on an executor share them. */
final private[iceberglite] class SharedDeletes
    extends (Vector[DeleteFile] => Vector[DeleteFile]) {
  private val lists = new IdentityHashMap[Vector[DeleteFile], Vector[DeleteFile]]
  private val files = new IdentityHashMap[DeleteFile, DeleteFile]

  override def apply(deletes: Vector[DeleteFile]): Vector[DeleteFile] =
    if (deletes.isEmpty) deletes else lists.computeIfAbsent(deletes, _.map(files.computeIfAbsent(_, _.withoutMetrics)))
}
