package iceberglite.tree.manifestlist

import java.util.concurrent.atomic.AtomicInteger

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Fuzz
import iceberglite.spec.IcebergError.StorageFailed
import iceberglite.spec.file.{ContentFile, EntryStatus, ManifestContent, ManifestEntry, ManifestFile, PartSummary}
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.Literal.IntLiteral
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.IntType
import iceberglite.tree.{CloseableIterator, ManifestRewrite, TestTable}
import iceberglite.tree.TestTable._

/** Tests [[ManifestRewriter]], which writes the live entries of manifests to new manifests, ordered by partition. */
class ManifestRewriterSuite extends AnyFunSuite {
  private val schema = Schema(0, Vector(NestedField.required(1, "id", IntType)))
  private val byId = PartitionSpec(0, Vector(PartitionField(1, 1000, "id", Identity)))

  private object All extends ManifestRewrite {
    override def choose[P <: PartSummary](parts: Vector[P]): Vector[P] = parts
    override def order(spec: PartitionSpec): Ordering[PartitionTuple] = Ordering.by(valueOf)
  }

  private def valueOf(partition: PartitionTuple): Int = partition.values.head match {
    case Some(IntLiteral(value)) => value
    case _ => -1
  }

  private def fileIn(name: String, partition: Int): ContentFile =
    file(name).copy(specId = 0, partition = PartitionTuple(Vector(Some(IntLiteral(partition)))))

  test("with less memory than the entries need, the same entries are written in the same order of partitions") {
    for (round <- 0 until Fuzz.rounds(40, least = 10)) {
      val random = new Random(Fuzz.seed + round)
      val t = new TestTable(schema, Vector(byId), properties = Map(TableProperty.ManifestTargetSize.key -> "2000"))
      val partitions = 1 + random.nextInt(12)
      for (i <- 0 until 2 + random.nextInt(12))
        t.append((0 to random.nextInt(20)).map(k => fileIn(s"f$i-$k", random.nextInt(partitions))): _*)
      val files = t.files.get.parts.collect { case part: ManifestPart => part }

      /** Rewrites the manifests, and returns the partition and the path of each file in each new manifest. */
      def rewritten(maxHeapBytes: Long): Vector[Vector[(Int, String)]] = {
        var manifests = Vector.empty[Vector[ManifestEntry]]
        def write(rows: Vector[ManifestEntry]): WrittenManifest = synchronized {
          manifests :+= rows
          WrittenManifest(manifestWith(s"m${manifests.size}", rows.size), rows)
        }
        val rewriter = new ManifestRewriter(t.tree, _.entries(t.io), (_, _, rows) => write(rows), maxHeapBytes)
        val result = rewriter.rewriteChosen(files, All, None).get
        assert(result.replacement.processed == manifests.map(_.size).sum)
        val statuses = manifests.flatten.map(_.status).distinct
        assert(statuses == Vector(EntryStatus.Existing))
        val byPath = manifests.zipWithIndex.map { case (rows, i) => s"m${i + 1}" -> rows }.toMap
        result.written.map(w => byPath(w.manifest.path).map(e => (valueOf(e.file.partition), e.file.path)))
      }
      val (bounded, unbounded) = (rewritten(random.nextInt(20000).toLong + 1), rewritten(Long.MaxValue))
      withClue(s"round $round, seed ${Fuzz.seed}: ") {
        assert(bounded.flatten.sorted == unbounded.flatten.sorted)
        assert(bounded.flatten.map(_._1) == unbounded.flatten.map(_._1))
      }
    }
  }

  test("if a batch of entries cannot be written, the manifest that is being read is closed") {
    val t = new TestTable(schema, Vector(byId))
    t.append((1 to 20).map(i => fileIn(s"f$i", i)): _*)
    val files = t.files.get.parts.collect { case part: ManifestPart => part }
    val (opened, closed) = (new AtomicInteger, new AtomicInteger)
    def read(part: ManifestPart): CloseableIterator[ManifestEntry] = {
      opened.incrementAndGet()
      CloseableIterator.of(part.entries(t.io), () => { closed.incrementAndGet(); () })
    }
    def fail = throw StorageFailed.at("write", "manifest", "The disk is full")
    intercept[StorageFailed](new ManifestRewriter(t.tree, read, (_, _, _) => fail, maxHeapBytes = 1L)
      .rewriteChosen(files, All, None))
    assert(opened.get == 2 && closed.get == 2)
  }

  test("a range of partitions has at most the given number of entries, unless it is a single partition") {
    def partition(value: Int) = PartitionTuple(Vector(Some(IntLiteral(value))))
    val counts = Vector(3, 4, 20, 1, 1, 8, 2).zipWithIndex.map { case (count, i) => partition(i) -> count }
    val ranges = ManifestListWriter.splitBySize(counts, 8)(_._2.toLong).map(_.map(c => valueOf(c._1)))
    assert(ranges == Vector(Vector(0, 1), Vector(2), Vector(3, 4), Vector(5), Vector(6)))
  }

  private def manifestWith(path: String, files: Int): ManifestFile = ManifestFile(
    path,
    1L,
    0,
    ManifestContent.Data,
    1,
    1,
    1,
    Some(0),
    Some(files),
    Some(0),
    Some(0),
    Some(files.toLong),
    Some(0),
    None
  )
}
