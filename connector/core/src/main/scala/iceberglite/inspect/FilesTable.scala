package iceberglite.inspect

import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.ManifestContent
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.table.Table
import iceberglite.tree.{FilePart, MetadataTree, SeenParts, SnapshotFiles}

/**
 * The files of one snapshot or of all snapshots: the live files, or all entries of the manifests.
 *
 * @param contents the kinds of manifests whose files are shown: data, deletes or both
 * @param scope the snapshots whose files are shown
 */
final class FilesTable private[inspect] (
    override val name: String,
    layout: EntryLayout,
    contents: Seq[ManifestContent],
    scope: FileScope
) extends GroupedTable {
  override def showsOneSnapshot: Boolean = scope == FileScope.OneSnapshot

  override def schema(table: Table): Schema = {
    val files = new ContentFileColumns(new PartitionStruct(table.metadata))
    Schema(0, layout.columns(files, new ReadableMetrics(table.schema), None).map(_.field))
  }

  override def groupsOf(table: Table, snapshot: Option[Snapshot], request: RowRequest): Vector[MetadataRows] = {
    val rows = new EntryRows(layout, new PartitionStruct(table.metadata), table.schema, request)
    val pruning = new EntryPruning(request, table.tree().specs)
    scope.parts(table, snapshot, contents, layout).collect {
      case (files, part) if request.filter == AlwaysTrue || pruning.mightMatch(part) =>
        new PartRows(part, table.io, rows, Some(files))
    }
  }
}

object FilesTable {
  private val data = Seq(ManifestContent.Data)
  private val deletes = Seq(ManifestContent.Deletes)

  /** The tables whose rows are live files. */
  val all: Seq[FilesTable] = Seq(
    new FilesTable("files", EntryLayout.LiveFiles, ManifestContent.all, FileScope.OneSnapshot),
    new FilesTable("data_files", EntryLayout.LiveFiles, data, FileScope.OneSnapshot),
    new FilesTable("delete_files", EntryLayout.LiveFiles, deletes, FileScope.OneSnapshot),
    new FilesTable("all_files", EntryLayout.LiveFiles, ManifestContent.all, FileScope.AllSnapshots),
    new FilesTable("all_data_files", EntryLayout.LiveFiles, data, FileScope.AllSnapshots),
    new FilesTable("all_delete_files", EntryLayout.LiveFiles, deletes, FileScope.AllSnapshots)
  )

  /** The tables whose rows are the entries of manifests, including the entries with status DELETED. */
  val entries: Seq[FilesTable] = Seq(
    new FilesTable("entries", EntryLayout.Entries, ManifestContent.all, FileScope.OneSnapshot),
    new FilesTable("all_entries", EntryLayout.Entries, ManifestContent.all, FileScope.AllSnapshots)
  )
}

/** The snapshots whose files a metadata table shows: one snapshot or all snapshots. */
sealed private[inspect] trait FileScope {

  /**
   * Returns the metadata trees of these snapshots, each with its parts (manifests in format versions 1 to 3). A part of
   * several snapshots is returned only once.
   */
  protected def trees(table: Table, snapshot: Option[Snapshot]): Iterator[(SnapshotFiles, Vector[FilePart])]

  /**
   * Returns the parts with the entries that a metadata table shows, each part with a snapshot that has it. A part that
   * several snapshots share is returned only once.
   */
  final def parts(
      table: Table,
      snapshot: Option[Snapshot],
      contents: Seq[ManifestContent],
      layout: EntryLayout
  ): Vector[(SnapshotFiles, FilePart)] = {
    val tree = table.tree()
    trees(table, snapshot).flatMap { case (files, parts) =>
      // `files` has all parts of the snapshot. The copy has not read them, so that shared parts are in memory once.
      val copy = MetadataTree.at(files.snapshot, tree)
      (parts ++ layout.partsBesides(files)).filter(p => contents.contains(p.content)).map(copy -> _)
    }.toVector
  }
}

private[inspect] object FileScope {
  case object OneSnapshot extends FileScope {
    override protected def trees(
        table: Table,
        snapshot: Option[Snapshot]
    ): Iterator[(SnapshotFiles, Vector[FilePart])] =
      snapshot.iterator.map(MetadataTree.at(_, table.tree())).map(files => files -> files.parts)
  }

  case object AllSnapshots extends FileScope {
    override protected def trees(
        table: Table,
        snapshot: Option[Snapshot]
    ): Iterator[(SnapshotFiles, Vector[FilePart])] = {
      val seen = new SeenParts
      val tree = table.tree()
      table.metadata.snapshots.iterator.map { s =>
        val files = MetadataTree.at(s, tree)
        files -> files.reachable(seen).parts
      }
    }
  }
}
