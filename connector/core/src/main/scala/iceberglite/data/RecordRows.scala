package iceberglite.data

import iceberglite.spec.types.{NestedField, NestedType, VariantFields}
import iceberglite.spec.types.Type._

/**
 * A field of records. The parts of a variant are its two binary values, which files store as two fields without field
 * ids; here, both have the id of the variant.
 */
final private[data] case class RecordField(field: NestedField, ordinal: Int) extends RowField[RecordField] {
  override def isStored: Boolean = field.fieldType != UnknownType

  override def size: Int = parts.size

  override def parts: Vector[RecordField] = field.fieldType match {
    case nested: NestedType => RecordField.of(nested.fields)
    case VariantType =>
      RecordField.of(VariantFields.Encoded.map(NestedField(field.id, _, BinaryType, required = true)))
    case _ => Vector.empty
  }
}

private[data] object RecordField {
  def of(fields: Vector[NestedField]): Vector[RecordField] =
    fields.zipWithIndex.map { case (f, ordinal) => RecordField(f, ordinal) }
}

/** The values of records, see [[Record]]. */
private[data] object RecordSource extends RowSource[Array[AnyRef]] {
  override type Entries = Array[AnyRef]
  override type Pairs = RecordPairs

  override def isNull(values: Array[AnyRef], ordinal: Int): Boolean = values(ordinal) == null

  override def failNull(name: String): Nothing = FieldChecks.failMissing(name)

  override def struct(values: Array[AnyRef], ordinal: Int, size: Int): Array[AnyRef] = values(ordinal) match {
    case variant: Variant => Array(variant.metadata, variant.value)
    case record => record.asInstanceOf[Record].values
  }

  override def list(values: Array[AnyRef], ordinal: Int): Array[AnyRef] = {
    val list = values(ordinal).asInstanceOf[Vector[AnyRef]]
    val elements = new Array[AnyRef](list.size)
    val next = list.iterator
    var i = 0
    while (i < elements.length) {
      elements(i) = next.next()
      i += 1
    }
    elements
  }

  override def map(values: Array[AnyRef], ordinal: Int): RecordPairs = {
    val map = values(ordinal).asInstanceOf[Vector[(AnyRef, AnyRef)]]
    val pairs = new RecordPairs(new Array(map.size), new Array(map.size))
    val next = map.iterator
    var i = 0
    while (i < pairs.keys.length) {
      val (key, value) = next.next()
      pairs.keys(i) = key
      pairs.mapped(i) = value
      i += 1
    }
    pairs
  }

  override def keys(map: RecordPairs): Array[AnyRef] = map.keys

  override def mapped(map: RecordPairs): Array[AnyRef] = map.mapped

  override def count(entries: Array[AnyRef]): Int = entries.length
}

/** The entries of a map. */
final private[data] class RecordPairs(val keys: Array[AnyRef], val mapped: Array[AnyRef])
