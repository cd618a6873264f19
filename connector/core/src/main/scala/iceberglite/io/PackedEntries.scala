package iceberglite.io

import java.nio.ByteBuffer

import iceberglite.spec._

/** Entries on their way from one JVM to another, in the form of a small manifest: names and types stand once. */
object PackedEntries {

  /** Of any version: the newest holds what all have. */
  private val Version = FormatVersion.V3
  private val Fast = AvroCodec.Deflate(1)

  /**
   * @param manifest that lists them
   * @param sources by which partition values get their types
   * @param entries existing ones with everything inherited
   * @param pruned how many others the manifest has
   */
  def write(
      manifest: ManifestFile,
      spec: PartitionSpec,
      sources: Schema,
      entries: Iterator[ManifestEntry],
      pruned: Int
  ): Array[Byte] = {
    var packed = Array.emptyByteArray
    val sink = new FileSink {
      override def write(path: String, contents: Array[Byte]): Unit = packed = contents
    }
    val own = sources.copy(fields = spec.fields.flatMap(_.sourceIds).distinct.flatMap(sources.byId.get))
    Manifests.write(sink, manifest.path, Version, manifest.content, own, spec, 0L, entries, Fast)
    ByteBuffer.allocate(Integer.BYTES + packed.length).putInt(pruned).put(packed).array
  }

  /** @return the entries, with shared partition tuples, and how many others there are */
  def read(
      manifest: ManifestFile,
      specs: Map[Int, PartitionSpec],
      sources: Schema,
      bytes: Array[Byte]
  ): (Iterator[ManifestEntry], Int) = {
    // Not committed, it lets nothing be inherited.
    val uncommitted = manifest.copy(sequenceNumber = Manifests.Unassigned, length = 0L)
    val entries = Manifests.decode(bytes.drop(Integer.BYTES), uncommitted, specs(manifest.partitionSpecId), sources)
    (entries, ByteBuffer.wrap(bytes).getInt)
  }
}
