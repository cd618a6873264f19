package iceberglite.sim

import iceberglite.catalog.{HadoopCatalog, PointerCommitter, SimulatedPointer}
import iceberglite.storage.FileIO
import iceberglite.table.{Committer, Environment}

/** The catalog of a history's table, on the storage of its simulation. Created for one history. */
trait SimulatedCatalog {

  /** Opens the catalog for a writer; its calls go through `caller`. */
  def open(caller: Simulation#Caller, io: FileIO, environment: Environment): Committer

  /** Opens the catalog without faults. */
  def openSafely(io: FileIO, environment: Environment): Committer

  /** The metadata files to which the catalog pointed, in order; `None` if the catalog does not record them. */
  def published: Option[Vector[String]]

  def close(): Unit = ()
}

object SimulatedCatalog {

  /** Creates catalogs of one kind. */
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

  /** A catalog with a pointer in memory, which uses the code that all catalogs with pointers share. */
  object Pointers extends Family {
    override def name: String = "pointer"
    override def make(simulation: Simulation, settings: Settings): SimulatedCatalog = new PointerCatalog(settings)
  }
}

/** The pointer of a table, with all its earlier values. */
class PointerCatalog(settings: Settings) extends SimulatedCatalog {
  private var locations = Vector.empty[String]

  override def published: Option[Vector[String]] = Some(locations)

  /** The compare-and-swap of the server. @return whether the pointer was at `from` */
  protected def move(from: Option[String], to: String): Boolean = {
    val expected = locations.lastOption == from
    if (expected) locations :+= to
    expected
  }

  final protected def force(to: String): Unit = locations :+= to

  override def openSafely(io: FileIO, environment: Environment): Committer =
    new PointerCommitter(Direct, io, environment)

  override def open(caller: Simulation#Caller, io: FileIO, environment: Environment): Committer =
    new PointerCommitter(new Remote(caller), io, environment)

  private object Direct extends SimulatedPointer {
    override def read(): Option[String] = locations.lastOption
    override def swap(from: Option[String], to: String): Boolean = move(from, to)
  }

  final private class Remote(caller: Simulation#Caller) extends SimulatedPointer {
    private def down(unknown: Boolean) = () => new SimulatedPointer.Down(unknown)

    /** A repeated swap cannot be detected when the metadata log no longer contains the first one. */
    private val faults =
      if (settings.keepsLog) CallFault.all else CallFault.all.filterNot(_ == CallFault.Repeated)

    override def read(): Option[String] =
      caller(Call.reading("look at the pointer", down(unknown = false))(() => Direct.read()))

    override def swap(from: Option[String], to: String): Boolean = {
      def moveTo(): Boolean = move(from, to)
      val what = s"move the pointer to ${to.substring(to.lastIndexOf('/') + 1)}"
      caller(Call(
        what,
        faults,
        () => moveTo(),
        down(unknown = false),
        down(unknown = true),
        () => {
          moveTo()
          ()
        }
      ))
    }
  }
}
