package iceberglite.tree.manifestlist

import java.nio.ByteBuffer
import java.util.Arrays

import scala.reflect.ClassTag

import iceberglite.avro.{AvroInput, AvroOutput}
import iceberglite.spec.file.{MetricMaps, Metrics}

/**
 * One of the metrics maps of a file.
 *
 * @param index the position of the map in [[EncodedMetrics]]
 * @param name the name of the map in the specification
 */
sealed abstract private[manifestlist] class MetricsMap(val index: Int, val name: String) {
  def isIn(metrics: Metrics): Boolean
}

private[manifestlist] object MetricsMap {
  sealed abstract class Counts(index: Int, name: String) extends MetricsMap(index, name) {
    def of(metrics: Metrics): Option[Map[Int, Long]]
    override def isIn(metrics: Metrics): Boolean = of(metrics).isDefined
  }
  sealed abstract class Bounds(index: Int, name: String) extends MetricsMap(index, name) {
    def of(metrics: Metrics): Option[Map[Int, ByteBuffer]]
    override def isIn(metrics: Metrics): Boolean = of(metrics).isDefined
  }
  case object ColumnSizes extends Counts(0, "column_sizes") {
    override def of(metrics: Metrics): Option[Map[Int, Long]] = metrics.columnSizes
  }
  case object ValueCounts extends Counts(1, "value_counts") {
    override def of(metrics: Metrics): Option[Map[Int, Long]] = metrics.valueCounts
  }
  case object NullValueCounts extends Counts(2, "null_value_counts") {
    override def of(metrics: Metrics): Option[Map[Int, Long]] = metrics.nullValueCounts
  }
  case object NanValueCounts extends Counts(3, "nan_value_counts") {
    override def of(metrics: Metrics): Option[Map[Int, Long]] = metrics.nanValueCounts
  }
  case object LowerBounds extends Bounds(4, "lower_bounds") {
    override def of(metrics: Metrics): Option[Map[Int, ByteBuffer]] = metrics.lowerBounds
  }
  case object UpperBounds extends Bounds(5, "upper_bounds") {
    override def of(metrics: Metrics): Option[Map[Int, ByteBuffer]] = metrics.upperBounds
  }
  val all: Seq[MetricsMap] = Seq(ColumnSizes, ValueCounts, NullValueCounts, NanValueCounts, LowerBounds, UpperBounds)
  val Size = 6
}

/**
 * The metrics of a file, in the Avro encoding of the manifest's block. A lookup traverses only one map and decodes only
 * one value. This saves time, because most scan plans need no metrics, or only the metrics of a few field ids. The
 * block stays in memory as long as the metrics of any of its files are in use. Serialization writes only the bytes of
 * this file's metrics.
 *
 * @param bytes the bytes of the block, which must not be modified
 * @param ranges the start and the end of each map, by [[MetricsMap.index]]; -1 if the entry omits the map.
 *   [[EncodedMap.endOfMap]] has checked the maps, so that a lookup does not read beyond their ends
 */
