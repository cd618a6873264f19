package iceberglite.catalog

import iceberglite.catalog.PointerMove.{Conflict, Succeeded, Unknown}
import iceberglite.spec.IcebergError.{NotFound, StorageFailed}
import iceberglite.spec.{ObjectKind, Place}
import iceberglite.storage.FileIO
import iceberglite.table._

/**
 * A simulated server that stores the location of a table's newest metadata file (the pointer). Its methods throw
 * `SimulatedPointer.Down` if the call fails.
 */
trait SimulatedPointer {
  def read(): Option[String]

  /**
   * Moves the pointer to `to` if it is at `from`. If `from` is `None`, moves it if there is no pointer yet.
   *
   * @return whether the pointer was moved
   */
  def swap(from: Option[String], to: String): Boolean
}

object SimulatedPointer {

  /** The failure of a call. @param unknown whether the call may have taken effect, or may still take effect later */
  final class Down(val unknown: Boolean) extends RuntimeException("injected by the simulation")
}

/** A catalog with one table. It commits like all catalogs that store a pointer to the newest metadata file. */
final class PointerCommitter(simulated: SimulatedPointer, io: FileIO, environment: Environment) extends Committer {
  private val tables = new PointerTables(io, environment, "mem://wh")

  private val pointer = new Pointer[TableVersion] {
    override def read(): Option[String] =
      try simulated.read()
      catch { case down: SimulatedPointer.Down => throw failed(down) }

    override def create(next: TableVersion): PointerMove = move(None, next)

    override def swap(base: TableVersion, next: TableVersion): PointerMove = move(Some(base.metadataLocation), next)

    private def move(from: Option[String], next: TableVersion): PointerMove =
      try if (simulated.swap(from, next.metadataLocation)) Succeeded else Conflict
      catch { case down: SimulatedPointer.Down => if (down.unknown) Unknown(down) else throw failed(down) }

    private def failed(down: SimulatedPointer.Down) =
      StorageFailed("call", Place.Server("the catalog"), "injected by the simulation", Some(down))
  }

  override def load(id: TableIdentifier): TableVersion =
    tables.load(pointer).getOrElse(throw NotFound(ObjectKind.Table, id.toString, "It was never created"))

  override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion =
    tables.commit(id.toString, pointer, base, change, ownership(id, _))
}
