package iceberglite.catalog.jdbc

import java.sql.SQLException

import iceberglite.catalog.PointerMove._
import iceberglite.catalog.{Pointer, PointerMove}
import iceberglite.spec.IcebergError.{AlreadyExists, InvalidArgument}

/**
 * The pointer in the database of a JDBC catalog: the column `metadata_location` in a row of `iceberg_tables`.
 *
 * @param fullName the name of the table or view, for messages
 * @param locationOf returns the location of the metadata file of a version of the table or view
 */
final private[catalog] class JdbcPointer[V](
    pool: JdbcPool,
    rows: JdbcRows,
    kind: RowKind,
    namespace: String,
    name: String,
    fullName: String,
    locationOf: V => String
) extends Pointer[V] {

  override def read(): Option[String] =
    pool.withRetries(s"look for a ${kind.noun}")(rows.location(kind, namespace, name))

  override def create(next: V): PointerMove = resultOf(next) {
    try rows.insert(kind, namespace, name, locationOf(next)) > 0
    catch {
      case e: SQLException if SqlState.isDuplicate(e) =>
        rejectOtherKind()
        false
    }
  }

  override def swap(base: V, next: V): PointerMove =
    resultOf(next)(rows.swap(kind, namespace, name, locationOf(base), locationOf(next)) > 0)

  private def resultOf(next: V)(move: => Boolean): PointerMove =
    try {
      val hasMoved =
        try move
        catch {
          case failure: NoConnection if failure.isTransient =>
            pool.awaitServer()
            move
        }
      if (hasMoved) Succeeded else Conflict
    } catch {
      case failure: LostConnection => Unknown(failure.getCause)
      case busy: SQLException if SqlState.isBusy(busy) => Busy(busy.getMessage)
      case tooLong: SQLException if SqlState.isTooLong(tooLong) =>
        val reason = s"The location is too long for the catalog database (${tooLong.getMessage})"
        throw InvalidArgument("metadata location", locationOf(next), s"$reason. Choose another location for $fullName")
      case error: Exception => throw pool.toIcebergError(s"commit $fullName", error)
    }

  /** Rejects a new table with the name of a view, and a new view with the name of a table. */
  private def rejectOtherKind(): Unit =
    RowKind.all.filter(k => k != kind && rows.canStoreViews).foreach { other =>
      if (pool.withRetries(s"look for a ${other.noun}")(rows.location(other, namespace, name)).isDefined) {
        throw AlreadyExists(
          other.objectKind,
          fullName,
          s"A table and a view cannot have the same name. Drop the ${other.noun} first, or choose another name"
        )
      }
    }
}
