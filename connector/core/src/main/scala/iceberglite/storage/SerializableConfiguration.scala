package iceberglite.storage

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.io.{ObjectInputStream, ObjectOutputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.util

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration

/**
 * A Hadoop configuration that is sent to tasks and must not be modified afterwards. Hadoop's own serialization includes
 * the origin of each value. A configuration has more than a thousand values, so Hadoop's serialization takes longer
 * than a small task. This class serializes only the values. Each configuration is serialized once, and equal
 * configurations are deserialized once in each process.
 */
final class SerializableConfiguration(@transient private var configuration: Configuration) extends Serializable {
  @transient private lazy val bytes: Array[Byte] = SerializableConfiguration.bytesOf(configuration)

  def value: Configuration = configuration

  private def writeObject(out: ObjectOutputStream): Unit = {
    out.defaultWriteObject()
    out.writeInt(bytes.length)
    out.write(bytes)
  }

  private def readObject(in: ObjectInputStream): Unit = {
    in.defaultReadObject()
    val received = new Array[Byte](in.readInt())
    in.readFully(received)
    configuration = SerializableConfiguration.of(received)
  }
}

private object SerializableConfiguration {

  /** Maximum number of cached configurations. Most applications have fewer catalogs. */
  private val MaxCached = 16

  final private class Key(val bytes: Array[Byte]) {
    override val hashCode: Int = util.Arrays.hashCode(bytes)
    override def equals(that: Any): Boolean = that match {
      case other: Key => util.Arrays.equals(bytes, other.bytes)
      case _ => false
    }
  }

  private val Limits = LruCache.Limits.ofCount(MaxCached)
  private val cached = new LruCache[Key, Configuration]

  private def of(bytes: Array[Byte]): Configuration = cached.getOrAdd(new Key(bytes), 1L, Limits)(deserialize(bytes))

  /** Serializes the values as they were set, without substituting variables. */
  private def bytesOf(configuration: Configuration): Array[Byte] = {
    val entries = configuration.asScala.toVector
    val bytes = new ByteArrayOutputStream(1 << 16)
    val out = new DataOutputStream(bytes)
    out.writeInt(entries.size)
    entries.foreach { entry =>
      Seq(entry.getKey, entry.getValue).foreach { text =>
        val encoded = text.getBytes(UTF_8)
        out.writeInt(encoded.length)
        out.write(encoded)
      }
    }
    out.flush()
    bytes.toByteArray
  }

  private def deserialize(bytes: Array[Byte]): Configuration = {
    val in = new DataInputStream(new ByteArrayInputStream(bytes))
    def readText(): String = new String(in.readNBytes(in.readInt()), UTF_8)
    val configuration = new Configuration(false)
    (0 until in.readInt()).foreach { _ =>
      val key = readText()
      configuration.set(key, readText())
    }
    configuration
  }
}
