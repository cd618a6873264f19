package iceberglite.tree.manifestlist

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{ManifestContent, ManifestEntry, ManifestFile}
import iceberglite.spec.file.EntryStatus.{Added, Existing}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.IntType
import iceberglite.tree.{PartitionSpecs, TestTable}
import iceberglite.tree.TestTable._

/** Tests [[ManifestMerging]], which chooses the manifests that a commit merges. */
class ManifestMergingSuite extends AnyFunSuite {
  private val schema = Schema(0, Vector(NestedField.required(1, "id", IntType)))

  private def properties(minCount: Int): Map[String, String] =
    Map(TableProperty.ManifestMinCountToMerge.key -> minCount.toString)

  private def manifest(path: String, length: Long, spec: Int = 0, content: ManifestContent = ManifestContent.Data) =
    ManifestFile(path, length, spec, content, 1, 1, 1, Some(1), Some(0), Some(0), Some(1), Some(0), Some(0), None)

  private def bins(
      kept: Vector[ManifestFile],
      fresh: Vector[ManifestFile],
      properties: Map[String, String]
  ): Vector[ManifestMerging.Bin] =
    ManifestMerging.bins(kept.map(new ManifestPart(_, PartitionSpecs(Map.empty, schema))), fresh, properties)

  private def paths(bins: Vector[ManifestMerging.Bin]): Vector[String] = bins.map(_.map(_.path).mkString("+"))

  private val tenBytes = properties(4) + (TableProperty.ManifestTargetSize.key -> "10")

  test("the newest manifests are merged only when there are enough of them") {
    val kept = Vector("c", "b", "a").map(manifest(_, 1))
    assert(paths(bins(kept.tail, Vector(manifest("new", 1)), tenBytes)) == Vector("b", "a"))
    assert(paths(bins(kept, Vector(manifest("new", 1)), tenBytes)) == Vector("c+b+a"))
  }

  test("manifests are packed into bins from the oldest to the newest, and keep their order") {
    val kept = Vector("e" -> 3L, "d" -> 8L, "c" -> 4L, "b" -> 5L, "a" -> 5L).map { case (p, n) => manifest(p, n) }
    assert(paths(bins(kept, Vector(manifest("new", 1)), tenBytes)) == Vector("e", "d", "c", "b+a"))
  }

  test("only manifests of one partition spec and content are merged, and the minimum count applies to the newest bin") {
    val kept = Vector(
      manifest("n", 1, spec = 1),
      manifest("d2", 1, content = ManifestContent.Deletes),
      manifest("b", 1),
      manifest("d1", 1, content = ManifestContent.Deletes),
      manifest("a", 1)
    )
    val merged = bins(kept, Vector(manifest("new", 1, spec = 1)), tenBytes)
    assert(paths(merged) == Vector("n", "d2", "b+a", "d1"))
  }

  test("manifests are not merged if the table property disables merging") {
    val kept = Vector("c", "b", "a").map(manifest(_, 1))
    val off = tenBytes + (TableProperty.ManifestMerge.key -> "false")
    assert(paths(bins(kept, Vector(manifest("new", 1)), off)) == Vector("c", "b", "a"))
  }

  test("entries in a merged manifest keep their sequence numbers, snapshot ids and order") {
    val t = new TestTable(schema, properties = properties(4))
    Seq("a", "b", "c").foreach(n => t.append(file(n)))
    val written = t.append(file("d"))
    assert(t.manifests.map(_.addedFilesCount.get) == Vector(1, 0))
    assert(t.manifests.map(_.existingFilesCount.get) == Vector(0, 3))
    assert(t.entries.map(e => nameOf(e.file) -> e.status) ==
      Seq("d" -> Added, "c" -> Existing, "b" -> Existing, "a" -> Existing))
    Seq[ManifestEntry => Option[Long]](_.snapshotId, _.sequenceNumber, _.fileSequenceNumber).foreach { number =>
      assert(t.entries.flatMap(number(_)) == Seq(4, 3, 2, 1))
    }
    assert(t.manifests.last.minSequenceNumber == 1 && t.manifests.last.sequenceNumber == 4)
    assert(counts(written) == ((2, 0, 3)))
  }

  test("entries in a merged manifest of a version 3 table keep their row ids") {
    val t = new TestTable(schema, version = FormatVersion.V3, properties = properties(3))
    Seq("a", "b").foreach(n => t.append(file(n)))
    val before = t.live.map(e => e.file.path -> e.file.firstRowId).toMap
    t.append(file("c"))
    assert(t.manifests.size == 2)
    val after = t.live.map(e => e.file.path -> e.file.firstRowId).toMap
    assert(before.forall { case (path, id) => after(path) == id && id.isDefined })
    val next = t.live.map(e => e.file.firstRowId.get + e.file.recordCount).max
    assert(next <= t.metadata.nextRowId)
  }
}
