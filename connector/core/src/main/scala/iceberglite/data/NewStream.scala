package iceberglite.data

import iceberglite.encryption.{FileKey, GcmBlocks}
import iceberglite.storage.{EncryptedFileIO, FileIO}

/**
 * The encryption of a new ORC or Avro file. If the table is encrypted, the file is written as an AES GCM stream with a
 * new key.
 *
 * @param storage the storage of the table
 */
final private[iceberglite] class NewStream(storage: FileIO, path: String) {
  private val key: Option[FileKey] = storage.newFileKey()

  /** The storage with which the file is written. It encrypts the content if necessary. */
  val io: FileIO = key.fold(storage)(EncryptedFileIO(storage, path, _))

  /** Adds the key to the metadata of the complete file, and replaces the length of the content by that of the file. */
  def complete(written: WrittenFile): WrittenFile = key.fold(written) { k =>
    val length = GcmBlocks.Standard.storedLength(written.fileSizeInBytes)
    written.copy(fileSizeInBytes = length, keyMetadata = Some(k.withLength(length).encode))
  }
}
