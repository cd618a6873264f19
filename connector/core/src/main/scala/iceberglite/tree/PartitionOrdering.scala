package iceberglite.tree

import iceberglite.spec.partition.PartitionTuple
import iceberglite.spec.types.Literal

/**
 * Orders partition tuples of one partition spec, with nulls first.
 *
 * @param positions the positions of the values in a tuple, the most significant first
 */
final private[iceberglite] class PartitionOrdering(positions: Vector[Int]) extends Ordering[PartitionTuple] {
  override def compare(a: PartitionTuple, b: PartitionTuple): Int =
    positions.iterator.map(i => PartitionOrdering.Values.compare(a.values(i), b.values(i))).find(_ != 0).getOrElse(0)
}

private[iceberglite] object PartitionOrdering {

  /** Orders values, with absent ones first. The values of an unknown transform may have several types. */
  object Values extends Ordering[Option[Literal]] {
    override def compare(a: Option[Literal], b: Option[Literal]): Int = (a, b) match {
      case (Some(x), Some(y)) if x.getClass eq y.getClass => Literal.ordering.compare(x, y)
      case (Some(x), Some(y)) => x.getClass.getName.compareTo(y.getClass.getName)
      case _ => a.size - b.size
    }
  }
}
