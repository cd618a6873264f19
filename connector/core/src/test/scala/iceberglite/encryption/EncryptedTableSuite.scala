package iceberglite.encryption

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}
import java.util.Base64
import java.util.concurrent.TimeUnit

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.MetadataRules
import iceberglite.FilesBelow
import iceberglite.maintenance.ComputeTableStatistics
import iceberglite.maintenance.expire.{LocalUnreachableFiles, SnapshotExpiry}
import iceberglite.puffin.ThetaSketch
import iceberglite.spec.IcebergError.{InvalidArgument, InvalidMetadata, StorageFailed, Unsupported, UnreadableFile}
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.TestMetadata._
import iceberglite.spec.metadata.EncryptionKey
import iceberglite.storage.FileIO
import iceberglite.table.{Environment, Table}
import iceberglite.table.TestTables._
import iceberglite.table.action.{ExpireOptions, FastAppend, RemoveFiles, UpdateProperties}
import iceberglite.tree.{FilePart, TreeReader}

class EncryptedTableSuite extends AnyFunSuite with EncryptedTables {

  private def manifestList(table: Table): Path = local(table.currentSnapshot.get.manifestList.get)

  test(
    "without a key management service, an encrypted table cannot be read or written, but its properties can be changed",
    MetadataRules.encryption
  ) {
    val table = append(create(open()), "1")
    val other = open(Map.empty).table(table.id)
    intercept[Unsupported](names(other))
    intercept[Unsupported](append(other, "2"))
    intercept[Unsupported](open(Map.empty).drop(table.id, purge = true))
    val unknown = id.copy(name = "t2")
    intercept[Unsupported](open(Map.empty).create(unknown, unpartitioned(properties: _*)))
    intercept[InvalidArgument](open().create(unknown, unpartitioned(properties :+ ("encryption.key-id" -> "x"): _*)))
    assert(!open().tableExists(unknown))
    assert(other.transaction().add(new UpdateProperties(Map("a" -> "b"), Set.empty)).commit().properties("a") == "b")
    assert(names(table.refresh()) == Set("1"))
  }

  test("a wrong or missing master key causes one error, which contains no key") {
    val table = append(create(open()), "1")
    val wrong = keyStore(Map("master-1" -> AesGcm.randomBytes(16)))
    intercept[InvalidArgument](names(open(wrong).table(table.id)))
    intercept[InvalidArgument](names(open(keyStore(Map.empty)).table(table.id)))
    val unreadable = Seq(
      Map("encryption.kms-type" -> "keystore"),
      keyStore(masterKeys) - "encryption.keystore.password-file",
      keyStore(masterKeys) + ("encryption.keystore.path" -> s"$directory/other"),
      keyStore(masterKeys) + ("encryption.keystore.password-file" -> keyStore(masterKeys)("encryption.keystore.path"))
    )
    unreadable.foreach { options =>
      val error = intercept[InvalidArgument](names(open(options).table(table.id)))
      assert(!s"$error".contains("pa55"))
    }
  }

  test("options that select no key management service, or two of them, are rejected") {
    val rejected = Seq(
      Map("encryption.kms-type" -> "keystore", "encryption.kms-impl" -> classOf[FailingKeys].getName),
      Map("encryption.kms-type" -> "vault"),
      Map("encryption.kms-impl" -> "java.lang.String"),
      Map("encryption.kms-impl" -> "no.such.Class"),
      Map("encryption.kms-impl" -> classOf[PeerKeys].getName)
    )
    rejected.foreach(options => intercept[InvalidArgument](open(options)))
    intercept[Unsupported](open(Map("encryption.kms-type" -> "aws")))
  }

  test("a failure of the key management service causes one error") {
    val failing = open(Map("encryption.kms-impl" -> classOf[FailingKeys].getName))
    intercept[StorageFailed](create(failing))
    assert(!failing.tableExists(id))
    val table = create(open())
    intercept[StorageFailed](append(failing.table(id), "1"))
    assert(metadataFiles(".avro").isEmpty, "the files of the failed commit must be deleted")
    assert(names(append(table, "1")) == Set("1"))
  }

