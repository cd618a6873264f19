package iceberglite.sim

import iceberglite.catalog.{HadoopCatalog, PointerCommitter, SimulatedPointer}
import iceberglite.storage.FileIO
import iceberglite.table.{Committer, Environment}

/** The catalog with the table of one [[History]] of simulated writers. Its files are in the simulated storage. */
trait SimulatedCatalog {

  /** Opens the catalog for a writer. Calls other than those of `io` go through `caller`, which may inject faults. */
  def open(caller: Simulation#Caller, io: FileIO, environment: Environment): Committer

  /** Opens the catalog without faults. */
  def openSafely(io: FileIO, environment: Environment): Committer

  /** The metadata files to which the catalog has pointed, in order, or `None` if the catalog does not record them. */
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

  /**
   * A catalog that stores the location of the newest metadata file (the pointer) in memory. It uses the commit code
   * that all catalogs with such a pointer share.
   */
  object Pointers extends Family {
    override def name: String = "pointer"
    override def make(simulation: Simulation, settings: Settings): SimulatedCatalog = new PointerCatalog(settings)
  }
}

/** A catalog with one table. It records every metadata location to which the table's pointer was moved. */
class PointerCatalog(settings: Settings) extends SimulatedCatalog {
  private var locations = Vector.empty[String]

  override def published: Option[Vector[String]] = Some(locations)

  /** Moves the pointer to `to` if it is at `from`. @return whether the pointer was at `from` */
  protected def move(from: Option[String], to: String): Boolean = {
    val expected = locations.lastOption == from
    if (expected) locations :+= to
    expected
  }

  /** Moves the pointer regardless of its current value. */
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

    /**
     * The faults of a swap. A writer recognizes that a repeated swap succeeded the first time by the metadata log, so
     * [[CallFault.Repeated]] is excluded if the log is too short to contain all earlier versions.
     */
    private val faults =
      if (settings.keepsLog) CallFault.all else CallFault.all.filterNot(_ == CallFault.Repeated)

    override def read(): Option[String] =
      caller(Call.reading("read the pointer", down(unknown = false))(() => Direct.read()))

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
