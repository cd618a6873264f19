package iceberglite.catalog

import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.CatalogFixture.Id
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.TestMetadata._
import iceberglite.spec.metadata.SnapshotRef
import iceberglite.spec.property.MetadataCompression
import iceberglite.storage.MetadataFiles
import iceberglite.table.TestTables._
import iceberglite.table.action.FastAppend

/** Tests loading the current version of a table when the caller already has a version of the table. */
class ReloadSuite extends AnyFunSuite {
  CatalogFixture.embedded.foreach { fixture =>
    test(s"reloading a table returns its current version (${fixture.kind})") {
      fixture.withStore { store =>
        val (ours, theirs) = (fixture.open(store, store.files), fixture.open(store, store.files))
        val loaded = ours.create(Id, unpartitioned()).version
        assert(ours.reload(Id, loaded) == loaded)
        val newer = theirs.table(Id).transaction(Map.empty, environment).add(new FastAppend(Vector(file("f")))).commit()
        assert(ours.reload(Id, loaded) == newer.version)
        theirs.drop(Id, purge = false)
        intercept[NotFound](ours.reload(Id, newer.version))
        val recreated = theirs.create(Id, unpartitioned("again" -> "1"))
        assert(ours.reload(Id, newer.version) == recreated.version)
        Seq(ours, theirs).foreach(_.close())
      }
    }
  }

  test("reloading a table of a JDBC catalog whose pointer has not changed reads no file") {
    CatalogFixture.Jdbc.withStore { store =>
      val reads = new AtomicInteger
      val counting = new FileIOWrapper(store.files) {
        override def read(path: String): Array[Byte] = {
          reads.incrementAndGet()
          super.read(path)
        }
      }
      val catalog = CatalogFixture.Jdbc.open(store, counting)
      catalog.create(Id, unpartitioned())
      val loaded = catalog.load(Id)
      val before = reads.get
      (1 to 5).foreach(_ => assert(catalog.reload(Id, loaded) eq loaded))
      assert(reads.get == before)
      catalog.close()
    }
  }

  for (deletesOldVersions <- Seq("false", "true"))
    test(
      "reloading a table of a file-system catalog returns the caller's version only if its file is unchanged " +
        s"(write.metadata.delete-after-commit.enabled=$deletesOldVersions)"
    ) {
      CatalogFixture.Hadoop.withStore { store =>
        val catalog = CatalogFixture.Hadoop.open(store, store.files)
        val properties = Seq(
          "write.metadata.delete-after-commit.enabled" -> deletesOldVersions,
          "write.metadata.previous-versions-max" -> "1"
        )
        def append(name: String): Unit = {
          catalog.table(Id).transaction(Map.empty, environment).add(new FastAppend(Vector(file(name)))).commit()
          ()
        }
        catalog.create(Id, unpartitioned(properties: _*))
        Seq("a", "b", "c").foreach(append)
        val loaded = catalog.load(Id)
        (1 to 3).foreach(_ => assert(catalog.reload(Id, loaded) eq loaded))
        // The metadata file of the same version gets other contents.
        val changed = loaded.metadata.edited(lastUpdatedMs = loaded.metadata.lastUpdatedMs + 1)
        store.files.replace(loaded.metadataLocation, MetadataFiles.bytes(changed, MetadataCompression.Uncompressed))
        assert(catalog.reload(Id, loaded).metadata == changed)
        // The metadata file has the same version number, time and sequence number, but contains another commit.
        val known = catalog.load(Id)
        val head = known.metadata.currentSnapshot.get
        val (other, otherId) = (head.copy(snapshotId = head.snapshotId + 1), Some(head.snapshotId + 1))
        val replaced = changed.edited(
          currentSnapshotId = otherId,
          snapshots = changed.snapshots.init :+ other,
          snapshotLog = changed.snapshotLog.init :+ changed.snapshotLog.last.copy(snapshotId = other.snapshotId),
          refs = changed.refs.map { case (name, _) => name -> SnapshotRef.Branch(other.snapshotId) }
        )
        store.files.replace(loaded.metadataLocation, MetadataFiles.bytes(replaced, MetadataCompression.Uncompressed))
        assert(catalog.reload(Id, known).metadata.currentSnapshotId == otherId)
        store.files.replace(loaded.metadataLocation, MetadataFiles.bytes(changed, MetadataCompression.Uncompressed))
        append("d")
        assert(catalog.reload(Id, loaded).metadata.snapshots.size == 4)
        // A recreated table has the same version numbers.
        val fourth = catalog.load(Id)
        catalog.drop(Id, purge = true)
        catalog.create(Id, unpartitioned())
        Seq("a", "b", "c", "d").foreach(append)
        val recreated = catalog.load(Id)
        assert(recreated.metadataLocation == fourth.metadataLocation && catalog.reload(Id, fourth) == recreated)
        catalog.close()
      }
    }
}
