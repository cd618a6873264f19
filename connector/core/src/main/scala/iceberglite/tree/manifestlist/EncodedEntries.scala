package iceberglite.tree.manifestlist

import java.nio.ByteBuffer

import iceberglite.avro.AvroCodec
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.ManifestEntry
import iceberglite.storage.FileSink
import iceberglite.tree.{EntryCodec, FilePart, PartitionSpecs}

/**
 * Encodes manifest entries as a small manifest, so that they can be sent to another JVM. This form is compact, because
 * it contains field names and types only once.
 */
object EncodedEntries extends EntryCodec {

  /** The format version of the encoded manifests. Manifests of this version can contain entries of all versions. */
  private val Version = FormatVersion.V3
  private val FastCodec = AvroCodec.Deflate(1)

  override def encode(
      part: FilePart,
      specs: PartitionSpecs,
      entries: Iterator[ManifestEntry],
      pruned: Int
  ): Array[Byte] = {
    var encoded = Array.emptyByteArray
    val sink = new FileSink {
      override def write(path: String, contents: Array[Byte]): Unit = encoded = contents
    }
    val spec = specs.of(part)
    val sources = specs.sources
    val partitionSources = sources.copy(fields = spec.fields.flatMap(_.sourceIds).distinct.flatMap(sources.byId.get))
    Manifests.write(
      sink,
      part.path,
      ManifestHeader(Version, part.content, partitionSources, spec, 0L),
      entries,
      FastCodec
    )
    ByteBuffer.allocate(Integer.BYTES + encoded.length).putInt(pruned).put(encoded).array
  }

  override def decode(part: FilePart, specs: PartitionSpecs, bytes: Array[Byte]): (Iterator[ManifestEntry], Int) = {
    val entries =
      Manifests.decode(bytes.drop(Integer.BYTES), part.path, part.content, specs.of(part), specs.sources)
    (entries, ByteBuffer.wrap(bytes).getInt)
  }
}
