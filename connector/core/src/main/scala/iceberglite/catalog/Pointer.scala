package iceberglite.catalog

/**
 * The entry in which a catalog stores the location of the newest metadata file of one table or view (spec: "Metastore
 * Tables"). It changes only by compare-and-swap; [[PointerSwap]] implements commits with it.
 *
 * A call that throws an `IcebergError` other than `CommitStateUnknown` had no effect; the new metadata file is then
 * deleted.
 *
 * @tparam V the metadata with its file location: a `TableVersion` or a `ViewState`
 */
private[catalog] trait Pointer[V] {

  /** Returns the current location; `None` if the catalog has no object of this name and kind. */
  def read(): Option[String]

  /**
   * Creates the pointer.
   *
   * @throws iceberglite.spec.IcebergError.AlreadyExists an object of another kind has the name
   */
  def create(next: V): PointerMove

  /** Moves the pointer to `next`, if it is still at `base`. */
  def swap(base: V, next: V): PointerMove
}

/** The result of an attempt to move a pointer. */
sealed trait PointerMove

object PointerMove {
  case object Succeeded extends PointerMove

  /** The move had no effect: the pointer has another location, was removed or, for a creation, already exists. */
  case object Conflict extends PointerMove

  /** The move had no effect because the catalog was busy; a retry may succeed. */
  final case class Busy(reason: String) extends PointerMove

  /** The outcome is unknown, because the response did not arrive. */
  final case class Unknown(cause: Throwable) extends PointerMove
}
