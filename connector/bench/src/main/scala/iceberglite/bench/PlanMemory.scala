package iceberglite.bench

import java.nio.file.{Files, Path}
import java.util.UUID

import org.apache.hadoop.conf.Configuration

import iceberglite.scan.{ScanPlan, StatsToKeep, TableScan}
import iceberglite.spec.{FormatVersion, IcebergError}
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.{AlwaysTrue, LessThan}
import iceberglite.spec.expr.Term.Named
import iceberglite.spec.file.{Content, ContentFile, FileFormat, MetricMaps}
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, PartitionTuple, SortOrder}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, SingleValue}
import iceberglite.spec.types.Literal.{IntLiteral, LongLiteral, StringLiteral}
import iceberglite.spec.types.Type.{IntType, LongType, StringType}
import iceberglite.storage.HadoopFileIO
import iceberglite.table.{Change, Committer, Table, TableIdentifier, TableVersion}
import iceberglite.tree.{FileChanges, ManifestCache, MetadataTree, TreeHeader, TreeTable}

/**
 * Measures the heap that the plan of a scan with many files uses. Writes the metadata of a table with ten columns and
 * fifty partitions to a temporary directory, and plans a scan without the manifest cache.
 *
 * The argument is the number of files; the default is 1,000,000. The JVM's `-Xmx` is the limit for the plan.
 */
object PlanMemory {
  private val FilesPerCommit = 20000
  private val Columns = 10
  private val Partitions = 50

  private val schema = Schema(
    0,
    NestedField.required(1, "p", IntType) +: (2 until Columns).map { id =>
      NestedField.optional(id, s"c$id", if (id % 2 == 0) LongType else StringType)
    }.toVector :+ NestedField.optional(Columns, "k", LongType)
  )
  private val spec = PartitionSpec(0, Vector(PartitionField(1, 1000, "p", Identity)))

  def main(args: Array[String]): Unit = {
    val files = args.headOption.fold(1000000)(_.toInt)
    val directory = Files.createTempDirectory("plan-memory")
    val table = writeTable(directory, files)
    println(f"manifests: ${bytesIn(directory) / 1e6}%.1f MB, heap: ${Runtime.getRuntime.maxMemory / 1e6}%.0f MB")
    Seq("all" -> AlwaysTrue, "a tenth by bounds" -> LessThan(Named("k"), LongLiteral(files.toLong * 10))).foreach {
      case (label, filter) => measure(table, label, filter, files)
    }
  }

  private def measure(table: Table, label: String, filter: Expression, files: Int): Unit = {
    val before = usedBytes()
    val start = System.nanoTime()
    val plan: ScanPlan = TableScan(
      table.tree(schema),
      table.currentSnapshot,
      filter,
      caseSensitive = true,
      ManifestCache.Disabled,
      StatsToKeep.Of(Set.empty)
    ).plan()
    val seconds = (System.nanoTime() - start) / 1e9
    val bytes = usedBytes() - before
    val bytesPerFile = bytes / math.max(1, plan.tasks.size)
    println(
      f"$label: ${plan.tasks.size} of $files files in $seconds%.1f s, ${bytes / 1e6}%.1f MB, $bytesPerFile bytes a file"
    )
  }

  private def usedBytes(): Long = {
    (0 until 3).foreach(_ => System.gc())
    val runtime = Runtime.getRuntime
    runtime.totalMemory - runtime.freeMemory
  }

  private def bytesIn(directory: Path): Long = {
    val files = Files.list(directory)
    try files.mapToLong(Files.size(_)).sum
    finally files.close()
  }

  private def writeTable(directory: Path, files: Int): Table = {
    val io = new HadoopFileIO(new Configuration(false))
    val location = directory.toString
    val metadata = (0 until files by FilesPerCommit).foldLeft(empty(location)) { (base, from) =>
      val added = (from until math.min(from + FilesPerCommit, files)).map(metadataOnlyFile(location, _)).toVector
      val id = base.snapshots.size + 1L
      val header = TreeHeader(
        id,
        base.currentSnapshot,
        id,
        None,
        location,
        new UUID(1, id),
        0
      )
      val changes = FileChanges(added, mergesManifests = false)
      val tree = MetadataTree.write(header, TreeTable(location, io, base), changes, None, ManifestCache.Disabled)
      val parent = base.currentSnapshotId
      val snapshot = Snapshot(id, parent, id, id, Some(tree.pointer), Vector.empty, Map.empty, Some(0), None, None)
      base.copy(currentSnapshotId = Some(id), snapshots = base.snapshots :+ snapshot, lastSequenceNumber = id)
    }
    new Table(TableIdentifier(Vector("db"), "t"), "lite.db.t", TableVersion(metadata, ""), io, NoCommitter)
  }

  private def metadataOnlyFile(location: String, number: Int): ContentFile = {
    val longs = (2 until Columns by 2).map(id => id -> (number.toLong * id)) :+ (Columns -> number.toLong * 100)
    val texts = (3 until Columns by 2).map(id => id -> f"text of sixteen $number%08d".take(16))
    val bounds = longs.map { case (id, v) => id -> SingleValue.encode(LongLiteral(v)) } ++
      texts.map { case (id, v) => id -> SingleValue.encode(StringLiteral(v)) }
    val ids = 1 to Columns
    ContentFile(
      Content.Data,
      f"$location/data/p=${number % Partitions}/$number%08d-fake-9f1c2b7e-0001.parquet",
      FileFormat.Parquet,
      0,
      PartitionTuple(Vector(Some(IntLiteral(number % Partitions)))),
      100,
      64L << 20,
      MetricMaps(
        columnSizes = Some(ids.map(id => id -> (1000L + id)).toMap),
        valueCounts = Some(ids.map(_ -> 100L).toMap),
        nullValueCounts = Some(ids.map(_ -> 0L).toMap),
        lowerBounds = Some(bounds.toMap),
        upperBounds = Some(bounds.toMap)
      ),
      splitOffsets = Vector(4L),
      sortOrderId = Some(0)
    )
  }

  private def empty(location: String): TableMetadata = TableMetadata(
    formatVersion = FormatVersion.V2,
    uuid = Some(new UUID(0, 1)),
    location = location,
    lastSequenceNumber = 0,
    lastUpdatedMs = 0,
    lastColumnId = Columns,
    schemas = Vector(schema),
    currentSchemaId = 0,
    specs = Vector(spec),
    defaultSpecId = 0,
    lastPartitionId = 1000,
    sortOrders = Vector(SortOrder.Unsorted),
    defaultSortOrderId = 0,
    properties = Map.empty,
    currentSnapshotId = None,
    snapshots = Vector.empty,
    snapshotLog = Vector.empty,
    metadataLog = Vector.empty,
    refs = Map.empty
  )

  private object NoCommitter extends Committer {
    override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion =
      throw IcebergError.Unsupported(s"a commit to $id", "This table can only be planned")
    override def load(id: TableIdentifier): TableVersion =
      throw IcebergError.Unsupported(s"loading $id", "This table can only be planned")
  }
}
