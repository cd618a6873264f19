package iceberglite.inspect

import iceberglite.spec.{ManifestContent, ManifestEntry, ManifestFile, Schema, Snapshot}
import iceberglite.table.Table
import iceberglite.tree.MetadataTree

/**
 * The live files of a snapshot.
 *
 * @param contents which manifests are looked at
 */
final class FilesTable private (
    override val name: String,
    contents: Seq[ManifestContent],
    scope: ManifestScope
) extends MetadataTable {
  override def isOfSnapshot: Boolean = scope == ManifestScope.OfSnapshot

  override def schema(table: Table): Schema = {
    val fields = new FileColumns(new UnionPartition(table.metadata)).fields
    Schema(0, fields :+ new ReadableMetrics(table.schema).field(FileColumns.idsAbove(fields)))
  }

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] = {
    val columns = new FileColumns(new UnionPartition(table.metadata))
    val readable = new ReadableMetrics(table.schema)
    scope.entries(table, snapshot, contents).filter(_.isLive).map { e =>
      MetadataRow(columns.values(e.file) :+ readable.value(e.file))
    }
  }
}

object FilesTable {
  private val data = Seq(ManifestContent.Data)
  private val deletes = Seq(ManifestContent.Deletes)

  val all: Seq[FilesTable] = Seq(
    new FilesTable("files", ManifestContent.all, ManifestScope.OfSnapshot),
    new FilesTable("data_files", data, ManifestScope.OfSnapshot),
    new FilesTable("delete_files", deletes, ManifestScope.OfSnapshot),
    new FilesTable("all_files", ManifestContent.all, ManifestScope.OfHistory),
    new FilesTable("all_data_files", data, ManifestScope.OfHistory),
    new FilesTable("all_delete_files", deletes, ManifestScope.OfHistory)
  )
}

/** Which manifests a metadata table is about; each is read once, when its rows are asked for. */
sealed private[inspect] trait ManifestScope {
  def manifests(table: Table, tree: MetadataTree, snapshot: Option[Snapshot]): Iterator[ManifestFile]

  final def entries(
      table: Table,
      snapshot: Option[Snapshot],
      contents: Seq[ManifestContent]
  ): Iterator[ManifestEntry] = {
    val tree = MetadataTree.of(table.io, table.metadata)
    manifests(table, tree, snapshot).filter(m => contents.contains(m.content)).flatMap(tree.entries)
  }
}

private[inspect] object ManifestScope {
  case object OfSnapshot extends ManifestScope {
    override def manifests(table: Table, tree: MetadataTree, snapshot: Option[Snapshot]): Iterator[ManifestFile] =
      snapshot.iterator.flatMap(tree.manifests)
  }

  /** Those of all snapshots, each once. */
  case object OfHistory extends ManifestScope {
    override def manifests(table: Table, tree: MetadataTree, snapshot: Option[Snapshot]): Iterator[ManifestFile] = {
      val seen = scala.collection.mutable.Set.empty[String]
      table.metadata.snapshots.iterator.flatMap(tree.manifests).filter(m => seen.add(m.path))
    }
  }
}
