package iceberglite.tree.root

import iceberglite.spec.file.{Content, ManifestEntry}
import iceberglite.spec.partition.{Identity, PartitionField, Transform}
import iceberglite.spec.types.{Literal, LiteralConversion}
import iceberglite.tree.{PartitionSpecs, TreeViolation}

/**
 * Checks the rule I8 (see [[TreeInvariants]]): the partition values of a data file are those of its rows, as far as the
 * statistics of the source columns show. All rows of a file have the same partition values. Therefore
 *
 *  - a partition value is null only if no value of the source column is, and otherwise no value is null;
 *  - if the transform preserves the order, the partition value is between those of the bounds, and equals both if the
 *    bounds are tight;
 *  - if both bounds are equal, the partition value is that of the bounds.
 *
 * Partition fields with several source columns or with unknown transforms are not checked, nor are the bounds of
 * floats.
 */
final private[root] class PartitionInvariants(specs: PartitionSpecs, columns: StatsColumns) {
  private val converter = new EntryFiles(columns)

  /** A partition field that can be checked. @param index the position of the field in its partition spec */
  private case class Checked(index: Int, field: PartitionField, key: PartitionFieldKey, source: StatsColumn)

  private val fields: Map[Int, Vector[Checked]] = specs.byId.map { case (specId, spec) =>
    specId -> spec.fields.zip(columns.keysOf(specId)).zipWithIndex.flatMap { case ((field, key), index) =>
      for {
        known <- key.toVector
        source <- Some(field.sourceIds).filter(_.size == 1).flatMap(ids => columns.byId.get(ids.head))
        if field.transform.canTransform(source.valueType)
      } yield Checked(index, field, known, source)
    }
  }

  /** Returns the violations of an entry. @param e the entry as an entry of version 4 and as a [[ManifestEntry]] */
  def violations(e: (ContentEntry, ManifestEntry)): Vector[TreeViolation] = {
    val (stored, entry) = e
    if (!entry.isLive || entry.file.content != Content.Data) Vector.empty
    else fields.getOrElse(entry.file.specId, Vector.empty).flatMap { checked =>
      val source = statsOf(checked, stored, entry)
      val value = entry.file.partition.values.lift(checked.index).flatten
      fault(checked, source, value).map(reason =>
        TreeViolation(
          "I8",
          s"The partition value ${value.fold("null")(_.toString)} of ${entry.file.path} in the field " +
            s"${checked.field.name} is not that of its rows: the source column ${checked.source.name} $reason"
        )
      )
    }
  }

  /** Returns the statistics of the source column, which an entry of version 4 contains, and others in their metrics. */
  private def statsOf(checked: Checked, stored: ContentEntry, entry: ManifestEntry): FieldStats =
    entry.file.metrics match {
      case _: TypedMetrics =>
        val stats = stored.stats.get(checked.source.id).getOrElse(FieldStats.Empty)
        // The bounds of an identity source column in version 4 are its partition value, and are never truncated.
        if (checked.field.transform == Identity) stats.copy(tight = Some(true)) else stats
      case encoded => converter.statsOf(encoded, checked.source)
    }

  /** Returns what contradicts the partition value, as the predicate of a sentence about the source column. */
  private def fault(checked: Checked, source: FieldStats, value: Option[Literal]): Option[String] = value match {
    case None if source.lower.isDefined || source.upper.isDefined => Some("has values that are not null")
    case None if source.valueCount.exists(values => source.nullCount.exists(_ < values)) =>
      Some("has values that are not null")
    case Some(_) if source.nullCount.exists(_ > 0) => Some("has values that are null")
    // Writers differ in the bounds of zeros with a sign.
    case Some(v) if !checked.source.isFloating => outOfBounds(checked, source, v)
    case _ => None
  }

  private def outOfBounds(checked: Checked, source: FieldStats, value: Literal): Option[String] = {
    val order = Literal.ordering
    val transform = checked.field.transform
    def partitionOf(bound: Option[Literal]) = bound.flatMap(transformed(transform, _, checked.key))
    val (lower, upper) = (partitionOf(source.lower), partitionOf(source.upper))
    val isSingle = source.lower.exists(l => source.upper.exists(order.equiv(l, _)))
    val isTight = source.tight.contains(true) && transform.preservesOrder
    val isWrong =
      if (isSingle || isTight) (lower ++ upper).exists(!order.equiv(_, value))
      else transform.preservesOrder && (lower.exists(order.gt(_, value)) || upper.exists(order.lt(_, value)))
    if (isWrong) Some(s"has the bounds ${source.lower.mkString} and ${source.upper.mkString}") else None
  }

  private def transformed(transform: Transform, bound: Literal, key: PartitionFieldKey): Option[Literal] =
    transform(bound).flatMap(LiteralConversion.to(_, key.partitionType))
}
