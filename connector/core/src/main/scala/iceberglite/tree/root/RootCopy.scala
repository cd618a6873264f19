package iceberglite.tree.root

import java.nio.ByteBuffer

import iceberglite.spec.file.{ContentFile, EntryStatus, ManifestEntry}
import iceberglite.storage.FileIO
import iceberglite.tree.TreeCopy
import iceberglite.tree.root.VectorContent.{InPuffin, Inline}

/** Writes copies of root manifests and leaf manifests in which files have other paths. */
final private[root] class RootCopy(io: FileIO, columns: StatsColumns, copy: TreeCopy) {
  private val files = new EntryFiles(columns)

  /** Writes a copy of a leaf with the columns of version 4. @return the length of the copy in bytes */
  def writeLeaf(part: LeafPart): Long = RootManifests.guard(part.path) {
    val contents = part.contents(io)
    write(part.path, contents.kind, contents.entries.map(e => copied(e, part.inherit(e))))
  }

  /** Writes a copy of a root. @param lengths the lengths of copied leaves, by path */
  def writeRoot(root: RootFiles, lengths: Map[String, Long]): Unit = RootManifests.guard(root.path) {
    write(root.path, ManifestKind.Root, root.root.map(e => copied(root.path, e, lengths)))
  }

  private def write(path: String, kind: ManifestKind, entries: Vector[ContentEntry]): Long = {
    val target = copy.writePath(path)
    val bytes = RootManifests.write(target, kind, columns, entries)
    io.write(target, bytes)
    bytes.length.toLong
  }

  /** Returns the entry of the copy. Vectors of leaves become inline, because their Puffin files are not copied. */
  private def copied(root: String, e: ContentEntry, lengths: Map[String, Long]): ContentEntry = {
    val referenced = e.referencedFile.map(copy.referencePath)
    e.content match {
      case EntryContent.DataManifest | EntryContent.DeleteManifest => e.copy(
          location = copy.referencePath(e.location),
          fileSizeInBytes = lengths.get(e.location).orElse(e.fileSizeInBytes),
          referencedFile = referenced
        )
      case EntryContent.ManifestVector =>
        val bytes = ByteBuffer.wrap(ManifestVectors.read(io, root, e).toBytes)
        e.copy(location = "", fileSizeInBytes = None, vector = Some(Inline(bytes)), referencedFile = referenced)
      case EntryContent.Data | EntryContent.PositionDeletes | EntryContent.EqualityDeletes => copied(e, e)
    }
  }

  /**
   * Returns the entry of a data or delete file in the copy.
   *
   * @param inherited the entry with its inherited snapshot id and sequence numbers
   */
  private def copied(e: ContentEntry, inherited: ContentEntry): ContentEntry = {
    val file = copy.file(files.toEntry(inherited))
    e.copy(
      location = file.path,
      fileSizeInBytes = Some(file.fileSizeInBytes),
      vector = for (offset <- file.contentOffset; size <- file.contentSizeInBytes) yield InPuffin(offset, size),
      referencedFile = file.referencedDataFile
    )
  }
}

/**
 * Copies a leaf from which a deletion vector removes entries. The copy has the removed entries too, because the
 * positions of entries must not change. The removed entries are passed to `copy` as deleted entries, because their
 * files may not exist any more.
 *
 * @param removed the removed entries
 */
final private[root] class CopyWithRemovedFiles(copy: TreeCopy, removed: Iterator[ManifestEntry]) extends TreeCopy {
  private val removedFiles = removed.map(e => InlinePart.key(e)).toSet

  override def referencePath(path: String): String = copy.referencePath(path)

  override def writePath(path: String): String = copy.writePath(path)

  override def file(entry: ManifestEntry): ContentFile =
    copy.file(if (removedFiles(InlinePart.key(entry))) entry.copy(status = EntryStatus.Deleted) else entry)
}
