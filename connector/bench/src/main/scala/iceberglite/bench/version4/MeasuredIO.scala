package iceberglite.bench.version4

import java.io.{ByteArrayInputStream, InputStream}
import java.util.concurrent.atomic.{AtomicLong, LongAdder}

import scala.collection.concurrent.TrieMap

import iceberglite.bench.MemoryIO
import iceberglite.storage.{FileIO, FileInfo}

/**
 * Numbers of requests to storage, files and bytes.
 *
 * @param reads the number of requests that read
 * @param writtenFiles the number of files of the metadata tree that were written and not deleted, without the table
 *   metadata files
 * @param writtenBytes the total length of these files in bytes
 * @param largestFile the length of the largest of these files in bytes
 * @param tableMetadataBytes the total length of the written table metadata files in bytes
 * @param tableMetadataMs the time in milliseconds in which the table metadata files were written
 */
final case class Requests(
    reads: Long,
    readBytes: Long,
    writtenFiles: Long,
    writtenBytes: Long,
    largestFile: Long,
    tableMetadataBytes: Long,
    tableMetadataMs: Double
)

/**
 * Counts the requests to storage in memory, and delays each of them. Each instance has its own entries in the cache of
 * manifests, so a new instance for the same storage begins with a cold cache.
 *
 * @param latencyMs the delay of each request in milliseconds
 */
final class MeasuredIO(storage: MemoryIO, latencyMs: Long) extends FileIO {
  private val reads = new LongAdder
  private val readBytes = new LongAdder
  private val tableMetadataNanos = new AtomicLong
  private val files = TrieMap.empty[String, Long]

  override def isRemote(path: String): Boolean = latencyMs > 0

  /** Returns the lengths in bytes, by path, of the files that were written since the last [[reset]] and not deleted. */
  def stored: Map[String, Long] = files.toMap

  /** Returns the requests since the creation, or since the last call of [[reset]]. */
  def requests: Requests = {
    val (table, tree) = files.toVector.partition(f => MeasuredIO.isTableMetadata(f._1))
    Requests(
      reads.sum,
      readBytes.sum,
      tree.size.toLong,
      tree.map(_._2).sum,
      if (tree.isEmpty) 0L else tree.map(_._2).max,
      table.map(_._2).sum,
      tableMetadataNanos.get / 1e6
    )
  }

  /** Forgets the requests. @param deletesFiles whether to delete the files that were written since the last reset */
  def reset(deletesFiles: Boolean): Unit = {
    if (deletesFiles) files.keys.foreach(storage.delete)
    files.clear()
    Seq(reads, readBytes).foreach(_.reset())
    tableMetadataNanos.set(0)
  }

  private def request[A](body: => A): A = {
    if (latencyMs > 0) Thread.sleep(latencyMs)
    body
  }

  override def read(path: String): Array[Byte] = request {
    reads.increment()
    val bytes = storage.read(path)
    readBytes.add(bytes.length.toLong)
    bytes
  }

  override def readRange(path: String, offset: Long, length: Int): Array[Byte] = request {
    reads.increment()
    readBytes.add(length.toLong)
    storage.readRange(path, offset, length)
  }

  override def open(path: String): InputStream = new ByteArrayInputStream(read(path))

  override def write(path: String, contents: Array[Byte]): Unit = {
    val start = System.nanoTime()
    request(storage.write(path, contents))
    files.put(path, contents.length.toLong)
    if (MeasuredIO.isTableMetadata(path)) tableMetadataNanos.addAndGet(System.nanoTime() - start)
    ()
  }

  override def createExclusively(path: String, contents: Array[Byte]): Boolean = {
    val isNew = !storage.exists(path)
    if (isNew) write(path, contents)
    isNew
  }

  override def replace(path: String, contents: Array[Byte]): Unit = write(path, contents)

  override def delete(path: String): Unit = request {
    files.remove(path)
    storage.delete(path)
  }

  override def exists(path: String): Boolean = request(storage.exists(path))
  override def info(path: String): Option[FileInfo] = request(storage.info(path))

  override def list(directory: String): Vector[FileInfo] = request {
    val below = directory.stripSuffix("/") + "/"
    files.readOnlySnapshot().keysIterator.filter(_.startsWith(below)).flatMap(storage.info).toVector
  }

  override def makeDirectory(path: String): Unit = ()
  override def deleteDirectory(path: String): Unit = list(path).foreach(file => delete(file.path))
  override def deleteEmptyDirectory(path: String): Unit = ()
  override def renameDirectory(from: String, to: String): Unit = ()
}

private object MeasuredIO {
  def isTableMetadata(path: String): Boolean = path.endsWith(".metadata.json")
}
