package iceberglite.encryption

import java.io.FileOutputStream
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}
import java.security.KeyStore
import javax.crypto.spec.SecretKeySpec

import org.apache.hadoop.conf.Configuration
import org.apache.iceberg.DataFiles
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.FilesBelow
import iceberglite.catalog.{Catalog, Catalogs}
import iceberglite.storage.{HadoopFileIO, TemporaryDirectory}
import iceberglite.table.{Table, TableIdentifier}
import iceberglite.table.TestTables._
import iceberglite.table.action.{FastAppend, RewriteManifests}

/** Exchanges encrypted tables with Apache Iceberg. Its service of master keys contains the same keys as a key store. */
class EncryptedTablePeerSuite extends AnyFunSuite with TemporaryDirectory {
  private val id = TableIdentifier(Vector("db"), "t")
  private val masterKeys =
    Map("master-1" -> AesGcm.randomBytes(16), "master-2" -> AesGcm.randomBytes(32))
  private val client = new PeerKeys(masterKeys)

  private def keyStore(keys: Map[String, Array[Byte]]): Map[String, String] = {
    val password = "pa55"
    val (store, file) = (directory.resolve("keys.p12"), directory.resolve("password"))
    val created = KeyStore.getInstance("PKCS12")
    created.load(null, password.toCharArray)
    keys.foreach { case (name, key) =>
      val protection = new KeyStore.PasswordProtection(password.toCharArray)
      created.setEntry(name, new KeyStore.SecretKeyEntry(new SecretKeySpec(key, "AES")), protection)
    }
    val out = new FileOutputStream(store.toFile)
    try created.store(out, password.toCharArray)
    finally out.close()
    Files.write(file, s"$password\n".getBytes(ISO_8859_1))
    Map(
      "encryption.kms-type" -> "keystore",
      "encryption.keystore.path" -> store.toString,
      "encryption.keystore.password-file" -> file.toString
    )
  }

  private def open(encryption: Map[String, String] = keyStore(masterKeys)): Catalog = Catalogs.open(
    "lite",
    Map("type" -> "hadoop", "warehouse" -> s"$directory/wh") ++ encryption,
    new HadoopFileIO(new Configuration(false))
  )

  private val properties = Seq("encryption.key-id" -> "master-1", "format-version" -> "3")

  private def create(catalog: Catalog, more: (String, String)*): Table = {
    val all = (properties ++ more).toMap
    catalog.create(id, unpartitioned(all.toSeq: _*))
  }

  private val secretPath = "/data/secret-name"

  /** Adds a data file, which does not exist in the storage. */
  private def append(table: Table, name: String): Table = {
    val added = file(s"$secretPath-$name.parquet").copy(keyMetadata = Some(FileKey.random(16).encode))
    table.transaction().add(new FastAppend(Vector(added))).commit()
  }

  private def metadataFiles(endings: String*): Set[Path] =
    FilesBelow.of(directory.resolve("wh")).filter(p => endings.exists(p.toString.endsWith)).toSet

  /** Asserts that all metadata files of the trees are encrypted, and that no file contains the name of a data file. */
  private def assertEncrypted(): Unit = {
    val trees = metadataFiles(".avro")
    assert(trees.nonEmpty)
    trees.foreach(path => assert(Files.readAllBytes(path).startsWith("AGS1".getBytes(ISO_8859_1)), path))
    FilesBelow.of(directory.resolve("wh")).filter(Files.isRegularFile(_)).foreach { path =>
      assert(!new String(Files.readAllBytes(path), ISO_8859_1).contains("secret-name"), path)
    }
  }

  private def names(table: Table): Set[String] =
    liveFiles(table).map(_.stripPrefix(s"$secretPath-").stripSuffix(".parquet")).toSet

  private def peer(table: Table): PeerEncryptedTable =
    new PeerEncryptedTable(table.metadataLocation.stripPrefix("file://").stripPrefix("file:"), client)

  test("Apache Iceberg reads encrypted tables that this library writes, and the keys of their files") {
    val table = append(append(create(open()), "1"), "2")
    assertEncrypted()
    val read = peer(table).dataFiles
    assert(read.keySet == Set(s"$secretPath-1.parquet", s"$secretPath-2.parquet"))
    read.values.foreach(bytes => assert(FileKey.decode("f", bytes).key.length == 16))
    assert(names(table) == Set("1", "2"))
  }

  test("this library reads encrypted tables that Apache Iceberg writes, and commits to them") {
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

  test("both write in turn, rewrite manifests and remove files") {
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
