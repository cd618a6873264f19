package iceberglite.scan

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import iceberglite.spec.file.ManifestContent
import iceberglite.tree.FilePart

/**
 * A planning cluster that reads parts in this JVM, with serialized copies of the parts and of the reader, as a task in
 * another JVM would do.
 *
 * @param contents the kinds of parts that the cluster reads: lists of data files, of delete files, or both
 */
final class CopyingCluster(contents: Set[ManifestContent] = ManifestContent.all.toSet) extends PlanningCluster {
  var manifestsRead = 0

  /** Total size of the serialized results in bytes. */
  var resultBytes = 0L

  override def shouldRead(parts: Vector[FilePart]): Boolean = contents(parts.head.content)

  override def read(
      parts: Vector[FilePart],
      reading: PartReader,
      oldest: Long
  ): Iterator[Array[Byte]] = {
    val remoteReader = reserialized(reading)
    parts.iterator.map { part =>
      val bytes = remoteReader.encode(reserialized(part.forReading), oldest)
      manifestsRead += 1
      resultBytes += bytes.length
      bytes
    }
  }

  private def reserialized[A](value: A): A = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(value)
    out.close()
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject().asInstanceOf[A]
  }
}
