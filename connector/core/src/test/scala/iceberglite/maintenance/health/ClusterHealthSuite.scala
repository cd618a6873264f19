package iceberglite.maintenance.health

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Fuzz
import iceberglite.maintenance.cluster.ClusterColumns
import iceberglite.maintenance.compact.{FileGroup, RewriteOptions}
import iceberglite.spec.FormatVersion
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.SummaryKey
import iceberglite.table.{Actions, Table, TestTables}
import iceberglite.table.Actions.tableByCategory
import iceberglite.table.TestTables.fileOf
import iceberglite.table.action.{FastAppend, RewriteFiles}

/** Tests [[TableHealth]] of tables with clustering columns: it counts the files that `rewrite_data_files` rewrites. */
class ClusterHealthSuite extends AnyFunSuite {
  private val target = 10000L

  private def created: Actions = tableByCategory(
    FormatVersion.V2,
    "write.target-file-size-bytes" -> target.toString,
    "iceberg-lite.cluster-by" -> "1"
  )

  private def file(name: String, bytes: Long, ids: (Long, Long)): ContentFile =
    fileOf("a", name, ids = ids).copy(fileSizeInBytes = bytes)

  private def options(table: Table): RewriteOptions = RewriteOptions.of(Map.empty, table.metadata)

  private def data(table: Table): DataFileHealth =
    TableHealth.of(table, options(table), table.metadata.lastUpdatedMs).data

  private def step(table: Table): MaintenanceStep = {
    val parsed = MaintenanceOptions.of(Map.empty, table.metadata)
    val health = TableHealth.of(table, options(table), table.metadata.lastUpdatedMs)
    MaintenancePlan.of(table, health, parsed).find(_.action == MaintenanceAction.RewriteDataFiles).get
  }

  /** Replaces files by other files, in a snapshot whose summary states that its files are clustered. */
  private def cluster(actions: Actions, old: Seq[ContentFile], added: Seq[ContentFile]): Unit = {
    val read = actions.table
    read.transaction(Map(SummaryKey.ClusteredBy -> "1"), TestTables.environment)
      .add(new RewriteFiles(old.toVector, added.toVector, read.metadata.currentSnapshotId.get)).commit()
  }

  test("overlapping files of the target size are due for clustering, and clustered files are not due") {
    val actions = created
    val old = (0 until 8).map(i => file(s"f$i", target, (0, 99)))
    actions.append(old: _*)
    val before = data(actions.table)
    assert(before.smallFiles == 0 && before.rewrite == FileReplacement(8, 8 * target, 8))
    val degree = before.clustering.get.degree
    assert(degree.unclusteredFiles == 8 && degree.unclusteredBytes == 8 * target && degree.overlap == 1.0)
    val due = step(actions.table)
    assert(due.isDue && due.reason.startsWith("8 of 8 data files are not yet clustered by id"))
    assert(due.measures("unclustered_files") == 8 && due.measures("overlap_percent") == 100)
    cluster(actions, old, (0 until 8).map(i => file(s"c$i", target, (i * 12L, i * 12L + 11))))
    val after = step(actions.table)
    assert(!after.isDue && after.filesBefore.contains(0L))
    assert(after.measures("unclustered_files") == 0 && after.measures("overlap_percent") == 0)
  }

  test("clustered files outside of the sizes that bin-packing accepts are not due") {
    val actions = created
    val old = (0 until 8).map(i => file(s"f$i", 2000, (0, 99)))
    actions.append(old: _*)
    cluster(actions, old, (0 until 8).map(i => file(s"c$i", 2000, (i * 12L, i * 12L + 11))))
    val found = data(actions.table)
    assert(found.smallFiles == 8 && found.rewrite == FileReplacement.Empty && !step(actions.table).isDue)
  }

  test("the overlap is the average over all files of the share of the other files that overlap the file") {
    val actions = created
    // The first two files overlap each other, and the others overlap no file.
    val ids = Seq((0L, 20L), (10L, 30L), (40L, 50L), (60L, 70L))
    actions.append(ids.zipWithIndex.map { case (range, i) => file(s"f$i", target, range) }: _*)
    assert(math.abs(data(actions.table).clustering.get.degree.overlap - (2 * 1.0 / 3) / 4) < 1e-9)
  }

  test("TableHealth counts exactly the files that a clustering rewrite chooses") {
    for (round <- 0 until 10) {
      val random = new Random(Fuzz.seed + round)
      val actions = created
      for (commit <- 0 until 1 + random.nextInt(4))
        actions.commit(new FastAppend((0 until 1 + random.nextInt(12)).map { i =>
          val first = random.nextInt(100).toLong
          fileOf(('a' + random.nextInt(3)).toChar.toString, s"f$commit-$i", ids = (first, first + random.nextInt(60)))
            .copy(fileSizeInBytes = 1L + random.nextInt(25000))
        }.toVector))
      val table = actions.table
      val clustering = ClusterColumns.of(table.metadata)
      val groups =
        FileGroup.plan(table, table.currentSnapshot.get, AlwaysTrue, options(table), clustering = clustering)
      assert(data(table).rewrite == FileReplacement.of(groups, options(table)), s"seed ${Fuzz.seed + round}")
    }
  }

  test("the health of a table whose clustering column was dropped is that of an unclustered table") {
    val actions = tableByCategory(FormatVersion.V2, "iceberg-lite.cluster-by" -> "99")
    actions.append(file("f", target, (0, 99)))
    assert(data(actions.table).clustering.isEmpty && !step(actions.table).isDue)
  }
}
