package iceberglite.bench

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID
import java.util.concurrent.TimeUnit

import org.apache.iceberg.TableMetadataParser
import org.apache.iceberg.inmemory.InMemoryFileIO
import org.openjdk.jmh.annotations._

import iceberglite.spec.json.TableMetadataJson
import iceberglite.spec.metadata.{MetadataLog, Snapshot, SnapshotRef, SummaryKey, TableMetadata}
import iceberglite.spec.update.MetadataUpdate
import iceberglite.spec.update.MetadataUpdate.{AddSnapshot, SetProperties, SetSnapshotRef}
import iceberglite.storage.MetadataFiles

/** Parses table metadata with 10,000 snapshots, and renders it as JSON. */
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
  private var metadata: TableMetadata = _
  private var peerMetadata: org.apache.iceberg.TableMetadata = _

  @Setup
  def setUp(): Unit = {
    val bytes = TableMetadataJson.write(table)
    io.write(Path, bytes)
    peerIo.addFile(Path, bytes)
    peerMetadata = parsePeer()
    metadata = parseLite()
    require(metadata.snapshots.size == Snapshots && peerMetadata.snapshots.size == Snapshots)
  }

  @Benchmark
  def parseLite(): TableMetadata = MetadataFiles.read(io, Path)

  /** Parses the metadata with the general JSON parser alone, which builds a tree of the whole document. */
  @Benchmark
  def parseTree(): TableMetadata = TableMetadataJson.parse(Path, io.read(Path))

  /** Parses the metadata as a catalog does, but without checking its size, for comparison with [[parseTree]]. */
  @Benchmark
  def parseHistory(): TableMetadata = TableMetadataJson.read(Path, io.read(Path))

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
      SummaryKey.AddedDataFiles -> "4",
      SummaryKey.AddedRecords -> "100000",
      SummaryKey.AddedFilesSize -> "5242880",
      SummaryKey.ChangedPartitionCount -> "1",
      SummaryKey.TotalRecords -> (100000L * (i + 1)).toString,
      SummaryKey.TotalFilesSize -> (5242880L * (i + 1)).toString,
      SummaryKey.TotalDataFiles -> (4 * (i + 1)).toString,
      SummaryKey.TotalDeleteFiles -> "0",
      SummaryKey.TotalPositionDeletes -> "0",
      SummaryKey.TotalEqualityDeletes -> "0"
    ),
    Some(0)
  )

  private def table: TableMetadata = {
    val created = MetadataUpdate.create(
      Sample.creation(UUID.fromString("fb072c92-a02b-11e9-ae9c-1bb7bc9eca94"), "s3://warehouse/db/events") :+
        SetProperties(Map("write.parquet.compression-codec" -> "zstd")),
      FirstMs
    )
    (0 until Snapshots).foldLeft(created) { (base, i) =>
      val updates = Seq(AddSnapshot(snapshot(i)), SetSnapshotRef(SnapshotRef.Main, SnapshotRef.Branch(id(i))))
      val file = s"s3://warehouse/db/events/metadata/v$i.metadata.json"
      MetadataLog.extend(MetadataUpdate.applyAll(base, updates, time(i)), base, file, max = 100)
    }
  }
}
