package iceberglite.sim

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.Place
import iceberglite.spec.IcebergError.{CommitConflict, CommitStateUnknown, StorageFailed}
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate.{AddSnapshot, SetSnapshotRef}
import iceberglite.spec.update.Requirement.AssertRefSnapshotId
import iceberglite.storage.FileIO
import iceberglite.table._
import iceberglite.spec.property.IsolationLevel

/** Tests that the checks detect a defect of the committer, the storage or a writer, and tests the random histories. */
class CheckerSuite extends AnyFunSuite {
  private val Seeds = 400

  private def seed(round: Int): Long = 20240229L * 1000003L + round

  /** Returns a kind of pointer catalog. `wrap` adds a defect to the committers of the catalogs. */
  private def broken(wrap: (Committer, FileIO) => Committer): SimulatedCatalog.Family =
    new SimulatedCatalog.Family {
      override def name: String = "broken"
      override def make(simulation: Simulation, settings: Settings): SimulatedCatalog = new PointerCatalog(settings) {
        override def open(caller: Simulation#Caller, io: FileIO, environment: Environment): Committer =
          wrap(super.open(caller, io, environment), io)
      }
    }

  abstract private class CommitterWrapper(inner: Committer) extends Committer {
    override def load(id: TableIdentifier): TableVersion = inner.load(id)
  }

  private def settings(round: Int, catalog: SimulatedCatalog.Family): Settings =
    Settings.of(seed(round)).copy(catalog = catalog)

  /** Runs histories until the checker finds a violation, and returns it. */
  private def firstViolation(history: Int => FinishedHistory): Option[String] =
    Iterator.range(0, Seeds).flatMap(round => Checker.violations(history(round)).headOption).take(1).toVector.headOption

  private def assertViolation(rules: Check*)(history: Int => FinishedHistory): Unit = {
    val violation = firstViolation(history)
    assert(violation.exists(v => rules.exists(r => v.startsWith(r.name))), s"The checker reported $violation")
  }

  private def assertViolation(catalog: SimulatedCatalog.Family, rules: Check*): Unit =
    assertViolation(rules: _*)(round => new History(settings(round, catalog)).run())

  test("a compare-and-swap that does not compare is detected as lost updates") {
    val blind = new SimulatedCatalog.Family {
      override def name: String = "blind"
      override def make(simulation: Simulation, settings: Settings): SimulatedCatalog = new PointerCatalog(settings) {
        override protected def move(from: Option[String], to: String): Boolean = {
          force(to)
          true
        }
      }
    }
    assertViolation(blind, LinearHistory, Outcomes)
  }

  test("an exclusive create that replaces files, like a rename, is detected as lost updates") {
    assertViolation(LinearHistory, Outcomes, CommittedReads, NoMissingOrOrphanFiles) { round =>
      val history = new History(settings(round, SimulatedCatalog.Files))
      history.simulation.store.exclusive = false
      history.run()
    }
  }

  test("a committer that treats an unknown outcome as a failure is detected by visible commits or missing files") {
    val guessing = broken((inner, io) =>
      new CommitterWrapper(inner) {
        override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion =
          try inner.commit(id, base, change)
          catch {
            case unknown: CommitStateUnknown =>
              unknown.metadataFile.foreach(io.delete)
              throw StorageFailed("commit", Place.CatalogObject(id.toString), "by the test")
          }
      }
    )
    assertViolation(LinearHistory, Outcomes, NoMissingOrOrphanFiles, ExpectedRows) { round =>
      // Many faults, so that the outcomes of many commits are unknown.
      new History(settings(round, guessing).copy(rate = 0.2)).run()
    }
  }

  test("an append that is applied twice is detected by the outcome of its operation") {
    assertViolation(
      broken((inner, _) =>
        new CommitterWrapper(inner) {
          override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion =
            twice(id, inner.commit(id, base, change), change)

          /** Adds the snapshot of a committed append to `main` a second time, with another snapshot id. */
          private def twice(id: TableIdentifier, once: TableVersion, change: Change): TableVersion =
            change.updates match {
              case Vector(AddSnapshot(s), set: SetSnapshotRef)
                  if set.name == "main" && s.operation.contains("append") =>
                val again = s.copy(
                  snapshotId = s.snapshotId ^ 1,
                  parentSnapshotId = Some(s.snapshotId),
                  sequenceNumber = if (s.sequenceNumber == 0) 0 else once.metadata.lastSequenceNumber + 1,
                  firstRowId = s.firstRowId.map(_ => once.metadata.nextRowId)
                )
                val updates: Vector[MetadataUpdate] =
                  Vector(
                    AddSnapshot(again),
                    SetSnapshotRef("main", iceberglite.spec.metadata.SnapshotRef.Branch(again.snapshotId))
                  )
                inner.commit(id, Some(once), Change(updates, Vector(AssertRefSnapshotId("main", Some(s.snapshotId)))))
              case _ => once
            }
        }
      ),
      Outcomes
    )
  }

  test("a committer that acknowledges a conflicting commit is detected as a lost update") {
    assertViolation(
      broken((inner, _) =>
        new CommitterWrapper(inner) {
          override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion =
            try inner.commit(id, base, change)
            catch { case _: CommitConflict => inner.load(id) }
        }
      ),
      Outcomes
    )
  }

  test("storage that ignores deletes is detected by unreferenced files") {
    assertViolation(NoMissingOrOrphanFiles) { round =>
      val history = new History(settings(round, SimulatedCatalog.Pointers).copy(rate = 0.0))
      history.simulation.store.deletes = false
      history.run()
    }
  }

  test("storage that loses a manifest after acknowledging its write is detected") {
    assertViolation(NoMissingOrOrphanFiles, ExpectedRows, Numbers) { round =>
      val history = new History(settings(round, SimulatedCatalog.Pointers))
      history.simulation.store.loses = path => path.endsWith("-m0.avro")
      history.run()
    }
  }

  test("writers without conflict validation are detected because they overwrite concurrent changes") {
    assertViolation(ExpectedRows) { round =>
      new History(settings(round, SimulatedCatalog.Pointers), _ => CheckerSuite.WithoutValidation).run()
    }
  }

  test("the same seed gives the same history") {
    (0 until 6).foreach { round =>
      val traces = Vector.fill(2)(new History(Settings.of(seed(round))).run().simulation.trace)
      traces.head.zip(traces.last).find(t => t._1 != t._2).foreach { t =>
        fail(s"The first run has '${t._1}', and the second run has '${t._2}'")
      }
      assert(traces.head.size == traces.last.size)
    }
  }

  test("every kind of operation, fault and outcome occurs in the first 80 histories") {
    val histories = (0 until 80).iterator.map(round => new History(Settings.of(seed(round))).run())
    // Histories after the one in which the last of them occurs are not run.
    val missing = histories.scanLeft(kinds)((missing, history) => missing -- kindsOf(history)).find(_.isEmpty)
    assert(missing.isDefined)
  }

  /** Returns the names of all operations, and all faults and kinds of outcomes. */
  private def kinds: Set[String] =
    Work.all.map(_.name).toSet ++ CallFault.all.map(f => s"[$f]") ++ Set("Acknowledged", "Failed", "Unknown", "Died")

  /** Returns the acknowledged operations of a history, its faults, and the kinds of its outcomes. */
  private def kindsOf(history: FinishedHistory): Set[String] = {
    val acknowledged = history.operations.filter(_.outcome.isInstanceOf[Outcome.Acknowledged]).map(_.work)
    val faults = CallFault.all.map(f => s"[$f]").filter(f => history.simulation.trace.exists(_.contains(f)))
    val outcomes = history.operations.map(_.outcome.getClass.getSimpleName.stripSuffix("$"))
    (acknowledged ++ faults ++ outcomes).toSet
  }
}

object CheckerSuite {

  /** Appends, and overwrites that do not check for conflicts although [[Effect.Overwritten]] expects the check. */
  private val WithoutValidation: Seq[Work] = Seq(
    AppendWork.all.head,
    new Work {
      override def name: String = "careless overwrite"
      override def plan(state: WriterState): Option[Plan] = {
        val category = state.category()
        val files = Vector(state.newFile(category))
        val action = new iceberglite.table.action.OverwriteFiles(OverwriteWork.inCategory(category), files.map(_.file))
        Some(Plan(Vector(action), Vector(Effect.Overwritten(category, files, Some(IsolationLevel.Serializable)))))
      }
    }
  )
}
