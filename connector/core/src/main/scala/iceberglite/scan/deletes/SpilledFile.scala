package iceberglite.scan.deletes

import java.io.{EOFException, File, IOException, RandomAccessFile}
import java.nio.ByteBuffer
import java.nio.file.{Files, Paths}
import java.util.{Arrays, PriorityQueue}

import scala.collection.mutable.ArrayBuffer

import iceberglite.spec.IcebergError.StorageFailed

/**
 * A file on the local disk that contains keys, sorted by their hashes. The first hash of each page and a Bloom filter
 * are in memory, so that lookups of rows that are not deleted rarely read the file. The directory entry of the file is
 * already deleted; the operating system frees the space when the file is closed.
 *
 * A page is a group of adjacent keys that is read as a unit.
 *
 * @param pages the first hash of each page
 * @param offsets the offset in the file at which each page starts; the last element is the end of the last page
 * @param cipher decrypts the pages; absent if they are not encrypted
 */
final private[scan] class SpilledFile(
    file: RandomAccessFile,
    val count: Long,
    pages: Array[Long],
    offsets: Array[Long],
    filter: HashFilter,
    cipher: Option[SpillCipher]
) {

  /** The heap size of the index and the filter, in bytes. */
  def bytes: Long = 8L * pages.length + 8L * offsets.length + filter.bytes

  def contains(key: KeyBuffer): Boolean = {
    val hash = key.hash
    filter.mightContain(hash) && isInPages(key, hash)
  }

  /** Searches the pages. Keys with the same hash may be on several pages. */
  private def isInPages(key: KeyBuffer, hash: Long): Boolean = {
    val index = Arrays.binarySearch(pages, hash)
    var page = if (index >= 0) index else -index - 2
    while (page > 0 && pages(page) == hash) page -= 1
    var found = false
    while (!found && page >= 0 && page < pages.length && pages(page) <= hash) {
      found = isOnPage(page, key, hash)
      page += 1
    }
    found
  }

  private def isOnPage(page: Int, key: KeyBuffer, hash: Long): Boolean = {
    val entries = ByteBuffer.wrap(read(page))
    var found = false
    var isPast = false
    while (!found && !isPast && entries.hasRemaining) {
      val entryHash = entries.getLong()
      val length = entries.getInt()
      val from = entries.position()
      found = entryHash == hash && key.equalsAt(entries.array, from, length)
      isPast = entryHash > hash
      entries.position(from + length)
    }
    found
  }

  private def read(page: Int): Array[Byte] = {
    val contents = new Array[Byte]((offsets(page + 1) - offsets(page)).toInt)
    // A `FileChannel` is not used, because it would be closed for all tasks when one of the tasks is interrupted.
    file.synchronized {
      file.seek(offsets(page))
      file.readFully(contents)
    }
    cipher.fold(contents) { used =>
      SpillCipher.decrypt(used.newCipher(), page, Arrays.copyOfRange(contents, Integer.BYTES, contents.length))
    }
  }
}

/** A Bloom filter of hashes. @param expected the expected number of hashes */
final private[scan] class HashFilter(expected: Long, maxBytes: Long) {
  private val words: Array[Long] = {
    val wordCount = math.min(expected * HashFilter.BitsPerKey / 64 + 1, maxBytes / 8)
    new Array[Long](math.max(1L, math.min(wordCount, 1L << 27)).toInt)
  }
  private val bits = words.length * 64L
  private val probes = math.max(1L, math.min(7L, math.round(bits * 0.69 / math.max(1L, expected)))).toInt

  def bytes: Long = 8L * words.length

  def +=(hash: Long): Unit = (0 until probes).foreach { i =>
    val bit = bitOf(hash, i)
    words((bit >>> 6).toInt) |= 1L << bit
  }

  def mightContain(hash: Long): Boolean = {
    var i = 0
    while (i < probes && isSet(bitOf(hash, i))) i += 1
    i == probes
  }

  private def isSet(bit: Long): Boolean = (words((bit >>> 6).toInt) & (1L << bit)) != 0

  private def bitOf(hash: Long, probe: Int): Long =
    java.lang.Long.remainderUnsigned(hash + probe * ((hash >>> 31) * 0x9e3779b97f4a7c15L | 1L), bits)
}

private object HashFilter {
  val BitsPerKey = 10L
}

/**
 * Writes keys to temporary files, and merges these files into one file. Each temporary file is a run: keys that are
 * sorted by their hashes.
 *
 * @param maxBytes memory limit in bytes; the Bloom filter uses at most half of it
 * @param encrypts whether the temporary files and the merged file are encrypted. They must be if any delete file is
 */
