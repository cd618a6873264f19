package iceberglite.spec.partition

/** Ascending or descending; `name` as in JSON. */
sealed abstract class SortDirection(val name: String) extends Serializable
object SortDirection {
  case object Ascending extends SortDirection("asc")
  case object Descending extends SortDirection("desc")
  val all: Seq[SortDirection] = Seq(Ascending, Descending)
}

/** The position of nulls; `name` as in JSON. */
sealed abstract class NullOrder(val name: String) extends Serializable
object NullOrder {
  case object NullsFirst extends NullOrder("nulls-first")
  case object NullsLast extends NullOrder("nulls-last")
  val all: Seq[NullOrder] = Seq(NullsFirst, NullsLast)
}

final case class SortField(
    sourceIds: Vector[Int],
    transform: Transform,
    direction: SortDirection,
    nullOrder: NullOrder
) {
  def sourceId: Int = sourceIds.head
}

/** The order of rows within files (spec: "Sorting"). Id 0 is the unsorted order, the only one without fields. */
final case class SortOrder(orderId: Int, fields: Vector[SortField]) {
  def isSorted: Boolean = fields.nonEmpty
}

object SortOrder {
  val Unsorted: SortOrder = SortOrder(0, Vector.empty)
}
