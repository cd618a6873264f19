package iceberglite.scan.stream

import java.io.{ByteArrayInputStream, InputStream}
import java.nio.file.{Files, Paths}
import java.util.concurrent.atomic.AtomicLong

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.ChildJvm
import iceberglite.catalog.FileIOWrapper
import iceberglite.scan.stream.StreamPosition.{After, Empty}
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{EntryStatus, ManifestContent, ManifestEntry, ManifestFile}
import iceberglite.spec.json.TableMetadataJson
import iceberglite.spec.metadata.TableMetadata
import iceberglite.tree.manifestlist.{ManifestHeader, ManifestListHeader, ManifestLists, Manifests}
import iceberglite.tree.{CountingMemoryIO, ManifestCache, ManifestsOnly, TestTable, TreeTable}

/**
 * Creates the manifest lists and manifests of a [[LongHistory]] when they are read, and counts the reads. Each list has
 * the manifest of its commit, and a manifest of an earlier commit, which must not be read.
 */
final private class LongHistoryIO(scratch: CountingMemoryIO, metadata: TableMetadata) extends FileIOWrapper(scratch) {
  val reads = new AtomicLong

  private val template: ManifestFile = manifestOf("mem:/t/template.avro", 1L)

  override def open(path: String): InputStream = new ByteArrayInputStream(read(path))

  override def read(path: String): Array[Byte] = {
    reads.incrementAndGet()
    path match {
      case LongHistoryIO.List(id) => contentOf(path)(listOf(path, id.toLong))
      case LongHistoryIO.Manifest(id) => contentOf(path)(manifestOf(path, id.toLong))
      case other => throw new IllegalStateException(s"$other must not be read")
    }
  }

  private def contentOf(path: String)(write: => Any): Array[Byte] = {
    write
    val bytes = scratch.read(path)
    scratch.delete(path)
    bytes
  }

  private def manifestOf(path: String, id: Long): ManifestFile = {
    val header = ManifestHeader(FormatVersion.V2, ManifestContent.Data, metadata.schema, metadata.spec, id)
    val entry = ManifestEntry(EntryStatus.Added, Some(id), None, None, TestTable.file(s"f$id"))
    Manifests.write(scratch, path, header, Iterator.single(entry))
  }

  private def listOf(path: String, id: Long): Unit = {
    def manifest(path: String, id: Long): ManifestFile =
      template.copy(path = path, sequenceNumber = id, minSequenceNumber = id, addedSnapshotId = id)
    val header = ManifestListHeader(FormatVersion.V2, id, Some(id - 1).filter(_ > 0), id, None)
    val manifests = Vector(manifest(s"mem:/t/metadata/m-$id.avro", id), manifest("mem:/t/metadata/earlier.avro", 0L))
    ManifestLists.write(scratch, path, header, manifests)
    ()
  }
}

private object LongHistoryIO {
  private val List = """mem:/t/metadata/list-(\d+)\.avro""".r
  private val Manifest = """mem:/t/metadata/m-(\d+)\.avro""".r
}

/**
 * A program that reads the first and the last commits of a backlog as a streaming query does. It prints the MiB of heap
 * that are in use with only the metadata, the maximum while it reads, the number of files that it found, and the number
 * of metadata files that it read.
 */
object LongBacklog {
  private val Limit = StreamLimit(files = Some(50))

  /**
   * Runs the program.
   *
   * @param args the number of commits, how many of the first and of the last commits are read, and a path for the
   *   metadata file
   */
  def main(args: Array[String]): Unit = {
    val (commits, readAtEachEnd, file) = (args(0).toLong, args(1).toLong, Paths.get(args(2)))
    LongHistory.write(commits.toInt, "mem:/t", file)
    val metadata = TableMetadataJson.read(file.toString, Files.readAllBytes(file))
    val io = new LongHistoryIO(new CountingMemoryIO, metadata)
    val reader = new BacklogReader(StreamState(TreeTable("lite.db.t", io, metadata), metadata.currentSnapshot))
    val before = reader.mostUsed
    reader.read(Empty, readAtEachEnd)
    reader.read(After(commits - readAtEachEnd), Long.MaxValue)
    println(s"$before ${reader.mostUsed} ${reader.files} ${io.reads.get}")
  }

  /** Reads micro-batches with one planner, and measures the heap after garbage collections. */
  final private class BacklogReader(state: StreamState) {
    private val planner = new StreamPlanner(StreamContent.Appends(), ManifestCache.Disabled)
    var mostUsed: Long = usedMebibytes()
    var files: Long = 0L

    def read(from: StreamPosition, maxFiles: Long): Unit = {
      val end = if (maxFiles > Long.MaxValue - files) Long.MaxValue else files + maxFiles
      var (offset, batches) = (StreamOffset(from), 0)
      def next(): Option[StreamBatch] = if (files < end) planner.next(state, offset, Limit) else None
      Iterator.continually(next()).takeWhile(_.isDefined).flatten.foreach { batch =>
        files += planner.tasks(state, offset, batch.to).size
        offset = StreamOffset.parse(StreamOffset.toJson(batch.to))
        planner.prepare(state, offset, Limit)
        batches += 1
        if (batches % 20 == 1) {
          // Temporary objects of a running preparation must not be measured, but the batch that it prepares must.
          planner.awaitPreparation()
          mostUsed = math.max(mostUsed, usedMebibytes())
        }
      }
      planner.awaitPreparation()
    }
  }

  private def usedMebibytes(): Long = {
    System.gc()
    (Runtime.getRuntime.totalMemory - Runtime.getRuntime.freeMemory) >> 20
  }
}

/** Checks that the memory of a stream does not depend on the length of its backlog, and which files it reads. */
class LongBacklogSuite extends AnyFunSuite {

  private def run(commits: Int, heap: String): Array[Long] = {
    val file = Files.createTempFile("backlog", ".metadata.json")
    val arguments = Seq(commits.toString, "1000", file.toString)
    try ChildJvm.run(LongBacklog.getClass.getName, heap, arguments).lines.last.split(' ').map(_.toLong)
    finally {
      Files.deleteIfExists(file)
      ()
    }
  }

  for ((commits, heap) <- Seq(2000 -> "64m", 100000 -> "512m"))
    test(
      s"a stream reads 2000 files of a backlog of $commits commits with a heap of $heap, and no other manifests",
      ManifestsOnly +: (if (commits > 2000) Seq(Slow) else Nil): _*
    ) {
      val Array(metadata, most, files, reads) = run(commits, heap)
      info(s"The metadata needs $metadata MiB. While the stream reads, up to $most MiB are in use.")
      assert(most - metadata <= 16, "MiB of heap that the stream needs in addition to the metadata")
      assert(files == 2000)
      // One batch is read in advance when the first part ends.
      assert(
        reads >= 2 * files && reads <= 2 * files + 2 * 100,
        "expected: a manifest list and a manifest for each commit"
      )
    }
}
