package iceberglite.spark.read

import java.util.IdentityHashMap

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.read.{Batch, InputPartition, PartitionReaderFactory}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.util.SerializableConfiguration

import iceberglite.io.HadoopFileIO
import iceberglite.scan.{DeleteFile, FileScanTask, Splits}
import iceberglite.spark.SparkErrors
import iceberglite.spark.read.parquet.ParquetBatches
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.Type.{DoubleType, FloatType}
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue, And, Not, Or}
import iceberglite.spec.expr.{Expression, Predicate}
import iceberglite.spec.json.NameMappingJson
import iceberglite.spec.{NameMapping, TableProperty}

/**
 * The tasks of a scan, and what executors need to run them.
 *
 * @param joined a condition that came with the rows of a join's other side; Spark knows of it, and it is for skipping
 *   only
 */
final private[read] class IcebergBatch(private val scan: IcebergScan, joined: Expression, session: SparkSession)
    extends Batch {
  private val table = scan.files.table
  private val settings = scan.settings

  private lazy val partitions: Array[InputPartition] = SparkErrors.in(table.name) {
    val tasks = scan.files.tasksWith(joined)
    tasks.foreach(requireReadable)
    val splitSize = settings.splitSizeFor(tasks.iterator.map(t => math.max(t.length, settings.fileOpenCost)).sum)
    val deletes = new SharedDeletes
    Splits.of(tasks, splitSize, settings.fileOpenCost, settings.lookback)
      .map(group => IcebergInputPartition(group.map(fileTask(_, deletes))): InputPartition).toArray
  }

  override def planInputPartitions(): Array[InputPartition] = partitions

  override def createReaderFactory(): PartitionReaderFactory = SparkErrors.in(table.name) {
    val conf = new SerializableConfiguration(ParquetBatches.prepare(hadoopConfiguration))
    val offHeap = session.sessionState.conf.getConf(SQLConf.COLUMN_VECTOR_OFFHEAP_ENABLED)
    new IcebergReaderFactory(
      table.name,
      scan.files.schema,
      scan.wanted,
      table.metadata.specsById,
      nameMapping,
      session.sparkContext.broadcast(conf),
      BatchSettings(scan.isColumnar, settings.batchSize, offHeap)
    )
  }

  /** That of the catalog, which may have settings of its own. */
  private def hadoopConfiguration: Configuration = table.io match {
    case io: HadoopFileIO => new Configuration(io.configuration)
    case _ => session.sessionState.newHadoopConf()
  }

  private def nameMapping: Option[NameMapping] =
    TableProperty.of(TableProperty.NameMappingDefault, table.properties)
      .map(NameMappingJson.parse(s"table property ${TableProperty.NameMappingDefault.key} of ${table.name}", _))

  private def requireReadable(task: FileScanTask): Unit = {
    val file = task.file
    (file +: task.deletes.map(_.file)).find(_.keyMetadata.isDefined).foreach { encrypted =>
      throw Unsupported(
        s"encrypted ${if (encrypted eq file) "data" else "delete"} file ${encrypted.path}",
        s"This release has no keys; read ${table.name} with an engine that has"
      )
    }
  }

  private def fileTask(task: FileScanTask, deletes: SharedDeletes): FileTask = FileTask(
    task.file.path,
    task.start,
    task.length,
    task.spec.specId,
    task.file.partition,
    task.residual,
    floatingColumns(task.residual).filter(task.file.metrics.nanValueCount(_).contains(0L)),
    task.file.firstRowId,
    task.dataSequenceNumber,
    deletes(task.deletes),
    task.file.format,
    task.file.fileSizeInBytes
  )

  private def floatingColumns(e: Expression): Set[Int] = e match {
    case And(l, r) => floatingColumns(l) ++ floatingColumns(r)
    case Or(l, r) => floatingColumns(l) ++ floatingColumns(r)
    case Not(child) => floatingColumns(child)
    case p: Predicate => PlannedFiles.columnOf(p.term).filter(isFloating).toSet
    case AlwaysTrue | AlwaysFalse => Set.empty
  }

  private def isFloating(id: Int): Boolean =
    scan.files.schema.byId.get(id).exists(f => f.fieldType == FloatType || f.fieldType == DoubleType)

  override def equals(that: Any): Boolean = that match {
    case batch: IcebergBatch => batch.scan == scan
    case _ => false
  }

  override def hashCode: Int = scan.hashCode
}

/** Delete files for the way to the executors; what tasks share here they share there. */
final private class SharedDeletes extends (Vector[DeleteFile] => Vector[DeleteFile]) {
  private val known = new IdentityHashMap[Vector[DeleteFile], Vector[DeleteFile]]
  private val files = new IdentityHashMap[DeleteFile, DeleteFile]

  override def apply(deletes: Vector[DeleteFile]): Vector[DeleteFile] =
    known.computeIfAbsent(deletes, _.map(files.computeIfAbsent(_, (d: DeleteFile) => d.withoutMetrics)))
}
