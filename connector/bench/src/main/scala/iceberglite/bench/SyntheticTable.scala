package iceberglite.bench

import java.nio.file.{Files, Paths}
import java.util.UUID

import org.apache.hadoop.conf.Configuration

import iceberglite.spec.file.{Content, ContentFile, FileFormat, MetricMaps}
import iceberglite.spec.json.TableMetadataJson
import iceberglite.spec.metadata.{Snapshot, SnapshotRef, TableMetadata}
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Literal.{IntLiteral, LongLiteral, StringLiteral}
import iceberglite.spec.types.Type.{IntType, LongType, StringType}
import iceberglite.spec.types.{NestedField, SingleValue}
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate.{AddSnapshot, SetProperties, SetSnapshotRef}
import iceberglite.spec.IcebergError
import iceberglite.storage.HadoopFileIO
import iceberglite.table.{Change, Committer, Table, TableIdentifier, TableVersion}
import iceberglite.tree.{FileChanges, ManifestCache, MetadataTree, NewSnapshotHeader, TreeTable}

/**
 * Writes the metadata of a table with ten columns, fifty partitions and any number of data files. The data files do not
 * exist. A manifest lists about 40 files.
 *
 * The arguments are the number of files and the directory of the table, for example `warehouse/db/t`. In the example, a
 * file-system catalog with the warehouse `warehouse` then contains the table.
 */
object SyntheticTable {
  private val FilesPerCommit = 20000
  private val Columns = 10
  private val Partitions = 50

  /** The target size of manifests in bytes. A manifest of this size lists about 40 files. */
  private val ManifestBytes = 18000

  private val schema = Schema(
    0,
    NestedField.required(1, "p", IntType) +: (2 until Columns).map { id =>
      NestedField.optional(id, s"c$id", if (id % 2 == 0) LongType else StringType)
    }.toVector :+ NestedField.optional(Columns, "k", LongType)
  )
  private val spec = PartitionSpec(0, Vector(PartitionField(1, 1000, "p", Identity)))

  def main(args: Array[String]): Unit = {
    val Array(files, location) = args
    val metadata = write(location, files.toInt).metadata
    Files.write(Paths.get(location, "metadata", "v1.metadata.json"), TableMetadataJson.write(metadata))
    Files.write(Paths.get(location, "metadata", "version-hint.text"), "1".getBytes("UTF-8"))
    println(s"${metadata.snapshots.size} snapshots in $location")
  }

  /**
   * Writes the manifest lists and the manifests of a table, but no table metadata file.
   *
   * @param location the directory of the table
   */
  def write(location: String, files: Int): Table = {
    val io = new HadoopFileIO(new Configuration(false))
    val now = System.currentTimeMillis
    val metadata = (0 until files by FilesPerCommit).foldLeft(empty(location)) { (base, from) =>
      val added = (from until math.min(from + FilesPerCommit, files)).map(metadataOnlyFile(location, _, files)).toVector
      val id = base.snapshots.size + 1L
      val header = NewSnapshotHeader(
        id,
        base.currentSnapshot,
        id,
        None,
        s"$location/metadata",
        new UUID(1, id),
        0
      )
      val changes = FileChanges(added, mergesManifests = false)
      val tree = MetadataTree.write(header, TreeTable(location, io, base), changes, None, ManifestCache.Disabled)
      val parent = base.currentSnapshotId
      val snapshot = Snapshot(
        id,
        parent,
        id,
        now + id,
        Some(tree.pointer),
        Vector.empty,
        Map("operation" -> "append"),
        Some(0),
        None,
        None
      )
      val updates = Seq(AddSnapshot(snapshot), SetSnapshotRef(SnapshotRef.Main, SnapshotRef.Branch(id)))
      MetadataUpdate.applyAll(base, updates, now + id)
    }
    new Table(TableIdentifier(Vector("db"), "t"), "lite.db.t", TableVersion(metadata, ""), io, NoCommitter)
  }

  private def metadataOnlyFile(location: String, number: Int, files: Int): ContentFile = {
    val partition = (number.toLong * Partitions / files).toInt
    val longs = (2 until Columns by 2).map(id => id -> (number.toLong * id)) :+ (Columns -> number.toLong * 100)
    val texts = (3 until Columns by 2).map(id => id -> f"text of sixteen $number%08d".take(16))
    val bounds = longs.map { case (id, v) => id -> SingleValue.encode(LongLiteral(v)) } ++
      texts.map { case (id, v) => id -> SingleValue.encode(StringLiteral(v)) }
    val ids = 1 to Columns
    ContentFile(
      Content.Data,
      f"$location/data/p=$partition/$number%08d-fake-9f1c2b7e-0001.parquet",
      FileFormat.Parquet,
      0,
      PartitionTuple(Vector(Some(IntLiteral(partition)))),
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

  private def empty(location: String): TableMetadata = MetadataUpdate.create(
    Sample.creation(new UUID(0, 1), location, schema, spec) :+
      SetProperties(Map("commit.manifest.target-size-bytes" -> ManifestBytes.toString)),
    nowMs = 0
  )

  private object NoCommitter extends Committer {
    override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion =
      throw IcebergError.Unsupported(s"a commit to $id", "This table can only be planned")
    override def load(id: TableIdentifier): TableVersion =
      throw IcebergError.Unsupported(s"loading $id", "This table can only be planned")
  }
}
