package iceberglite.catalog

import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.CatalogFixture.Id
import iceberglite.spec.IcebergError.NotFound
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

  test("reloading a table whose pointer has not changed reads no file") {
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
}
