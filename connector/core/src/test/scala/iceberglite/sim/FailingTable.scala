package iceberglite.sim

import iceberglite.table.{Action, _}
import iceberglite.table.TestTables.{file, liveFiles}
import iceberglite.table.action.FastAppend

/**
 * A table in a catalog whose calls fail as scripted.
 *
 * @param byCategory whether the table is partitioned by the column `category`
 * @param first the path of the data file that an unpartitioned table has at the beginning
 */
final class FailingTable(
    family: SimulatedCatalog.Family,
    byCategory: Boolean = false,
    properties: Map[String, String] = Map.empty,
    first: String = "first"
) {
  private val settings = Settings.of(1).copy(
    properties = Map("commit.retry.num-retries" -> "2", "commit.status-check.num-retries" -> "1") ++ properties
  )
  val kind: String = family.name
  val simulation = new Simulation(1, 1.0, 0.0)
  private val catalog = family.make(simulation, settings)

  /** Accesses the storage without faults. */
  val clean = new StoreIO(simulation.store, () => History.Setup)
  private val caller = new simulation.Caller(0)
  var sleep: Long => Unit = (_: Long) => ()
  private val environment = TestTables.environment.copy(sleep = ms => sleep(ms))
  private val io = new SimulatedIO(simulation.store, caller, () => 1, mayCache = false)
  private val direct = catalog.openSafely(clean, TestTables.environment)

  /** A prefix of the text by which [[Call.what]] describes the call that makes a commit visible. */
  val swap: String = Map("files" -> "create v", "pointer" -> "move the pointer", "jdbc" -> "UPDATE iceberg_tab")(kind)

  /** Pairs of a prefix of [[Call.what]] and a fault. Each fault applies once, to the next call with that prefix. */
  var script: Vector[(String, CallFault)] = Vector.empty

  /** Whether all calls fail after the next call that makes a commit visible. */
  var downAfterSwap = false

  /** Runs before each call that makes a commit visible. Tests use it for commits of other writers. */
  var beforeSwap: () => Unit = () => ()

  /** Runs once, before the first call after a commit became visible. */
  var afterSwap: () => Unit = () => ()
  private var onCalls = Vector.empty[(String, () => Unit)]
  private var swapped = false
  private var step = 0
  private var failures = Map.empty[Int, CallFault]

  simulation.intercept = what => {
    step += 1
    if (swapped) {
      afterSwap()
      afterSwap = () => ()
    }
    val due = onCalls.filter(c => what.startsWith(c._1))
    onCalls = onCalls.diff(due)
    due.foreach(_._2())
    val down = Some(CallFault.Refused).filter(_ => swapped && downAfterSwap)
    if (what.startsWith(swap)) {
      swapped = true
      beforeSwap()
    }
    val planned = script.find(s => what.startsWith(s._1))
    script = script.diff(planned.toVector)
    down.orElse(planned.map(_._2)).orElse(failures.get(step))
  }

  private val committer = catalog.open(caller, io, environment)
  locally {
    val creation =
      if (byCategory) TestTables.byCategory(settings.properties.toSeq: _*)
      else TestTables.unpartitioned(settings.properties.toSeq: _*)
    val start = new TableStart.Creation(creation, StageMode.Create, History.Location, environment.uuid())
    StagedTable.begin(CommitTarget(History.Id, "t", clean, direct), start, None, TestTables.environment).commit()
    if (!byCategory) appendByOther(first)
  }
  val table: Table = load()

  def load(): Table = new Table(History.Id, "t", committer.load(History.Id), io, committer)

  /** Loads the table as a reader without faults does. */
  def actualTable: Table = new Table(History.Id, "t", direct.load(History.Id), clean, direct)
  def livePaths: Vector[String] = liveFiles(actualTable)
  def versions: Int = simulation.store.metadataFiles.size

  /** Returns the paths of files that the writer with failing calls has written and not deleted. */
  def filesOfWriter: Set[String] = simulation.store.paths.filter(simulation.store.find(_).exists(_.operation == 1))

  def commit(on: Table, action: Action): Table = on.transaction(Map.empty, environment).add(action).commit()
  def append(path: String, on: Table = table): Table = commit(on, new FastAppend(Vector(file(path))))

  /** Appends a file as another writer, without faults. */
  def appendByOther(path: String): Unit = {
    commit(actualTable, new FastAppend(Vector(file(path))))
    ()
  }

  /** Runs `body` before the next call whose description [[Call.what]] starts with `prefix`. */
  def onCall(prefix: String, body: () => Unit): Unit = onCalls :+= prefix -> body

  /** Returns the number of calls that `body` makes. */
  def callsOf(body: => Any): Int = {
    val before = step
    body
    step - before
  }

  /** Injects a fault into the given call, counted from 1 for the next call. */
  def failAt(call: Int, fault: CallFault): Unit = failures += (step + call) -> fault

  def close(): Unit = catalog.close()
}
