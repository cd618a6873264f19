package iceberglite.catalog

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.maintenance.orphan.{LocalOrphanSearch, OrphanOptions, OrphanRemoval}
import iceberglite.spec.IcebergError.Unsupported

/** Tests that the removal of orphan files does not guess which metadata file of a table is current. */
class OrphansByPathSuite extends AnyFunSuite with HostileTables {

  test(
    "orphan files of a JDBC catalog's table cannot be removed by path, because only the catalog knows its metadata file"
  ) {
    val catalog = jdbc("a")
    val victim = filled(catalog, Victim)
    val byPath = new PathTables(io).table(victim.location)
    val removal = new OrphanRemoval(
      byPath,
      OrphanRemoval.directory(None),
      new LocalOrphanSearch,
      OrphanOptions(olderThanMs = Long.MaxValue)
    )
    assertFilesKept(
      Seq(() => removal.run(_ => ()), () => removal.dryRun(_ => ())).foreach(run =>
        assert(intercept[Unsupported](run()).advice.contains("the name of the table in its catalog"))
      ),
      isDatabase
    )
    catalog.close()
  }
}
