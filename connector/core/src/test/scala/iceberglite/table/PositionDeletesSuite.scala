package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.CommitRules
import iceberglite.spec.FormatVersion.V2
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.expr.Expression.AlwaysFalse
import iceberglite.spec.file.ContentFile
import iceberglite.table.Actions._
import iceberglite.table.TestTables._
import iceberglite.table.action.{OverwriteFiles, RemoveFiles, RewriteFiles, RowDelta}

/** Row deltas with position and equality delete files, from two concurrent writers. */
class PositionDeletesSuite extends AnyFunSuite {
  private val a1 = fileOf("a", "a1", ids = (0, 9))
  private val a2 = fileOf("a", "a2", ids = (10, 19))
  private val b1 = fileOf("b", "b1", ids = (20, 29))

  private def filled: Actions = {
    val t = tableByCategory(V2)
    t.append(a1, a2, b1)
    t
  }

  private def change(read: Table, level: IsolationLevel, files: ContentFile*): RowDelta =
    new RowDelta(files.toVector, isolation = since(read, level), read = idBelow(20), isRowByRow = true)

  private def rejection(body: => Any): String = intercept[ValidationFailed](body).getMessage

  private def livePaths(t: Actions): Set[String] = live(t.store, t.table).map(_.file.path).toSet

  test("two writers that delete rows of one file never conflict", CommitRules.snapshotIsolation) {
    IsolationLevel.all.foreach { level =>
      val t = filled
      val read = t.table
      t.commitOn(read, change(read, level, positionDeletes("theirs", a1)))
      val table = t.commitOn(read, change(read, level, positionDeletes("mine", a1)))
      assert(livePaths(t) == Set("a1", "a2", "b1", "mine", "theirs"))
      assert(operation(table) == "delete" && summary(table)("total-position-deletes") == "2")
    }
  }

  test("concurrent row deletes on a file that a writer changes are a conflict, because the rows may be the same") {
    val changed = fileOf("a", "new", ids = (1, 1))
    Seq(positionDeletes("theirs", a1), positionDeletes("theirs", a1, a2)).foreach { theirs =>
      val t = filled
      val read = t.table
      t.commitOn(read, change(read, IsolationLevel.Snapshot, theirs))
      val mine = change(read, IsolationLevel.Snapshot, positionDeletes("mine", a1), changed)
      assert(rejection(t.commitOn(read, mine)).contains("which may delete rows of a1"))
    }
    Seq(positionDeletes("theirs", a2), positionDeletes("theirs", b1)).foreach { theirs =>
      val t = filled
      val read = t.table
      t.commitOn(read, change(read, IsolationLevel.Snapshot, theirs))
      t.commitOn(read, change(read, IsolationLevel.Snapshot, positionDeletes("mine", a1), changed))
    }
  }

  test("equality deletes conflict with a change of a file that may contain their keys", CommitRules.lostUpdate) {
    val t = filled
    val read = t.table
    t.commitOn(read, new RowDelta(Vector(equalityDeletes("theirs", beside = a1, ids = (3, 4)))))
    def mine(of: ContentFile): RowDelta =
      change(read, IsolationLevel.Snapshot, positionDeletes(s"of-${of.path}", of), fileOf("a", s"new-${of.path}"))
    assert(rejection(t.commitOn(read, mine(a1))).contains("theirs, which may delete rows of a1"))
    t.commitOn(read, mine(a2))
    t.commitOn(read, mine(b1))
  }

  test(
    "deletes without referenced data file fail if a file of their partition was compacted",
    CommitRules.filesStillExist
  ) {
    val t = filled
    val read = t.table
    val id = read.currentSnapshot.get.snapshotId
    t.commitOn(read, new RewriteFiles(Vector(a1), Vector(fileOf("a", "compacted", ids = (0, 9))), id))
    val open = positionDeletes("mine", a1, a2)
    assert(rejection(t.commitOn(read, change(read, IsolationLevel.Snapshot, open))).contains("a1 is not in the table"))
    t.commitOn(read, change(read, IsolationLevel.Snapshot, positionDeletes("other", a2)))
    t.commitOn(read, change(read, IsolationLevel.Snapshot, positionDeletes("elsewhere", b1)))
    val named = new RowDelta(Vector(open), isolation = snapshot(read), affectedDataFiles = Set("a2"))
    t.commitOn(read, named)
    val bad =
      new RowDelta(Vector(open.copy(path = "bad")), isolation = snapshot(read), affectedDataFiles = Set("a1", "a2"))
    assert(rejection(t.commitOn(read, bad)).contains("a1"))
  }

  test("data files that a row delta removes must exist, and must have no new deletes if their rows are written again") {
    val t = filled
    val read = t.table
    t.commitOn(read, change(read, IsolationLevel.Snapshot, positionDeletes("theirs", a1)))
    def replacing(of: ContentFile): RowDelta =
      new RowDelta(Vector(of.copy(path = s"new-${of.path}")), removed = Vector(of), isolation = snapshot(read))
    assert(rejection(t.commitOn(read, replacing(a1))).contains("theirs, which may delete rows of a1"))
    t.commitOn(read, replacing(a2))
    assert(rejection(t.commitOn(read, replacing(a2))).contains("a2 is not in the table"))
  }

  test("an overwrite of given files fails if one was removed or has new deletes", CommitRules.filesStillExist) {
    val t = filled
    val read = t.table
    t.commitOn(read, change(read, IsolationLevel.Snapshot, positionDeletes("theirs", a1)))
    def overwrite(of: ContentFile, level: IsolationLevel): OverwriteFiles = new OverwriteFiles(
      AlwaysFalse,
      Vector(of.copy(path = s"new-${of.path}")),
      since(read, level),
      removed = Vector(of),
      read = Some(category("b"))
    )
    assert(rejection(t.commitOn(read, overwrite(a1, IsolationLevel.Snapshot))).contains("may delete rows of a1"))
    val table = t.commitOn(read, overwrite(a2, IsolationLevel.Serializable))
    assert(operation(table) == "overwrite")
    assert(rejection(t.commitOn(read, overwrite(a2, IsolationLevel.Snapshot))).contains("a2 is not in the table"))
    t.append(fileOf("b", "b2"))
    assert(rejection(t.commitOn(read, overwrite(b1, IsolationLevel.Serializable))).contains("added b2"))
    t.commitOn(read, overwrite(b1, IsolationLevel.Snapshot))
  }

  test("files are removed by path, and must exist unless that check is disabled", CommitRules.filesStillExist) {
    val t = filled
    t.commit(new RowDelta(Vector(positionDeletes("d", a1))))
    val read = t.table
    val table = t.commitOn(read, new RemoveFiles(Set("a1")))
    assert(liveFiles(table).contains("a2") && !liveFiles(table).contains("a1") && operation(table) == "delete")
    assert(rejection(t.commitOn(read, new RemoveFiles(Set("a1")))).contains("a1 is not in the table"))
    val same = t.commitOn(read, new RemoveFiles(Set("a1"), mustExist = false))
    assert(same.version == table.version)
  }
}
