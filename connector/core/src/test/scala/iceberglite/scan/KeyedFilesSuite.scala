package iceberglite.scan

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion.{V2, V3}
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.file.Content
import iceberglite.table.Actions._
import iceberglite.table.TestTables._
import iceberglite.table.action.RowDelta

/** Tests [[KeyedFiles]], which finds the data files that may contain rows with given keys. */
class KeyedFilesSuite extends AnyFunSuite {

  test("the files are found if the data and delete files to plan are within the limit") {
    val t = unpartitionedTable(V3)
    val (low, high, other) = (file("low", ids = (0, 9)), file("high", ids = (10, 19)), file("other", ids = (50, 59)))
    t.append(low, high, other)
    t.commit(new RowDelta(t.vectors("v.puffin", low -> Seq(1L), high -> Seq(2L))))
    val keys = file("keys", ids = (0, 19)).copy(content = Content.EqualityDeletes, equalityIds = Vector(1))
    val table = t.table
    val files = new KeyedFiles(table.tree(), table.currentSnapshot, Vector(keys))
    val found = files.tasks(5).map(_.map(task => task.file.path -> task.deletes.count(_.isVector)).toMap)
    assert(found.contains(Map(low.path -> 1, high.path -> 1)))
    assert(files.tasks(4).isEmpty, "planning reads two manifests with three data files and two deletion vectors")
  }

  test("a file that the table lists twice is found once, with its deletes") {
    val t = unpartitionedTable(V3)
    val low = file("low", ids = (0, 9))
    t.append(low, low)
    t.commit(new RowDelta(t.vectors("v.puffin", low -> Seq(1L))))
    val keys = file("keys", ids = (0, 19)).copy(content = Content.EqualityDeletes, equalityIds = Vector(1))
    val table = t.table
    assert(TableScan(table.tree(), table.currentSnapshot, AlwaysTrue, caseSensitive = true).plan().tasks.size == 2)
    val found = new KeyedFiles(table.tree(), table.currentSnapshot, Vector(keys)).tasks(10)
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
    assert(new KeyedFiles(table.tree(), table.currentSnapshot, Vector(keys)).tasks(10).isEmpty)
  }
}
