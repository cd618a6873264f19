package iceberglite.encryption

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

import scala.util.Try

import iceberglite.spec.IcebergError.{InvalidMetadata, Unsupported, UnreadableFile}
import iceberglite.spec.metadata.{Encryption, EncryptionKey, Snapshot, StatisticsFile, TableMetadata}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate.RemoveEncryptionKey

/**
 * The keys of one version of an encrypted table. The key management service encrypts the key encryption keys of the
 * table with the master key of the table, and a key encryption key encrypts the key metadata of each manifest list. The
 * field `encryption-keys` of the table metadata contains the encrypted keys and the encrypted key metadata. This object
 * stays on the driver: tasks need only [[FileKey]]s and [[NewFileKeys]].
 *
 * @param table the name of the table, for messages
 */
final class TableKeys private (table: String, metadata: TableMetadata, masterKeyId: String, service: KeyService) {

  private lazy val byId: Map[String, EncryptionKey] = metadata.encryptionKeys.map(key => key.keyId -> key).toMap

  /** Creates the keys of new files. */
  val newFileKeys: NewFileKeys = NewFileKeys.ofLength(metadata)

  /** Fails if the service does not have the master key, so that no table is created whose files cannot be encrypted. */
  def requireMasterKey(): Unit = {
    service.generate(newFileKeys.keyLength, masterKeyId)
    ()
  }

  /**
   * Requests the key encryption key of new files from the service at the start of a write. The commit of the write
   * finds the key in memory if the write takes less than an hour. If the table has no usable key encryption key yet,
   * only checks that one can be created.
   */
  def prepareWrite(nowMs: Long = System.currentTimeMillis): Unit = {
    metadata.encryptionKeys.find(isUsable(_, nowMs)).fold(requireMasterKey()) { kek =>
      unwrap(kek)
      ()
    }
  }

  /** Fails if the keys of the manifest lists of all snapshots are not available. */
  def requireKeys(): Unit = metadata.snapshots.foreach(manifestListKey)

  /** Returns the key of the manifest list of a snapshot; absent if the manifest list is not encrypted. */
  def manifestListKey(snapshot: Snapshot): Option[FileKey] = snapshot.keyId
    .map(keyWithId(_, snapshot.manifestList.getOrElse(table), s"snapshot ${snapshot.snapshotId}"))

  /**
   * Returns the key of a statistics file. The table metadata is not encrypted. Therefore the key metadata of the file
   * in the table metadata is only the id of an encrypted key in `encryption-keys`.
   *
   * @throws UnreadableFile if the table metadata has no key of the file, so that its content is not authentic
   */
  def statisticsKey(file: StatisticsFile): FileKey = {
    val entry = Encryption.keyOf(metadata, file).getOrElse(throw UnreadableFile(
      file.statisticsPath,
      "statistics file",
      s"The table $table is encrypted, but encryption-keys has no key of this file, so its content is not authentic. " +
        "Call compute_table_stats to replace it"
    ))
    keyWithId(entry.keyId, file.statisticsPath, s"the statistics file ${file.statisticsPath}")
  }

  private def keyWithId(id: String, file: String, user: String): FileKey = {
    val entry = keyOf(id, user)
    val kek = keyOf(
      entry.encryptedById.getOrElse(throw damaged(s"the key $id has no encrypted-by-id")),
      s"the key $id"
    )
    val aad = timestampOf(kek).getBytes(UTF_8)
    val encoded = new AesGcm(unwrap(kek)).decrypt(bytesOf(entry), aad).getOrElse(
      throw damaged(s"the key $id was not encrypted by the key ${kek.keyId}")
    )
    FileKey.decode(file, ByteBuffer.wrap(encoded))
  }

  /**
   * Encrypts the key of a new manifest list or statistics file with a key encryption key of the table. A new key
   * encryption key is created if the table has none that is encrypted with the current master key and less than two
   * years old.
   *
   * @param id the id of the key in the table metadata
   * @return the id for the new snapshot or statistics file, and the keys to add to the table metadata
   */
  def register(fileKey: FileKey, nowMs: Long, id: String = TableKeys.newId()): RegisteredKey = {
    val (kek, key, added) = metadata.encryptionKeys.find(isUsable(_, nowMs)).fold(newKek(nowMs)) { existing =>
      (existing, unwrap(existing), Vector.empty[EncryptionKey])
    }
    val encoded = fileKey.encode.array
    val encrypted = new AesGcm(key).encrypt(encoded, timestampOf(kek).getBytes(UTF_8))
    val entry = EncryptionKey(id, TableKeys.base64(encrypted), Some(kek.keyId), Map.empty)
    RegisteredKey(entry.keyId, added :+ entry)
  }

  private def newKek(nowMs: Long): (EncryptionKey, Array[Byte], Vector[EncryptionKey]) = {
    val created = service.generate(newFileKeys.keyLength, masterKeyId)
    val entry = EncryptionKey(
      TableKeys.newId(),
      TableKeys.base64(created.wrapped),
      Some(masterKeyId),
      Map(TableKeys.Timestamp -> nowMs.toString)
    )
    (entry, created.key, Vector(entry))
  }