  test("damaged, truncated and swapped metadata files are detected", MetadataRules.gcmStreams) {
    val table = append(append(create(open()), "1"), "2")
    val manifests =
      new TreeReader(table.io, table.metadata).manifests(table.currentSnapshot.get).map(m => local(m.path))
    val lists = table.metadata.snapshots.map(s => local(s.manifestList.get))
    val contents = (manifests ++ lists).map(path => path -> Files.readAllBytes(path)).toMap
    def assertDetected(path: Path, changed: Array[Byte]): Unit = {
      Files.write(path, changed)
      val error = intercept[UnreadableFile](names(table))
      assert(local(error.file) == path && !s"$error".contains("secret-name"))
      Files.write(path, contents(path))
    }
    (manifests :+ manifestList(table)).foreach { path =>
      val bytes = contents(path)
      assertDetected(path, bytes.updated(bytes.length / 2, (bytes(bytes.length / 2) ^ 1).toByte))
      assertDetected(path, bytes.dropRight(1))
      assertDetected(path, bytes.take(8))
    }
    assertDetected(manifests(0), contents(manifests(1)))
    assertDetected(manifestList(table), contents(lists.head))
    assert(names(table) == Set("1", "2"))
  }

  test("damaged encryption-keys in the table metadata are detected", MetadataRules.encryptionKeys) {
    val table = append(create(open()), "1")
    def damaged(change: EncryptionKey => Option[EncryptionKey]) =
      table.metadata.edited(encryptionKeys = table.metadata.encryptionKeys.flatMap(change(_)))
    val isKek = kekIds(table).toSet
    val changes = Seq[EncryptionKey => Option[EncryptionKey]](
      key => Some(key).filter(k => isKek(k.keyId)),
      key => Some(key).filterNot(k => isKek(k.keyId)),
      key => Some(if (isKek(key.keyId)) key.copy(properties = Map.empty) else key),
      key => Some(if (isKek(key.keyId)) key.copy(properties = Map("KEY_TIMESTAMP" -> "0")) else key),
      key => Some(if (isKek(key.keyId)) key else key.copy(encryptedKeyMetadata = "!")),
      key => Some(if (isKek(key.keyId)) key else key.copy(encryptedKeyMetadata = "AAAA")),
      key => Some(if (isKek(key.keyId)) key else key.copy(encryptedById = None))
    )
    changes.foreach(change => intercept[InvalidMetadata](new TreeReader(table.io, damaged(change)).live))
  }

  test("a file that is not encrypted is not added to an encrypted table, nor an encrypted file to another table") {
    val table = create(open())
    intercept[ValidationFailed](table.transaction().add(new FastAppend(Vector(file("f.parquet")))).commit())
    val plain = open().create(id.copy(name = "plain"), unpartitioned("format-version" -> "3"))
    intercept[ValidationFailed](append(plain, "1"))
    assert(metadataFiles(".avro").isEmpty)
  }

  test("the key of a table is set only at its creation, in format version 3", MetadataRules.encryption) {
    val table = create(open())
    val plain = open().create(id.copy(name = "plain"), unpartitioned("format-version" -> "3"))
    def set(of: Table, key: String) =
      of.transaction().add(new UpdateProperties(Map("encryption.key-id" -> key), Set.empty)).commit()
    intercept[ValidationFailed](set(plain, "master-1"))
    intercept[ValidationFailed](set(table, "master-2"))
    intercept[ValidationFailed](
      table.transaction().add(new UpdateProperties(Map.empty, Set("encryption.key-id"))).commit()
    )
    intercept[InvalidArgument](
      open().create(id.copy(name = "v2"), unpartitioned("encryption.key-id" -> "k", "format-version" -> "2"))
    )
    val length = "encryption.data-key-length" -> "17"
    intercept[InvalidArgument](open().create(id.copy(name = "t17"), unpartitioned(properties :+ length: _*)))
  }

  test(
    "a key encryption key is replaced after two years, and old snapshots remain readable",
    MetadataRules.encryptionKeys
  ) {
    var table = append(create(open()), "1")
    val later = System.currentTimeMillis + TimeUnit.DAYS.toMillis(731)
    val environment = Environment.system.copy(nowMs = () => later)
    val added = file(s"$secretPath-2.parquet").copy(keyMetadata = Some(FileKey.random(16).encode))
    table = table.transaction(environment = environment).add(new FastAppend(Vector(added))).commit()
    assert(kekIds(table).size == 2)
    assert(names(table) == Set("1", "2"))
    assert(liveFiles(table.io, table.metadata, table.metadata.snapshots.headOption).size == 1)
  }

  test("expiration removes the keys of expired snapshots, and keeps those that encrypt other keys") {
    var table = append(append(create(open()), "1"), "2")
    assert(table.metadata.encryptionKeys.size == 3)
    val options = ExpireOptions(Some(Long.MaxValue), Some(1))
    table = new SnapshotExpiry(table, options, new LocalUnreachableFiles).run()._1
    assert(table.metadata.encryptionKeys.map(_.keyId).toSet == kekIds(table).toSet ++ table.currentSnapshot.get.keyId)
    assert(names(table) == Set("1", "2") && metadataFiles(".avro").count(_.toString.contains("snap-")) == 1)
  }

