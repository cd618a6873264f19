package iceberglite.tree.manifestlist

import java.nio.ByteBuffer

import scala.collection.JavaConverters._

import org.apache.avro.{Schema => AvroSchema}
import org.apache.avro.Schema.Type._

import iceberglite.avro.{
  AvroFault,
  AvroInput,
  AvroOutput,
  AvroRow,
  ColumnType,
  FieldDecoder,
  RecordDecoder,
  StructColumn,
  StructColumns
}
import iceberglite.avro.Presence.Required
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{MetricMaps, Metrics}
import iceberglite.spec.types.Type
import iceberglite.spec.types.Type.MapType

/**
 * A map of metrics by field id. The map is encoded as `array<record<key, value>>`, because the keys of Avro maps can
 * only be strings.
 */
final private[manifestlist] class MetricsColumn(val map: MetricsMap, keyId: Int, valueId: Int)
    extends ColumnType[Metrics] {
  override def icebergType(version: FormatVersion): Type =
    MapType(keyId, Type.IntType, valueId, valueType, valueRequired = true)

  private def valueType: Type = map match {
    case _: MetricsMap.Counts => Type.LongType
    case _: MetricsMap.Bounds => Type.BinaryType
  }

  /** Returns the metrics if they contain this map. */
  def of(metrics: Metrics): Option[Metrics] = metrics match {
    case encoded: EncodedMetrics => if (encoded.has(map)) Some(metrics) else None
    case other => if (map.isIn(other)) Some(metrics) else None
  }

  override def write(metrics: Metrics, out: AvroOutput, version: FormatVersion): Unit = (metrics, map) match {
    case (encoded: EncodedMetrics, _) => encoded.copyTo(out, map)
    case (other, counts: MetricsMap.Counts) => writeMap(counts.of(other), out)(out.writeLong)
    case (other, bounds: MetricsMap.Bounds) => writeMap(bounds.of(other), out)(out.writeBytes)
  }

  private def writeMap[V](values: Option[Map[Int, V]], out: AvroOutput)(write: V => Unit): Unit = {
    val sorted = values.getOrElse(Map.empty[Int, V]).toVector.sortBy(_._1)
    if (sorted.nonEmpty) {
      out.writeLong(sorted.size.toLong)
      sorted.foreach { case (id, value) =>
        out.writeLong(id.toLong)
        write(value)
      }
    }
    out.writeLong(0)
  }

  override def decoder(schema: AvroSchema, column: StructColumn[_, _], fileHasNoIds: Boolean): FieldDecoder =
    if (schema.getType != ARRAY || schema.getElementType.getType != RECORD) mismatch(schema, column)
    else if (hasStandardLayout(schema.getElementType)) new RangeDecoder
    else new NonStandardMapDecoder(map, keyId, valueId, schema.getElementType, fileHasNoIds)

  /**
   * Returns whether the fields of a record are the key and the value in this order, without unions. All writers that
   * follow the specification use this layout.
   */
  private def hasStandardLayout(entry: AvroSchema): Boolean = entry.getFields.asScala.toList match {
    case key :: value :: Nil =>
      val valueFits = map match {
        case _: MetricsMap.Counts => value.schema.getType == LONG || value.schema.getType == INT
        case _: MetricsMap.Bounds => value.schema.getType == BYTES
      }
      key.schema.getType == INT && valueFits && RecordDecoder.fieldId(key).forall(_ == keyId)
    case _ => false
  }

  /** A decoder that skips the map and records only the position of its bytes. */
  final private class RangeDecoder extends FieldDecoder {
    private val counts = map match {
      case _: MetricsMap.Counts => true
      case _: MetricsMap.Bounds => false
    }

    override def read(in: AvroInput, row: AvroRow, slot: Int): Unit = {
      val start = in.position
      skip(in)
      row.setSkipped(slot, start, in.position, this)
    }

    override def skip(in: AvroInput): Unit = {
      val start = in.position
      val end = EncodedMap.endOfMap(in.bytes, start, in.end, lengthPrefixed = !counts)
      if (end < 0) checkDistinct(new AvroInput(in.bytes, start, in.end))
      in.moveTo(if (end < 0) ~end else end)
    }

    private def checkDistinct(in: AvroInput): Unit = {
      val keys = Array.newBuilder[Int]
      FieldDecoder.items(in) {
        keys += in.readInt()
        skipValue(in)
      }
      val sorted = keys.result()
      java.util.Arrays.sort(sorted)
      (1 until sorted.length).find(i => sorted(i) == sorted(i - 1)).foreach { i =>
        throw AvroFault(s"Its ${map.name} contain the column ${sorted(i)} twice")
      }
    }

    private def skipValue(in: AvroInput): Unit = if (counts) in.skipNumbers(1) else in.skipBytes()
  }
}

