package iceberglite.tree.root

import java.lang.ref.WeakReference
import java.nio.charset.StandardCharsets.US_ASCII

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.metadata.{Snapshot, TableMetadata}
import iceberglite.spec.partition.TableExpression
import iceberglite.spec.schema.Schema
import iceberglite.tree.{
  FileChanges,
  ManifestCache,
  MetadataTree,
  SnapshotFiles,
  NewSnapshotHeader,
  TreeTable,
  WrittenTree
}

/**
 * The layout of metadata trees in version 4: a root manifest, which lists files and leaf manifests. A small commit
 * writes only a new root. Entries of a leaf are removed by a deletion vector that the root lists, so that a removal
 * does not rewrite the leaf. Roots and new leaves are Parquet files with the same columns. Manifests that were written
 * in an earlier version of the table remain as leaves in Avro.
 *
 * @param expressions returns the expressions of a table. Each partition field whose transform is neither identity nor
 *   void must have one
 * @param limits the limits of tables whose properties do not set them
 */
final private[iceberglite] class RootTree(
    expressions: TableMetadata => Vector[TableExpression],
    limits: RootLimits = RootLimits()
) extends MetadataTree {
  private val Magic = "PAR1".getBytes(US_ASCII)

  override def canRead(path: String, head: => Array[Byte]): Boolean =
    path.endsWith(".parquet") || !path.endsWith(".avro") && head.startsWith(Magic)

  override def canWrite(version: FormatVersion): Boolean = version > FormatVersion.V3

  override def at(snapshot: Snapshot, table: TreeTable, cache: ManifestCache): SnapshotFiles =
    new RootFiles(snapshot, table, columnsOf(table), cache)

  override def write(
      header: NewSnapshotHeader,
      table: TreeTable,
      parent: Option[SnapshotFiles],
      changes: FileChanges,
      earlier: Option[WrittenTree],
      cache: ManifestCache
  ): WrittenTree = {
    val earlierRoot = earlier.collect { case root: WrittenRoot => root }
    val ownLimits = limits.withProperties(table.metadata.properties)
    new RootWriter(header, table, parent, changes, earlierRoot, columnsOf(table), ownLimits, cache).run()
  }

  /** The columns of the table version that was used last, because it is often used again. */
  @volatile private var latest = Option.empty[RootTree.ColumnsOfVersion]

  private def columnsOf(table: TreeTable): StatsColumns =
    latest.filter(_.isOf(table)).map(_.columns).getOrElse {
      val columns =
        try StatsColumns.of(table.metadata, table.specs, expressions(table.metadata))
        catch { case EntryFault(reason) => throw InvalidMetadata(table.name, "$.expressions", reason) }
      latest = Some(new RootTree.ColumnsOfVersion(new WeakReference(table.metadata), table.schema, columns))
      columns
    }
}

private object RootTree {

  /** The columns of a table version. @param schema the schema that determines the types of partition values */
  final private class ColumnsOfVersion(
      metadata: WeakReference[TableMetadata],
      schema: Schema,
      val columns: StatsColumns
  ) {
    def isOf(table: TreeTable): Boolean = (metadata.get eq table.metadata) && (schema eq table.schema)
  }
}
