package iceberglite.bench

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID
import java.util.concurrent.TimeUnit

import org.apache.iceberg.TableMetadataParser
import org.apache.iceberg.inmemory.InMemoryFileIO
import org.openjdk.jmh.annotations._

import iceberglite.spec.FormatVersion
import iceberglite.spec.json.TableMetadataJson
import iceberglite.spec.metadata.{MetadataLogEntry, Snapshot, SnapshotLogEntry, SnapshotRef, TableMetadata}
import iceberglite.spec.partition.SortOrder
import iceberglite.storage.MetadataFiles

/** Parses and renders the metadata of a table of 10,000 snapshots. */
@State(Scope.Benchmark)
@BenchmarkMode(Array(Mode.AverageTime))
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(3)
class MetadataBench {
  import MetadataBench._

  private val io = new MemoryIO
  private val peerIo = new InMemoryFileIO
  private val metadata = table
  private var peerMetadata: org.apache.iceberg.TableMetadata = _

  @Setup
  def setUp(): Unit = {
    val bytes = TableMetadataJson.write(metadata)
    io.write(Path, bytes)
    peerIo.addFile(Path, bytes)
    peerMetadata = parsePeer()
    require(parseLite().snapshots.size == Snapshots && peerMetadata.snapshots.size == Snapshots)
  }

  @Benchmark
  def parseLite(): TableMetadata = MetadataFiles.read(io, Path)

  @Benchmark
  def parsePeer(): org.apache.iceberg.TableMetadata = TableMetadataParser.read(peerIo, Path)

  @Benchmark
  def renderLite(): Array[Byte] = TableMetadataJson.write(metadata)

  @Benchmark
  def renderPeer(): Array[Byte] = TableMetadataParser.toJson(peerMetadata).getBytes(UTF_8)
}

object MetadataBench {
  final val Snapshots = 10000
  private val Path = "memory:/v10000.metadata.json"
  private val FirstId = 3051729675574597004L
  private val FirstMs = 1515100955770L
  private val SnapshotMs = 60000L

  private def id(i: Int): Long = FirstId + i * 7919L
  private def time(i: Int): Long = FirstMs + i * SnapshotMs

  private def snapshot(i: Int): Snapshot = Snapshot(
    id(i),
    if (i == 0) None else Some(id(i - 1)),
    i + 1L,
    time(i),
    Some(s"s3://warehouse/db/events/metadata/snap-${id(i)}-1-6a2b5e5c-3f0e-4b0e-9a51-2f6d1c0e8b7a.avro"),
    Vector.empty,
    Map(
      "operation" -> "append",
      "spark.app.id" -> "local-1515100955770",
      "added-data-files" -> "4",
      "added-records" -> "100000",
      "added-files-size" -> "5242880",
      "changed-partition-count" -> "1",
      "total-records" -> (100000L * (i + 1)).toString,
      "total-files-size" -> (5242880L * (i + 1)).toString,
      "total-data-files" -> (4 * (i + 1)).toString,
      "total-delete-files" -> "0",
      "total-position-deletes" -> "0",
      "total-equality-deletes" -> "0"
    ),
    Some(0)
  )

  private def table: TableMetadata = {
    val last = Snapshots - 1
    TableMetadata(
      FormatVersion.V2,
      Some(UUID.fromString("fb072c92-a02b-11e9-ae9c-1bb7bc9eca94")),
      "s3://warehouse/db/events",
      Snapshots.toLong,
      time(last),
      Sample.schema.highestFieldId,
      Vector(Sample.schema),
      0,
      Vector(Sample.spec),
      0,
      1000,
      Vector(SortOrder.Unsorted),
      0,
      Map("write.parquet.compression-codec" -> "zstd"),
      Some(id(last)),
      Vector.tabulate(Snapshots)(snapshot),
      Vector.tabulate(Snapshots)(i => SnapshotLogEntry(time(i), id(i))),
      Vector.tabulate(100)(i => MetadataLogEntry(time(i), s"s3://warehouse/db/events/metadata/v$i.metadata.json")),
      Map(SnapshotRef.Main -> SnapshotRef.Branch(id(last)))
    )
  }
}