/** Decodes a map that a writer encoded with a different layout. The map is decoded immediately. */
final private[manifestlist] class NonStandardMapDecoder(
    map: MetricsMap,
    keyId: Int,
    valueId: Int,
    entry: AvroSchema,
    fileHasNoIds: Boolean
) extends FieldDecoder {
  private object CountColumns extends StructColumns[(Int, Long)](s"k${keyId}_v$valueId") {
    val Key = column(keyId, "key", ColumnType.Int32, Required, Required, Required, "")(e => Some(e._1))
    val Value = column(valueId, "value", ColumnType.Int64, Required, Required, Required, "")(e => Some(e._2))
  }
  private object BoundColumns extends StructColumns[(Int, ByteBuffer)](s"k${keyId}_v$valueId") {
    val Key = column(keyId, "key", ColumnType.Int32, Required, Required, Required, "")(e => Some(e._1))
    val Value = column(valueId, "value", ColumnType.Bytes, Required, Required, Required, "")(e => Some(e._2))
  }
  private val record = map match {
    case _: MetricsMap.Counts => RecordDecoder.of(entry, CountColumns, fileHasNoIds)
    case _: MetricsMap.Bounds => RecordDecoder.of(entry, BoundColumns, fileHasNoIds)
  }

  override def read(in: AvroInput, row: AvroRow, slot: Int): Unit = {
    val pair = new AvroRow(2)
    var seen = Set.empty[Int]
    var counts = Map.empty[Int, Long]
    var bounds = Map.empty[Int, ByteBuffer]
    FieldDecoder.items(in) {
      record.read(in, pair)
      val key = map match {
        case _: MetricsMap.Counts => pair.int(CountColumns.Key)
        case _: MetricsMap.Bounds => pair.int(BoundColumns.Key)
      }
      if (seen.contains(key)) throw AvroFault(s"Its ${map.name} contain the column $key twice")
      seen += key
      map match {
        // The specification does not allow null as the value. If it is null, the metric of the column is treated as
        // unknown.
        case _: MetricsMap.Counts => pair.longOption(CountColumns.Value).foreach(counts += key -> _)
        case _: MetricsMap.Bounds => pair.option(BoundColumns.Value).foreach(bounds += key -> _)
      }
    }
    row.setObject(slot, maps(counts, bounds))
  }

  override def skip(in: AvroInput): Unit = FieldDecoder.items(in)(record.skip(in))

  private def maps(counts: Map[Int, Long], bounds: Map[Int, ByteBuffer]): MetricMaps = map match {
    case MetricsMap.ColumnSizes => MetricMaps(columnSizes = Some(counts))
    case MetricsMap.ValueCounts => MetricMaps(valueCounts = Some(counts))
    case MetricsMap.NullValueCounts => MetricMaps(nullValueCounts = Some(counts))
    case MetricsMap.NanValueCounts => MetricMaps(nanValueCounts = Some(counts))
    case MetricsMap.LowerBounds => MetricMaps(lowerBounds = Some(bounds))
    case MetricsMap.UpperBounds => MetricMaps(upperBounds = Some(bounds))
  }
}

private[manifestlist] object MetricsColumn {

  /**
   * Returns the metrics of a file from the row that was just read.
   *
   * @param block the Avro block that contains the row
   */
  def metrics(row: AvroRow, columns: Array[StructColumn[_, Metrics]], block: Array[Byte]): Metrics = {
    val ranges = new Array[Int](MetricsMap.Size * 2)
    java.util.Arrays.fill(ranges, EncodedMetrics.Missing)
    var decoded = Option.empty[MetricMaps]
    var hasEncoded = false
    var i = 0
    while (i < columns.length) {
      val column = columns(i)
      if (row.has(column)) row.decoderOfSkipped(column) match {
        case maps: MetricMaps => decoded = Some(decoded.fold(maps)(combined(_, maps)))
        case _ =>
          hasEncoded = true
          val range = row.range(column)
          ranges(i * 2) = (range >>> 32).toInt
          ranges(i * 2 + 1) = range.toInt
      }
      i += 1
    }
    val encoded = if (hasEncoded) new EncodedMetrics(block, ranges) else Metrics.Empty
    decoded.fold(encoded)(combined(_, encoded))
  }

  private def combined(a: Metrics, b: Metrics): MetricMaps = MetricMaps(
    a.columnSizes.orElse(b.columnSizes),
    a.valueCounts.orElse(b.valueCounts),
    a.nullValueCounts.orElse(b.nullValueCounts),
    a.nanValueCounts.orElse(b.nanValueCounts),
    a.lowerBounds.orElse(b.lowerBounds),
    a.upperBounds.orElse(b.upperBounds)
  )
}
