package iceberglite.data.orc

import iceberglite.data.FieldSource

/**
 * The read plan for one node of a file's schema: the type of the node in the file, and how its values become those of
 * the requested column. A caller that does not represent values as in [[iceberglite.data.Record]] builds its own
 * readers from the read plan.
 *
 * @tparam V representation of a constant value
 */
sealed private[iceberglite] trait OrcColumn[+V]

private[iceberglite] object OrcColumn {

  /** A primitive column. @param name path of the column, for messages */
  final case class Leaf(kind: OrcLeaf, name: String) extends OrcColumn[Nothing]

  /**
   * A struct.
   *
   * @param sources the sources of the requested fields
   * @param stored the columns of the requested fields that the file has, by index in the file's struct
   */
  final case class Struct[V](sources: Vector[FieldSource[V]], stored: Map[Int, OrcColumn[V]]) extends OrcColumn[V]
  final case class OfList[V](element: OrcColumn[V]) extends OrcColumn[V]
  final case class OfMap[V](key: OrcColumn[V], value: OrcColumn[V]) extends OrcColumn[V]

  /** A variant. @param metadata, value the indexes of the two parts in the file's struct */
  final case class OfVariant(metadata: Int, value: Int, name: String) extends OrcColumn[Nothing]
}

/**
 * The target representation of a primitive column (spec: "Appendix A: ORC", and the promotions of "Schema Evolution").
 */
sealed private[iceberglite] trait OrcLeaf

private[iceberglite] object OrcLeaf {
  case object Booleans extends OrcLeaf
  case object Ints extends OrcLeaf
  case object Longs extends OrcLeaf
  case object Floats extends OrcLeaf
  case object Doubles extends OrcLeaf
  final case class Decimals(precision: Int, scale: Int) extends OrcLeaf
  case object Strings extends OrcLeaf
  case object Binaries extends OrcLeaf

  /** Bytes of a fixed length, which the library does not check. */
  final case class Fixed(length: Int) extends OrcLeaf
  case object Uuids extends OrcLeaf

  /** Timestamps as the time since 1970 in the unit of the column's type. */
  final case class Timestamps(unitsPerSecond: Long) extends OrcLeaf

  /** Dates of a column that was promoted to a timestamp. */
  final case class Days(unitsPerDay: Long) extends OrcLeaf
}
