package iceberglite.catalog

import iceberglite.catalog.PointerMove.{Conflict, Succeeded}
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.ObjectKind
import iceberglite.storage.FileIO
import iceberglite.table.{Change, Committer, Environment, TableIdentifier, TableVersion}

/**
 * A catalog with one table, for benchmarks. It commits like all catalogs that store a pointer to the newest metadata
 * file, but the pointer is in memory, so that the time of a commit does not include calls of a server.
 *
 * @param start the newest version of the table; absent if the table does not exist yet
 */
final class MemoryPointer(io: FileIO, start: Option[TableVersion]) extends Committer {
  private var location = start.map(_.metadataLocation)
  private val tables = new PointerTables(io, Environment.system, "memory://warehouse")

  private val pointer = new Pointer[TableVersion] {
    override def read(): Option[String] = location
    override def create(next: TableVersion): PointerMove = move(None, next)
    override def swap(base: TableVersion, next: TableVersion): PointerMove = move(Some(base.metadataLocation), next)

    private def move(from: Option[String], next: TableVersion): PointerMove =
      if (location == from) {
        location = Some(next.metadataLocation)
        Succeeded
      } else Conflict
  }

  override def load(id: TableIdentifier): TableVersion =
    tables.load(pointer).getOrElse(throw NotFound(ObjectKind.Table, id.toString, "It was never created"))

  override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion =
    tables.commit(id.toString, pointer, base, change, ownership(id, _))
}
