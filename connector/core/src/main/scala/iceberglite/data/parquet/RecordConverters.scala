package iceberglite.data.parquet

import java.nio.ByteBuffer

import scala.collection.immutable.VectorBuilder

import org.apache.parquet.io.ParquetDecodingException
import org.apache.parquet.io.api.{Binary, Converter, GroupConverter, PrimitiveConverter, RecordMaterializer}

import iceberglite.data.{Record, Variant}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.types.VariantFields

/** Receives the values that a converter creates. */
private[parquet] trait ValueReceiver {
  def set(value: AnyRef): Unit
}

private[parquet] object ValueReceiver {

  /** Discards the values of a column that is read only to determine whether its struct is null. */
  object Discarded extends ValueReceiver {
    override def set(value: AnyRef): Unit = ()
  }
}

/**
 * Creates the record of a struct.
 *
 * @param template the values of the fields that the file lacks, and null for all other fields
 * @param children the children of the group to read, each with the index of its field in the record. The index is
 *   negative for a child that is read only to determine whether the struct is null
 */
final private[parquet] class StructConverter(
    template: Array[AnyRef],
    children: Array[(ColumnReader, Int)],
    slot: ValueReceiver
) extends GroupConverter {
  private var values: Array[AnyRef] = template
  private val converters: Array[Converter] = children.map { case (child, index) =>
    child.converter(if (index < 0) ValueReceiver.Discarded else (value: AnyRef) => values(index) = value)
  }

  override def getConverter(field: Int): Converter = converters(field)
  override def start(): Unit = values = template.clone()
  override def end(): Unit = slot.set(new Record(values))
}

/** Creates the entries of a list or map, which is a group that contains a repeated field. */
final private[parquet] class RepeatedConverter(entry: ValueReceiver => Converter, slot: ValueReceiver)
    extends GroupConverter {
  private var entries = new VectorBuilder[AnyRef]
  private val converter = entry((value: AnyRef) => entries += value)

  override def getConverter(field: Int): Converter = converter
  override def start(): Unit = entries = new VectorBuilder[AnyRef]
  override def end(): Unit = slot.set(entries.result())
}

/** Creates an element from the repeated group of a three-level list. */
final private[parquet] class ElementConverter(element: ColumnReader, slot: ValueReceiver) extends GroupConverter {
  private var value: AnyRef = _
  private val converter = element.converter((v: AnyRef) => value = v)

  override def getConverter(field: Int): Converter = converter
  override def start(): Unit = value = null
  override def end(): Unit = slot.set(value)
}

/** Creates a key-value pair from the repeated group of a map. */
final private[parquet] class EntryConverter(key: ColumnReader, value: ColumnReader, slot: ValueReceiver)
    extends GroupConverter {
  private var k: AnyRef = _
  private var v: AnyRef = _
  private val keyConverter = key.converter((read: AnyRef) => k = read)
  private val valueConverter = value.converter((read: AnyRef) => v = read)

  override def getConverter(field: Int): Converter = if (field == 0) keyConverter else valueConverter

  override def start(): Unit = {
    k = null
    v = null
  }
  override def end(): Unit = slot.set((k, v))
}

/**
 * Creates a variant from its parts. A shredded value causes an error, because it would have to be assembled from
 * `typed_value`. So does a value without metadata, which the specification does not allow.
 *
 * @param parts the fields of the group in file order: `metadata`, `value` and, if the variant is shredded,
 *   `typed_value`
 * @param name name of the column, for messages
 */
final private[parquet] class VariantConverter(parts: Vector[ColumnReader], name: String, slot: ValueReceiver)
    extends GroupConverter {
  private var metadata: AnyRef = _
  private var value: AnyRef = _
  private var shredded = false
  private val converters: Array[Converter] = parts.map { part =>
    part.requested.getName match {
      case VariantFields.Metadata => part.converter((read: AnyRef) => metadata = read)
      case VariantFields.Value => part.converter((read: AnyRef) => value = read)
      case _ => part.converter((_: AnyRef) => shredded = true)
    }
  }.toArray

  override def getConverter(field: Int): Converter = converters(field)

  override def start(): Unit = {
    metadata = null
    value = null
    shredded = false
  }

  override def end(): Unit = (metadata, value) match {
    case _ if shredded =>
      throw Unsupported(
        s"the shredded variant column $name",
        "Do not select this column, or rewrite the file without shredding in the engine that wrote the file"
      )
    case (m: ByteBuffer, v: ByteBuffer) => slot.set(Variant(m, v))
    case (m: ByteBuffer, _) => slot.set(Variant(m, VariantConverter.nullValue))
    case _ => throw new ParquetDecodingException(
        s"The variant column $name has a value without the required field ${VariantFields.Metadata}"
      )
  }
}

private[parquet] object VariantConverter {

  /** The encoded value null. Readers return it if a value is missing (Parquet: "Variant Shredding"). */
  private def nullValue: ByteBuffer = ByteBuffer.wrap(Array[Byte](0))
}

/** Records that a value is present and ignores the value itself. */
final private[parquet] class PresenceConverter(slot: ValueReceiver) extends PrimitiveConverter {
  override def addBinary(value: Binary): Unit = slot.set(PresenceConverter.Present)
  override def addBoolean(value: Boolean): Unit = slot.set(PresenceConverter.Present)
  override def addDouble(value: Double): Unit = slot.set(PresenceConverter.Present)
  override def addFloat(value: Float): Unit = slot.set(PresenceConverter.Present)
  override def addInt(value: Int): Unit = slot.set(PresenceConverter.Present)
  override def addLong(value: Long): Unit = slot.set(PresenceConverter.Present)
}

private[parquet] object PresenceConverter {
  val Present: AnyRef = java.lang.Boolean.TRUE

  /** Records the presence of a whole group. */
  final class OfGroup(children: Array[Converter], slot: ValueReceiver) extends GroupConverter {
    override def getConverter(field: Int): Converter = children(field)
    override def start(): Unit = slot.set(Present)
    override def end(): Unit = ()
  }
}

/** Creates the records of a file. */
final private[parquet] class RootMaterializer(root: ValueReceiver => StructConverter)
    extends RecordMaterializer[Record] {
  private var current: Record = _
  private val converter = root((value: AnyRef) => current = value.asInstanceOf[Record])

  override def getCurrentRecord: Record = current
  override def getRootConverter: GroupConverter = converter
}
