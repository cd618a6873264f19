package iceberglite.scan.stream

import iceberglite.scan.{FileScanTask, PartReader}
import iceberglite.scan.deletes.DeleteIndex
import iceberglite.spec.file.ManifestContent
import iceberglite.spec.metadata.Snapshot
import iceberglite.tree.{FilePart, ManifestCache, MetadataTree, TreeTable}

/**
 * All live files of a snapshot, in the order of its metadata tree. The snapshot never changes, so a stream uses the
 * same object, and the same index of deletes, for all batches that read the snapshot.
 */
final private[stream] class WholeSnapshot(val snapshot: Snapshot, table: TreeTable, cache: ManifestCache) {
  private val reader = PartReader.ofAllFiles(table)
  private lazy val tree = MetadataTree.at(snapshot, table, cache)
  private lazy val (data, deletes) = tree.parts.filter(_.hasLiveFiles).partition(_.content == ManifestContent.Data)

  private lazy val deleteIndex: DeleteIndex = {
    val live = deletes.flatMap(part => reader.deletes(part, tree.entries(part), oldest = 0L))
    if (live.isEmpty) DeleteIndex.Empty else DeleteIndex.of(live, table.metadata.specsById, reader.keys)
  }

  /**
   * Returns the files after the first `skipped` files, with the deletes that apply to them. Parts of the metadata tree
   * (manifests in format versions 1 to 3) are read when their files are needed. Parts with only skipped files are not
   * read.
   */
  def files(skipped: Long): Iterator[FileScanTask] = {
    var first = 0L
    data.iterator.flatMap { part =>
      if (part.liveFiles.exists(first + _ <= skipped)) {
        first += part.liveFiles.sum
        Iterator.empty
      } else {
        val tasks = tasksOf(part)
        val remaining = tasks.drop(math.min(tasks.size.toLong, math.max(0L, skipped - first)).toInt)
        first += tasks.size
        remaining.iterator
      }
    }
  }

  private def tasksOf(part: FilePart): Vector[FileScanTask] = {
    val tasks = reader.select(part, tree.entries(part)).tasks
    if (deletes.isEmpty) tasks else FileScanTask.withDeletes(tasks, deleteIndex)
  }
}
