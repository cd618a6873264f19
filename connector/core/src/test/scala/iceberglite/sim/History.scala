package iceberglite.sim

import java.util.UUID

import scala.util.Random

import iceberglite.catalog.Catalog
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.CommitStateUnknown
import iceberglite.spec.partition.{Identity, UnboundPartitionField}
import iceberglite.storage.FileIO
import iceberglite.table._
import iceberglite.tree.{ManifestCache, SequentialPool}

/**
 * A history of concurrent commits, after all writers have finished or died.
 *
 * @param newest the table version that a new reader loads at the end, or the error of the load
 * @param lostCleanup the numbers of the writers that did not complete the clean-up after their commits
 */
final case class FinishedHistory(
    settings: Settings,
    simulation: Simulation,
    catalog: SimulatedCatalog,
    contents: SimulatedContents,
    operations: Vector[Operation],
    reads: Vector[Read],
    newest: Either[IcebergError, TableVersion],
    lostCleanup: Set[Int]
) {

  /** Accesses the storage without faults. */
  val io: FileIO = new StoreIO(simulation.store, () => History.Setup)
}

/**
 * Runs several simulated writers that commit to one table concurrently. The seed determines all random choices.
 *
 * @param works returns the kinds of operations from which the writer with the given number chooses
 */
final class History(settings: Settings, works: Int => Seq[Work] = _ => Work.all) {
  val simulation = new Simulation(settings.seed, settings.stay, settings.rate)
  private val contents = new SimulatedContents
  private val clean = new StoreIO(simulation.store, () => History.Setup)
  private val truth = new SnapshotReader(clean, contents)
  private var operations = Vector.empty[Operation]
  private var reads = Vector.empty[Read]
  private var lastOperation = 0

  def run(): FinishedHistory = {
    val catalog = settings.catalog.make(simulation, settings)
    try {
      create(catalog)
      val writers = Vector.tabulate(settings.writers)(new Writer(_, catalog))
      simulation.schedule.run(writers.map(writer => () => writer.work()))
      writers.foreach(w => ManifestCache.shared.invalidate(w.io, "mem:/"))
      val reader = catalog.openSafely(clean, environment(simulation.random, 0))
      val newest =
        try Right(reader.load(History.Id))
        catch { case e: IcebergError => Left(e) }
      val lost = writers.filter(_.hasLostCleanup).map(_.number).toSet
      FinishedHistory(settings, simulation, catalog, contents, operations.sortBy(_.id), reads, newest, lost)
    } finally catalog.close()
  }

  private def create(catalog: SimulatedCatalog): Unit = {
    val noSkew = environment(simulation.random, 0)
    val creation = TableCreation(
      WriterState.Schema,
      Vector(UnboundPartitionField(Vector("category"), Identity)),
      properties = settings.properties + ("format-version" -> settings.version.toString)
    )
    catalog.openSafely(clean, noSkew) match {
      case catalog: Catalog => catalog.create(History.Id, creation)
      case committer =>
        val start = new TableStart.Creation(creation, StageMode.Create, History.Location, noSkew.uuid())
        StagedTable.begin(CommitTarget(History.Id, History.Id.toString, clean, committer), start, None, noSkew).commit()
    }
    ()
  }

  /** @param skewMs difference of the writer's clock from the wall clock in milliseconds */
  private def environment(
      random: Random,
      skewMs: Long,
      sleep: Long => Unit = _ => (),
      cleanup: CommitCleanup = CleanupInCommit
  ): Environment = Environment(
    // One in 20 clock readings is up to 30 s too early.
    () => simulation.wallMs + skewMs - (if (random.nextInt(20) == 0) random.nextInt(30000).toLong else 0L),
    sleep,
    () => random.nextLong(),
    () => random.nextDouble(),
    () => new UUID(random.nextLong(), random.nextLong()),
    SequentialPool,
    cleanup
  )

