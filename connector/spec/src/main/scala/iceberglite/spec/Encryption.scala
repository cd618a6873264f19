package iceberglite.spec

import iceberglite.spec.IcebergError.Unsupported

/** What says that a table's files are encrypted (version 3, `encryption-keys`). This release has no keys for them. */
object Encryption {

  /** The table property that asks writers to encrypt. */
  val KeyIdProperty = "encryption.key-id"

  /**
   * To be called before any file of the table is read or written: an encrypted one would be read as garbage, a plain
   * one would lie open where its owner wants it closed. The metadata itself may be looked at.
   *
   * @throws Unsupported where the table is encrypted
   */
  def refuse(metadata: TableMetadata): Unit = sign(metadata).foreach { found =>
    throw Unsupported(
      s"encrypted table at ${metadata.location} ($found)",
      "Read and write it with an engine that has its keys; its snapshots, history and refs can be read here"
    )
  }

  private def sign(m: TableMetadata): Option[String] =
    m.encryptionKeys.headOption.map(k => s"encryption-keys has the key ${k.keyId}")
      .orElse(m.properties.get(KeyIdProperty).map(id => s"$KeyIdProperty is $id"))
      .orElse(m.snapshots.collectFirst { case s if s.keyId.isDefined => s"snapshot ${s.snapshotId} has a key-id" })
}
