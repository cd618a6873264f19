package iceberglite.tree

import java.util.UUID

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.FileIOWrapper
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.ManifestEntry
import iceberglite.spec.partition.{Identity, PartitionField, PartitionSpec, PartitionTuple}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Literal.IntLiteral
import iceberglite.spec.types.Type.IntType
import iceberglite.storage.CacheBounds
import iceberglite.table.MemoryFileIO
import iceberglite.tree.TestTable._

/** Tests [[ManifestCache]], which keeps the decoded contents of manifests and manifest lists in memory. */
class ManifestCacheSuite extends AnyFunSuite {
  private val schema = Schema(0, Vector(NestedField.required(1, "id", IntType)))

  test("a manifest is read only once, and a manifest that the same process wrote is not read at all") {
    val t = new TestTable(schema, cache = new ManifestCache(1 << 20))
    t.append(file("a"), file("b"))
    t.append(file("c"))
    assert(t.live.map(e => nameOf(e.file)) == Seq("c", "a", "b"))
    assert(t.io.reads.get == 0)
    val emptyCache = new ManifestCache(1 << 20)
    val tree = new TreeReader(t.io, t.metadata, emptyCache)
    (1 to 3).foreach(_ => tree.entries(t.metadata.currentSnapshot.get))
    assert(t.io.reads.get == 3)
  }

  test("entries that are cached when a manifest is written equal the entries read from the manifest") {
    FormatVersion.adopted.foreach { version =>
      val spec = PartitionSpec(0, Vector(PartitionField(1, 1000, "id", Identity)))
      val t = new TestTable(schema, Vector(spec), version = version, cache = new ManifestCache(1 << 20))
      def part(i: Int) = PartitionTuple(Vector(Some(IntLiteral(i))))
      t.append(file("a", part(1)), file("b", part(2)), file("c", part(1)))
      t.append(file("d", part(3)))
      t.commit(Vector(file("e", part(3))), removing("b"))
      def comparable(entries: Seq[ManifestEntry]) = entries.map(e =>
        (e.copy(file = file("")), e.file.path, e.file.partition, e.file.firstRowId)
      )
      val fromCache = comparable(t.entries)
      assert(t.io.reads.get == 0)
      val uncached = new TreeReader(t.io, t.metadata, ManifestCache.Disabled)
      val manifests = uncached.manifests(t.metadata.currentSnapshot.get)
      assert(fromCache == comparable(manifests.flatMap(m => uncached.entries(m))))
    }
  }

  test("an entry cached by a failed commit attempt gets a new sequence number in the next attempt") {
    val t = new TestTable(schema, cache = new ManifestCache(1 << 20))
    val changes = FileChanges(Vector(file("mine")))
    val mine = new UUID(9, 9)
    val first = t.write(t.header().copy(snapshotId = 99L, commitId = mine), changes)
    assert(t.reader.entries(listOf(first).manifests.head).next().sequenceNumber.contains(1L))
    t.append(file("theirs"))
    val second = t.write(t.header(attempt = 1).copy(snapshotId = 99L, commitId = mine), changes, Some(first))
    assert(t.reader.entries(listOf(second).manifests.head).next().sequenceNumber.contains(2L))
  }

  test("the cache stays within its maximum size, and the entries of all manifests can still be read") {
    val cache = new ManifestCache(20000)
    val t = new TestTable(schema, cache = cache)
    (1 to 60).foreach { i =>
      t.append(file(s"f$i"))
      assert(cache.bytes <= 20000)
    }
    assert(t.live.size == 60)
    assert(cache.bytes > 0)
  }

  test("the manifests of a directory can be evicted") {
    val cache = new ManifestCache(1 << 20)
    val (one, two) = (new TestTable(schema, cache = cache), new TestTable(schema, cache = cache))
    Seq(one, two).foreach(_.append(file("a")))
    val both = cache.bytes
    cache.invalidate(one.io, "mem:/t/meta")
    assert(cache.bytes == both)
    cache.invalidate(one.io, "mem:/t")
    assert(cache.bytes == both / 2)
    one.live
    two.live
    assert((one.io.reads.get, two.io.reads.get) == ((2, 0)))
  }

  test("manifests larger than the maximum content length are not cached") {
    val t = new TestTable(schema, cache = new ManifestCache(1 << 20, maxFileBytes = 1))
    t.append(file("a"))
    (1 to 2).foreach(_ => assert(t.live.size == 1))
    assert(t.io.reads.get == 2)
  }

  test("catalogs share a cache only if they have the same cache limits") {
    def io(bounds: CacheBounds) = new FileIOWrapper(new MemoryFileIO) {
      override def cacheBounds: CacheBounds = bounds
    }
    val small = CacheBounds(maxBytes = Some(1000))
    assert(ManifestCache.of(io(small)) eq ManifestCache.of(io(small)))
    assert(ManifestCache.of(io(CacheBounds.Default)) eq ManifestCache.shared)
    assert(ManifestCache.of(io(small)) ne ManifestCache.of(io(CacheBounds(maxBytes = Some(0)))))
    assert(!ManifestCache.of(io(CacheBounds(maxBytes = Some(0)))).enabled)
  }

  test("a disabled cache stores no entries") {
    val t = new TestTable(schema, cache = ManifestCache.Disabled)
    t.append(file("a"))
    t.live
    val reads = t.io.reads.get
    t.live
    assert(t.io.reads.get == 2 * reads && ManifestCache.Disabled.bytes == 0)
  }
}