  /** A writer that runs one operation after the other until it has finished or dies. */
  final private class Writer(val number: Int, catalog: SimulatedCatalog) {
    private val random = new Random(settings.seed * 31 + number)
    private val caller = new simulation.Caller(number)
    private var current = History.Setup
    val io =
      new SimulatedIO(simulation.store, caller, () => current, mayCache = random.nextBoolean(), random.nextBoolean())

    /** The commits of every other writer do not wait for their clean-up. */
    private val deferred =
      if (number % 2 == 0) None
      else Some(new DeferredCleanup(new Random(settings.seed * 37 + number), () => caller.isDead))
    private val clock =
      environment(random, random.nextInt(40000) - 20000L, caller.sleep, deferred.getOrElse(CleanupInCommit))
    private val committer = catalog.open(caller, io, clock)
    private var seen: Option[Table] = None

    def hasLostCleanup: Boolean = deferred.exists(_.isLost)

    def work(): Unit = {
      (1 to settings.operations).foreach { _ =>
        attempt {
          lastOperation += 1
          current = lastOperation
          deferred.foreach(_.runSome())
          currentOrStaleTable().foreach(operate)
        }
      }
      while (deferred.exists(_.isWaiting) && !caller.isDead) attempt(deferred.foreach(_.await()))
    }

    /** Runs a step of the writer, unless the writer has died. */
    private def attempt(step: => Unit): Unit = if (!caller.isDead) {
      try step
      catch {
        // The table could not be loaded, so the operation has not started.
        case _: Crash | _: IcebergError | _: OutOfMemoryError => ()
        // The snapshot that the writer read is invalid. The checker reports it.
        case _: BrokenSnapshot => ()
      }
    }

    /** Chooses at random whether to load the table or to return the last version that this writer has seen. */
    private def currentOrStaleTable(): Option[Table] = {
      if (seen.isEmpty || random.nextInt(3) > 0) seen = Some(load())
      seen
    }

    private def load(): Table = {
      val began = simulation.schedule.now
      val version = committer.load(History.Id)
      reads :+= Read(number, began, simulation.schedule.now, version.metadataLocation)
      new Table(History.Id, History.Id.toString, version, io, committer)
    }

    private def operate(table: Table): Unit = {
      val work = Work.draw(works(number), random)
      val began = simulation.schedule.now
      val state = new WriterState(current, table, truth, contents, random, io)
      simulation.note(number, s"operation $current begins: ${work.name}")
      var plan: Option[Plan] = None
      val reported =
        try {
          plan = work.plan(state)
          plan.map(p => commit(table, p))
        } catch {
          case unknown: CommitStateUnknown => Some(Outcome.Unknown(unknown))
          case failed: IcebergError =>
            deleteWritten(state)
            Some(Outcome.Failed(failed))
          case _: Crash => None
          case error: OutOfMemoryError => Some(Outcome.Unknown(error))
        }
      val outcome = if (caller.isDead) Some(Outcome.Died) else reported
      simulation.note(number, s"operation $current ends: ${outcome.fold("nothing to do")(_.toString.take(300))}")
      outcome.foreach { o =>
        operations :+= Operation(current, number, work.name, table.version, plan, o, began, simulation.schedule.now)
      }
    }

    private def commit(table: Table, plan: Plan): Outcome = {
      val transaction = table.transaction(Map(History.OperationKey -> current.toString), clock)
      plan.actions.foreach(transaction.add)
      val committed = transaction.commit()
      seen = Some(committed)
      Outcome.Acknowledged(committed.version)
    }

    /** Deletes the files that were written for a failed commit. Deletions may fail too, because of faults. */
    private def deleteWritten(state: WriterState): Unit = state.written.foreach { path =>
      try io.delete(path)
      catch {
        case _: IcebergError | _: Crash | _: OutOfMemoryError => simulation.store.excuse(path, "its deletion failed")
      }
    }
  }
}

object History {
  val Id: TableIdentifier = TableIdentifier(Vector("db"), "t")
  val Location = "mem://wh/db/t"

  /** Key in the summary of each snapshot for the number of the operation that created the snapshot. */
  val OperationKey = "operation-number"

  /** The operation number of files that belong to no operation, for example those of the table's creation. */
  val Setup = 0
}
