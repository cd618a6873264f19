package iceberglite.data.parquet

import java.nio.ByteBuffer

import scala.collection.immutable.VectorBuilder

import org.apache.parquet.io.api.{Binary, Converter, GroupConverter, PrimitiveConverter, RecordMaterializer}

import iceberglite.data.{Record, Variant}
import iceberglite.spec.IcebergError.Unsupported

/** Where a converter puts the value that it has made. */
private[parquet] trait Slot {
  def set(value: AnyRef): Unit
}

private[parquet] object Slot {

  /** Of what is read for another reason than its value. */
  object Nowhere extends Slot {
    override def set(value: AnyRef): Unit = ()
  }
}

/**
 * Makes the record of a struct.
 *
 * @param template the values of the fields that the file lacks, and null for the others
 * @param children of the group as it is requested: each with the place of its field; below zero where nobody wants it
 */
final private[parquet] class StructConverter(
    template: Array[AnyRef],
    children: Array[(ColumnReading, Int)],
    slot: Slot
) extends GroupConverter {
  private var values: Array[AnyRef] = template
  private val converters: Array[Converter] = children.map { case (child, place) =>
    child.converter(if (place < 0) Slot.Nowhere else (value: AnyRef) => values(place) = value)
  }

  override def getConverter(field: Int): Converter = converters(field)
  override def start(): Unit = values = template.clone()
  override def end(): Unit = slot.set(new Record(values))
}

/** A group around a repeated field: of a list or of a map. */
final private[parquet] class RepeatedConverter(entry: Slot => Converter, slot: Slot) extends GroupConverter {
  private var entries = new VectorBuilder[AnyRef]
  private val converter = entry((value: AnyRef) => entries += value)

  override def getConverter(field: Int): Converter = converter
  override def start(): Unit = entries = new VectorBuilder[AnyRef]
  override def end(): Unit = slot.set(entries.result())
}

/** The repeated group of a list of three levels. */
final private[parquet] class ElementConverter(element: ColumnReading, slot: Slot) extends GroupConverter {
  private var value: AnyRef = _
  private val converter = element.converter((v: AnyRef) => value = v)

  override def getConverter(field: Int): Converter = converter
  override def start(): Unit = value = null
  override def end(): Unit = slot.set(value)
}

/** The repeated group of a map. */
final private[parquet] class EntryConverter(key: ColumnReading, value: ColumnReading, slot: Slot)
    extends GroupConverter {
  private var k: AnyRef = _
  private var v: AnyRef = _
  private val ofKey = key.converter((read: AnyRef) => k = read)
  private val ofValue = value.converter((read: AnyRef) => v = read)

  override def getConverter(field: Int): Converter = if (field == 0) ofKey else ofValue

  override def start(): Unit = {
    k = null
    v = null
  }
  override def end(): Unit = slot.set((k, v))
}

/**
 * A variant of its two parts.
 *
 * @param parts the fields of the group in their order: `metadata`, `value`, and `typed_value` where it is shredded
 * @param name of the column, for errors
 */
final private[parquet] class VariantConverter(parts: Vector[ColumnReading], name: String, slot: Slot)
    extends GroupConverter {
  private var metadata: AnyRef = _
  private var value: AnyRef = _
  private var shredded = false
  private val converters: Array[Converter] = parts.map { part =>
    part.requested.getName match {
      case VariantConverter.Metadata => part.converter((read: AnyRef) => metadata = read)
      case VariantConverter.Value => part.converter((read: AnyRef) => value = read)
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
    case (m: ByteBuffer, v: ByteBuffer) if !shredded => slot.set(Variant(m, v))
    case _ => throw Unsupported(
        s"the variant column $name, whose values are shredded into columns of their own",
        "Leave it out of the query, or have the engine that wrote the file write it unshredded"
      )
  }
}

private[parquet] object VariantConverter {
  val Metadata = "metadata"
  val Value = "value"
}

/** Notes that something is there; its value is of no interest. */
final private[parquet] class PresenceConverter(slot: Slot) extends PrimitiveConverter {
  override def addBinary(value: Binary): Unit = slot.set(PresenceConverter.Present)
  override def addBoolean(value: Boolean): Unit = slot.set(PresenceConverter.Present)
  override def addDouble(value: Double): Unit = slot.set(PresenceConverter.Present)
  override def addFloat(value: Float): Unit = slot.set(PresenceConverter.Present)
  override def addInt(value: Int): Unit = slot.set(PresenceConverter.Present)
  override def addLong(value: Long): Unit = slot.set(PresenceConverter.Present)
}

private[parquet] object PresenceConverter {
  val Present: AnyRef = java.lang.Boolean.TRUE

  /** Of a whole group. */
  final class OfGroup(children: Array[Converter], slot: Slot) extends GroupConverter {
    override def getConverter(field: Int): Converter = children(field)
    override def start(): Unit = slot.set(Present)
    override def end(): Unit = ()
  }
}

/** The records of a file, one after the other. */
final private[parquet] class Records(root: Slot => StructConverter) extends RecordMaterializer[Record] {
  private var current: Record = _
  private val converter = root((value: AnyRef) => current = value.asInstanceOf[Record])

  override def getCurrentRecord: Record = current
  override def getRootConverter: GroupConverter = converter
}
