package iceberglite.encryption

import java.io.FileOutputStream
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path, Paths}
import java.security.KeyStore
import javax.crypto.spec.SecretKeySpec

import org.apache.hadoop.conf.Configuration
import org.scalatest.Suite

import iceberglite.FilesBelow
import iceberglite.catalog.{Catalog, Catalogs}
import iceberglite.spec.file.ContentFile
import iceberglite.storage.{HadoopFileIO, TemporaryDirectory}
import iceberglite.table.{Table, TableIdentifier}
import iceberglite.table.TestTables._
import iceberglite.table.action.FastAppend

/** Encrypted tables in a file-system catalog. Their master keys are in a key store file. */
trait EncryptedTables extends TemporaryDirectory { self: Suite =>
  protected val id = TableIdentifier(Vector("db"), "t")
  protected val masterKeys =
    Map("master-1" -> AesGcm.randomBytes(16), "master-2" -> AesGcm.randomBytes(32))

  protected def keyStore(keys: Map[String, Array[Byte]], password: String = "pa55"): Map[String, String] = {
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

  protected def open(encryption: Map[String, String] = keyStore(masterKeys)): Catalog = Catalogs.open(
    "lite",
    Map("type" -> "hadoop", "warehouse" -> s"$directory/wh") ++ encryption,
    new HadoopFileIO(new Configuration(false))
  )

  protected val properties = Seq("encryption.key-id" -> "master-1", "format-version" -> "3")

  protected def create(catalog: Catalog, more: (String, String)*): Table = {
    val all = (properties ++ more).toMap
    catalog.create(id, unpartitioned(all.toSeq: _*))
  }

  protected val secretPath = "/data/secret-name"

  /** Returns a data file, which does not exist in the storage. */
  protected def dataFile(name: String): ContentFile =
    file(s"$secretPath-$name.parquet").copy(keyMetadata = Some(FileKey.random(16).encode))

  /** Adds data files, which do not exist in the storage. */
  protected def append(table: Table, names: String*): Table =
    table.transaction().add(new FastAppend(names.toVector.map(dataFile))).commit()

  protected def metadataFiles(endings: String*): Set[Path] =
    FilesBelow.of(directory.resolve("wh")).filter(p => endings.exists(p.toString.endsWith)).toSet

  /**
   * Asserts that all manifest lists, manifests, roots, leaves, Puffin files and statistics files are encrypted, and
   * that no file in the warehouse contains the name of a data file. The data files of these tables do not exist.
   */
  protected def assertEncrypted(): Unit = {
    val trees = metadataFiles(".avro", ".parquet", ".puffin", ".stats")
    assert(trees.nonEmpty)
    trees.foreach(path => assert(Files.readAllBytes(path).startsWith("AGS1".getBytes(ISO_8859_1)), path))
    FilesBelow.of(directory.resolve("wh")).filter(Files.isRegularFile(_)).foreach { path =>
      assert(!new String(Files.readAllBytes(path), ISO_8859_1).contains("secret-name"), path)
    }
  }

  /** The ids of the key encryption keys of a table with the master key `master-1`. */
  protected def kekIds(table: Table): Vector[String] =
    table.metadata.encryptionKeys.filter(_.encryptedById.contains("master-1")).map(_.keyId)

  protected def local(path: String): Path = Paths.get(path.stripPrefix("file://").stripPrefix("file:"))

  protected def names(table: Table): Set[String] =
    liveFiles(table).map(_.stripPrefix(s"$secretPath-").stripSuffix(".parquet")).toSet
}
