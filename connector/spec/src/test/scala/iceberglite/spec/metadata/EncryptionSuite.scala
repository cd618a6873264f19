package iceberglite.spec.metadata

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.MetadataRules
import iceberglite.spec.SampleTables
import iceberglite.spec.FormatVersion.V3
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.SampleTables.{CreatedMs, description, withHistory}
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate.SetProperties

class EncryptionSuite extends AnyFunSuite {
  private val unencrypted = withHistory(V3)

  private def rejection(m: TableMetadata): String = intercept[Unsupported](Encryption.reject(m)).getMessage

  test(
    "a table with encryption keys, the property encryption.key-id or an encrypted snapshot is rejected",
    MetadataRules.encryption
  ) {
    Encryption.reject(unencrypted)
    val key = EncryptionKey("key-7", "bWV0YQ==", None, Map.empty)
    assert(rejection(unencrypted.copy(encryptionKeys = Vector(key))).contains("key-7"))
    assert(rejection(unencrypted.copy(properties = Map("encryption.key-id" -> "k"))).contains("encryption.key-id is k"))
    val snapshots = unencrypted.snapshots.init :+ unencrypted.snapshots.last.copy(keyId = Some("k"))
    assert(rejection(unencrypted.copy(snapshots = snapshots)).contains("snapshot 3 has a key-id"))
  }

  test("a table cannot be created or changed so that it requests encryption", MetadataRules.encryption) {
    val encrypted = Map("encryption.key-id" -> "k")
    intercept[Unsupported](MetadataUpdate.applyAll(unencrypted, Seq(SetProperties(encrypted)), CreatedMs + 9000))
    val described = description(V3)
    intercept[Unsupported](described.copy(properties = described.properties ++ encrypted).metadata(
      SampleTables.Uuid,
      CreatedMs
    ))
  }
}
