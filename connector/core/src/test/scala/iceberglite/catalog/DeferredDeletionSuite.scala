package iceberglite.catalog

import java.util.concurrent.{CountDownLatch, TimeUnit}

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.catalog.CatalogFixture.{Id, Store}
import iceberglite.catalog.hive.HiveFixture
import iceberglite.maintenance.orphan.{LocalOrphanSearch, OrphanOptions, OrphanRemoval}
import iceberglite.storage.FileIO
import iceberglite.table._
import iceberglite.table.TestTables._
import iceberglite.table.action.FastAppend

/** Tests that commits do not wait for the deletion of files, and that the deletion is neither lost nor too early. */
class DeferredDeletionSuite extends AnyFunSuite {

  private val background = environment.copy(cleanup = CommitCleanup.Background)

  private val expiring = Seq(
    "write.metadata.previous-versions-max" -> "1",
    "write.metadata.delete-after-commit.enabled" -> "true"
  )

  /** A storage in which the clean-up after commits deletes files only after `mayDelete` was released. */
  final private class SlowDeletes(files: FileIO) extends FileIOWrapper(files) {
    val mayDelete = new CountDownLatch(1)

    override def delete(path: String): Unit = {
      if (Thread.currentThread.getName.startsWith("iceberg-lite-cleanup"))
        assert(mayDelete.await(60, TimeUnit.SECONDS))
      super.delete(path)
    }
  }

  /** Clean-up in the background, whose deletions wait until a caller waits for them. */
  final private class AwaitedDeletes(store: Store, io: SlowDeletes) extends CommitCleanup {

    /** The numbers of metadata files when callers began to wait. */
    var filesAtWait: Vector[Int] = Vector.empty

    override def run(what: String)(work: => Unit): Unit = CommitCleanup.Background.run(what)(work)

    override def await(): Unit = {
      filesAtWait :+= metadataFiles(store).size
      io.mayDelete.countDown()
      CommitCleanup.Background.await()
    }
  }

  private def append(table: Table, path: String): Table =
    table.transaction(Map.empty, background).add(new FastAppend(Vector(file(s"${table.location}/data/$path")))).commit()

  /** Creates a table, and commits three versions after it, which remove two metadata files from the metadata log. */
  private def fill(catalog: Catalog): Table =
    Seq("a", "b", "c").foldLeft(catalog.create(Id, unpartitioned(expiring: _*)))(append)

  private def metadataFiles(store: Store): Set[String] = store.files.paths.filter(_.endsWith(".metadata.json"))

  for (fixture <- CatalogFixture.allExceptRest) {
    val tags = Sampling.slowInSomeRunsUnless(fixture != HiveFixture && fixture != S3Fixture)

    test(s"commits do not wait for the deletion of metadata files, but closing does (${fixture.kind})", tags: _*) {
      fixture.withStore { store =>
        val io = new SlowDeletes(store.files)
        val deletes = new AwaitedDeletes(store, io)
        val catalog = fixture.open(store, io, environment.copy(cleanup = deletes))
        val table = fill(catalog)
        assert(metadataFiles(store).size == 4 && deletes.filesAtWait.isEmpty)
        catalog.close()
        val log = table.metadata.metadataLog.map(_.metadataFile)
        assert(metadataFiles(store) == log.toSet + table.metadataLocation)
      }
    }

    test(s"a purge waits for the deletion of metadata files, and leaves no file (${fixture.kind})", tags: _*) {
      fixture.withStore { store =>
        val io = new SlowDeletes(store.files)
        val deletes = new AwaitedDeletes(store, io)
        val catalog = fixture.open(store, io, environment.copy(cleanup = deletes))
        fill(catalog)
        catalog.drop(Id, purge = true)
        assert(deletes.filesAtWait.headOption.contains(4) && metadataFiles(store).isEmpty)
        catalog.close()
      }
    }
  }

  test("a commit that was retried does not wait for the deletion of the files of its first attempt") {
    CatalogFixture.Jdbc.withStore { store =>
      val io = new SlowDeletes(store.files)
      val catalog = CatalogFixture.Jdbc.open(store, io, background)
      val old = catalog.create(Id, unpartitioned())
      append(old, "theirs")
      val table = append(old, "mine")
      def unused = store.files.paths.filter(_.endsWith(".avro")) -- reachable(table.io, table.version)
      assert(liveFiles(table).size == 2 && unused.nonEmpty)
      io.mayDelete.countDown()
      CommitCleanup.Background.await()
      assert(unused.isEmpty)
      catalog.close()
    }
  }

  /** The clean-up of a process that dies directly after each commit. */
  private object Lost extends CommitCleanup {
    override def run(what: String)(work: => Unit): Unit = ()
    override def await(): Unit = ()
  }

  test("metadata files that a process did not delete before it died are found as orphan files") {
    CatalogFixture.Hadoop.withStore { store =>
      val table = fill(CatalogFixture.Hadoop.open(store, store.files, environment.copy(cleanup = Lost)))
      val all = metadataFiles(store)
      val needed = table.metadata.metadataLog.map(_.metadataFile).toSet + table.metadataLocation
      val removal = new OrphanRemoval(
        CatalogFixture.Hadoop.open(store, store.files).table(Id),
        OrphanRemoval.directory(None),
        new LocalOrphanSearch,
        OrphanOptions(olderThanMs = Long.MaxValue)
      )
      removal.run(_ => ())
      assert(all.size == 4 && needed.size == 2)
      assert(metadataFiles(store) == needed && liveFiles(table).size == 3)
    }
  }
}
