package iceberglite.data.parquet.shred

import iceberglite.data.RowSource

/** A struct, list or map. @param parts the fields of a struct, the element of a list, or the key and value of a map */
abstract private[shred] class GroupShredder[V](place: GroupPlace, rows: RowSource[V], parts: Array[FieldShredder[V]])
    extends StoredShredder[V](place.name, place.optional, place.definition, rows) {

  final override def writeAbsent(repetition: Int, level: Int): Unit = {
    var i = 0
    while (i < parts.length) {
      parts(i).writeAbsent(repetition, level)
      i += 1
    }
  }

  final override def leaves: Vector[FileColumn] = parts.toVector.flatMap(_.leaves)
}

/**
 * The place of a group in the file.
 *
 * @param name the full name, for messages
 * @param definition the definition level at which the group is present
 */
final private[shred] case class GroupPlace(name: String, optional: Boolean, definition: Int)

/** A struct. @param size the number of fields of the struct in the rows, including fields that are not written */
final private[shred] class StructShredder[V](
    place: GroupPlace,
    rows: RowSource[V],
    size: Int,
    fields: Array[FieldShredder[V]],
    ordinals: Array[Int]
) extends GroupShredder[V](place, rows, fields) {

  override def write(values: V, ordinal: Int, repetition: Int): Unit =
    if (rows.isNull(values, ordinal)) writeNull(repetition)
    else {
      val struct = rows.struct(values, ordinal, size)
      var i = 0
      while (i < fields.length) {
        fields(i).write(struct, ordinals(i), repetition)
        i += 1
      }
    }
}

/** A list. @param repeated the repetition level of all entries except the first one */
final private[shred] class ListShredder[V](
    place: GroupPlace,
    rows: RowSource[V],
    repeated: Int,
    element: FieldShredder[V]
) extends GroupShredder[V](place, rows, Array(element)) {

  override def write(values: V, ordinal: Int, repetition: Int): Unit =
    if (rows.isNull(values, ordinal)) writeNull(repetition)
    else {
      val elements = rows.list(values, ordinal)
      val size = rows.count(elements)
      if (size == 0) writeAbsent(repetition, definition)
      var i = 0
      while (i < size) {
        element.write(elements, i, if (i == 0) repetition else repeated)
        i += 1
      }
    }
}

/** A map. @param repeated the repetition level of all entries except the first one */
final private[shred] class MapShredder[V](
    place: GroupPlace,
    rows: RowSource[V],
    repeated: Int,
    key: FieldShredder[V],
    value: FieldShredder[V]
) extends GroupShredder[V](place, rows, Array(key, value)) {

  override def write(values: V, ordinal: Int, repetition: Int): Unit =
    if (rows.isNull(values, ordinal)) writeNull(repetition)
    else {
      val map = rows.map(values, ordinal)
      val keys = rows.keys(map)
      val mapped = rows.mapped(map)
      val size = rows.count(keys)
      if (size == 0) writeAbsent(repetition, definition)
      var i = 0
      while (i < size) {
        val level = if (i == 0) repetition else repeated
        key.write(keys, i, level)
        value.write(mapped, i, level)
        i += 1
      }
    }
}
