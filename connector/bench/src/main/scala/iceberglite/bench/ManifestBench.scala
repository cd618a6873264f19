package iceberglite.bench

import java.util.concurrent.TimeUnit

import scala.collection.JavaConverters._

import org.apache.iceberg.{DataFile, ManifestFiles}
import org.apache.iceberg.inmemory.InMemoryFileIO
import org.openjdk.jmh.annotations._
import org.openjdk.jmh.infra.Blackhole

import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{ContentFile, EntryStatus, ManifestContent, ManifestEntry, ManifestFile}
import iceberglite.tree.manifestlist.Manifests
import iceberglite.tree.manifestlist.ManifestHeader

/**
 * Reads and writes a manifest of 20,000 entries. JMH reports the time per entry. Both libraries read a manifest that
 * Apache Iceberg wrote.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(3)
class ManifestBench {
  import ManifestBench._

  private val io = new MemoryIO
  private val peerIo = new InMemoryFileIO
  private var manifest: ManifestFile = _
  private var peerManifest: org.apache.iceberg.ManifestFile = _
  private var files: Array[ContentFile] = _
  private var peerFiles: Array[DataFile] = _
  private val specs = Map(Sample.spec.specId -> Sample.spec)
  private val peerSpecs = Map(Int.box(0) -> Peer.spec).asJava

  @Setup
  def setUp(): Unit = {
    files = Array.tabulate(Entries)(Sample.file)
    peerFiles = Array.tabulate(Entries)(Peer.file)
    val (written, bytes) = Peer.manifest(peerFiles.iterator)
    io.write(written.path, bytes)
    peerIo.addFile(written.path, bytes)
    manifest = ManifestFile(
      written.path,
      bytes.length.toLong,
      0,
      ManifestContent.Data,
      1L,
      1L,
      Peer.snapshotId,
      Some(Entries),
      Some(0),
      Some(0),
      Some(Entries * Sample.rows),
      Some(0L),
      Some(0L),
      None
    )
    peerManifest = written
  }

  @Benchmark
  @OperationsPerInvocation(Entries)
  def readLite(hole: Blackhole): Unit =
    Manifests.read(io, manifest, specs, Sample.schema).foreach(hole.consume(_: ManifestEntry))

  @Benchmark
  @OperationsPerInvocation(Entries)
  def readPeer(hole: Blackhole): Unit = {
    val reader = ManifestFiles.read(peerManifest, peerIo, peerSpecs)
    try reader.iterator.asScala.foreach(hole.consume(_: DataFile))
    finally reader.close()
  }

  /** Reads the manifest, and decodes the column sizes, counts and bounds of every entry into maps. */
  @Benchmark
  @OperationsPerInvocation(Entries)
  def readWithMetricsLite(hole: Blackhole): Unit = Manifests.read(io, manifest, specs, Sample.schema).foreach { e =>
    val m = e.file.metrics
    hole.consume(m.columnSizes)
    hole.consume(m.valueCounts)
    hole.consume(m.nullValueCounts)
    hole.consume(m.nanValueCounts)
    hole.consume(m.lowerBounds)
    hole.consume(m.upperBounds)
  }

  @Benchmark
  @OperationsPerInvocation(Entries)
  def readWithMetricsPeer(hole: Blackhole): Unit = {
    val reader = ManifestFiles.read(peerManifest, peerIo, peerSpecs)
    try reader.iterator.asScala.foreach { f =>
        hole.consume(f.columnSizes)
        hole.consume(f.valueCounts)
        hole.consume(f.nullValueCounts)
        hole.consume(f.nanValueCounts)
        hole.consume(f.lowerBounds)
        hole.consume(f.upperBounds)
      }
    finally reader.close()
  }

  @Benchmark
  @OperationsPerInvocation(Entries)
  def writeLite(): ManifestFile = {
    val entries = files.iterator.map(f => ManifestEntry(EntryStatus.Added, None, None, None, f))
    Manifests.write(
      new MemoryIO,
      Path,
      ManifestHeader(FormatVersion.V2, ManifestContent.Data, Sample.schema, Sample.spec, Peer.snapshotId),
      entries
    )
  }

  @Benchmark
  @OperationsPerInvocation(Entries)
  def writePeer(): org.apache.iceberg.ManifestFile = Peer.manifest(peerFiles.iterator)._1
}

object ManifestBench {
  final val Entries = 20000
  private val Path = "memory:/manifest.avro"
}
