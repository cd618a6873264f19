package iceberglite.spec.metadata

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.MetadataRules
import iceberglite.spec.{FormatVersion, SampleTables}
import iceberglite.spec.FormatVersion.{V2, V3}
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported, ValidationFailed}
import iceberglite.spec.SampleTables.{CreatedMs, description, withHistory}
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate.{RemoveProperties, SetProperties}

class EncryptionSuite extends AnyFunSuite {
  private val unencrypted = withHistory(V3)
  private val property = Map(Encryption.KeyIdProperty -> "k")

  private def created(version: FormatVersion, properties: Map[String, String]): TableMetadata = {
    val described = description(version)
    described.copy(properties = described.properties ++ properties).metadata(SampleTables.Uuid, CreatedMs)
  }

  private def changed(base: TableMetadata, update: MetadataUpdate): TableMetadata =
    MetadataUpdate.applyAll(base, Seq(update), CreatedMs + 9000)

  test("the property encryption.key-id makes a table encrypted", MetadataRules.encryption) {
    assert(Encryption.keyIdOf(unencrypted).isEmpty)
    assert(Encryption.keyIdOf(created(V3, property)).contains("k"))
  }

  test("a table with encrypted files and without encryption.key-id is rejected", MetadataRules.encryption) {
    val key = EncryptionKey("key-7", "bWV0YQ==", None, Map.empty)
    val snapshots = unencrypted.snapshots.init :+ unencrypted.snapshots.last.copy(keyId = Some("k"))
    Seq(unencrypted.copy(encryptionKeys = Vector(key)), unencrypted.copy(snapshots = snapshots)).foreach { table =>
      intercept[ValidationFailed](Encryption.keyIdOf(table))
      intercept[Unsupported](Encryption.reject(table, "a clone of", "Do something else"))
    }
    Encryption.reject(unencrypted, "a clone of", "Do something else")
  }

  test("the key of a table cannot be set later, changed or removed", MetadataRules.encryption) {
    val encrypted = created(V3, property)
    intercept[ValidationFailed](changed(unencrypted, SetProperties(property)))
    intercept[ValidationFailed](changed(encrypted, SetProperties(Map(Encryption.KeyIdProperty -> "other"))))
    intercept[ValidationFailed](changed(encrypted, RemoveProperties(Set(Encryption.KeyIdProperty))))
    assert(changed(encrypted, SetProperties(property + ("a" -> "b"))).properties("a") == "b")
  }

  test("tables of format versions before 3 cannot be encrypted", MetadataRules.encryption) {
    Seq(Encryption.KeyIdProperty -> "k", Encryption.KeyLengthProperty -> "32").foreach { entry =>
      intercept[InvalidArgument](created(V2, Map(entry)))
    }
  }
}
