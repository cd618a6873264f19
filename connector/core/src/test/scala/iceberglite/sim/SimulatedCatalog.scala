package iceberglite.sim

import iceberglite.catalog.{HadoopCatalog, PointerCommitter, SimulatedPointer}
import iceberglite.storage.FileIO
import iceberglite.table.{Committer, Environment}

/** What keeps the table of a history, on the storage of its simulation. Made for one history. */
trait SimulatedCatalog {

  /** As a writer sees it: calls go through `caller`. */
  def open(caller: Simulation#Caller, io: FileIO, environment: Environment): Committer

  /** The same when nothing goes wrong. */
  def openSafely(io: FileIO, environment: Environment): Committer

  /** The metadata files that were the table's newest in truth, in their order; `None` where only the files know. */
  def published: Option[Vector[String]]

  def close(): Unit = ()
}

object SimulatedCatalog {

  /** Makes the catalogs of one kind. */
  trait Family {
    def name: String
    def make(simulation: Simulation, settings: Settings): SimulatedCatalog
  }

  val all: Seq[Family] = Seq(Files, Pointers, SimulatedDatabase)

  /** The file-system catalog. */
  object Files extends Family {
    override def name: String = "files"

    override def make(simulation: Simulation, settings: Settings): SimulatedCatalog = new SimulatedCatalog {
      override def open(caller: Simulation#Caller, io: FileIO, environment: Environment): Committer =
        openSafely(io, environment)

      override def openSafely(io: FileIO, environment: Environment): Committer =
        new HadoopCatalog("sim", Map.empty, "mem://wh", io, environment)

      override def published: Option[Vector[String]] = None
    }
  }

  /** A catalog that keeps a pointer, with what all such catalogs share; its server is a variable. */
  object Pointers extends Family {
    override def name: String = "pointer"
    override def make(simulation: Simulation, settings: Settings): SimulatedCatalog = new PointerCatalog(settings)
  }
}

/** The pointer of a table, with every place it was at. */
class PointerCatalog(settings: Settings) extends SimulatedCatalog {
  private var places = Vector.empty[String]

  override def published: Option[Vector[String]] = Some(places)

  /** The compare-and-swap in the server. */
  protected def move(from: Option[String], to: String): Boolean = {
    val expected = places.lastOption == from
    if (expected) places :+= to
    expected
  }

  final protected def force(to: String): Unit = places :+= to

  override def openSafely(io: FileIO, environment: Environment): Committer =
    new PointerCommitter(Direct, io, environment)

  override def open(caller: Simulation#Caller, io: FileIO, environment: Environment): Committer =
    new PointerCommitter(new Remote(caller), io, environment)

  private object Direct extends SimulatedPointer {
    override def read(): Option[String] = places.lastOption
    override def swap(from: Option[String], to: String): Boolean = move(from, to)
  }

  final private class Remote(caller: Simulation#Caller) extends SimulatedPointer {
    private def down(unknown: Boolean) = () => new SimulatedPointer.Down(unknown)

    /** Of a move that was done twice nothing tells where others have gone on so far that the log has forgotten it. */
    private val faults =
      if (settings.keepsLog) CallFault.all else CallFault.all.filterNot(_ == CallFault.Repeated)

    override def read(): Option[String] =
      caller(Call.reading("look at the pointer", down(unknown = false))(() => Direct.read()))

    override def swap(from: Option[String], to: String): Boolean = {
      def done(): Boolean = move(from, to)
      val what = s"move the pointer to ${to.substring(to.lastIndexOf('/') + 1)}"
      caller(Call(
        what,
        faults,
        () => done(),
        down(unknown = false),
        down(unknown = true),
        () => {
          done()
          ()
        }
      ))
    }
  }
}
