package iceberglite.puffin

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.util.Arrays
import java.util.zip.CRC32

import scala.util.Try

import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.{BlobMetadata, BlobProperty, BlobType, PuffinBlob, Snapshot}
import iceberglite.storage.FileIO

/**
 * Identifies a data file in a Bloom index: the first 16 bytes of the SHA-256 digest of the file's path, size and number
 * of rows. A file that replaces another one under the same path therefore has another key.
 */
final class BloomFileKey private[puffin] (private[puffin] val high: Long, private[puffin] val low: Long)
    extends Ordered[BloomFileKey] {
  override def compare(that: BloomFileKey): Int = compareTo(that.high, that.low)

  private[puffin] def compareTo(otherHigh: Long, otherLow: Long): Int = {
    val first = java.lang.Long.compare(high, otherHigh)
    if (first != 0) first else java.lang.Long.compare(low, otherLow)
  }

  override def equals(that: Any): Boolean = that match {
    case key: BloomFileKey => key.high == high && key.low == low
    case _ => false
  }

  override def hashCode: Int = java.lang.Long.hashCode(high)
}

object BloomFileKey {

  /** The creation of a digest takes longer than its use, and a plan computes the keys of up to a million files. */
  private val digests = ThreadLocal.withInitial[MessageDigest](() => MessageDigest.getInstance("SHA-256"))

  def of(file: ContentFile): BloomFileKey = {
    val sha = digests.get
    sha.update(ByteBuffer.allocate(2 * java.lang.Long.BYTES).putLong(file.fileSizeInBytes).putLong(file.recordCount)
      .array)
    val digest = ByteBuffer.wrap(sha.digest(file.path.getBytes(UTF_8)))
    new BloomFileKey(digest.getLong(), digest.getLong())
  }
}

/**
 * The location of a filter in a blob.
 *
 * @param offset the position of the first byte, relative to the end of the directory
 * @param crc the CRC-32 checksum of the filter
 */
final private[iceberglite] case class BloomEntry(key: BloomFileKey, offset: Long, length: Int, crc: Int)

/**
 * What the filters of a blob describe.
 *
 * @param fieldId the id of the column
 * @param form the form of the hashed values
 * @param nameMapping identifies the name mapping with which the data files were read; empty if there was none
 * @param maxFilterBytes the maximum size of a filter when the filters were computed
 */
final private[iceberglite] case class BloomScope(
    fieldId: Int,
    form: ValueForm,
    nameMapping: String,
    maxFilterBytes: Long
) {
  private[puffin] def properties: Map[String, String] = Map(
    BlobProperty.ValueForm -> form.name,
    BlobProperty.NameMapping -> nameMapping,
    BlobProperty.MaxFilterBytes -> maxFilterBytes.toString
  )

  /** The bytes that the checksum of the directory covers before the entries. */
  private[puffin] def checked: Array[Byte] = s"$fieldId ${form.name} $nameMapping $maxFilterBytes".getBytes(UTF_8)
}

private[iceberglite] object BloomScope {

  /** Returns what a blob describes; absent if it lacks a property. */
  def of(blob: PuffinBlob): Option[BloomScope] = {
    val properties = blob.metadata.properties
    for {
      fieldId <- blob.metadata.fields.headOption
      form <- properties.get(BlobProperty.ValueForm)
      mapping <- properties.get(BlobProperty.NameMapping)
      maxBytes <- properties.get(BlobProperty.MaxFilterBytes).flatMap(text => Try(text.toLong).toOption)
    } yield BloomScope(fieldId, ValueForm.named(form), mapping, maxBytes)
  }
}

/**
 * A blob with the Bloom filters of one column. It starts with a directory: an entry of 32 bytes for each data file, in
 * the order of the keys, followed by a CRC-32 checksum of the [[BloomScope]] and the entries. The filters follow in the
 * same order. The numbers of the directory are big-endian. The blob is not compressed, so that a reader reads only the
 * directory and the filters that it needs.
 *
 * @param directory the entries and their checksum
 */
