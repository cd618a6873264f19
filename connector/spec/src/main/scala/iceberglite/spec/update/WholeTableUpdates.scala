package iceberglite.spec.update

import java.util.UUID

import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.metadata.{EncryptionKey, TableMetadata}

/** Updates of a table as a whole. */
private[update] object WholeTableUpdates {

  def assignUuid(m: TableMetadata, uuid: UUID): TableMetadata = m.uuid match {
    case Some(existing) if existing != uuid =>
      throw ValidationFailed(
        s"Cannot set the UUID of table ${m.location} to $uuid: it is $existing, and a UUID never changes"
      )
    case _ => m.copy(uuid = Some(uuid))
  }

  def upgrade(m: TableMetadata, version: FormatVersion): TableMetadata = {
    if (version < m.formatVersion) {
      throw ValidationFailed(
        s"Cannot downgrade table ${m.location} from format version ${m.formatVersion} to $version"
      )
    }
    // The specification requires `table-uuid` in version 2 and later (section "Version 2 - Writing v2 metadata").
    if (version > FormatVersion.V1 && m.uuid.isEmpty) {
      throw ValidationFailed(
        s"Cannot upgrade table ${m.location} to format version $version: it has no UUID; assign a UUID first"
      )
    }
    m.copy(formatVersion = version)
  }

  def setProperties(m: TableMetadata, properties: Map[String, String]): TableMetadata =
    m.copy(properties = m.properties ++ properties)

  def addKey(m: TableMetadata, key: EncryptionKey): TableMetadata = {
    if (m.formatVersion < FormatVersion.V3) {
      throw ValidationFailed(s"Cannot add an encryption key: format version ${m.formatVersion} is below 3")
    }
    m.copy(encryptionKeys = m.encryptionKeys.filterNot(_.keyId == key.keyId) :+ key)
  }

  def removeKey(m: TableMetadata, keyId: String): TableMetadata =
    m.copy(encryptionKeys = m.encryptionKeys.filterNot(_.keyId == keyId))
}
