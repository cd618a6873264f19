package iceberglite.spark.write.parquet

import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

import iceberglite.spark.write.files.RowFaults

/**
 * Writes one field of every row to the columns of a Parquet file by record shredding. Each value has a repetition level
 * and a definition level. The repetition level identifies the list in which a new entry begins. The definition level
 * counts the enclosing optional and repeated fields that are present.
 *
 * @param name the full name, for messages
 * @param optional whether the field may be null
 * @param definition the definition level at which the field has a value
 */
abstract private[parquet] class FieldWriter(name: String, optional: Boolean, protected val definition: Int) {

  /**
   * Writes the value at an ordinal of a row, a struct or an array. The value may be null.
   *
   * @param repetition the repetition level of the list or map entry that contains the value
   */
  def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit

  /**
   * Writes an absent value. Called if an enclosing field is null or empty.
   *
   * @param level the definition level of the enclosing field that is null or empty
   */
  def writeAbsent(repetition: Int, level: Int): Unit

  /** The columns in the order of the file's schema. */
  def leaves: Vector[LeafWriter]

  final protected def writeNull(repetition: Int): Unit =
    if (optional) writeAbsent(repetition, definition - 1)
    else RowFaults.nullIn(name)
}

/**
 * A struct.
 *
 * @param size the number of fields of the struct in the rows, including fields that are not written
 */
final private[parquet] class StructWriter(
    name: String,
    optional: Boolean,
    definition: Int,
    size: Int,
    fields: Array[FieldWriter],
    ordinals: Array[Int]
) extends FieldWriter(name, optional, definition) {

  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else {
      val struct = values.getStruct(ordinal, size)
      var i = 0
      while (i < fields.length) {
        fields(i).write(struct, ordinals(i), repetition)
        i += 1
      }
    }

  override def writeAbsent(repetition: Int, level: Int): Unit = fields.foreach(_.writeAbsent(repetition, level))

  override def leaves: Vector[LeafWriter] = fields.toVector.flatMap(_.leaves)
}

/**
 * A list.
 *
 * @param repeated the repetition level of all entries except the first one
 */
final private[parquet] class ListWriter(
    name: String,
    optional: Boolean,
    definition: Int,
    repeated: Int,
    element: FieldWriter
) extends FieldWriter(name, optional, definition) {

  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else {
      val array = values.getArray(ordinal)
      val size = array.numElements
      if (size == 0) element.writeAbsent(repetition, definition)
      var i = 0
      while (i < size) {
        element.write(array, i, if (i == 0) repetition else repeated)
        i += 1
      }
    }

  override def writeAbsent(repetition: Int, level: Int): Unit = element.writeAbsent(repetition, level)

  override def leaves: Vector[LeafWriter] = element.leaves
}

/**
 * A map.
 *
 * @param repeated the repetition level of all entries except the first one
 */
final private[parquet] class MapWriter(
    name: String,
    optional: Boolean,
    definition: Int,
    repeated: Int,
    key: FieldWriter,
    value: FieldWriter
) extends FieldWriter(name, optional, definition) {

  override def write(values: SpecializedGetters, ordinal: Int, repetition: Int): Unit =
    if (values.isNullAt(ordinal)) writeNull(repetition)
    else {
      val map = values.getMap(ordinal)
      val size = map.numElements
      if (size == 0) writeAbsent(repetition, definition)
      val keys = map.keyArray
      val contents = map.valueArray
      var i = 0
      while (i < size) {
        val level = if (i == 0) repetition else repeated
        key.write(keys, i, level)
        value.write(contents, i, level)
        i += 1
      }
    }

  override def writeAbsent(repetition: Int, level: Int): Unit = {
    key.writeAbsent(repetition, level)
    value.writeAbsent(repetition, level)
  }

  override def leaves: Vector[LeafWriter] = key.leaves ++ value.leaves
}
