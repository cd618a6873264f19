package iceberglite.inspect

import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{IntType, LongType, StringType}
import iceberglite.table.Table
import iceberglite.tree.MetadataTree

/**
 * The metadata table `tree`: the files of a snapshot's metadata tree, which are a root or manifest list and manifests.
 * Apache Iceberg has no such metadata table.
 */
object MetadataTreeTable extends MetadataTable {
  override val name = "tree"
  override val showsOneSnapshot = true

  private val columns = Schema(
    0,
    Vector(
      NestedField.required(1, "level", IntType, "0: root or manifest list, 1: manifest to which it refers"),
      NestedField.required(2, "content", StringType, "manifest list, root, data or deletes"),
      NestedField.required(3, "path", StringType, "Path of the metadata file"),
      NestedField.optional(4, "length", LongType, "Length of the file in bytes; null for a manifest list"),
      NestedField.optional(5, "partition_spec_id", IntType, "Partition spec of all files that a manifest lists"),
      NestedField.required(6, "added_snapshot_id", LongType, "Snapshot that added the file to the tree"),
      NestedField.optional(7, "entries", LongType, "Number of entries in the file; null if it is not known"),
      NestedField.optional(
        8,
        "deleted_entries",
        LongType,
        "Number of entries that are not live: deleted entries, and entries that the manifest's deletion vector removes"
      ),
      NestedField.optional(
        9,
        "overlapping_manifests",
        LongType,
        "Number of other manifests with the same content whose bounds overlap those of the manifest in every column " +
          "and partition field for which both have bounds; null for the root or manifest list, and if there are more " +
          s"than ${PartOverlaps.MaxParts} manifests"
      )
    )
  )

  override def schema(table: Table): Schema = columns

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] =
    snapshot.iterator.flatMap { s =>
      val tree = table.tree()
      val files = MetadataTree.at(s, tree)
      val root = files.treeRoot.map(_.path)
      lazy val overlaps =
        PartOverlaps.count(files.parts.filterNot(part => root.contains(part.path)), tree.specs, table.schema)
      files.nodes.iterator.map { node =>
        MetadataRow.of(
          node.level,
          node.kind.name,
          node.path,
          node.length,
          node.specId,
          node.snapshotId,
          node.entries,
          node.deleted,
          if (node.level == 0) None else overlaps.flatMap(_.get(node.path))
        )
      }
    }
}
