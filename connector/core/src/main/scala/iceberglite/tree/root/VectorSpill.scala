package iceberglite.tree.root

import java.nio.ByteBuffer

import iceberglite.encryption.FileKey
import iceberglite.puffin.{DeletionVectorFiles, NewBlob, PuffinWriter}
import iceberglite.spec.file.EntryStatus
import iceberglite.storage.{EncryptedFileIO, FileSink}
import iceberglite.tree.NewSnapshotHeader
import iceberglite.tree.root.VectorContent.{InPuffin, Inline}

/**
 * Moves deletion vectors of leaf manifests from a root manifest to a Puffin file, if they would make the root too
 * large. Only vectors that a commit carries over are moved, so that a commit never writes its new vectors to a separate
 * file.
 *
 * @param newKey returns the key of a new file, if the table is encrypted
 */
final private[root] class VectorSpill(
    header: NewSnapshotHeader,
    output: FileSink,
    limits: RootLimits,
    newKey: () => Option[FileKey]
) {

  /**
   * Returns the entries of a root, in which large vectors are stored in a Puffin file.
   *
   * @param entries the entries that the commit carries over
   * @param newBytes the size of the vectors that the commit adds or removes, which count towards the limit of the root
   * @param all whether to move all vectors
   */
  def spill(entries: Vector[ContentEntry], newBytes: Long, all: Boolean): Vector[ContentEntry] = {
    val chosen = choose(entries, newBytes, all)
    if (chosen.isEmpty) entries
    else {
      val path = s"${header.metadataPath}/${header.commitId}-${header.attempt}-vectors.puffin"
      val key = newKey()
      val written =
        PuffinWriter.write(encrypting(key), path, chosen.iterator.map { case (e, bytes) => blob(e, bytes) })
      val length = key.fold(written.fileSizeInBytes)(_ => EncryptedFileIO.storedLength(written.fileSizeInBytes))
      val moved = chosen.map(_._1).zip(written.blobs).map { case (e, blob) =>
        e -> e.copy(
          location = path,
          fileSizeInBytes = Some(length),
          keyMetadata = key.map(_.withLength(length).encode),
          vector = Some(InPuffin(blob.offset, blob.length))
        )
      }.toMap
      entries.map(e => moved.getOrElse(e, e))
    }
  }

  private def encrypting(key: Option[FileKey]): FileSink = key.fold(output) { ofFile =>
    new FileSink {
      override def write(path: String, contents: Array[Byte]): Unit =
        output.write(path, EncryptedFileIO.encrypt(contents, ofFile))
    }
  }

  /** Returns the vectors to move, the largest first, with their bytes. */
  private def choose(
      entries: Vector[ContentEntry],
      newBytes: Long,
      all: Boolean
  ): Vector[(ContentEntry, ByteBuffer)] = {
    val inline = entries.flatMap(e => e.vector.collect { case Inline(bytes) => e -> bytes })
    val movable = inline.filter(_._1.version.status == EntryStatus.Existing).sortBy(-_._2.remaining)
    val remaining = movable.scanLeft(newBytes + inline.map(_._2.remaining.toLong).sum)(_ - _._2.remaining)
    movable.zip(remaining).takeWhile { case ((_, bytes), total) =>
      all || bytes.remaining > limits.maxVectorBytes || total > limits.maxVectorsBytes
    }.map(_._1)
  }

  private def blob(e: ContentEntry, bytes: ByteBuffer): NewBlob =
    DeletionVectorFiles.blob(e.referencedFile.mkString, e.recordCount, ManifestVectors.copy(bytes))
}
