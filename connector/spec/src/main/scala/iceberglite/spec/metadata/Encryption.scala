package iceberglite.spec.metadata

import iceberglite.spec.IcebergError.{Unsupported, ValidationFailed}

/** Detects encrypted tables (version 3, `encryption-keys`), which this release does not support. */
object Encryption {

  /** The table property that requests encryption. */
  val KeyIdProperty = "encryption.key-id"

  /** The table property for the length of the keys of files, in bytes. */
  val KeyLengthProperty = "encryption.data-key-length"

  val DefaultKeyLength = 16

  /**
   * Returns the id of the master key of an encrypted table; absent if the table is not encrypted.
   *
   * @throws ValidationFailed if files of the table are encrypted, but the table has no master key
   */
  def keyIdOf(metadata: TableMetadata): Option[String] = metadata.properties.get(KeyIdProperty).orElse(
    findEncryption(metadata).map(evidence =>
      throw ValidationFailed(
        s"The table at ${metadata.location} has encrypted files ($evidence), but no table property $KeyIdProperty. " +
          "Restore the property with the id of the table's key, in the catalog or in the metadata file"
      )
    )
  )

  /**
   * Rejects an encrypted table. This method must be called before any file of the table is read or written, because an
   * encrypted file cannot be decoded, and an unencrypted file would expose data that must be encrypted. The table
   * metadata may be read.
   *
   * @throws Unsupported if the table is encrypted
   */
  def reject(metadata: TableMetadata): Unit = findEncryption(metadata).foreach { evidence =>
    throw Unsupported(
      s"encrypted table at ${metadata.location} ($evidence)",
      "Read and write the table with an engine that has its keys. Only its snapshots, history and refs can be read here"
    )
  }

  /**
   * Returns a description of the part of the metadata that shows that the table is encrypted; absent if the table is
   * not encrypted.
   */
  private def findEncryption(m: TableMetadata): Option[String] =
    m.encryptionKeys.headOption.map(k => s"encryption-keys has the key ${k.keyId}")
      .orElse(m.properties.get(KeyIdProperty).map(id => s"$KeyIdProperty is $id"))
      .orElse(m.snapshots.collectFirst { case s if s.keyId.isDefined => s"snapshot ${s.snapshotId} has a key-id" })
}
