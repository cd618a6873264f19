package iceberglite.tree.root

import iceberglite.spec.types.{Literal, PrimitiveType}
import iceberglite.spec.types.Type.DecimalType

/**
 * The statistics of expressions whose transforms this release does not know ([[StatsColumn.isOpaque]]). Other engines
 * write them. They are kept with the types that their bounds have in the files.
 */
private[root] object OpaqueStatistics {
  private val MaxPrecision = 38

  /**
   * Returns the columns and the entries for writing a file. A column of a file has one type. Therefore, if the bounds
   * of an expression have several types, only the counts of its values are kept.
   */
  def typed(columns: StatsColumns, entries: Vector[ContentEntry]): (StatsColumns, Vector[ContentEntry]) = {
    val opaque = columns.all.filter(_.isOpaque).map(_.id)
    if (opaque.isEmpty) (columns, entries)
    else {
      val types = opaque.flatMap(id => commonType(entries.flatMap(_.stats.get(id))).map(id -> _)).toMap
      val untyped = opaque.filterNot(types.contains).toSet
      (columns.typed(c => types.get(c.id)), entries.map(withoutBounds(_, untyped)))
    }
  }

  /** Returns the type of all bounds; absent if there are no bounds, or if their types differ. */
  private def commonType(stats: Vector[FieldStats]): Option[PrimitiveType] =
    stats.flatMap(s => s.lower.toVector ++ s.upper).map(typeOf).distinct match {
      case Vector(single) => Some(single)
      case _ => None
    }

  private def typeOf(bound: Literal): PrimitiveType = bound.dataType match {
    case DecimalType(_, scale) => DecimalType(MaxPrecision, scale)
    case other => other
  }

  private def withoutBounds(e: ContentEntry, ids: Set[Int]): ContentEntry =
    if (!e.stats.byId.keysIterator.exists(ids)) e
    else e.copy(stats = ContentStats(e.stats.byId.map {
      case (id, s) if ids(id) => id -> FieldStats(valueCount = s.valueCount, nullCount = s.nullCount)
      case other => other
    }))
}
