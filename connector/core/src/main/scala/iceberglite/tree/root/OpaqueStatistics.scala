package iceberglite.tree.root

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.file.ManifestEntry
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
   * of an expression have several types, only the counts of its values are kept. However, the bounds of the partition
   * values of files are always kept: if these have one type, only bounds of other types are omitted.
   *
   * @param path the path of the file, for messages
   * @throws ValidationFailed if the partition values of a partition field have several types
   */
  def typed(
      path: String,
      columns: StatsColumns,
      entries: Vector[ContentEntry]
  ): (StatsColumns, Vector[ContentEntry]) = {
    val opaque = columns.all.filter(_.isOpaque)
    if (opaque.isEmpty) (columns, entries)
    else {
      val types = opaque.flatMap(c => typeOf(path, c, columns, entries).map(c.id -> _)).toMap
      (columns.typed(c => types.get(c.id)), entries.map(withBoundsOf(_, opaque.map(_.id).toSet, types)))
    }
  }

  /** Returns the type of the bounds that are kept; absent if no bounds are kept. */
  private def typeOf(
      path: String,
      column: StatsColumn,
      columns: StatsColumns,
      entries: Vector[ContentEntry]
  ): Option[PrimitiveType] = {
    def typesIn(some: Vector[ContentEntry]) = some.flatMap(_.stats.get(column.id)).flatMap(typesOf).distinct
    typesIn(entries.filter(e => e.isFile && columns.keyIds(e.specId)(column.id))) match {
      case Vector() => Some(typesIn(entries)).filter(_.size == 1).flatMap(_.headOption)
      case Vector(single) => Some(single)
      case several => throw ValidationFailed(
          s"Cannot write the manifest $path: the values of the partition field ${column.name} have the types " +
            s"${several.mkString(" and ")} in different files, and a manifest can contain values of one type only. " +
            s"This release does not know the transform of the field. Rewrite the files of one of the types with the " +
            "engine that wrote them"
        )
    }
  }

  private def typesOf(stats: FieldStats): Vector[PrimitiveType] = (stats.lower.toVector ++ stats.upper).map(typeOf)

  private def typeOf(bound: Literal): PrimitiveType = bound.dataType match {
    case DecimalType(_, scale) => DecimalType(MaxPrecision, scale)
    case other => other
  }

  /** Returns the entry in which the statistics with the given ids have only bounds of the given types. */
  private def withBoundsOf(e: ContentEntry, ids: Set[Int], types: Map[Int, PrimitiveType]): ContentEntry =
    if (!e.stats.byId.keysIterator.exists(ids)) e
    else e.copy(stats = ContentStats(e.stats.byId.map {
      case (id, s) if ids(id) && typesOf(s).exists(t => !types.get(id).contains(t)) =>
        id -> FieldStats(valueCount = s.valueCount, nullCount = s.nullCount)
      case other => other
    }))

  /**
   * Divides files of one partition spec into those that one manifest can list, because the partition values of each
   * field with an unknown transform have the same type in all of them.
   */
  def divide(columns: StatsColumns, files: Vector[ManifestEntry]): Vector[Vector[ManifestEntry]] = {
    val opaque = files.headOption.toVector.flatMap(e => opaqueFields(columns, e.file.specId))
    def types(e: ManifestEntry) = opaque.map(e.file.partition.values(_).map(typeOf))
    if (opaque.isEmpty) Vector(files)
    else {
      val byTypes = files.groupBy(types)
      if (byTypes.keys.toVector.transpose.forall(_.flatten.distinct.size <= 1)) Vector(files)
      else files.map(types).distinct.map(byTypes)
    }
  }

  /** Returns the positions of the partition fields with unknown transforms. */
  def opaqueFields(columns: StatsColumns, specId: Int): Vector[Int] =
    columns.keysOf(specId).zipWithIndex.collect { case (Some(key), position) if columns.isOpaque(key.id) => position }

  /** Returns the types of the values of partition fields. @param fields the positions of the fields */
  def typesOf(fields: Vector[Int], files: Iterator[ManifestEntry]): Set[(Int, PrimitiveType)] =
    files.flatMap(e => fields.flatMap(i => e.file.partition.values(i).map(value => i -> typeOf(value)))).toSet
}