final private[manifestlist] class EncodedMetrics(bytes: Array[Byte], ranges: Array[Int]) extends Metrics {
  import EncodedMetrics._
  import MetricsMap._

  def has(map: MetricsMap): Boolean = ranges(map.index * 2) >= 0

  override def columnSize(id: Int): Option[Long] = count(ColumnSizes, id)
  override def valueCount(id: Int): Option[Long] = count(ValueCounts, id)
  override def nullValueCount(id: Int): Option[Long] = count(NullValueCounts, id)
  override def nanValueCount(id: Int): Option[Long] = count(NanValueCounts, id)
  override def lowerBound(id: Int): Option[ByteBuffer] = bound(LowerBounds, id)
  override def upperBound(id: Int): Option[ByteBuffer] = bound(UpperBounds, id)

  override def lowerNumber(id: Int, width: Int): Long = number(LowerBounds, id, width, Long.MinValue)
  override def upperNumber(id: Int, width: Int): Long = number(UpperBounds, id, width, Long.MaxValue)

  override def columnSizes: Option[Map[Int, Long]] = counts(ColumnSizes)
  override def valueCounts: Option[Map[Int, Long]] = counts(ValueCounts)
  override def nullValueCounts: Option[Map[Int, Long]] = counts(NullValueCounts)
  override def nanValueCounts: Option[Map[Int, Long]] = counts(NanValueCounts)
  override def lowerBounds: Option[Map[Int, ByteBuffer]] = bounds(LowerBounds)
  override def upperBounds: Option[Map[Int, ByteBuffer]] = bounds(UpperBounds)

  /** Copies a map in its encoded form, without decoding it. */
  def copyTo(out: AvroOutput, map: MetricsMap): Unit = {
    val start = ranges(map.index * 2)
    out.writeRaw(bytes, start, ranges(map.index * 2 + 1) - start)
  }

  private def input(map: MetricsMap): AvroInput =
    new AvroInput(bytes, ranges(map.index * 2), ranges(map.index * 2 + 1))

  private def count(map: Counts, id: Int): Option[Long] = {
    val position = find(map, id, lengthPrefixed = false)
    if (position == EncodedMap.Absent) None
    else Some(new AvroInput(bytes, position, ranges(map.index * 2 + 1)).readLong())
  }

  private def bound(map: Bounds, id: Int): Option[ByteBuffer] = {
    val position = find(map, id, lengthPrefixed = true)
    if (position == EncodedMap.Absent) None else Some(view(new AvroInput(bytes, position, ranges(map.index * 2 + 1))))
  }

  private def number(map: Bounds, id: Int, width: Int, absent: Long): Long = {
    val position = find(map, id, lengthPrefixed = true)
    if (position == EncodedMap.Absent || EncodedMap.varint(bytes, position) != width) absent
    else EncodedMap.littleEndian(bytes, EncodedMap.afterVarint(bytes, position), width)
  }

  private def find(map: MetricsMap, id: Int, lengthPrefixed: Boolean): Int = {
    val start = ranges(map.index * 2)
    if (start < 0) EncodedMap.Absent else EncodedMap.find(bytes, start, id, lengthPrefixed)
  }

  private def counts(map: Counts): Option[Map[Int, Long]] =
    if (has(map)) Some(entriesOf(input(map))(_.readLong())) else None

  private def bounds(map: Bounds): Option[Map[Int, ByteBuffer]] =
    if (has(map)) Some(entriesOf(input(map))(view)) else None

  private def view(in: AvroInput): ByteBuffer = {
    val length = in.readLength()
    in.skip(length)
    ByteBuffer.wrap(bytes, in.position - length, length).slice()
  }

  override def only(ids: Set[Int]): Metrics = if (ids.isEmpty) Metrics.Empty
  else {
    val out = new AvroOutput(64)
    val newRanges = Array.fill(MetricsMap.Size * 2)(Missing)
    MetricsMap.all.filter(has).foreach { map =>
      newRanges(map.index * 2) = out.size
      map match {
        case counts: Counts => copyKeys(input(counts), out, ids)(_.skipNumbers(1))
        case bounds: Bounds => copyKeys(input(bounds), out, ids)(_.skipBytes())
      }
      newRanges(map.index * 2 + 1) = out.size
    }
    new EncodedMetrics(out.toBytes, newRanges)
  }

  /** Returns a copy with only the bytes of this file's metrics, which does not keep the block in memory. */
  def withoutBlock: EncodedMetrics = {
    val starts = (0 until MetricsMap.Size).map(i => ranges(i * 2))
    val lengths = (0 until MetricsMap.Size).map(i => ranges(i * 2 + 1) - ranges(i * 2))
    if (lengths.sum == bytes.length) this
    else {
      val out = new AvroOutput(lengths.sum)
      val newRanges = starts.zip(lengths).flatMap { case (start, length) =>
        val position = out.size
        if (start >= 0) out.writeRaw(bytes, start, length)
        if (start >= 0) Seq(position, position + length) else Seq(Missing, Missing)
      }
      new EncodedMetrics(out.toBytes, newRanges.toArray)
    }
  }

  /** Returns the object that Java serialization writes. */
  private def writeReplace(): AnyRef = withoutBlock

  override def toString: String =
    MetricMaps(columnSizes, valueCounts, nullValueCounts, nanValueCounts, lowerBounds, upperBounds).toString
}

private[manifestlist] object EncodedMetrics {
  val Missing: Int = -1

  /** Copies the map entries with the given keys. Each entry is written as a separate block of the encoded map. */
  private def copyKeys(in: AvroInput, out: AvroOutput, ids: Set[Int])(skipValue: AvroInput => Unit): Unit = {
    var count = in.readBlockCount()
    while (count > 0) {
      while (count > 0) {
        val start = in.position
        val id = in.readInt()
        skipValue(in)
        if (ids(id)) {
          out.writeLong(1)
          out.writeRaw(in.bytes, start, in.position - start)
        }
        count -= 1
      }
      count = in.readBlockCount()
    }
    out.writeLong(0)
  }

  /** Decodes all entries of a map. The keys are distinct, because [[MetricsColumn]] has rejected duplicate keys. */
  private def entriesOf[V: ClassTag](in: AvroInput)(value: AvroInput => V): Map[Int, V] = {
    var ids = new Array[Int](0)
    var values = new Array[V](0)
    var size = 0
    var count = in.readBlockCount()
    while (count > 0) {
      ids = Arrays.copyOf(ids, size + count)
      val more = new Array[V](size + count)
      System.arraycopy(values, 0, more, 0, size)
      values = more
      while (count > 0) {
        ids(size) = in.readInt()
        values(size) = value(in)
        size += 1
        count -= 1
      }
      count = in.readBlockCount()
    }
    IdMap(ids, values)
  }
}
