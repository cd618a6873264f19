package iceberglite.spec.metadata

import iceberglite.spec.IcebergError.Unsupported

/** Detects encrypted tables (version 3, `encryption-keys`), which this release does not support. */
object Encryption {

  /** The table property that requests encryption. */
  val KeyIdProperty = "encryption.key-id"

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
