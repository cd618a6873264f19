package iceberglite.maintenance.compact

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion
import iceberglite.table.{Actions, Table}
import iceberglite.table.TestTables.file
import iceberglite.tree.ManifestsOnly

/** Tests [[ManifestCompaction]], which rewrites the manifests of a branch. */
class ManifestCompactionSuite extends AnyFunSuite {

  private def withManifests(count: Int): Actions = {
    val actions = Actions.unpartitionedTable(FormatVersion.V2, "commit.manifest-merge.enabled" -> "false")
    (1 to count).foreach(i => actions.append(file(s"f$i")))
    actions
  }

  private def rewrite(table: Table): ManifestRewriteResult = new ManifestCompaction(table).run()._2

  test("the manifests of main are replaced by one, and a second rewrite has nothing to do", ManifestsOnly) {
    val actions = withManifests(3)
    assert(new ManifestCompaction(actions.table).dryRun() == ManifestRewriteResult(3, 1))
    assert(rewrite(actions.table) == ManifestRewriteResult(3, 1))
    assert(rewrite(actions.table) == ManifestRewriteResult.Empty)
  }

  test(
    "a rewrite that finds its manifests already rewritten by another writer reports no counts of its own",
    ManifestsOnly
  ) {
    val actions = withManifests(3)
    val read = actions.table
    assert(rewrite(read) == ManifestRewriteResult(3, 1))
    assert(rewrite(read) == ManifestRewriteResult.Empty)
  }
}
