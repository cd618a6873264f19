package iceberglite.spec.metadata

import iceberglite.spec.IcebergError.Unsupported

/** Detects encrypted tables (version 3, `encryption-keys`), which this release does not support. */
object Encryption {

  /** The table property that requests encryption. */
  val KeyIdProperty = "encryption.key-id"

  /**
   * Rejects an encrypted table. Call this before any file of the table is read or written: an encrypted file cannot be
   * decoded, and a plain file would expose data that its owner wants encrypted. The metadata itself may be read.
   *
   * @throws Unsupported the table is encrypted
   */
  def reject(metadata: TableMetadata): Unit = findEncryption(metadata).foreach { found =>
    throw Unsupported(
      s"encrypted table at ${metadata.location} ($found)",
      "Read and write it with an engine that has its keys; its snapshots, history and refs can be read here"
    )
  }

  private def findEncryption(m: TableMetadata): Option[String] =
    m.encryptionKeys.headOption.map(k => s"encryption-keys has the key ${k.keyId}")
      .orElse(m.properties.get(KeyIdProperty).map(id => s"$KeyIdProperty is $id"))
      .orElse(m.snapshots.collectFirst { case s if s.keyId.isDefined => s"snapshot ${s.snapshotId} has a key-id" })
}
