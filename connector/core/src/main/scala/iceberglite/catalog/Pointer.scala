package iceberglite.catalog

/**
 * Where a catalog keeps the location of one table's or one view's newest metadata file (spec: "Metastore Tables"). It
 * moves by compare-and-swap only; [[PointerSwap]] makes commits of such moves.
 *
 * What a call throws, if it is not `CommitStateUnknown`, is an `IcebergError` that says that it did nothing: the file
 * it was to point to is then deleted.
 *
 * @tparam V what the file holds, with its location: a `TableVersion` or a `ViewState`
 */
private[catalog] trait Pointer[V] {

  /** The location there is now; `None` where the catalog has nothing of this name and kind. */
  def read(): Option[String]

  /**
   * Makes the pointer.
   *
   * @throws iceberglite.spec.IcebergError.AlreadyExists something of another kind has the name
   */
  def create(next: V): PointerMove

  /** Moves the pointer from `base`, if it still is there, to `next`. */
  def swap(base: V, next: V): PointerMove
}

/** How an attempt to move a pointer ended. */
sealed trait PointerMove

object PointerMove {
  case object Done extends PointerMove

  /** Nothing was done: the pointer is somewhere else or gone; one that was to be made is there. */
  case object Elsewhere extends PointerMove

  /** Nothing was done, because the catalog gave way to others; trying again helps. */
  final case class Busy(reason: String) extends PointerMove

  /** Nobody knows: the answer did not arrive. */
  final case class Lost(cause: Throwable) extends PointerMove
}
