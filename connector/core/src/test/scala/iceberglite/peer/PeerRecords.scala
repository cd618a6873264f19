package iceberglite.peer

import java.nio.{ByteBuffer, ByteOrder}
import java.time.{Instant, LocalDate, LocalDateTime, LocalTime, OffsetDateTime, ZoneOffset}
import java.time.temporal.ChronoUnit.{MICROS, NANOS}

import scala.collection.JavaConverters._

import org.apache.iceberg.data.{GenericRecord, Record => PeerRecord}
import org.apache.iceberg.types.Types.{StructType => PeerStruct}
import org.apache.iceberg.variants.{Variant => PeerVariant, VariantMetadata, VariantValue}

import iceberglite.data.{Record, Variant}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{PrimitiveType, Type}
import iceberglite.spec.types.Type._

/** Converts records of iceberg-lite to and from records of Apache Iceberg. */
object PeerRecords {
  private val Epoch = LocalDateTime.of(1970, 1, 1, 0, 0)
  private val EpochUtc = OffsetDateTime.ofInstant(Instant.EPOCH, ZoneOffset.UTC)

  def toPeer(record: Record, schema: Schema): PeerRecord =
    struct(record, schema.asStruct, PeerFiles.schema(schema).asStruct)

  private def struct(record: Record, t: StructType, peer: PeerStruct): PeerRecord = {
    val result = GenericRecord.create(peer)
    t.fields.zipWithIndex.foreach { case (f, i) =>
      result.set(i, toPeer(record(i), f.fieldType, peer.fields.get(i).`type`))
    }
    result
  }

  private def toPeer(value: AnyRef, t: Type, peer: org.apache.iceberg.types.Type): AnyRef = (value, t) match {
    case (null, _) => null
    case (r: Record, s: StructType) => struct(r, s, peer.asStructType)
    case (elements: Vector[_], l: ListType) =>
      elements.map(e => toPeer(e.asInstanceOf[AnyRef], l.element, peer.asListType.elementType)).asJava
    case (entries: Vector[_], m: MapType) =>
      val result = new java.util.LinkedHashMap[AnyRef, AnyRef]
      entries.asInstanceOf[Vector[(AnyRef, AnyRef)]].foreach { case (k, v) =>
        result.put(toPeer(k, m.key, peer.asMapType.keyType), toPeer(v, m.value, peer.asMapType.valueType))
      }
      result
    case (v, p: PrimitiveType) => primitive(v, p)
    case _ => throw new IllegalArgumentException(s"$value is not a value of type $t")
  }

  private def primitive(value: AnyRef, t: PrimitiveType): AnyRef = (value, t) match {
    case (days: Integer, DateType) => LocalDate.ofEpochDay(days.toLong)
    case (micros: java.lang.Long, TimeType) => LocalTime.ofNanoOfDay(micros * 1000)
    case (micros: java.lang.Long, TimestampType) => Epoch.plus(micros, MICROS)
    case (micros: java.lang.Long, TimestampTzType) => EpochUtc.plus(micros, MICROS)
    case (nanos: java.lang.Long, TimestampNsType) => Epoch.plus(nanos, NANOS)
    case (nanos: java.lang.Long, TimestampTzNsType) => EpochUtc.plus(nanos, NANOS)
    case (bytes: ByteBuffer, _: FixedType) => copy(bytes)
    case (v: Variant, VariantType) =>
      val metadata = VariantMetadata.from(ByteBuffer.wrap(copy(v.metadata)).order(ByteOrder.LITTLE_ENDIAN))
      PeerVariant.of(
        metadata,
        VariantValue.from(metadata, ByteBuffer.wrap(copy(v.value)).order(ByteOrder.LITTLE_ENDIAN))
      )
    case (other, _) => other
  }

  private def copy(bytes: ByteBuffer): Array[Byte] = {
    val array = new Array[Byte](bytes.remaining)
    bytes.duplicate().get(array)
    array
  }

  def fromPeer(record: PeerRecord, t: StructType): Record =
    new Record(t.fields.zipWithIndex.map { case (f, i) => fromPeer(record.get(i), f.fieldType) }.toArray)

  private def fromPeer(value: AnyRef, t: Type): AnyRef = (value, t) match {
    case (null, _) => null
    case (r: PeerRecord, s: StructType) => fromPeer(r, s)
    case (elements: java.util.List[_], l: ListType) =>
      elements.asScala.toVector.map(e => fromPeer(e.asInstanceOf[AnyRef], l.element))
    case (entries: java.util.Map[_, _], m: MapType) => entries.asScala.toVector.map { case (k, v) =>
        (fromPeer(k.asInstanceOf[AnyRef], m.key), fromPeer(v.asInstanceOf[AnyRef], m.value))
      }
    case (date: LocalDate, _) => Int.box(date.toEpochDay.toInt)
    case (time: LocalTime, _) => Long.box(time.toNanoOfDay / 1000)
    case (at: LocalDateTime, TimestampNsType) => Long.box(NANOS.between(Epoch, at))
    case (at: LocalDateTime, _) => Long.box(MICROS.between(Epoch, at))
    case (at: OffsetDateTime, TimestampTzNsType) => Long.box(NANOS.between(EpochUtc, at))
    case (at: OffsetDateTime, _) => Long.box(MICROS.between(EpochUtc, at))
    case (bytes: Array[Byte], _) => ByteBuffer.wrap(bytes)
    case (v: PeerVariant, _) => variant(v)
    case (text: CharSequence, _) => text.toString
    case (other, _) => other
  }

  private def variant(v: PeerVariant): Variant = {
    val metadata = ByteBuffer.allocate(v.metadata.sizeInBytes).order(ByteOrder.LITTLE_ENDIAN)
    v.metadata.writeTo(metadata, 0)
    val value = ByteBuffer.allocate(v.value.sizeInBytes).order(ByteOrder.LITTLE_ENDIAN)
    v.value.writeTo(value, 0)
    Variant(ByteBuffer.wrap(metadata.array), ByteBuffer.wrap(value.array))
  }

  /** Converts a value as `RecordGenerators.comparable` does, and also converts a list of map entries to a `Map`. */
  def comparable(value: Any, t: Type): Any = (value, t) match {
    case (null, _) => null
    case (r: Record, s: StructType) => s.fields.zipWithIndex.map { case (f, i) => comparable(r(i), f.fieldType) }
    case (elements: Vector[_], l: ListType) => elements.map(comparable(_, l.element))
    case (entries: Vector[_], m: MapType) => entries.asInstanceOf[Vector[(Any, Any)]].map { case (k, v) =>
        comparable(k, m.key) -> comparable(v, m.value)
      }.toMap
    case (other, _) => iceberglite.data.RecordGenerators.comparable(other)
  }
}
