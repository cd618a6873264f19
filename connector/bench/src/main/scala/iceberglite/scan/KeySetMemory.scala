package iceberglite.scan

import java.nio.file.Files

import iceberglite.bench.Timing
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.{LongType, StringType}
import iceberglite.scan.deletes.{DeleteCache, EqualityColumn, KeyBuffer, KeySet, KeySetBuilder}

/**
 * Measures the heap and the time that a set of equality delete keys needs, first in memory and then spilled to disk. A
 * key consists of a number and a text of about 20 characters.
 *
 * The argument is the number of keys; the default is 5,000,000.
 */
object KeySetMemory {
  private val Lookups = 2000000
  private val Columns =
    Vector(NestedField.optional(1, "id", LongType), NestedField.optional(2, "name", StringType))
      .map(field => EqualityColumn(Vector(field)))

  def main(args: Array[String]): Unit = {
    val keys = args.headOption.fold(5000000)(_.toInt)
    val directory = Files.createTempDirectory("keys").toString
    val limits = Seq("in memory" -> Long.MaxValue, "spilled" -> DeleteCache.DefaultLimits.maxEntryBytes)
    // The first round warms up the JVM.
    for (round <- 0 to 2; (label, maxBytes) <- limits) {
      val line = measure(keys, maxBytes, directory)
      if (round > 0) println(s"$label: $line")
    }
  }

  private def measure(keys: Int, maxBytes: Long, directory: String): String = {
    val builder = new KeySetBuilder(Columns, maxBytes, directory, encrypts = false)
    val (built, set) = Timing.of {
      (0 until keys).foreach(i => builder += Array[AnyRef](Long.box(i.toLong), s"customer-number-$i"))
      builder.result()
    }
    val (absent, _) = Timing.of(lookUp(set, keys, keys))
    val (present, _) = Timing.of(lookUp(set, 0, keys))
    f"$keys keys built in ${built / 1e3}%.1f s, ${set.bytes / 1e6}%.0f MB; $Lookups lookups of absent keys in " +
      f"${absent / 1e3}%.2f s, of present keys in ${present / 1e3}%.2f s"
  }

  /**
   * Looks up keys in a scattered order, and returns how many of them the set contains.
   *
   * @param first the first key
   * @param count the number of different keys
   */
  private def lookUp(set: KeySet, first: Int, count: Int): Int = {
    val buffer = new KeyBuffer
    (0 until Lookups).count { n =>
      val i = first + ((n * 7919L) % count).toInt
      buffer.clear()
      buffer.put(Long.box(i.toLong))
      buffer.put(s"customer-number-$i")
      set.contains(buffer)
    }
  }
}
