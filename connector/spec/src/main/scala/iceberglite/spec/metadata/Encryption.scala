package iceberglite.spec.metadata

import java.util.Locale

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported, ValidationFailed}

/** Rules about encrypted tables (version 3, `encryption-keys`). */
object Encryption {

  /** The table property for the id of the master key. */
  val KeyIdProperty = "encryption.key-id"

  private val StatisticsKeyStart = "statistics-"

  /** The table property for the length of the keys of files, in bytes. */
  val KeyLengthProperty = "encryption.data-key-length"

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
   * Checks the properties of a new table.
   *
   * @throws InvalidArgument if the table is encrypted and its format version does not allow this, or if a property of
   *   encryption is unknown, so that the files would not be encrypted as requested
   */
  def checkNew(metadata: TableMetadata): Unit = {
    val known = Seq(KeyIdProperty, KeyLengthProperty)
    metadata.properties.find { case (key, _) => isOfEncryption(key) && !known.contains(key) }.foreach {
      case (key, value) => throw InvalidArgument(
          s"table property $key",
          value,
          s"The properties of encrypted tables are ${known.mkString(" and ")}"
        )
    }
    if (metadata.properties.contains(KeyLengthProperty) && !metadata.properties.contains(KeyIdProperty))
      throw InvalidArgument(
        s"table property $KeyLengthProperty",
        metadata.properties(KeyLengthProperty),
        s"Without $KeyIdProperty, the table is not encrypted. Set both or none of them"
      )
    checkVersion(metadata)
  }

  private def isOfEncryption(key: String): Boolean = key.toLowerCase(Locale.ROOT).startsWith("encryption.")

  private def checkVersion(metadata: TableMetadata): Unit =
    Seq(KeyIdProperty, KeyLengthProperty).filter(metadata.properties.contains).foreach { key =>
      if (metadata.formatVersion < FormatVersion.V3) throw InvalidArgument(
        s"table property $key",
        metadata.properties(key),
        s"Tables of format version ${metadata.formatVersion} cannot be encrypted. Set format-version to " +
          s"${FormatVersion.V3}"
      )
    }

  /**
   * Checks that a change of the metadata does not make an unencrypted table encrypted, or change or remove the key of
   * an encrypted table.
   *
   * @throws ValidationFailed if the change sets, changes or removes the key
   */
  def checkUnchanged(base: TableMetadata, next: TableMetadata): Unit =
    (base.properties.get(KeyIdProperty), next.properties.get(KeyIdProperty)) match {
      case (before, after) if before == after => ()
      case (None, Some(_)) => throw ValidationFailed(
          s"Cannot set $KeyIdProperty of the table at ${base.location}: it can be set only when a table is " +
            "created, because existing files would stay unencrypted. Create an encrypted table and insert the rows"
        )
      case _ => throw ValidationFailed(
          s"Cannot change or remove $KeyIdProperty of the table at ${base.location}: the key decrypts its existing " +
            "files"
        )
    }

  /**
   * Rejects an encrypted table, for operations that would write unencrypted files or metadata without keys.
   *
   * @param operation the operation, with a preposition, such as "a clone of"
   * @throws Unsupported if the table is encrypted
   */
  def reject(metadata: TableMetadata, operation: String, advice: String): Unit =
    findEncryption(metadata).foreach { evidence =>
      throw Unsupported(s"$operation the encrypted table at ${metadata.location} ($evidence)", advice)
    }

  /**
   * Returns the id that the key of a statistics file has in `encryption-keys`. It is derived from the name of the file,
   * because Apache Iceberg and the protocol of REST catalogs do not preserve the `key-metadata` of statistics files.
   */
  def statisticsKeyId(path: String): String = s"$StatisticsKeyStart${path.substring(path.lastIndexOf('/') + 1)}"

  /** Whether a key was added for a statistics file. */
  def isStatisticsKey(key: EncryptionKey): Boolean = key.keyId.startsWith(StatisticsKeyStart)

  /**
   * Returns the entry of `encryption-keys` with the key of a statistics file; absent if the file is not encrypted, or
   * if its key is not in the metadata.
   */
  def keyOf(metadata: TableMetadata, file: StatisticsFile): Option[EncryptionKey] = {
    val ids = file.keyMetadata.toSet + statisticsKeyId(file.statisticsPath)
    metadata.encryptionKeys.find(key => ids(key.keyId))
  }

  /**
   * Returns the partition statistics files that can be read: none if the table is encrypted. The specification defines
   * no key for these files, and an unencrypted file of an encrypted table may have been forged.
   */
  def readablePartitionStatistics(metadata: TableMetadata): Vector[PartitionStatisticsFile] =
    if (metadata.properties.contains(KeyIdProperty)) Vector.empty else metadata.partitionStatistics

  /**
   * Whether the content of a statistics file can be read. In an encrypted table, a file without a key is not read,
   * because it may have been forged by anyone with write access to the storage.
   */
  def isReadable(metadata: TableMetadata, file: StatisticsFile): Boolean =
    !metadata.properties.contains(KeyIdProperty) || keyOf(metadata, file).isDefined

  /**
   * Returns a description of the part of the metadata that shows that the table is encrypted; absent if the table is
   * not encrypted.
   */
  private def findEncryption(m: TableMetadata): Option[String] =
    m.properties.get(KeyIdProperty).map(id => s"$KeyIdProperty is $id")
      .orElse(m.encryptionKeys.headOption.map(k => s"encryption-keys has the key ${k.keyId}"))
      .orElse(m.snapshots.collectFirst { case s if s.keyId.isDefined => s"snapshot ${s.snapshotId} has a key-id" })
}
