package iceberglite.data.avro

import iceberglite.data.FieldPlace
import iceberglite.io.{AvroInput, AvroUnion}

/**
 * What is read of one node of a file's schema, and as what. Who holds values in another way than records do makes readers
 * of its own of it.
 *
 * @tparam V how a value is held that all rows have
 */
sealed private[iceberglite] trait AvroColumn[+V]

private[iceberglite] object AvroColumn {
  case object Nulls extends AvroColumn[Nothing]

  /** @param values takes one value */
  final case class Leaf(values: AvroLeaf) extends AvroColumn[Nothing]
  final case class Optional[V](union: AvroUnion, value: AvroColumn[V]) extends AvroColumn[V]
  final case class OfList[V](element: AvroColumn[V]) extends AvroColumn[V]

  /** Of an Avro map, or an array of pairs: both are entries with a key and a value after it. */
  final case class OfMap[V](key: AvroColumn[V], value: AvroColumn[V]) extends AvroColumn[V]

  /** A variant in two parts. */
  final case class OfVariant(metadataFirst: Boolean, name: String) extends AvroColumn[Nothing]

  /**
   * @param places where the wanted fields come from
   * @param inFile the fields of the file in their order
   */
  final case class Struct[V](places: Vector[FieldPlace[V]], inFile: Vector[Field[V]]) extends AvroColumn[V]

  /** A field of a record, which is there whether it is wanted or not. */
  sealed trait Field[+V]

  /** @param target its place in the wanted struct */
  final case class Wanted[V](target: Int, column: AvroColumn[V]) extends Field[V]

  /** @param skip passes over its value */
  final case class Unwanted(skip: AvroInput => Unit) extends Field[Nothing]
}