final private[scan] class KeySpill(directory: String, maxBytes: Long, encrypts: Boolean) {
  import KeySpill._

  private val runs = ArrayBuffer.empty[WrittenRun]
  private var written = 0L

  /** Writes a run. */
  def write(keys: BytesKeys): Unit = guarded {
    if (runs.size == MaxRuns) joinRuns()
    val run = WrittenRun(newFile(), keys.size.toLong, newCipher())
    runs += run
    val out = new SpillOutput(run.file, run.cipher, BufferBytes)
    var count = 0
    try keys.foreachSorted { (hash, bytes, from, length) =>
        if (count % KeysPerPage == 0) out.endGroup()
        out.add(hash, bytes, from, length)
        count += 1
      }
    finally out.close()
    written += keys.size
  }

  /** Writes the last keys, and merges all runs into one file. */
  def finish(last: BytesKeys): SpilledFile = guarded {
    if (!last.isEmpty) write(last)
    val (merged, cipher) = (newFile(), newCipher())
    try {
      val index = merge(merged, cipher)
      new SpilledFile(new RandomAccessFile(merged, "r"), index.count, index.pages, index.offsets, index.filter, cipher)
    } finally {
      // The open file can still be read after its directory entry is deleted.
      merged.delete()
      discard()
    }
  }

  /** Merges the runs that have been written so far into a single run, to limit the number of open files. */
  private def joinRuns(): Unit = {
    val (joined, cipher) = (newFile(), newCipher())
    val count =
      try merge(joined, cipher).count
      catch {
        case e: Throwable =>
          joined.delete()
          throw e
      }
    discard()
    runs += WrittenRun(joined, count, cipher)
  }

  /** Deletes the files of the runs. */
  def discard(): Unit = {
    runs.foreach(_.file.delete())
    runs.clear()
  }

  private def newCipher(): Option[SpillCipher] = if (encrypts) Some(new SpillCipher) else None

  private def merge(to: File, cipher: Option[SpillCipher]): MergedRuns = {
    val open = ArrayBuffer.empty[Run]
    try {
      runs.foreach(run => open += new Run(run))
      val out = new SpillOutput(to, cipher, BufferBytes)
      try mergeInto(out, open)
      finally out.close()
    } finally open.foreach(_.close())
  }

  private def mergeInto(out: SpillOutput, open: ArrayBuffer[Run]): MergedRuns = {
    val heads = new PriorityQueue[Run](math.max(1, open.size), (a: Run, b: Run) => a.compareHead(b))
    open.filter(_.advance()).foreach(heads.add)
    val result = new MergedRuns(new HashFilter(written, maxBytes / 2))
    var previousKey = Array.emptyByteArray
    while (!heads.isEmpty) {
      val run = heads.poll()
      // Two runs may contain the same key.
      if (result.count == 0 || !Arrays.equals(previousKey, run.key)) result.add(out, run.hash, run.key)
      previousKey = run.key
      if (run.advance()) heads.add(run)
    }
    result.end(out)
    result
  }

  private def newFile(): File = Files.createTempFile(Paths.get(directory), "deleted-keys", ".spill").toFile

  private def guarded[A](body: => A): A =
    try body
    catch {
      case e: IOException =>
        discard()
        val reason = s"${e.getMessage}. Equality deletes that do not fit into memory are written to this directory. " +
          "Free disk space, or increase the memory of the executors' cache of delete files"
        throw StorageFailed.at("write deleted keys to", directory, reason, Some(e))
    }
}

private object KeySpill {
  val BufferBytes: Int = 1 << 16
  val KeysPerPage = 64
  val MaxRuns = 64

  /** @param count the number of keys in the file @param cipher absent if the file is not encrypted */
  final case class WrittenRun(file: File, count: Long, cipher: Option[SpillCipher])

  /** A run that is being read. */
  final class Run(written: WrittenRun) {
    private val in = SpillInput.open(written.file, written.cipher, BufferBytes)
    private var remaining = written.count
    var hash = 0L
    var key: Array[Byte] = Array.emptyByteArray

    /**
     * Moves to the next key. Returns false if there is none. A file that ends before its last key is an error, because
     * the rows of the lost keys would reappear.
     */
    def advance(): Boolean = remaining > 0 && {
      remaining -= 1
      try {
        hash = in.readLong()
        key = new Array[Byte](in.readInt())
        in.readFully(key)
      } catch { case _: EOFException => throw new EOFException(s"The file ${written.file} was truncated") }
      true
    }

    def compareHead(other: Run): Int = {
      val byHash = java.lang.Long.compare(hash, other.hash)
      if (byHash != 0) byHash else Arrays.compare(key, other.key)
    }

    def close(): Unit = in.close()
  }

  /** The index and the Bloom filter of the merged file, which are kept in memory. */
  final class MergedRuns(val filter: HashFilter) {
    private val firsts = new ArrayBuffer[Long]
    private val starts = new ArrayBuffer[Long]
    var count = 0L

    def pages: Array[Long] = firsts.toArray
    def offsets: Array[Long] = starts.toArray

    def add(out: SpillOutput, hash: Long, key: Array[Byte]): Unit = {
      if (count % KeysPerPage == 0) {
        out.endGroup()
        firsts += hash
        starts += out.position
      }
      out.add(hash, key, 0, key.length)
      filter += hash
      count += 1
    }

    def end(out: SpillOutput): Unit = {
      out.endGroup()
      starts += out.position
    }
  }
}
