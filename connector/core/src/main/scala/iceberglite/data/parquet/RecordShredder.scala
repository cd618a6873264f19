package iceberglite.data.parquet

import org.apache.parquet.schema.MessageType

import iceberglite.data.{FieldChecks, Record, RowField, Variant}
import iceberglite.data.parquet.shred._
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, NestedType}
import iceberglite.spec.types.Type._

private[parquet] object RecordShredder {

  /**
   * Returns the shredder of the values of records.
   *
   * @param file the Parquet schema that [[iceberglite.parquet.ParquetSchemas]] returns for the schema
   */
  def of(schema: Schema, file: MessageType): Shredder[Array[AnyRef]] =
    new Builder(file).shredder(RecordField.of(schema.fields))

  final private class Builder(file: MessageType)
      extends ShredderBuilder[RecordField, Array[AnyRef]](file, RecordSource) {
    override protected def leaf(f: RecordField, column: LeafColumn): RecordLeaf = RecordLeaf.of(f.field, column)
    override protected def unstored(f: RecordField, name: String): Option[RecordLeaf] = None
    override protected def fromSource(
        f: RecordField,
        shredder: FieldShredder[Array[AnyRef]]
    ): FieldShredder[Array[AnyRef]] = shredder
  }
}

/**
 * A field of records. The parts of a variant are its two columns in the file. The file has no field ids for these
 * columns; here, both have the id of the variant.
 */
final private case class RecordField(field: NestedField, ordinal: Int) extends RowField[RecordField] {
  override def isStored: Boolean = field.fieldType != UnknownType

  override def size: Int = parts.size

  override def parts: Vector[RecordField] = field.fieldType match {
    case nested: NestedType => RecordField.of(nested.fields)
    case VariantType =>
      RecordField.of(Vector("metadata", "value").map(NestedField(field.id, _, BinaryType, required = true)))
    case _ => Vector.empty
  }
}

private object RecordField {
  def of(fields: Vector[NestedField]): Vector[RecordField] =
    fields.zipWithIndex.map { case (f, ordinal) => RecordField(f, ordinal) }
}

/** The values of a record, see [[iceberglite.data.Record]]. */
private[parquet] object RecordSource extends RowSource[Array[AnyRef]] {
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
final private[parquet] class RecordPairs(val keys: Array[AnyRef], val mapped: Array[AnyRef])