final class BloomIndexBlob private (
    io: FileIO,
    path: String,
    start: Long,
    private[iceberglite] val scope: BloomScope,
    directory: ByteBuffer
) {
  import BloomIndexBlob._

  private val files = (directory.limit() - ChecksumSize) / EntrySize

  private[iceberglite] def directoryBytes: Long = directory.limit().toLong

  /** Returns the entries of the files that have a filter. */
  private[iceberglite] def entriesOf(keys: Iterable[BloomFileKey]): Vector[BloomEntry] =
    keys.iterator.flatMap(find(_).iterator).toVector

  private def find(key: BloomFileKey): Option[BloomEntry] = {
    var low = 0
    var high = files
    while (low < high) {
      val middle = (low + high) >>> 1
      if (key.compareTo(highAt(directory, middle), lowAt(directory, middle)) > 0) low = middle + 1 else high = middle
    }
    if (low < files && keyAt(directory, low) == key) Some(entryAt(directory, low)) else None
  }

  /**
   * Reads filters that are close to each other with one request.
   *
   * @param run one of the results of [[BloomIndexBlob.runs]]
   * @throws UnreadableFile if a filter is damaged
   */
  private[iceberglite] def read(run: Vector[BloomEntry]): Vector[(BloomFileKey, BloomFilter)] = {
    val first = run.head.offset
    val bytes = io.readRange(path, start + directory.limit() + first, (run.last.offset + run.last.length - first).toInt)
    run.map { entry =>
      val from = (entry.offset - first).toInt
      val filter = Arrays.copyOfRange(bytes, from, from + entry.length)
      if (crcOf(filter) != entry.crc) fail(path, s"The checksum of the filter at ${entry.offset} is wrong")
      val parsed = BloomFilter.parse(filter)
      (entry.key, parsed.getOrElse(fail(path, s"The filter at ${entry.offset} has ${entry.length} bytes")))
    }
  }
}

object BloomIndexBlob {
  private val EntrySize = 32
  private val ChecksumSize = 4

  /** The maximum number of unneeded bytes between two filters that are read with one request. */
  private val MaxGap = 1 << 16

  /** The maximum size of one request in bytes, unless one filter is larger. */
  private val MaxRequest = 8 << 20

  private def directorySize(files: Int): Long = files.toLong * EntrySize + ChecksumSize

  /** Returns the blob with the given filters. */
  private[iceberglite] def write(
      scope: BloomScope,
      snapshot: Snapshot,
      filters: Map[BloomFileKey, BloomFilter]
  ): NewBlob = {
    val sorted = filters.toVector.sortBy(_._1).map { case (key, filter) => (key, filter.bits) }
    val size = directorySize(sorted.size) + sorted.iterator.map(_._2.length.toLong).sum
    val out = ByteBuffer.allocate(Math.toIntExact(size))
    var offset = 0L
    sorted.foreach { case (key, filter) =>
      out.putLong(key.high).putLong(key.low).putLong(offset).putInt(filter.length).putInt(crcOf(filter))
      offset += filter.length
    }
    out.putInt(crcOf(scope.checked, Arrays.copyOf(out.array, out.position())))
    sorted.foreach { case (_, filter) => out.put(filter) }
    val properties = scope.properties + (BlobProperty.Files -> sorted.size.toString)
    NewBlob(
      BlobMetadata(
        BlobType.BloomIndex,
        snapshot.snapshotId,
        snapshot.sequenceNumber,
        Vector(scope.fieldId),
        properties
      ),
      out.array
    )
  }

