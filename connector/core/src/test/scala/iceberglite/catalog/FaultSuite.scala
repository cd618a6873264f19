package iceberglite.catalog

import scala.annotation.tailrec

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.CatalogFixture.{Id, Store}
import iceberglite.spec.IcebergError.CommitStateUnknown
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.table._
import iceberglite.table.TestTables._
import iceberglite.table.action.{FastAppend, OverwriteFiles, UpdateProperties}

/**
 * Tests that every referenced file exists after a fault in any storage call of a commit, and that a commit with a
 * definite outcome leaves no unreferenced files.
 */
class FaultSuite extends AnyFunSuite {
  private val changes: Seq[(String, Catalog => Unit)] = Seq(
    "append" -> { c =>
      c.table(Id).transaction(Map.empty, environment).add(new FastAppend(Vector(file("new")))).commit()
    },
    "overwrite" -> { c =>
      val overwrite = new OverwriteFiles(AlwaysTrue, Vector(file("new")))
      c.table(Id).transaction(Map.empty, environment).add(overwrite).commit()
    },
    "create" -> (c => c.create(CatalogFixture.Id.copy(name = "other"), unpartitioned())),
    "create with data" -> { c =>
      val staged = c.stage(Id.copy(name = "other"), unpartitioned(), StageMode.Create)
      staged.table.transaction(Map.empty, environment).add(new FastAppend(Vector(file("new")))).commit()
      staged.commit()
    },
    "replace with data" -> { c =>
      val staged = c.stage(Id, unpartitioned(), StageMode.Replace)
      staged.table.transaction(Map.empty, environment).add(new FastAppend(Vector(file("new")))).commit()
      staged.commit()
    },
    "alter" -> { c =>
      c.table(Id).transaction(Map.empty, environment).add(new UpdateProperties(Map("a" -> "b"))).commit()
    }
  )

  for {
    fixture <- CatalogFixture.hadoopAndJdbc
    // The faults are in storage calls, and do not depend on the database. Therefore only one kind of change is tested
    // on PostgreSQL, which is slow.
    (name, change) <- if (fixture == CatalogFixture.Postgres) changes.filter(_._1 == "create with data") else changes
    fault <- Fault.all
  } test(s"after $fault, referenced files exist, and a definite outcome leaves no others: $name, ${fixture.kind}") {
    everyCall(fixture, fault, change)
  }

  /** Runs the change repeatedly. In each run, injects the fault into the next one of the change's storage calls. */
  @tailrec
  private def everyCall(fixture: CatalogFixture, fault: Fault, change: Catalog => Unit, at: Int = 1): Unit = {
    val calls = fixture.withStore(store => runOnce(fixture, store, fault, change, at))
    assert(at < 60, "the change makes too many calls")
    if (calls >= at) everyCall(fixture, fault, change, at + 1)
  }

  private def runOnce(fixture: CatalogFixture, store: Store, fault: Fault, change: Catalog => Unit, at: Int): Int = {
    val clean = fixture.open(store, store.files)
    clean.create(Id, unpartitioned())
    clean.table(Id).transaction().add(new FastAppend(Vector(file("first")))).commit()
    val before = store.files.paths
    val faulty = new FaultyFileIO(store.files, at, fault)
    val catalog = fixture.open(store, faulty)
    val outcome =
      try {
        change(catalog)
        None
      } catch { case e: Throwable => Some(e) }
    check(clean, store, before, outcome, s"$fault at call $at gave $outcome")
    catalog.close()
    clean.close()
    faulty.calls
  }

  private def check(
      catalog: Catalog,
      store: Store,
      before: Set[String],
      outcome: Option[Throwable],
      clue: String
  ): Unit = withClue(clue) {
    val tables = catalog.listTables(Vector("db")).map(catalog.table)
    val needed = tables.flatMap(t => reachable(store.files, t.version)).toSet
    assert(needed.subsetOf(store.files.paths), "a file that metadata references is missing")
    tables.foreach(liveFiles)
    val unreferenced = store.files.paths -- needed -- before.filterNot(_.endsWith(".json")) -- hints(store)
    outcome match {
      case None => assert(unreferenced.isEmpty, "a successful commit left unreferenced files")
      case Some(_: CommitStateUnknown) => ()
      case Some(_: Crash | _: OutOfMemoryError) => ()
      case Some(_) =>
        assert(store.files.paths -- hints(store) == before -- hints(store), "a failed commit left files")
    }
  }

  private def hints(store: Store): Set[String] = store.files.paths.filter(_.endsWith("version-hint.text"))
}