  test("statistics files are encrypted, and their key is only in the encrypted keys of the table metadata") {
    val table = append(create(open()), "1")
    val sketch = ThetaSketch.newBuilder.result()
    def register(of: Table) = ComputeTableStatistics.register(of, of.currentSnapshot.get, Vector(1 -> sketch))
    val (first, file) = register(table)
    val stored = Files.readAllBytes(local(file.statisticsPath))
    assert(stored.startsWith("AGS1".getBytes) && file.fileSizeInBytes == stored.length)
    assert(first.metadata.encryptionKeys.map(_.keyId).contains(file.keyMetadata.get))
    val opened = first.tree().openStatistics(file)
    assert(opened.read(opened.blobs.head).sameElements(sketch.toBytes))
    assert(ComputeTableStatistics.existingBlobs(first, first.currentSnapshot.get).size == 1)
    val (second, replaced) = register(first)
    assert(replaced.keyMetadata != file.keyMetadata && second.metadata.encryptionKeys.size == 3)
  }

  test("a commit that is repeated after another commit uses the key encryption key of the other commit") {
    val table = create(open())
    append(table, "1")
    val next = append(table, "2")
    assert(names(next) == Set("1", "2") && kekIds(next).size == 1 && next.metadata.encryptionKeys.size == 3)
  }

  test("no file in the warehouse contains the key of a file or a master key") {
    val table = append(append(create(open()), "1"), "2")
    val tree = new TreeReader(table.io, table.metadata)
    val snapshot = table.currentSnapshot.get
    val ofFiles = tree.manifests(snapshot).flatMap(_.keyMetadata) ++ tree.live.flatMap(_.file.keyMetadata)
    val keys =
      ofFiles.map(FileKey.decode("f", _).key) ++ table.tree().keys.flatMap(_.manifestListKey(snapshot)).map(_.key)
    assert(keys.size == 5)
    val texts = (keys ++ masterKeys.values).flatMap { key =>
      Seq(
        new String(key, ISO_8859_1),
        Base64.getEncoder.encodeToString(key).take(20),
        key.map("%02x".format(_)).mkString
      )
    }
    FilesBelow.of(directory.resolve("wh")).filter(Files.isRegularFile(_)).foreach { path =>
      val content = new String(Files.readAllBytes(path), ISO_8859_1)
      assert(!texts.exists(content.contains), path)
    }
  }

  test("a purge deletes the files of an encrypted table") {
    val catalog = open()
    append(append(create(catalog), "1"), "2")
    catalog.drop(id, purge = true)
    assert(metadataFiles(".avro", ".json").isEmpty)
  }

  test("roots, leaves and deletion vectors of leaves are encrypted in format version 4") {
    val limits = Seq("write.v4.single-commit-max-files" -> "2", "write.v4.root.max-vector-bytes" -> "1")
    var table = append(create(open(), limits :+ ("format-version" -> "4"): _*), (1 to 20).map(_.toString): _*)
    (1 to 3).foreach { i =>
      table = table.transaction().add(new RemoveFiles(Set(s"$secretPath-$i.parquet"))).commit()
      table = append(table, s"more-$i")
    }
    assertEncrypted()
    assert(metadataFiles(".puffin").nonEmpty && metadataFiles(".parquet").exists(_.toString.contains("-m0.parquet")))
    val expected = (4 to 20).map(_.toString).toSet ++ (1 to 3).map(i => s"more-$i")
    assert(names(table) == expected && names(open().table(id)) == expected)
    val files = new TreeReader(table.io, table.metadata).files(table.currentSnapshot.get)
    val read = files.parts.flatMap(part => inTask(part).entries(table.io)).filter(_.isLive)
    assert(read.size == expected.size)
    assert(files.violations(None).exists(_.isEmpty))
  }

  private def inTask[A <: AnyRef](value: A): A = {
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(value)
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject().asInstanceOf[A]
  }

  private def inTask(part: FilePart): FilePart = inTask[FilePart](part.forReading)

  test("tasks get no key management service, and read an encrypted manifest with its own key") {
    val table = append(create(open()), "1")
    assert(table.io.keyService.isDefined && inTask[FileIO](table.io).keyService.isEmpty)
    val part = new TreeReader(table.io, table.metadata).files(table.currentSnapshot.get).parts.head
    assert(inTask(part).entries(inTask[FileIO](table.io)).size == 1)
  }
}

/** A key management service that is not available. */
final class FailingKeys extends KeyManagement {
  override def initialize(properties: java.util.Map[String, String]): Unit = ()
  override def wrapKey(key: Array[Byte], id: String): Array[Byte] = throw new java.io.IOException("no connection")
  override def unwrapKey(wrapped: Array[Byte], id: String): Array[Byte] = throw new java.io.IOException("no connection")
}
