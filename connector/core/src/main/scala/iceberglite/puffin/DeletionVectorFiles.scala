package iceberglite.puffin

import iceberglite.encryption.{FileKey, GcmBlocks}
import iceberglite.spec.IcebergError.{InvalidArgument, UnreadableFile}
import iceberglite.spec.file.{Content, ContentFile, FileFormat, Metrics}
import iceberglite.spec.metadata.{BlobMetadata, BlobProperty, BlobType, PuffinBlob}
import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.schema.MetadataColumns
import iceberglite.storage.{EncryptedFileIO, FileIO, FileSink}

/**
 * The deleted rows of one data file for which a deletion vector is written.
 *
 * @param dataFile path of the data file, as in the manifest entry of the file
 * @param specId partition spec of the data file
 * @param partition partition of the data file
 */
final case class DeletedRows(dataFile: String, specId: Int, partition: PartitionTuple, positions: DeletionVector)

/** Reads and writes deletion vectors in Puffin files, and creates their delete file entries for manifests. */
object DeletionVectorFiles {

  /** The size in bytes above which the beginning of a vector's blob is checked before the whole blob is read. */
  private val LargeVectorBytes = 16L << 20

  /**
   * Reads the deletion vector of a delete file without the footer of the Puffin file. This takes one request, or two
   * if the vector has more than 16 MiB.
   *
   * @throws UnreadableFile if the vector cannot be read, or does not match the manifest entry
   */
  def read(io: FileIO, file: ContentFile): DeletionVector = {
    val role = s"deletion vector of ${file.referencedDataFile.getOrElse("an unnamed data file")} in"
    def fail(reason: String): Nothing = throw UnreadableFile(file.path, role, reason)
    if (!file.isDeletionVector)
      fail(
        s"The manifest entry has the content ${file.content.name} and the format ${file.format.name}, so it is not a " +
          "deletion vector"
      )
    val dataFile = file.referencedDataFile.getOrElse(fail("The manifest entry has no referenced_data_file"))
    val offset = file.contentOffset.getOrElse(fail("The manifest entry has no content_offset"))
    val size = file.contentSizeInBytes.getOrElse(fail("The manifest entry has no content_size_in_bytes"))
    if (offset < 0 || size < 0 || size > Int.MaxValue || size > file.fileSizeInBytes - offset) {
      fail(s"The manifest entry states $size bytes at offset $offset, but the file has ${file.fileSizeInBytes} bytes")
    }
    val content = EncryptedFileIO.reading(io, file.path, file.keyMetadata)
    def range(length: Int) =
      try content.readRange(file.path, offset, length)
      catch { case e: UnreadableFile => throw e.copy(role = role) }
    if (size > LargeVectorBytes) {
      DeletionVectorBytes.checkHeader(range(DeletionVectorBytes.HeaderSize), size).foreach(fail(_))
    }
    val bytes = range(size.toInt)
    val vector = DeletionVector.parse(file.path, dataFile, bytes)
    if (vector.cardinality != file.recordCount) {
      fail(s"The vector deletes ${vector.cardinality} rows, but its manifest entry states ${file.recordCount}")
    }
    vector
  }

  /**
   * Writes the deletion vectors of several data files to one Puffin file.
   *
   * @param deleted the deleted rows of each data file. Elements without positions are ignored. If there are no other
   *   elements, no file is written
   * @return one delete file entry for each vector, for the commit that adds the deletes
   * @throws InvalidArgument if two elements have the same data file, because a data file can have only one deletion
   *   vector
   */
  def write(io: FileIO, path: String, deleted: Seq[DeletedRows]): Vector[ContentFile] = {
    val rows = deleted.filterNot(_.positions.isEmpty).toVector
    rows.groupBy(_.dataFile).collectFirst { case (dataFile, several) if several.size > 1 => dataFile }.foreach { file =>
      throw InvalidArgument(
        "deletion vectors",
        file,
        "A data file can have only one deletion vector. Merge the deletion vectors of this file"
      )
    }
    if (rows.isEmpty) Vector.empty
    else {
      val key = io.newFileKey()
      val written = PuffinWriter.write(
        key.fold[FileSink](io)(EncryptedFileIO(io, path, _)),
        path,
        rows.iterator.map(r => blob(r.dataFile, r.positions.cardinality, r.positions.toBytes))
      )
      rows.zip(written.blobs).map { case (r, b) => entry(written, r, b, key) }
    }
  }

  /**
   * Returns the blob of a deletion vector of a data file or, in version 4, of a leaf manifest. The snapshot id and the
   * sequence number of the blob are -1, which means that they are inherited from the commit.
   */
  private[iceberglite] def blob(file: String, cardinality: Long, contents: Array[Byte]): NewBlob = {
    val properties = Map(BlobProperty.ReferencedDataFile -> file, BlobProperty.Cardinality -> cardinality.toString)
    val metadata = BlobMetadata(BlobType.DeletionVector, -1L, -1L, Vector(MetadataColumns.Position.id), properties)
    NewBlob(metadata, contents)
  }

  private def entry(
      written: WrittenPuffin,
      rows: DeletedRows,
      blob: PuffinBlob,
      key: Option[FileKey]
  ): ContentFile = {
    val length = key.fold(written.fileSizeInBytes)(_ => GcmBlocks.Standard.storedLength(written.fileSizeInBytes))
    ContentFile(
      Content.PositionDeletes,
      written.path,
      FileFormat.Puffin,
      rows.specId,
      rows.partition,
      rows.positions.cardinality,
      length,
      Metrics.Empty,
      key.map(_.withLength(length).encode),
      referencedDataFile = Some(rows.dataFile),
      contentOffset = Some(blob.offset),
      contentSizeInBytes = Some(blob.length)
    )
  }
}
