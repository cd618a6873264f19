package iceberglite.scan

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import iceberglite.spec.{ManifestContent, ManifestFile}

/** Reads manifests as another JVM would: by a copy of what it is asked, from what ManifestFile it needs. */
final class CopyingCluster(contents: Set[ManifestContent] = ManifestContent.all.toSet) extends ManifestCluster {
  var manifestsRead = 0
  var bytesTaken = 0L

  override def takes(manifests: Vector[ManifestFile]): Boolean = contents(manifests.head.content)

  override def read(
      manifests: Vector[ManifestFile],
      reading: ManifestReading,
      oldest: Long
  ): Iterator[Array[Byte]] = {
    val there = copied(reading)
    manifests.iterator.map { m =>
      val bytes = there.packed(copied(m.forReading), oldest)
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
