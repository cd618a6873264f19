package iceberglite.scan

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import iceberglite.spec.file.ManifestContent
import iceberglite.tree.FilePart

/** Reads parts as another JVM would, with serialized copies of the parts and of the reader. */
final class CopyingCluster(contents: Set[ManifestContent] = ManifestContent.all.toSet) extends PlanningCluster {
  var manifestsRead = 0
  var bytesTaken = 0L

  override def shouldRead(parts: Vector[FilePart]): Boolean = contents(parts.head.content)

  override def read(
      parts: Vector[FilePart],
      reading: PartReader,
      oldest: Long
  ): Iterator[Array[Byte]] = {
    val remoteReader = copied(reading)
    parts.iterator.map { part =>
      val bytes = remoteReader.encode(copied(part.forReading), oldest)
      manifestsRead += 1
      bytesTaken += bytes.length
      bytes
    }
  }

  private def copied[A](value: A): A = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(value)
    out.close()
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject().asInstanceOf[A]
  }
}
