package iceberglite.inspect

import scala.collection.mutable

import iceberglite.spec.file.FieldSummary
import iceberglite.spec.types.{Literal, PrimitiveType, SingleValue}
import iceberglite.spec.types.Type.{DoubleType, FloatType}
import iceberglite.tree.{FilePart, PartitionSpecs}

/**
 * Divides the parts of a metadata tree (manifests in format versions 1 to 3) into groups, so that the parts of a single
 * group list all files of a partition. Therefore a task can sum the files of each partition in a group without the
 * other groups.
 *
 * Parts with different partition specs have no common partition. Among the parts of one spec, the bounds of one
 * partition field are compared: parts whose ranges overlap, directly or through other parts, are in the same group.
 */
private[inspect] object PartitionGroups {

  /** Returns the groups in the order of their first parts. */
  def of(parts: Vector[FilePart], specs: PartitionSpecs): Vector[Vector[FilePart]] = {
    val positions = parts.zipWithIndex.map { case (part, position) => part.id -> position }.toMap
    parts.groupBy(_.specId).values.toVector.flatMap(ofSpec(_, specs)).sortBy(group => positions(group.head.id))
  }

  /** Uses the partition field that gives the most groups. */
  private def ofSpec(parts: Vector[FilePart], specs: PartitionSpecs): Vector[Vector[FilePart]] = {
    val fields = specs.of(parts.head).partitionType(specs.sources).fields.map(_.fieldType)
    val candidates = fields.zipWithIndex.collect { case (t: PrimitiveType, ordinal) =>
      parts.map(part => part -> rangeOf(part, ordinal, t))
    }
    (Vector(parts) +: candidates.map(byRange)).maxBy(_.size)
  }

  /**
   * The values of a partition field in the files of a part.
   *
   * @param bounds the lowest and the highest value; absent if all values are null or NaN
   * @param hasOthers whether some values may be null or NaN, which bounds do not include
   */
  private case class Range(bounds: Option[(Literal, Literal)], hasOthers: Boolean)

  /** Returns the range of a partition field; absent if it is unknown. */
  private def rangeOf(part: FilePart, ordinal: Int, t: PrimitiveType): Option[Range] =
    part.partitions.flatMap(_.lift(ordinal)).flatMap { summary =>
      def decoded(bytes: FieldSummary => Option[java.nio.ByteBuffer]): Option[Literal] =
        bytes(summary).flatMap(SingleValue.decodeValid(t, _))
      val mayHaveNan = t match {
        case FloatType | DoubleType => !summary.containsNan.contains(false)
        case _ => false
      }
      val hasOthers = summary.containsNull || mayHaveNan
      (decoded(_.lowerBound), decoded(_.upperBound)) match {
        case (Some(lower), Some(upper)) => Some(Range(Some((lower, upper)), hasOthers))
        case _ if summary.lowerBound.isEmpty && summary.upperBound.isEmpty => Some(Range(None, hasOthers = true))
        case _ => None
      }
    }

  private def byRange(parts: Vector[(FilePart, Option[Range])]): Vector[Vector[FilePart]] =
    if (parts.exists(_._2.isEmpty)) Vector(parts.map(_._1))
    else {
      val ranged = parts.collect { case (part, Some(Range(Some(bounds), hasOthers))) => (part, bounds, hasOthers) }
      val groups = overlapping(ranged)
      // Nulls and NaN are outside of the ranges. All parts that may have nulls or NaN form one group.
      val (withOthers, apart) = groups.partition(_.exists(_._3))
      val others = withOthers.flatten.map(_._1) ++
        parts.collect { case (part, Some(Range(None, _))) => part }
      val order = parts.map(_._1.id).zipWithIndex.toMap
      (others +: apart.map(_.map(_._1))).filter(_.nonEmpty).map(_.sortBy(part => order(part.id)))
    }

  private type Ranged = (FilePart, (Literal, Literal), Boolean)

  /** Divides parts into groups whose ranges do not overlap. */
  private def overlapping(parts: Vector[Ranged]): Vector[Vector[Ranged]] = {
    val groups = mutable.ArrayBuffer.empty[mutable.ArrayBuffer[Ranged]]
    var end = Option.empty[Literal]
    parts.sortBy(_._2._1)(Literal.ordering).foreach { part =>
      val (lower, upper) = part._2
      if (end.exists(Literal.ordering.lteq(lower, _))) groups.last += part
      else groups += mutable.ArrayBuffer(part)
      end = Some(end.fold(upper)(Literal.ordering.max(_, upper)))
    }
    groups.iterator.map(_.toVector).toVector
  }
}