  /**
   * Reads the directory of a blob.
   *
   * @param maxBytes the maximum size of the directory
   * @return None if the directory is larger
   * @throws UnreadableFile if the directory is damaged
   */
  private[iceberglite] def open(
      io: FileIO,
      file: PuffinFile,
      blob: PuffinBlob,
      maxBytes: Long
  ): Option[BloomIndexBlob] = {
    val scope = BloomScope.of(blob).getOrElse(fail(file.path, "The blob lacks a property"))
    val files = blob.metadata.properties.get(BlobProperty.Files).flatMap(text => Try(text.toInt).toOption)
      .filter(n => n >= 0 && directorySize(n) <= blob.length)
      .getOrElse(fail(file.path, s"The blob has no valid property ${BlobProperty.Files}"))
    if (blob.compressionCodec.exists(_ != "none")) fail(file.path, "The blob is compressed")
    val size = directorySize(files)
    if (size > math.min(maxBytes, Int.MaxValue.toLong)) None
    else {
      val directory = ByteBuffer.wrap(io.readRange(file.path, blob.offset, size.toInt))
      check(file.path, scope, directory, blob.length - size)
      Some(new BloomIndexBlob(io, file.path, blob.offset, scope, directory))
    }
  }

  /** Checks that the keys ascend, and that the filters follow each other until the end of the blob. */
  private def check(path: String, scope: BloomScope, directory: ByteBuffer, filterBytes: Long): Unit = {
    val entriesSize = directory.limit() - ChecksumSize
    if (crcOf(scope.checked, Arrays.copyOf(directory.array, entriesSize)) != directory.getInt(entriesSize)) {
      fail(path, "The checksum of the directory is wrong")
    }
    var next = 0L
    (0 until entriesSize / EntrySize).foreach { i =>
      val entry = entryAt(directory, i)
      if (entry.offset != next || !BloomFilter.isValidSize(entry.length) || entry.length > filterBytes - next) {
        fail(path, s"The filter of ${entry.length} bytes at ${entry.offset} is not within the blob")
      }
      if (i > 0 && keyAt(directory, i - 1) >= entry.key) fail(path, s"Entry $i of the directory is not in order")
      next += entry.length
    }
    if (next != filterBytes) fail(path, s"The filters have $next bytes instead of $filterBytes")
  }

  private def keyAt(directory: ByteBuffer, i: Int): BloomFileKey =
    new BloomFileKey(highAt(directory, i), lowAt(directory, i))

  private def highAt(directory: ByteBuffer, i: Int): Long = directory.getLong(i * EntrySize)

  private def lowAt(directory: ByteBuffer, i: Int): Long = directory.getLong(i * EntrySize + java.lang.Long.BYTES)

  private def entryAt(directory: ByteBuffer, i: Int): BloomEntry = {
    val afterKey = i * EntrySize + 2 * java.lang.Long.BYTES
    val afterOffset = afterKey + java.lang.Long.BYTES
    BloomEntry(
      keyAt(directory, i),
      directory.getLong(afterKey),
      directory.getInt(afterOffset),
      directory.getInt(afterOffset + Integer.BYTES)
    )
  }

  /** Divides entries into runs that are read with one request each. */
  private[iceberglite] def runs(entries: Vector[BloomEntry]): Vector[Vector[BloomEntry]] = {
    val result = Vector.newBuilder[Vector[BloomEntry]]
    var run = Vector.empty[BloomEntry]
    entries.sortBy(_.offset).foreach { entry =>
      val isNear = run.lastOption.exists(last =>
        entry.offset - last.offset - last.length <= MaxGap &&
          entry.offset + entry.length - run.head.offset <= MaxRequest
      )
      if (isNear) run :+= entry
      else {
        if (run.nonEmpty) result += run
        run = Vector(entry)
      }
    }
    if (run.nonEmpty) result += run
    result.result()
  }

  private def crcOf(parts: Array[Byte]*): Int = {
    val crc = new CRC32
    parts.foreach(part => crc.update(part))
    crc.getValue.toInt
  }

  private def fail(path: String, reason: String): Nothing = throw UnreadableFile(path, "Bloom index in", reason)
}
