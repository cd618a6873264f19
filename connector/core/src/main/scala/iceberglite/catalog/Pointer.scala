package iceberglite.catalog

import scala.annotation.nowarn

/**
 * The catalog entry that stores the location of the newest metadata file of one table or view (spec: "Metastore
 * Tables"). The entry changes only by compare-and-swap. [[PointerSwap]] implements commits with a pointer.
 *
 * If a method throws an `IcebergError` other than `CommitStateUnknown`, the pointer is unchanged, and the caller may
 * delete the new metadata file.
 *
 * @tparam V the metadata with its file location: a `TableVersion` or a `ViewState`
 */
private[catalog] trait Pointer[V] {

  /** Returns the current location; `None` if the catalog has no object of this name and kind. */
  def read(): Option[String]

  /**
   * Checks a state that was read from the location of the last [[read]] against what the catalog itself stores.
   *
   * @throws iceberglite.spec.IcebergError.ValidationFailed if the metadata file was changed
   */
  @nowarn("cat=unused-params") // not used by catalogs that store only the location
  def verify(state: V): Unit = ()

  /**
   * Creates the pointer.
   *
   * @throws iceberglite.spec.IcebergError.AlreadyExists if an object of another kind has the name, such as a view with
   *   the name of the new table
   */
  def create(next: V): PointerMove

  /** Moves the pointer to `next`, if it is still at `base`. */
  def swap(base: V, next: V): PointerMove
}

/** The result of an attempt to move a pointer. */
sealed trait PointerMove

object PointerMove {
  case object Succeeded extends PointerMove

  /**
   * The pointer was not changed. A swap has this result if the pointer refers to another metadata file or was removed.
   * A creation has this result if the pointer already exists.
   */
  case object Conflict extends PointerMove

  /** The pointer was not changed, because the catalog was busy or did not grant its lock; a retry may succeed. */
  final case class Busy(reason: String) extends PointerMove

  /** The outcome is unknown, because the response of the catalog did not arrive. */
  final case class Unknown(cause: Throwable) extends PointerMove
}
