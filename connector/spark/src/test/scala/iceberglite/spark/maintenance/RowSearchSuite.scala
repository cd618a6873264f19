package iceberglite.spark.maintenance

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.puffin.DeletionVector
import iceberglite.scan.FileScanTask
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.{Content, ContentFile}
import iceberglite.table.Table
import iceberglite.tree.TreeReader

/** Tests the search for the rows of replaced files in the sorted files that replace them. */
class RowSearchSuite extends AnyFunSuite with StatementFixture {
  private def dataFiles(table: Table): Vector[ContentFile] = {
    val tree = new TreeReader(table.io, table.metadata)
    table.currentSnapshot.toVector.flatMap(tree.manifests).flatMap(tree.entries(_).toVector)
      .filter(e => e.isLive && e.file.content == Content.Data).map(_.file)
  }

  /** Returns the rows at positions, as sorted texts. */
  private def rowsAt(t: String, found: Iterable[(ContentFile, DeletionVector)]): Seq[String] = {
    val positions = found.map { case (file, vector) => file.path.split('/').last -> vector }.toMap
    rows(s"SELECT _file, _pos, id, s FROM $t").filter { row =>
      positions.get(row.getString(0).split('/').last).exists(_.isDeleted(row.getLong(1)))
    }.map(row => s"${row.getLong(2)} ${row.getString(3)}").sorted
  }

  for (version <- Seq(2, 3))
    test(s"a search finds the requested number of equal rows, with and without a shuffle, version $version", Slow) {
      val t = create("id BIGINT, s STRING", version, "merge-on-read", "write.distribution-mode" -> "none")
      // Each row occurs ten times.
      sql(s"INSERT INTO $t SELECT id % 200, concat('s', id % 200) FROM range(0, 2000, 1, 3)")
      val before = live(t)
      val Array(catalog, name) = t.split("\\.", 2)
      val wanted = dataFiles(before).map(file => (file, DeletionVector.of(0L, 1L, 2L, 210L, 300L)))
      val expected = rowsAt(t, wanted)
      sql(s"CALL $catalog.system.rewrite_data_files(table => '$name', strategy => 'sort', sort_order => 's DESC', " +
        "options => map('rewrite-all', 'true'))")
      sql(s"REFRESH TABLE $t")
      val written = dataFiles(live(t))
      val tasks = dataFiles(before).map(f => FileScanTask.whole(f, 1L, before.metadata.specsById(f.specId), AlwaysTrue))
      for (maxFew <- Seq(0L, DriverRowSearch.MaxRows)) {
        val search = new RowSearch(spark, before, before.currentSnapshot.get, tasks, written, maxFew)
        try {
          val (first, second) = wanted.splitAt(1)
          val found = search.find(first, Map.empty)
          val taken = found.map { case (file, positions) => file.path -> positions }.toMap
          val others = search.find(second, taken)
          assert((rowsAt(t, found) ++ rowsAt(t, others)).sorted == expected, maxFew)
          assert(others.forall { case (file, positions) => positions.without(taken(file.path)) == positions }, maxFew)
        } finally search.close()
      }
    }
}
