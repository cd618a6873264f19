package iceberglite.encryption

import java.nio.charset.StandardCharsets.US_ASCII
import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.FilesBelow
import iceberglite.conformance.MetadataRules
import iceberglite.data.{DataFormats, DataSource, DataTarget, Record}
import iceberglite.maintenance.expire.{LocalUnreachableFiles, SnapshotExpiry}
import iceberglite.maintenance.{CloneOptions, CloneTable}
import iceberglite.metrics.MetricsModes
import iceberglite.spec.IcebergError.{InvalidArgument, StorageFailed, Unsupported, UnreadableFile}
import iceberglite.spec.TestMetadata._
import iceberglite.spec.file.FileFormat
import iceberglite.spec.metadata.TableMetadata
import iceberglite.storage.{DataInput, FileIO}
import iceberglite.table.{Change, CommitContext, MetadataAction, ReachableFiles, StageMode}
import iceberglite.table.TestTables._
import iceberglite.table.action.{ExpireOptions, FastAppend}
import iceberglite.tree.{ManifestCache, MetadataTree, TreeReader}
import iceberglite.tree.manifestlist.ManifestPart

/** Tests that no path leads around the encryption of a table. */
class EncryptedSafeguardSuite extends AnyFunSuite with EncryptedTables {
  private val plainId = id.copy(name = "plain")

  test("a clone that would be encrypted is rejected, because its files are not") {
    val catalog = open()
    val plain = catalog.create(plainId, unpartitioned("format-version" -> "3"))
    val source = plain.transaction().add(new FastAppend(Vector(file("/data/f.parquet")))).commit()
    def clone(options: CloneOptions) =
      CloneTable(source, options)(catalog.stage(id, _, StageMode.Create))(_ => fail("the clone was created"))
    intercept[Unsupported](clone(CloneOptions(properties = Map("encryption.key-id" -> "master-1"))))
    assert(!catalog.tableExists(id))
    assert(clone(CloneOptions()).dataFiles == 1)
  }

  for (purge <- Seq(true, false))
    test(s"if the key management service fails, a table is not dropped and no file is deleted; purge: $purge") {
      val table = append(append(create(open()), "1"), "2")
      def files = FilesBelow.withoutHints(directory.resolve("wh"))
      val before = files
      val failing = open(Map("encryption.kms-impl" -> classOf[FailingKeys].getName))
      intercept[StorageFailed](failing.drop(id, purge))
      assert(files == before)
      assert(names(table.refresh()) == Set("1", "2"))
      assert(open().drop(id, purge) && metadataFiles(".avro", ".json").isEmpty)
    }

  test("if the key management service fails, no snapshot expires") {
    append(append(create(open()), "1"), "2")
    val failing = open(Map("encryption.kms-impl" -> classOf[FailingKeys].getName)).table(id)
    val options = ExpireOptions(olderThanMs = Some(Long.MaxValue))
    intercept[StorageFailed](new SnapshotExpiry(failing, options, new LocalUnreachableFiles).run())
    assert(open().table(id).metadata.snapshots.size == 2)
  }

  test("a new table is rejected if its properties of encryption are unknown or incomplete") {
    val wrong = Seq("encryption.keyid", "Encryption.Key-Id", "encryption.data-key-length")
    wrong.foreach { key =>
      val error = intercept[InvalidArgument](open().create(id, unpartitioned("format-version" -> "3", key -> "32")))
      assert(error.name == s"table property $key", key)
    }
    assert(!open().tableExists(id))
  }

  test("snapshots, manifests and files without a key are not read in an encrypted table", MetadataRules.encryption) {
    val table = append(create(open()), "1")
    val plain = open().create(plainId, unpartitioned("format-version" -> "3"))
      .transaction().add(new FastAppend(Vector(file("/data/forged.parquet")))).commit()
    val forged = plain.currentSnapshot.get
    val metadata = table.metadata.edited(
      snapshots = table.metadata.snapshots.map(_.copy(manifestList = forged.manifestList, keyId = None))
    )
    assert(intercept[UnreadableFile](new TreeReader(table.io, metadata).live).file == forged.manifestList.get)
    val disguised = s"${forged.manifestList.get}.metadata.json"
    plain.io.write(disguised, plain.io.read(forged.manifestList.get))
    val renamed = metadata.edited(snapshots = metadata.snapshots.map(_.copy(manifestList = Some(disguised))))
    assert(intercept[UnreadableFile](new TreeReader(table.io, renamed).live).file == disguised)
    val manifest = new TreeReader(plain.io, plain.metadata).manifests(forged).head
    val part = new ManifestPart(manifest, table.tree().specs)
    assert(part.entries(plain.io).size == 1)
    assert(intercept[UnreadableFile](part.entries(table.io)).file == manifest.path)
    // Deletions also look for files of other tables in the same directory, which need not be encrypted.
    assert(ReachableFiles.of(table.io, plain.version).contains("/data/forged.parquet"))
    assert(ReachableFiles.of(plain.io, table.version).exists(_.contains("secret-name")))
  }

  for (format <- FileFormat.ofRows)
    test(s"data files without a key are not read in an encrypted table: $format", MetadataRules.encryption) {
      val table = create(open())
      val plain = open().create(plainId, unpartitioned("format-version" -> "3"))
      val path = s"$directory/plain-$format${format.extension}"
      val target = DataTarget(plain.io, path, schema, Map.empty, MetricsModes(Map.empty))
      val writer = DataFormats.of(format).write(target)
      val length = writer.close().fileSizeInBytes
      def read(io: FileIO): Vector[Record] = {
        val rows = DataFormats.of(format).read(DataSource(io, path, length), schema.asStruct)
        try rows.toVector
        finally rows.close()
      }
      assert(read(plain.io).isEmpty)
      assert(intercept[UnreadableFile](read(table.io)).file == path)
      val reads = Seq[() => Any](
        () => table.io.read(path),
        () => table.io.open(path),
        () => table.io.readRange(path, 0, 1),
        () => DataInput.of(table.io, path)
      )
      reads.foreach(read => assert(intercept[UnreadableFile](read()).file == path))
    }

  test("the storage of staged commits creates keys, and rejects files that are not encrypted") {
    val staged = open().stage(id, unpartitioned(properties: _*), StageMode.Create)
    var keys = 0
    staged.table.transaction().add(new MetadataAction {
      override def changeFor(base: TableMetadata, context: CommitContext): Change = {
        if (context.io.newFileKey().isDefined) keys += 1
        intercept[Unsupported](context.io.write(s"$directory/plain.avro", "plain".getBytes(US_ASCII)))
        Change(Vector.empty, Vector.empty)
      }
    }).commit()
    staged.commit()
    assert(keys > 0 && !Files.exists(directory.resolve("plain.avro")))
  }

  test("invalidating the cache through another object of an encrypted table drops the table's cached manifest lists") {
    val table = append(create(open()), "1")
    val list = local(table.currentSnapshot.get.manifestList.get)
    def read() = MetadataTree.at(table.currentSnapshot.get, table.tree()).parts.size
    assert(read() == 1)
    Files.delete(list)
    assert(read() == 1)
    val other = table.refresh()
    assert(!(other.io eq table.io))
    ManifestCache.of(other.io).invalidate(other.io, other.location)
    assert(intercept[UnreadableFile](read()).file == table.currentSnapshot.get.manifestList.get)
  }
}