  private def isUsable(key: EncryptionKey, nowMs: Long): Boolean = key.encryptedById.contains(masterKeyId) &&
    nowMs - timestampMs(key) < TableKeys.LifespanMs

  private def keyOf(id: String, user: String): EncryptionKey =
    byId.getOrElse(id, throw damaged(s"$user refers to the key $id, which is missing"))

  private def unwrap(kek: EncryptionKey): Array[Byte] =
    if (kek.encryptedById.contains(masterKeyId)) service.unwrap(bytesOf(kek), masterKeyId)
    else throw damaged(s"the key ${kek.keyId} is not encrypted by the table's key $masterKeyId")

  private def bytesOf(key: EncryptionKey): Array[Byte] = Try(Base64.getDecoder.decode(key.encryptedKeyMetadata))
    .getOrElse(throw damaged(s"the encrypted-key-metadata of ${key.keyId} is not Base64"))

  private def timestampOf(kek: EncryptionKey): String = kek.properties
    .getOrElse(TableKeys.Timestamp, throw damaged(s"the key ${kek.keyId} has no property ${TableKeys.Timestamp}"))

  private def timestampMs(kek: EncryptionKey): Long = Try(timestampOf(kek).toLong)
    .getOrElse(throw damaged(s"the property ${TableKeys.Timestamp} of the key ${kek.keyId} is missing or no number"))

  private def damaged(reason: String): InvalidMetadata =
    InvalidMetadata(table, "encryption-keys", s"$reason. The table metadata was damaged or changed; restore it")
}

/** @param keyId the id of the key of a new file @param added the keys to add to the table metadata */
final case class RegisteredKey(keyId: String, added: Vector[EncryptionKey])

object TableKeys {

  /** The property of a key encryption key that contains the time at which it was created. */
  private val Timestamp = "KEY_TIMESTAMP"

  /** The time after which a key encryption key is replaced: two years, as NIST SP 800-57 recommends. */
  private val LifespanMs = 730L * 24 * 60 * 60 * 1000

  /**
   * Returns the keys of a table; absent if the table is not encrypted.
   *
   * @param name the name of the table, for messages
   * @param service the key management service of the catalog, if it has one
   * @throws iceberglite.spec.IcebergError if the table is encrypted and the catalog has no key management service
   */
  def of(name: String, metadata: TableMetadata, service: Option[KeyService]): Option[TableKeys] =
    Encryption.keyIdOf(metadata).map { masterKeyId =>
      new TableKeys(
        name,
        metadata,
        masterKeyId,
        service.getOrElse(throw Unsupported(
          s"access to the encrypted table $name without a key management service",
          s"Its catalog needs the option ${KeyService.TypeOption} or ${KeyService.ClassOption}, to get the key " +
            s"$masterKeyId of the table"
        ))
      )
    }

  /**
   * Returns the given updates, followed by the removal of the encryption keys that nothing uses after these updates,
   * because only removed snapshots and statistics files have used the keys.
   */
  def withoutUnusedKeys(base: TableMetadata, updates: Vector[MetadataUpdate], nowMs: Long): Vector[MetadataUpdate] =
    if (base.encryptionKeys.isEmpty || updates.isEmpty) updates
    else updates ++ unusedKeys(base, MetadataUpdate.applyAll(base, updates, nowMs)).map(RemoveEncryptionKey(_))

  /**
   * Returns the ids of unused keys. Keys that encrypt other keys are never returned, even if a removed snapshot refers
   * to one. Keys of missing statistics files are returned even if another engine has removed the statistics file
   * before.
   */
  private def unusedKeys(before: TableMetadata, after: TableMetadata): Vector[String] = {
    val encrypting = after.encryptionKeys.flatMap(_.encryptedById).toSet
    val masterKeyId = after.properties.get(Encryption.KeyIdProperty)
    val statistics = after.encryptionKeys.filter(Encryption.isStatisticsKey).map(_.keyId)
    val unused = usedKeys(before) ++ statistics -- usedKeys(after) -- encrypting
    after.encryptionKeys.filter(key => unused(key.keyId) && key.encryptedById != masterKeyId).map(_.keyId).sorted
  }

  private def usedKeys(m: TableMetadata): Set[String] =
    (m.snapshots.flatMap(_.keyId) ++ m.statistics.flatMap(Encryption.keyOf(m, _)).map(_.keyId)).toSet

  private def newId(): String = base64(AesGcm.randomBytes(16))

  private def base64(bytes: Array[Byte]): String = Base64.getEncoder.encodeToString(bytes)
}

/** Creates the keys of new files of an encrypted table. Tasks can use this class, because it contains no key. */
final class NewFileKeys private (val keyLength: Int) extends Serializable {
  def next(): FileKey = FileKey.random(keyLength)
}

object NewFileKeys {

  /** Returns the source of keys for new files of a table; absent if the table is not encrypted. */
  def of(metadata: TableMetadata): Option[NewFileKeys] = Encryption.keyIdOf(metadata).map(_ => ofLength(metadata))

  private[encryption] def ofLength(metadata: TableMetadata): NewFileKeys =
    new NewFileKeys(TableProperty.of(TableProperty.EncryptionKeyLength, metadata.properties))
}
