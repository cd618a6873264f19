package iceberglite.puffin

import java.nio.{ByteBuffer, ByteOrder}

import scala.util.control.NonFatal

import org.apache.datasketches.memory.Memory
import org.apache.datasketches.theta.{CompactSketch, SetOperation, UpdateSketch}
import org.apache.datasketches.{Family, Util}

import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.metadata.{BlobMetadata, BlobProperty, BlobType, Snapshot}
import iceberglite.spec.types.{Literal, SingleValue}

/**
 * A sketch that estimates the number of distinct values (NDV) of a column (spec version 3:
 * `apache-datasketches-theta-v1`). The object is immutable.
 */
final class ThetaSketch private (sketch: CompactSketch) {
  def estimate: Double = sketch.getEstimate

  /** The estimate, truncated to an integer. This is the value of the blob property `ndv`. */
  def ndv: Long = estimate.toLong

  def union(that: ThetaSketch): ThetaSketch = that.unionWith(sketch)

  private def unionWith(other: CompactSketch): ThetaSketch = {
    val union = SetOperation.builder.buildUnion
    union.union(other)
    union.union(sketch)
    new ThetaSketch(union.getResult)
  }

  /** Returns the bytes of the sketch in compact form. */
  def toBytes: Array[Byte] = sketch.toByteArray

  /** Returns the blob of a column's sketch, with the compression that Apache Iceberg uses. */
  def blob(fieldId: Int, snapshot: Snapshot): NewBlob = {
    val properties = Map(BlobProperty.Ndv -> ndv.toString)
    val metadata =
      BlobMetadata(BlobType.ThetaSketch, snapshot.snapshotId, snapshot.sequenceNumber, Vector(fieldId), properties)
    NewBlob(metadata, toBytes, PuffinCodec.ZStandard)
  }
}

object ThetaSketch {
  private val SerialVersion = 3
  private val CompactFamily = 3
  private val BigEndianFlag = 1
  private val EmptyFlag = 4
  private val OrderedFlag = 16
  private val LongBytes = 8
  private val CountOffset = 8
  private val ThetaOffset = 16

  def newBuilder: Builder = new Builder

  /**
   * Parses the sketch of a decompressed blob.
   *
   * @param file the Puffin file, for messages
   * @throws UnreadableFile if the bytes are not a compact theta sketch with the default seed
   */
  def parse(file: String, bytes: Array[Byte]): ThetaSketch =
    try {
      check(bytes)
      new ThetaSketch(CompactSketch.heapify(Memory.wrap(bytes), Util.DEFAULT_UPDATE_SEED))
    } catch {
      case DamagedBlob(reason) => throw UnreadableFile(file, "theta sketch in", reason)
      // The DataSketches library throws exceptions of other classes, for example if the sketch was built with another
      // seed.
      case NonFatal(e) =>
        throw UnreadableFile(file, "theta sketch in", s"The sketch is damaged (${e.getMessage})", Some(e))
    }

  /**
   * Checks the header and the hashes. The DataSketches library does not validate the number of hashes, and could read
   * beyond the end of the array.
   */
  private def check(bytes: Array[Byte]): Unit = {
    def fail(reason: String): Nothing = throw DamagedBlob(reason)
    if (bytes.length < LongBytes) fail(s"The blob has ${bytes.length} bytes, too few for a sketch")
    if (bytes(1) != SerialVersion) fail(s"The serial version is ${bytes(1)}, but only $SerialVersion is supported")
    if (bytes(2) != CompactFamily) fail(s"The family is ${bytes(2)}, not $CompactFamily (compact theta sketch)")
    val longs = bytes(0) & 0x3f
    val flags = bytes(5)
    if (longs < 1 || longs > 3 || bytes.length < longs * LongBytes) {
      fail(s"The sketch claims an invalid preamble of $longs longs")
    }
    if ((flags & BigEndianFlag) != 0) fail("The sketch is big-endian, which is not supported")
    val in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
    val isEmpty = (flags & EmptyFlag) != 0
    val count = if (longs > 1) in.getInt(CountOffset) else if (isEmpty) 0 else 1
    if (isEmpty && count != 0) fail(s"The sketch is marked as empty, but has $count hashes")
    val hashes = (bytes.length - longs * LongBytes) / LongBytes
    if (count < 0 || count > hashes) fail(s"The sketch claims $count hashes, but has room for only $hashes")
    in.position(longs * LongBytes)
    checkHashes(in, count, if (longs > 2) in.getLong(ThetaOffset) else Long.MaxValue, (flags & OrderedFlag) != 0)
  }

  private def checkHashes(in: ByteBuffer, count: Int, theta: Long, isOrdered: Boolean): Unit = {
    if (theta <= 0) throw DamagedBlob(s"The theta $theta of the sketch is not positive")
    var last = 0L
    var i = 0
    while (i < count) {
      val hash = in.getLong()
      if (hash <= 0 || hash >= theta) throw DamagedBlob(s"The hash $hash is not between 0 and the theta $theta")
      if (isOrdered && hash <= last) {
        throw DamagedBlob(s"The sketch is marked as ordered, but the hash $hash follows $last")
      }
      last = hash
      i += 1
    }
  }

  /** Collects the values of a column. The builder is not thread-safe. */
  final class Builder private[ThetaSketch] {
    private val sketch = UpdateSketch.builder.setFamily(Family.ALPHA).build

    /**
     * Adds a value. Null values must not be added, because null does not count as a distinct value. The DataSketches
     * library ignores empty strings.
     */
    def +=(value: Literal): this.type = {
      sketch.update(bytesOf(SingleValue.encode(value)))
      this
    }

    /**
     * Adds a value that is not null.
     *
     * @param singleValue the binary form of the value (spec: "Appendix D: Single-value serialization"); the builder
     *   does not retain the array
     */
    def addBytes(singleValue: Array[Byte]): Unit = {
      sketch.update(singleValue)
      ()
    }

    def result(): ThetaSketch = new ThetaSketch(sketch.compact())
  }

  private def bytesOf(buffer: ByteBuffer): Array[Byte] = {
    val bytes = new Array[Byte](buffer.remaining)
    buffer.duplicate().get(bytes)
    bytes
  }
}
