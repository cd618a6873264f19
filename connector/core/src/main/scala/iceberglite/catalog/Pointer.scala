package iceberglite.catalog

/**
 * The place where a catalog stores the location of the newest metadata file of one table or view (spec: "Metastore
 * Tables"). It changes only by compare-and-swap; [[PointerSwap]] implements commits with it.
 *
 * Exceptions of a call, other than `CommitStateUnknown`, are `IcebergError`s that mean that it had no effect: the new
 * metadata file is then deleted.
 *
 * @tparam V the content of the file, with its location: a `TableVersion` or a `ViewState`
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
  case object Done extends PointerMove

  /** No effect: the pointer is at another location or was removed; a pointer to create already exists. */
  case object Elsewhere extends PointerMove

  /** No effect, because the catalog was busy; a retry may succeed. */
  final case class Busy(reason: String) extends PointerMove

  /** Unknown: the response did not arrive. */
  final case class Lost(cause: Throwable) extends PointerMove
}
