package iceberglite.data.avro

import iceberglite.avro.{AvroInput, AvroUnion}
import iceberglite.data.FieldSource

/**
 * The read plan for one node of a file's schema: the type of the node in the file, and how its values become those of
 * the requested column. A caller that does not represent values as in [[iceberglite.data.Record]] builds its own
 * readers from the read plan.
 *
 * @tparam V representation of a constant value
 */
sealed private[iceberglite] trait AvroColumn[+V]

private[iceberglite] object AvroColumn {

  /** A column whose values are all null in the file. */
  case object Nulls extends AvroColumn[Nothing]

  /** A primitive column. @param values decodes its values */
  final case class Leaf(values: AvroLeaf) extends AvroColumn[Nothing]

  /** A column whose schema is a union with null. @param value the read plan of values that are not null */
  final case class Optional[V](union: AvroUnion, value: AvroColumn[V]) extends AvroColumn[V]

  /** A list. @param hasEmptyElements whether every element is encoded in zero bytes, such as null */
  final case class OfList[V](element: AvroColumn[V], hasEmptyElements: Boolean) extends AvroColumn[V]

  /**
   * A map. In the file, it is an Avro map or an array of key-value records; both have the same encoding of the entries.
   */
  final case class OfMap[V](key: AvroColumn[V], value: AvroColumn[V]) extends AvroColumn[V]

  /**
   * A variant, which is a record with two fields in the file.
   *
   * @param metadataFirst whether the field `metadata` precedes the field `value`
   * @param name path of the column, for messages
   */
  final case class OfVariant(metadataFirst: Boolean, name: String) extends AvroColumn[Nothing]

  /**
   * A record.
   *
   * @param sources the sources of the requested fields
   * @param fields the fields of the file in file order
   */
  final case class Struct[V](sources: Vector[FieldSource[V]], fields: Vector[Field[V]]) extends AvroColumn[V]

  /** A field of a record in the file. */
  sealed trait Field[+V]

  /** A requested field. @param target the position of the field in the expected struct */
  final case class ReadField[V](target: Int, column: AvroColumn[V]) extends Field[V]

  /** A field that is not requested. @param skip skips the value of the field */
  final case class SkippedField(skip: AvroInput => Unit) extends Field[Nothing]
}
