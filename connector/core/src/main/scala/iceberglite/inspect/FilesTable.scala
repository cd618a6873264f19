package iceberglite.inspect

import iceberglite.spec.file.{ManifestContent, ManifestEntry}
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.table.Table
import iceberglite.tree.{MetadataTree, SeenParts}

/**
 * The live files of one snapshot or of all snapshots.
 *
 * @param contents the kinds of manifests whose files are shown: data, deletes or both
 * @param scope the snapshots whose files are shown
 */
final class FilesTable private (
    override val name: String,
    contents: Seq[ManifestContent],
    scope: FileScope
) extends MetadataTable {
  override def showsOneSnapshot: Boolean = scope == FileScope.OneSnapshot

  override def schema(table: Table): Schema = {
    val fields = new ContentFileColumns(new PartitionStruct(table.metadata)).fields
    Schema(0, fields :+ new ReadableMetrics(table.schema).field(ContentFileColumns.idsAbove(fields)))
  }

  override def rows(table: Table, snapshot: Option[Snapshot]): Iterator[MetadataRow] = {
    val columns = new ContentFileColumns(new PartitionStruct(table.metadata))
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
    new FilesTable("files", ManifestContent.all, FileScope.OneSnapshot),
    new FilesTable("data_files", data, FileScope.OneSnapshot),
    new FilesTable("delete_files", deletes, FileScope.OneSnapshot),
    new FilesTable("all_files", ManifestContent.all, FileScope.AllSnapshots),
    new FilesTable("all_data_files", data, FileScope.AllSnapshots),
    new FilesTable("all_delete_files", deletes, FileScope.AllSnapshots)
  )
}

/** The snapshots whose files a metadata table shows: one snapshot or all snapshots. */
sealed private[inspect] trait FileScope {

  /**
   * Returns the entries of the manifests of these snapshots. If several snapshots share a manifest, its entries are
   * returned only once.
   */
  def entries(table: Table, snapshot: Option[Snapshot], contents: Seq[ManifestContent]): Iterator[ManifestEntry]
}

private[inspect] object FileScope {
  case object OneSnapshot extends FileScope {
    override def entries(
        table: Table,
        snapshot: Option[Snapshot],
        contents: Seq[ManifestContent]
    ): Iterator[ManifestEntry] = snapshot.iterator.flatMap { s =>
      val files = MetadataTree.at(s, table.tree())
      files.parts.iterator.filter(p => contents.contains(p.content)).flatMap(files.entries)
    }
  }

  case object AllSnapshots extends FileScope {
    override def entries(
        table: Table,
        snapshot: Option[Snapshot],
        contents: Seq[ManifestContent]
    ): Iterator[ManifestEntry] = {
      val seen = new SeenParts
      val tree = table.tree()
      table.metadata.snapshots.iterator.flatMap { s =>
        val files = MetadataTree.at(s, tree)
        files.reachable(seen).parts.iterator.filter(p => contents.contains(p.content)).flatMap(files.entries)
      }
    }
  }
}
