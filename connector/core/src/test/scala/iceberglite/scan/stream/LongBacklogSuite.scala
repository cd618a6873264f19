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
 * Creates the manifest lists and manifests of a [[LongHistory]] with commits of all kinds when they are read, and
 * counts the reads. Each list has the manifest of its commit, if the commit adds a file, and a manifest of an earlier
 * commit, which must not be read. The lists of commits that a stream skips must not be read either.
 */
final private class LongHistoryIO(scratch: CountingMemoryIO, metadata: TableMetadata) extends FileIOWrapper(scratch) {
  val reads = new AtomicLong

  private val template: ManifestFile = manifestOf("mem:/t/template.avro", 1L)

  override def open(path: String): InputStream = new ByteArrayInputStream(read(path))

  override def read(path: String): Array[Byte] = {
    reads.incrementAndGet()
    path match {
      case LongHistoryIO.List(id) if LongHistory.mixed(id.toInt).operation == "append" =>
        contentOf(path)(listOf(path, id.toInt))
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

  private def listOf(path: String, id: Int): Unit = {
    def manifest(path: String, id: Long): ManifestFile =
      template.copy(path = path, sequenceNumber = id, minSequenceNumber = id, addedSnapshotId = id)
    val header = ManifestListHeader(FormatVersion.V2, id.toLong, Some(id - 1L).filter(_ > 0), id.toLong, None)
    val added = Some(id).filter(LongHistory.mixed(_) == LongHistory.Append)
      .map(_ => manifest(s"mem:/t/metadata/m-$id.avro", id.toLong))
    ManifestLists.write(scratch, path, header, added.toVector :+ manifest("mem:/t/metadata/earlier.avro", 0L))
    ()
  }
}

private object LongHistoryIO {
  private val List = """mem:/t/metadata/list-(\d+)\.avro""".r
  private val Manifest = """mem:/t/metadata/m-(\d+)\.avro""".r
}

/**
 * A program that reads the first and the last commits of a backlog as a streaming query does. It prints the MiB of heap
 * that are in use with only the metadata, the maximum while it reads, the number of metadata files that it read, and
 * the names of the files that it found, in order.
 */
object LongBacklog {
  private val Limit = StreamLimit(files = Some(50))

  /**
   * Runs the program.
   *
   * @param args the number of commits, how many of the first files and how many of the last commits are read, and a
   *   path for the metadata file
   */
  def main(args: Array[String]): Unit = {
    val (commits, readAtEachEnd, file) = (args(0).toInt, args(1).toInt, Paths.get(args(2)))
    LongHistory.write(commits, "mem:/t", file, LongHistory.mixed)
    val metadata = TableMetadataJson.read(file.toString, Files.readAllBytes(file))
    val io = new LongHistoryIO(new CountingMemoryIO, metadata)
    val reader = new BacklogReader(StreamState(TreeTable("lite.db.t", io, metadata), metadata.currentSnapshot))
    val before = reader.mostUsed
    reader.read(Empty, readAtEachEnd)
    reader.read(After((commits - readAtEachEnd).toLong), Int.MaxValue)
    println(s"$before ${reader.mostUsed} ${io.reads.get} ${reader.names.mkString(" ")}")
  }

  /** Reads micro-batches with one planner, and measures the heap after garbage collections. */
  final private class BacklogReader(state: StreamState) {
    private val planner = new StreamPlanner(StreamContent.Appends(skipsDeletes = true), ManifestCache.Disabled)
    var mostUsed: Long = usedMebibytes()
    var names: Vector[String] = Vector.empty

    def read(from: StreamPosition, maxFiles: Int): Unit = {
      val before = names.size
      var (offset, batches) = (StreamOffset(from), 0)
      def next(): Option[StreamBatch] = if (names.size - before < maxFiles) planner.next(state, offset, Limit) else None
      Iterator.continually(next()).takeWhile(_.isDefined).flatten.foreach { batch =>
        names ++= planner.tasks(state, offset, batch.to).map(_.file.path.split('/').last)
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

  /** Returns the numbers of the program's output, and the names. */
  private def run(commits: Int, heap: String): (Vector[Long], Vector[String]) = {
    val file = Files.createTempFile("backlog", ".metadata.json")
    val arguments = Seq(commits.toString, readAtEachEnd.toString, file.toString)
    try {
      val words = ChildJvm.run(LongBacklog.getClass.getName, heap, arguments).lines.last.split(' ').toVector
      (words.take(3).map(_.toLong), words.drop(3))
    } finally {
      Files.deleteIfExists(file)
      ()
    }
  }

  private val readAtEachEnd = 1000

  for ((commits, heap) <- Seq(2000 -> "64m", 100000 -> "512m"))
    test(
      s"a stream reads the appended files in a backlog of $commits commits of all kinds with a heap of $heap, and no " +
        "metadata of skipped commits",
      ManifestsOnly,
      Slow
    ) {
      def of(kind: LongHistory.Kind): Vector[Int] = (1 to commits).filter(LongHistory.mixed(_) == kind).toVector
      val appends = of(LongHistory.Append)
      val first = appends.take(readAtEachEnd)
      val fromLast = commits - readAtEachEnd + 1
      val expected = first ++ appends.filter(_ >= fromLast)
      val (Vector(metadata, most, reads), names) = run(commits, heap)
      info(s"The metadata needs $metadata MiB. While the stream reads, up to $most MiB are in use.")
      assert(most - metadata <= 16, "MiB of heap that the stream needs in addition to the metadata")
      assert(names == expected.map(id => s"f$id.parquet"))
      // One batch is read in advance when the first part ends.
      val least = 2 * expected.size + of(LongHistory.EmptyAppend).count(id => id < first.last || id >= fromLast)
      assert(
        reads >= least && reads <= least + 2 * 100,
        "expected: a manifest list for each append, and a manifest for each appended file"
      )
    }
}
