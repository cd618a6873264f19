package iceberglite.encryption

import org.apache.iceberg.DataFiles
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.MetadataRules
import iceberglite.table.Table
import iceberglite.table.action.RewriteManifests

/** Exchanges encrypted tables with Apache Iceberg. Its service of master keys contains the same keys as a key store. */
class EncryptedTablePeerSuite extends AnyFunSuite with EncryptedTables {
  private lazy val client = new PeerKeys(masterKeys)

  private def peer(table: Table): PeerEncryptedTable =
    new PeerEncryptedTable(table.metadataLocation.stripPrefix("file://").stripPrefix("file:"), client)

  test(
    "Apache Iceberg reads encrypted tables that this library writes, and the keys of their files",
    MetadataRules.encryptionKeys
  ) {
    val table = append(append(create(open()), "1"), "2")
    assertEncrypted()
    val read = peer(table).dataFiles
    assert(read.keySet == Set(s"$secretPath-1.parquet", s"$secretPath-2.parquet"))
    read.values.foreach(bytes => assert(FileKey.decode("f", bytes).key.length == 16))
    assert(names(table) == Set("1", "2"))
  }

  test(
    "this library reads encrypted tables that Apache Iceberg writes, and commits to them",
    MetadataRules.encryptionKeys
  ) {
    val created = create(open(), "encryption.data-key-length" -> "32")
    val other = peer(created)
    Seq("p1", "p2").foreach { name =>
      val added = DataFiles.builder(other.table.spec).withPath(s"$secretPath-$name.parquet").withRecordCount(3)
        .withFileSizeInBytes(300).withEncryptionKeyMetadata(FileKey.random(32).encode).build()
      other.table.newAppend().appendFile(added).commit()
    }
    val table = created.refresh()
    assert(names(table) == Set("p1", "p2"))
    val next = append(table, "own")
    assertEncrypted()
    assert(names(next) == Set("p1", "p2", "own"))
    assert(peer(next).dataFiles.size == 3)
    // The key encryption key of Apache Iceberg is used, and each snapshot adds the key of its manifest list.
    val keys = next.metadata.encryptionKeys
    assert(keys.count(_.encryptedById.contains("master-1")) == 1 && keys.size == 4)
  }

  test("this library and Apache Iceberg append, rewrite manifests and remove files in turn in one encrypted table") {
    var table = append(create(open()), "1")
    val other = peer(table)
    val added = DataFiles.builder(other.table.spec).withPath(s"$secretPath-2.parquet").withRecordCount(3)
      .withFileSizeInBytes(300).withEncryptionKeyMetadata(FileKey.random(16).encode).build()
    other.table.newFastAppend().appendFile(added).commit()
    table = append(table.refresh(), "3")
    table = table.transaction().add(new RewriteManifests()).commit()
    assert(names(table) == Set("1", "2", "3"))
    val again = peer(table)
    again.table.newDelete().deleteFile(s"$secretPath-1.parquet").commit()
    assert(names(table.refresh()) == Set("2", "3"))
    assertEncrypted()
  }
}
