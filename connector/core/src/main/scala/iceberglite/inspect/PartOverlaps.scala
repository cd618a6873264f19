package iceberglite.inspect

import java.nio.ByteBuffer

import iceberglite.spec.file.ManifestContent
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedType, PrimitiveType, SingleValue, Type}
import iceberglite.tree.{FilePart, PartitionSpecs}

/**
 * Counts overlaps among the parts of a metadata tree (manifests in format versions 1 to 3). The more parts overlap, the
 * fewer parts a scan can skip. Two parts overlap if they have the same content, and their bounds intersect in each
 * partition field and column for which both parts have bounds.
 */
private[inspect] object PartOverlaps {

  /** The maximum number of parts that are compared, because every part is compared with all others. */
  val MaxParts = 5000

  /** The lower and the upper bound of a partition field or column. */
  private type Ranges = Map[RangeKey, (Literal, Literal)]

  /** Identifies a partition field by its partition spec and ordinal, or a column by its field id. */
  sealed private trait RangeKey
  private case class FieldKey(specId: Int, ordinal: Int) extends RangeKey
  private case class ColumnKey(id: Int) extends RangeKey

  private case class Box(path: String, content: ManifestContent, ranges: Ranges) {
    def overlaps(other: Box): Boolean = content == other.content && ranges.forall { case (key, (lower, upper)) =>
      other.ranges.get(key).forall { case (otherLower, otherUpper) =>
        Literal.ordering.lteq(lower, otherUpper) && Literal.ordering.lteq(otherLower, upper)
      }
    }
  }

  /**
   * Returns the number of other parts that overlap each part, by the path of the part; absent if there are too many
   * parts. Parts without live files are not compared.
   *
   * @param columns the columns whose bounds are compared
   */
  def count(parts: Vector[FilePart], specs: PartitionSpecs, columns: Schema): Option[Map[String, Long]] =
    if (parts.size > MaxParts) None
    else {
      val boxes = parts.filter(_.hasLiveFiles).map(boxOf(_, specs, columns)).toArray
      val counts = new Array[Long](boxes.length)
      for (i <- boxes.indices; j <- i + 1 until boxes.length if boxes(i).overlaps(boxes(j))) {
        counts(i) += 1
        counts(j) += 1
      }
      Some(parts.map(_.path -> 0L).toMap ++ boxes.map(_.path).zip(counts))
    }

  private def boxOf(part: FilePart, specs: PartitionSpecs, columns: Schema): Box = {
    val tuple = specs.of(part).partitionType(specs.sources)
    val fields = for {
      (summary, ordinal) <- part.partitions.getOrElse(Vector.empty).zipWithIndex
      field <- tuple.fields.lift(ordinal)
      range <- rangeOf(field.fieldType, summary.lowerBound, summary.upperBound)
    } yield (FieldKey(part.specId, ordinal): RangeKey) -> range
    val ofColumns = part.metrics.lowerBounds.getOrElse(Map.empty).toVector.flatMap { case (id, lower) =>
      val t = columns.byId.get(id).map(_.fieldType)
      t.flatMap(rangeOf(_, Some(lower), part.metrics.upperBound(id))).map((ColumnKey(id): RangeKey) -> _)
    }
    Box(part.path, part.content, (fields ++ ofColumns).toMap)
  }

  private def rangeOf(t: Type, lower: Option[ByteBuffer], upper: Option[ByteBuffer]): Option[(Literal, Literal)] =
    t match {
      case p: PrimitiveType => for {
          low <- lower.flatMap(SingleValue.decodeValid(p, _))
          high <- upper.flatMap(SingleValue.decodeValid(p, _))
        } yield (low, high)
      case _: NestedType => None
    }
}
