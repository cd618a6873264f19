package iceberglite.table.action

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion.{V3, V4}
import iceberglite.spec.TestMetadata.Edits
import iceberglite.spec.file.{ContentFile, MetricMaps, Metrics}
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, PartitionTuple, TableExpression}
import iceberglite.spec.types.{Literal, SingleValue}
import iceberglite.spec.types.Literal.{LongLiteral, StringLiteral}
import iceberglite.tree.TestTable
import iceberglite.tree.TestTable.nameOf
import iceberglite.tree.manifestlist.ManifestSamples

/** Tests which manifests a commit reads that removes the files that it names. */
class NamedFilesSuite extends AnyFunSuite {
  private def bounds(id: Int, lower: Literal, upper: Literal): Metrics = MetricMaps(
    valueCounts = Some(Map(id -> 10L)),
    nullValueCounts = Some(Map(id -> 0L)),
    lowerBounds = Some(Map(id -> SingleValue.encode(lower))),
    upperBounds = Some(Map(id -> SingleValue.encode(upper)))
  )

  private def file(name: String, id: Long): ContentFile =
    TestTable.file(name, metrics = bounds(1, LongLiteral(id), LongLiteral(id + 9)))

  private val leaves = 5

  /** A table whose root lists only leaves: for each i, one with the files a<i> and b<i>, whose ids are from 100 * i. */
  private def newTable(): TestTable = {
    val properties = Map("write.v4.single-commit-max-files" -> "1")
    val t = new TestTable(ManifestSamples.schema, version = V4, properties = properties)
    (0L until leaves).foreach(i => t.append(file(s"a$i", 100 * i), file(s"b$i", 100 * i + 20)))
    t
  }

  /** Removes files. @return the number of the leaves that are read, besides the root */
  private def remove(t: TestTable, files: ContentFile*): Int = {
    val before = t.io.reads.get
    val written = t.commit(Vector.empty, new NamedFiles(files.toVector, t.metadata))
    assert(written.removed.map(e => nameOf(e.file)).toSet == files.map(nameOf).toSet)
    t.io.reads.get - before - 1
  }

  test("a commit reads only the leaves whose bounds overlap with those of the named files") {
    assert(remove(newTable(), file("b2", 220L)) == 1)
    assert(remove(newTable(), file("a1", 100L), file("b1", 120L), file("a4", 400L)) == 2)
    Seq(file("x", 120L), file("a2", 200L)).foreach { named =>
      val wide = newTable()
      wide.append(file("x", 120L), file("y", 400L))
      assert(remove(wide, named) == 2)
    }
  }

  test("a commit reads all leaves if it does not know the bounds of a named file") {
    val unknown = file("a1", 100L).copy(metrics = Metrics.Empty)
    assert(remove(newTable(), unknown) == leaves)
    assert(remove(newTable(), unknown, file("b2", 220L)) == leaves)
    val ofOtherColumn = unknown.copy(metrics = bounds(2, StringLiteral("a"), StringLiteral("b")))
    assert(remove(newTable(), ofOtherColumn) == leaves)
  }

  test("files of an upgraded manifest are found, although the bounds in its entry are those of the partitions") {
    val byName = PartitionSpec(0, Vector(PartitionField(2, 1000, "name", Identity)))
    val t = new TestTable(ManifestSamples.schema, Vector(byName), V3)
    val value = "a value that is longer than 16 characters"
    val long = TestTable.file(
      "long",
      PartitionTuple(Vector(Some(StringLiteral(value)))),
      metrics = bounds(2, StringLiteral(value.take(16)), StringLiteral(value.take(15) + "~"))
    )
    t.append(long)
    t.metadata = t.metadata.edited(
      formatVersion = V4,
      expressions = TableExpression.complete(t.metadata.specs, Vector.empty, t.metadata.lastColumnId)
    )
    t.append(TestTable.file("other", PartitionTuple(Vector(None))))
    assert(remove(t, long) == 1)
  }

  /** Removes the first file from a table whose other file has the ids from 1000. @return the number of leaves read */
  private def removeFirst(own: Metrics): Int = {
    val t =
      new TestTable(ManifestSamples.schema, version = V4, properties = Map("write.v4.single-commit-max-files" -> "1"))
    val named = TestTable.file("named", metrics = own)
    t.append(named, TestTable.file("alike", metrics = own))
    t.append(file("other", 1000L), file("another", 1100L))
    remove(t, named)
  }

  test("files of other writers are found although their bounds are in the wrong order, or all their values are null") {
    assert(removeFirst(bounds(1, LongLiteral(5), LongLiteral(9))) == 1)
    assert(removeFirst(bounds(1, LongLiteral(9), LongLiteral(5))) == 2)
    val onlyNulls = bounds(1, LongLiteral(5), LongLiteral(9)) match {
      case maps: MetricMaps => maps.copy(nullValueCounts = Some(Map(1 -> 10L)))
      case other => other
    }
    assert(removeFirst(onlyNulls) == 2)
  }

  test("the bounds of a file do not matter in the column of an identity partition field") {
    val byId = PartitionSpec(0, Vector(PartitionField(1, 1000, "id", Identity)))
    val properties = Map("write.v4.single-commit-max-files" -> "1")
    val t = new TestTable(ManifestSamples.schema, Vector(byId), V4, properties = properties)
    val partition = PartitionTuple(Vector(Some(LongLiteral(7))))
    val files = Vector("a", "b").map(TestTable.file(_, partition, metrics = bounds(1, LongLiteral(7), LongLiteral(7))))
    t.append(files: _*)
    // As if the file had other values than its partition, and the metadata with these bounds had been read before.
    assert(remove(t, files.head.copy(metrics = bounds(1, LongLiteral(1), LongLiteral(2)))) == 1)
  }
}
