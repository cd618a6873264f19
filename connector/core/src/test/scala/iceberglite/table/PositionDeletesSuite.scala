package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.CommitRules
import iceberglite.spec.FormatVersion.V2
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{ConcurrentChange, ValidationFailed}
import iceberglite.spec.expr.Expression.AlwaysFalse
import iceberglite.spec.file.ContentFile
import iceberglite.table.Actions._
import iceberglite.table.TestTables._
import iceberglite.table.action.{OverwriteFiles, RemoveFiles, RewriteFiles, RowDelta}
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.action.ReadRows

/** Tests row deltas, overwrites and removals of files with the position and equality deletes of concurrent writers. */
class PositionDeletesSuite extends AnyFunSuite {
  private val a1 = fileOf("a", "a1", ids = (0, 9))
  private val a2 = fileOf("a", "a2", ids = (10, 19))
  private val b1 = fileOf("b", "b1", ids = (20, 29))

  private def withThreeFiles: Actions = {
    val t = tableByCategory(V2)
    t.append(a1, a2, b1)
    t
  }

  private def change(read: Table, level: IsolationLevel, files: ContentFile*): RowDelta =
    new RowDelta(files.toVector, isolation = since(read, level), read = ReadRows(idBelow(20), isRowByRow = true))

  private def rejection(body: => Any): String = intercept[IcebergError](body) match {
    case error @ (_: ValidationFailed | _: ConcurrentChange) => error.getMessage
    case other => fail(other)
  }

  private def livePaths(t: Actions): Set[String] = live(t.store, t.table).map(_.file.path).toSet

  test("two writers that only delete rows of the same file never conflict", CommitRules.snapshotIsolation) {
    IsolationLevel.all.foreach { level =>
      val t = withThreeFiles
      val read = t.table
      t.commitOn(read, change(read, level, positionDeletes("theirs", a1)))
      val table = t.commitOn(read, change(read, level, positionDeletes("mine", a1)))
      assert(livePaths(t) == Set("a1", "a2", "b1", "mine", "theirs"))
      assert(operation(table) == "delete" && summary(table)("total-position-deletes") == "2")
    }
  }

  test("an update of a file conflicts with concurrent deletes in the file, because the rows may be the same") {
    val changed = fileOf("a", "new", ids = (1, 1))
    Seq(positionDeletes("theirs", a1), positionDeletes("theirs", a1, a2)).foreach { theirs =>
      val t = withThreeFiles
      val read = t.table
      t.commitOn(read, change(read, IsolationLevel.Snapshot, theirs))
      val mine = change(read, IsolationLevel.Snapshot, positionDeletes("mine", a1), changed)
      assert(rejection(t.commitOn(read, mine)).contains("which may delete rows of a1"))
    }
    Seq(positionDeletes("theirs", a2), positionDeletes("theirs", b1)).foreach { theirs =>
      val t = withThreeFiles
      val read = t.table
      t.commitOn(read, change(read, IsolationLevel.Snapshot, theirs))
      t.commitOn(read, change(read, IsolationLevel.Snapshot, positionDeletes("mine", a1), changed))
    }
  }

  test("an update of a file conflicts with equality deletes whose keys the file may contain", CommitRules.lostUpdate) {
    val t = withThreeFiles
    val read = t.table
    t.commitOn(read, new RowDelta(Vector(equalityDeletes("theirs", beside = a1, ids = (3, 4)))))
    def mine(of: ContentFile): RowDelta =
      change(read, IsolationLevel.Snapshot, positionDeletes(s"of-${of.path}", of), fileOf("a", s"new-${of.path}"))
    assert(rejection(t.commitOn(read, mine(a1))).contains("theirs, which may delete rows of a1"))
    t.commitOn(read, mine(a2))
    t.commitOn(read, mine(b1))
  }

  test(
    "position deletes without a referenced data file fail if a file that they may refer to was compacted",
    CommitRules.filesStillExist
  ) {
    val t = withThreeFiles
    val read = t.table
    val id = read.currentSnapshot.get.snapshotId
    t.commitOn(read, new RewriteFiles(Vector(a1), Vector(fileOf("a", "compacted", ids = (0, 9))), id))
    val ofTwoFiles = positionDeletes("mine", a1, a2)
    val withoutReference = change(read, IsolationLevel.Snapshot, ofTwoFiles)
    assert(rejection(t.commitOn(read, withoutReference)).contains("a1 is not in the table"))
    t.commitOn(read, change(read, IsolationLevel.Snapshot, positionDeletes("other", a2)))
    t.commitOn(read, change(read, IsolationLevel.Snapshot, positionDeletes("elsewhere", b1)))
    val withAffectedFiles =
      new RowDelta(Vector(ofTwoFiles), isolation = snapshot(read), affectedDataFiles = Set("a2"))
    t.commitOn(read, withAffectedFiles)
    val withCompactedFile =
      new RowDelta(
        Vector(ofTwoFiles.copy(path = "bad")),
        isolation = snapshot(read),
        affectedDataFiles = Set("a1", "a2")
      )
    assert(rejection(t.commitOn(read, withCompactedFile)).contains("a1"))
  }

  test("a row delta fails if a data file whose rows it writes again is missing or has concurrent deletes") {
    val t = withThreeFiles
    val read = t.table
    t.commitOn(read, change(read, IsolationLevel.Snapshot, positionDeletes("theirs", a1)))
    def replacing(of: ContentFile): RowDelta =
      new RowDelta(Vector(of.copy(path = s"new-${of.path}")), removed = Vector(of), isolation = snapshot(read))
    assert(rejection(t.commitOn(read, replacing(a1))).contains("theirs, which may delete rows of a1"))
    t.commitOn(read, replacing(a2))
    assert(rejection(t.commitOn(read, replacing(a2))).contains("a2 is not in the table"))
  }

  test(
    "an overwrite of given files fails if one of them was removed or has concurrent deletes",
    CommitRules.filesStillExist
  ) {
    val t = withThreeFiles
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

  test(
    "removing files by path fails if a file is missing, unless this check is disabled",
    CommitRules.filesStillExist
  ) {
    val t = withThreeFiles
    t.commit(new RowDelta(Vector(positionDeletes("d", a1))))
    val read = t.table
    val table = t.commitOn(read, new RemoveFiles(Set("a1")))
    assert(liveFiles(table).contains("a2") && !liveFiles(table).contains("a1") && operation(table) == "delete")
    assert(rejection(t.commitOn(read, new RemoveFiles(Set("a1")))).contains("a1 is not in the table"))
    val same = t.commitOn(read, new RemoveFiles(Set("a1"), mustExist = false))
    assert(same.version == table.version)
  }
}
