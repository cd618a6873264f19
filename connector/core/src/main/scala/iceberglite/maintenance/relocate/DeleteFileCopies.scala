package iceberglite.maintenance.relocate

import iceberglite.data.{PositionDeleteFiles, WrittenFile}
import iceberglite.puffin.{PuffinFile, PuffinWriter}
import iceberglite.spec.file.{ContentFile, Metrics}
import iceberglite.spec.metadata.BlobProperty
import iceberglite.storage.FileIO
import iceberglite.tree.MetadataPool

/**
 * A position delete file or a Puffin file with deletion vectors to copy.
 *
 * @param file the manifest entry of the file. A Puffin file with several deletion vectors has several entries, and this
 *   is one of them
 * @param writePath the path of the copy
 */
final case class DeleteFileToCopy(file: ContentFile, writePath: String)

/**
 * The copy of a delete file.
 *
 * @param original the path of the original file
 * @param copy the new file; without metrics if it contains deletion vectors
 */
final case class CopiedDeleteFile(original: String, copy: WrittenFile)

/**
 * Copies delete files, and replaces the prefix of the paths of data files in them. Serializable, so that executors can
 * write the copies.
 *
 * @param prefixes the prefix of the paths in the original files, and the prefix that replaces it
 * @param properties table properties that configure the writer of the copies
 */
final case class DeleteFileCopier(io: FileIO, prefixes: PathPrefixes, properties: Map[String, String]) {

  /**
   * Writes a copy.
   *
   * @throws iceberglite.spec.IcebergError.ValidationFailed if the path of a data file lacks the source prefix
   * @throws iceberglite.spec.IcebergError.UnreadableFile if the original file is missing or damaged
   */
  def write(source: DeleteFileToCopy): CopiedDeleteFile = {
    val file = source.file
    if (file.isDeletionVector) {
      val puffin = PuffinFile.open(io, file.path, Some(file.fileSizeInBytes))
      val length = PuffinWriter.copy(io, puffin, source.writePath)(_.metadata.properties.map {
        case (BlobProperty.ReferencedDataFile, path) => BlobProperty.ReferencedDataFile -> withTargetPrefix(path)
        case other => other
      })
      val copy = WrittenFile(source.writePath, file.format, file.recordCount, length, Metrics.Empty, Vector.empty)
      CopiedDeleteFile(file.path, copy)
    } else {
      val files = new PositionDeleteFiles(io, file.format, properties)
      CopiedDeleteFile(file.path, files.copy(file.path, file.fileSizeInBytes, source.writePath)(withTargetPrefix))
    }
  }

  private def withTargetPrefix(path: String): String = prefixes("data file", path)
}

/** Copies delete files. Implementations differ in where they run: in this JVM, or on a cluster. */
trait DeleteFileCopies {

  /** Writes the copies. On failure, copies may have been written, which the caller must delete. */
  def write(files: Vector[DeleteFileToCopy], copier: DeleteFileCopier): Vector[CopiedDeleteFile]
}

/** Copies delete files in this JVM. */
object LocalDeleteFileCopies extends DeleteFileCopies {
  override def write(files: Vector[DeleteFileToCopy], copier: DeleteFileCopier): Vector[CopiedDeleteFile] =
    MetadataPool.map(files)(copier.write)
}
