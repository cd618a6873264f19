package iceberglite.scan

import java.io.InputStream
import java.util.concurrent.atomic.AtomicInteger

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.FileIOWrapper
import iceberglite.spec.FormatVersion.{V2, V3}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.Content
import iceberglite.storage.FileIO
import iceberglite.table.Actions
import iceberglite.table.Actions._
import iceberglite.table.TestTables._
import iceberglite.table.action.RowDelta
import iceberglite.tree.ManifestsOnly

/** Tests [[KeyedFiles]], which finds the data files that may contain rows with given keys. */
class KeyedFilesSuite extends AnyFunSuite {

  /** Limits only the number of files in the manifests that are read, and practically not their size. */
  private def listing(files: Long) = KeyedFiles.Limit(files, bytes = 1L << 40, openCost = 1)

  /** Counts the manifests that are read, which are not cached. */
  final private class CountingIO(inner: FileIO) extends FileIOWrapper(inner) {
    val manifests = new AtomicInteger

    override def mayCache: Boolean = false

    override def open(path: String): InputStream = {
      count(path)
      super.open(path)
    }

    override def read(path: String): Array[Byte] = {
      count(path)
      super.read(path)
    }

    private def count(path: String): Unit = if (!path.split('/').last.startsWith("snap-")) {
      manifests.incrementAndGet()
      ()
    }
  }

  test(
    "manifests are no longer read when the found files exceed the limit, and files without keys do not count",
    ManifestsOnly
  ) {
    val t = new Actions(unpartitioned("commit.manifest-merge.enabled" -> "false"))
    (0L until 40L).foreach(i => t.append(file(s"f$i", ids = (10 * i, 10 * i + 9))))
    val io = new CountingIO(t.store)
    val table = t.table
    def find(maxFiles: Long, ids: (Long, Long)*): (Option[Vector[String]], Int) = {
      val keys = ids.map { bounds =>
        file("keys", ids = bounds).copy(content = Content.EqualityDeletes, equalityIds = Vector(1))
      }
      val before = io.manifests.get
      val files = new KeyedFiles(table.tree().copy(io = io), table.currentSnapshot, keys.toVector)
      val size = file("f0").fileSizeInBytes
      val found = files.tasks(KeyedFiles.Limit(100, bytes = maxFiles * size, openCost = size))
      (found.map(_.map(_.file.path).sorted), io.manifests.get - before)
    }
    val (tooMany, read) = find(3, (0, 399))
    assert(tooMany.isEmpty && read == 4)
    // The files between the two ranges of keys are planned, but contain none of the keys.
    assert(find(3, (0, 9), (390, 399)) == (Some(Vector("f0", "f39")) -> 40))
    assert(find(40, (0, 399))._1.exists(_.size == 40))
    assert(find(39, (0, 399))._1.isEmpty)
  }

  test("the files are found if the data and delete files to plan are within the limit") {
    val t = unpartitionedTable(V3)
    val (low, high, other) = (file("low", ids = (0, 9)), file("high", ids = (10, 19)), file("other", ids = (50, 59)))
    t.append(low, high, other)
    t.commit(new RowDelta(t.vectors("v.puffin", low -> Seq(1L), high -> Seq(2L))))
    val keys = file("keys", ids = (0, 19)).copy(content = Content.EqualityDeletes, equalityIds = Vector(1))
    val table = t.table
    val files = new KeyedFiles(table.tree(), table.currentSnapshot, Vector(keys))
    val found = files.tasks(listing(5)).map(_.map(task => task.file.path -> task.deletes.count(_.isVector)).toMap)
    assert(found.contains(Map(low.path -> 1, high.path -> 1)))
    assert(
      files.tasks(listing(4)).isEmpty,
      "planning reads two manifests with three data files and two deletion vectors"
    )
  }

  test("a file that the table lists twice is found once, with its deletes") {
    val t = unpartitionedTable(V3)
    val low = file("low", ids = (0, 9))
    t.append(low, low)
    t.commit(new RowDelta(t.vectors("v.puffin", low -> Seq(1L))))
    val keys = file("keys", ids = (0, 19)).copy(content = Content.EqualityDeletes, equalityIds = Vector(1))
    val table = t.table
    assert(TableScan(table.tree(), table.currentSnapshot, AlwaysTrue, caseSensitive = true).plan().tasks.size == 2)
    val found = new KeyedFiles(table.tree(), table.currentSnapshot, Vector(keys)).tasks(listing(10))
    assert(found.map(_.map(task => (task.file.path, task.deletes.map(_.file.path).sorted))) ==
      Some(Vector((low.path, Vector(keys.path, "v.puffin").sorted))))
  }

  test("files are not found if the table lists one of them twice with different deletes") {
    val t = unpartitionedTable(V2)
    val low = file("low", ids = (0, 9))
    t.append(low)
    t.commit(new RowDelta(Vector(positionDeletes("p", low))))
    t.append(low)
    val keys = file("keys", ids = (0, 19)).copy(content = Content.EqualityDeletes, equalityIds = Vector(1))
    val table = t.table
    assert(TableScan(table.tree(), table.currentSnapshot, AlwaysTrue, caseSensitive = true).plan().tasks.size == 2)
    assert(new KeyedFiles(table.tree(), table.currentSnapshot, Vector(keys)).tasks(listing(10)).isEmpty)
  }
}
