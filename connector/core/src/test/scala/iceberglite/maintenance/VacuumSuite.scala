package iceberglite.maintenance

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.maintenance.expire.LocalUnreachableFiles
import iceberglite.maintenance.orphan.LocalOrphanSearch
import iceberglite.maintenance.vacuum.{Vacuum, VacuumResult}
import iceberglite.spec.FormatVersion.V2
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.metadata.SnapshotRef.Tag
import iceberglite.table.Actions.unpartitionedTable
import iceberglite.table.TestTables._
import iceberglite.table._
import iceberglite.table.action.{DeleteFiles, FastAppend, SetRef, UpdateProperties}

/** Tests `VACUUM`, which expires snapshots and then removes orphan files. */
class VacuumSuite extends AnyFunSuite {

  private def vacuum(table: Table, retainMs: Option[Long]): Vacuum =
    new Vacuum(
      table,
      retainMs,
      new LocalUnreachableFiles,
      new LocalOrphanSearch,
      environment = environment.copy(nowMs = () => System.currentTimeMillis + 1000)
    )

  private def dataFile(actions: Actions, name: String): String = {
    val path = s"mem://t/data/$name.parquet"
    actions.store.replace(path, Array[Byte](1))
    path
  }

  /** Creates a table with an expirable snapshot whose data file `old` was removed, and with an orphan file. */
  private def created(): Actions = {
    val actions = unpartitionedTable(V2)
    actions.append(file(dataFile(actions, "old")))
    actions.commit(new DeleteFiles(AlwaysTrue))
    actions.append(file(dataFile(actions, "new")))
    dataFile(actions, "orphan")
    actions
  }

  private def names(paths: Iterable[String]): Set[String] =
    paths.filter(_.endsWith(".parquet")).map(_.split('/').last.stripSuffix(".parquet")).toSet

  private def planned(vacuum: Vacuum): (VacuumResult, Set[(String, String)]) = {
    val found = mutable.Set.empty[(String, String)]
    val result = vacuum.dryRun((kind, path) => found.synchronized { found += kind.name -> path })
    (result, found.toSet)
  }

  test("a dry run finds exactly the files that a run deletes, and changes nothing") {
    val actions = created()
    val paths = actions.store.paths
    val (expected, found) = planned(vacuum(actions.table, Some(0L)))
    assert(actions.store.paths == paths)
    assert(found.filter(_._2.endsWith(".parquet")) == Set(
      "data file" -> "mem://t/data/old.parquet",
      "orphan file" -> "mem://t/data/orphan.parquet"
    ))
    val (after, result) = vacuum(actions.table, Some(0L)).run()
    assert(result == expected && paths -- actions.store.paths == found.map(_._2))
    assert(names(actions.store.paths) == Set("new") && after.metadata.snapshots.size == 1)
    assert(result.expired.snapshotIds.size == 2 && result.orphans.deleted >= 1)
    val (again, none) = planned(vacuum(actions.table, Some(0L)))
    assert(none.isEmpty && again.expired.snapshotIds.isEmpty)
  }

  test("without a retention time, table properties determine which snapshots expire, and orphan files are found") {
    val actions = created()
    val (result, found) = planned(vacuum(actions.table, None))
    assert(result.expired.snapshotIds.isEmpty && names(found.map(_._2)) == Set("orphan"))
    actions.commit(new UpdateProperties(Map("history.expire.max-snapshot-age-ms" -> "1")))
    assert(names(planned(vacuum(actions.table, None))._2.map(_._2)) == Set("old", "orphan"))
    val tagged = actions.table.metadata.snapshots.head.snapshotId
    actions.commit(new SetRef("keep", Tag(tagged)))
    assert(names(planned(vacuum(actions.table, None))._2.map(_._2)) == Set("orphan"))
  }

  test("a file that another program has committed since the table was loaded is kept") {
    val actions = created()
    val path = dataFile(actions, "late")
    val old = actions.table
    actions.commit(new FastAppend(Vector(file(path))))
    vacuum(old, Some(0L)).run()
    assert(names(actions.store.paths) == Set("new", "late"))
  }

  test("a table with gc.enabled=false is rejected, and no snapshot expires") {
    val actions = created()
    actions.commit(new UpdateProperties(Map("gc.enabled" -> "false")))
    val before = actions.table.metadataLocation
    assert(intercept[ValidationFailed](vacuum(actions.table, Some(0L)).run()).getMessage.contains("gc.enabled"))
    assert(actions.table.metadataLocation == before)
  }
}
