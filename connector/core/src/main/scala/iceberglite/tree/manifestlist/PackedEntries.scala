package iceberglite.tree.manifestlist

import java.nio.ByteBuffer

import iceberglite.avro.AvroCodec
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.ManifestEntry
import iceberglite.storage.FileSink
import iceberglite.tree.{FilePart, PartitionSpecs}

/**
 * Entries that are sent from one JVM to another, in the form of a small manifest. Names and types are written only
 * once.
 */
object PackedEntries {

  /** The newest version can hold entries of all versions. */
  private val Version = FormatVersion.V3
  private val Fast = AvroCodec.Deflate(1)

  /**
   * @param part the part that lists them
   * @param entries existing entries with all inherited values
   * @param pruned how many other entries the part has
   */
  def write(part: FilePart, specs: PartitionSpecs, entries: Iterator[ManifestEntry], pruned: Int): Array[Byte] = {
    var packed = Array.emptyByteArray
    val sink = new FileSink {
      override def write(path: String, contents: Array[Byte]): Unit = packed = contents
    }
    val spec = specs.of(part)
    val sources = specs.sources
    val own = sources.copy(fields = spec.fields.flatMap(_.sourceIds).distinct.flatMap(sources.byId.get))
    Manifests.write(sink, part.path, Version, part.content, own, spec, 0L, entries, Fast)
    ByteBuffer.allocate(Integer.BYTES + packed.length).putInt(pruned).put(packed).array
  }

  /** @return the entries, with shared partition tuples, and the number of other entries */
  def read(part: FilePart, specs: PartitionSpecs, bytes: Array[Byte]): (Iterator[ManifestEntry], Int) = {
    val entries =
      Manifests.decode(bytes.drop(Integer.BYTES), part.path, part.content, specs.of(part), specs.sources)
    (entries, ByteBuffer.wrap(bytes).getInt)
  }
}
