package iceberglite.tree.root

import java.util.concurrent.{FutureTask, TimeUnit}

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion.V4
import iceberglite.spec.TestMetadata.Edits
import iceberglite.spec.file.{ContentFile, MetricMaps}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{Literal, NestedField, PrimitiveType, SingleValue}
import iceberglite.spec.types.Literal.{IntLiteral, LongLiteral}
import iceberglite.spec.types.Type.{IntType, LongType}
import iceberglite.tree.{ManifestCache, TestTable}
import iceberglite.tree.TestTable.{file, nameOf, removing}
import iceberglite.tree.manifestlist.ManifestSamples

/** Tests which metadata files of version 4 are read if the cache has the files of the parent snapshot. */
class RootCacheSuite extends AnyFunSuite {
  private val files: Seq[ContentFile] = Seq("a", "b", "c", "d", "x").map(file(_))

  private def newTable(cache: ManifestCache): TestTable = new TestTable(
    ManifestSamples.schema,
    version = V4,
    properties = Map("write.v4.single-commit-max-files" -> "3"),
    cache = cache
  )

  /** Returns the number of reads from storage. */
  private def reads(t: TestTable)(body: => Unit): Int = {
    val before = t.io.reads.get
    body
    t.io.reads.get - before
  }

  private def append(t: TestTable, added: ContentFile*): Unit = {
    t.append(added: _*)
    ()
  }

  private def remove(t: TestTable, name: String): Unit = {
    t.commit(Vector.empty, removing(name))
    ()
  }

  test("a commit reads only leaves with files that it may remove, and each such leaf once for all deletion vectors") {
    val t = newTable(new ManifestCache(64L << 20))
    append(t, files: _*)
    assert(reads(t)(append(t, file("e"))) == 0)
    assert(reads(t)(remove(t, "b")) > 0)
    assert(reads(t)(remove(t, "c")) == 0)
    assert(reads(t)(assert(t.live.map(e => nameOf(e.file)).toSet == Set("a", "d", "x", "e"))) == 0)
  }

  test("a cached root has the same entries as the file") {
    val (cached, uncached) = (newTable(new ManifestCache(64L << 20)), newTable(ManifestCache.Disabled))
    Seq(cached, uncached).foreach { t =>
      append(t, files: _*)
      append(t, file("e"), TestTable.equalityDeletes("q"))
      remove(t, "b")
    }
    assert(cached.live == uncached.live && cached.live.size == 6)
    assert(reads(uncached)(assert(uncached.live.nonEmpty)) > 0)
  }

  test("a small cache, which cannot hold a root, reads the root again") {
    val t = newTable(new ManifestCache(100L))
    append(t, files: _*)
    append(t, file("e"))
    assert(reads(t)(assert(t.live.size == 6)) > 0)
  }

  test("the parts of a root are derived without a lock, and all callers get the parts that were derived first") {
    val root = new DecodedRoot(Vector.empty)
    def newParts = RootParts(Map.empty, Vector.empty, Vector.empty, Vector.empty)
    val (first, second) = (newParts, newParts)
    val concurrent = new FutureTask[RootParts](() => root.parts(_ => first))
    val found = root.parts { _ =>
      new Thread(concurrent).start()
      concurrent.get(60, TimeUnit.SECONDS)
      second
    }
    assert((found eq first) && (root.parts(_ => second) eq first))
  }

  private def schemaWith(id: Int, t: PrimitiveType): Schema = Schema(id, Vector(NestedField.required(1, "id", t)))

  private def measured(name: String, value: Literal): ContentFile = file(name).copy(metrics =
    MetricMaps(
      valueCounts = Some(Map(1 -> 10L)),
      nullValueCounts = Some(Map(1 -> 0L)),
      lowerBounds = Some(Map(1 -> SingleValue.encode(value))),
      upperBounds = Some(Map(1 -> SingleValue.encode(value)))
    )
  )

  test("a commit merges leaves that were cached before a column was widened with leaves that were written after that") {
    val t = new TestTable(
      schemaWith(0, IntType),
      version = V4,
      properties = Map("write.v4.single-commit-max-files" -> "1"),
      cache = new ManifestCache(64L << 20)
    )
    (1 to 4).foreach(i => append(t, measured(s"a$i", IntLiteral(i)), measured(s"b$i", IntLiteral(-i))))
    assert(t.live.size == 8)
    t.metadata = t.metadata.edited(schemas = t.metadata.schemas :+ schemaWith(1, LongType), currentSchemaId = 1)
    (1 to 4).foreach { i =>
      append(t, measured(s"c$i", LongLiteral(i.toLong)), measured(s"d$i", LongLiteral(i * 10000000000L)))
    }
    append(t, measured("x", LongLiteral(1L)))
    assert(t.live.size == 17)
    val leaves = t.files.toVector.flatMap(_.parts).collect { case leaf: LeafPart => leaf }
    assert(leaves.map(_.leaf.recordCount) == Vector(16L))
    assert(leaves.head.metrics.lowerNumber(1, 8) == -4L && leaves.head.metrics.upperNumber(1, 8) == 40000000000L)
  }
}
