package iceberglite.spec.partition

/** The direction of a sort field. @param name the name of the direction in JSON */
sealed abstract class SortDirection(val name: String) extends Serializable
object SortDirection {
  case object Ascending extends SortDirection("asc")
  case object Descending extends SortDirection("desc")
  val all: Seq[SortDirection] = Seq(Ascending, Descending)
}

/** The position of nulls in a sort order. @param name the name of the position in JSON */
sealed abstract class NullOrder(val name: String) extends Serializable
object NullOrder {
  case object NullsFirst extends NullOrder("nulls-first")
  case object NullsLast extends NullOrder("nulls-last")
  val all: Seq[NullOrder] = Seq(NullsFirst, NullsLast)
}

/** A field of a sort order. @param sourceIds the field ids of the source columns */
final case class SortField(
    sourceIds: Vector[Int],
    transform: Transform,
    direction: SortDirection,
    nullOrder: NullOrder
) {
  def sourceId: Int = sourceIds.head
}

/**
 * The order of rows within files (spec: "Sorting"). The unsorted order has the id 0, and only the unsorted order has no
 * fields.
 */
final case class SortOrder(orderId: Int, fields: Vector[SortField]) {
  def isSorted: Boolean = fields.nonEmpty
}

object SortOrder {
  val Unsorted: SortOrder = SortOrder(0, Vector.empty)
}
