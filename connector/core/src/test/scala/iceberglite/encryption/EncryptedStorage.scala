package iceberglite.encryption

import iceberglite.spec.{FormatVersion, SampleTables}
import iceberglite.spec.TestMetadata._
import iceberglite.spec.metadata.Encryption
import iceberglite.storage.{EncryptedTableIO, FileIO}

/** The storage of an encrypted table, for tests of single files. */
object EncryptedStorage {
  private val metadata = SampleTables.withHistory(FormatVersion.V3)
    .edited(properties = Map(Encryption.KeyIdProperty -> "master"))

  def of(storage: FileIO): FileIO = EncryptedTableIO(storage, NewFileKeys.of(metadata).get)
}
