package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.{V2, V3}
import iceberglite.spec.IcebergError.{ChangeScope, ConcurrentChange}
import iceberglite.spec.expr.Expression.AlwaysFalse
import iceberglite.spec.file.ContentFile
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.Actions._
import iceberglite.table.TestTables._
import iceberglite.table.action.{OverwriteFiles, ReadRows, RemoveFiles, RewriteFiles, RowDelta}

/** Tests the [[ChangeScope]] of conflicts: whether concurrent commits changed rows, or only rewrote files. */
class RewriteConflictSuite extends AnyFunSuite {
  private val low = file("low", ids = (0, 9))
  private val high = file("high", ids = (10, 19))
  private val added = file("added", ids = (50, 50))

  private def withTwoFiles(version: FormatVersion = V3): Actions = {
    val t = unpartitionedTable(version)
    t.append(low, high)
    t
  }

  private def compact(t: Actions, compacted: ContentFile): Table = t.commit(
    new RewriteFiles(
      Vector(compacted),
      Vector(compacted.copy(path = s"compacted-${compacted.path}")),
      t.table.currentSnapshot.get.snapshotId
    )
  )

  private var puffins = 0

  private def vectors(t: Actions, rows: (ContentFile, Seq[Long])*): Vector[ContentFile] = {
    puffins += 1
    t.vectors(s"$puffins.puffin", rows: _*)
  }

  private def scopeOf(commit: => Any): ChangeScope = intercept[ConcurrentChange](commit).scope

  /** A merge-on-read UPDATE of row 1 of the file `low`. */
  private def update(t: Actions, read: Table, level: IsolationLevel): RowDelta = new RowDelta(
    vectors(t, low -> Seq(1L)) :+ added,
    isolation = since(read, level),
    read = ReadRows(idBelow(10), isRowByRow = true)
  )

  private def delete(t: Actions, read: Table, level: IsolationLevel): RowDelta = new RowDelta(
    vectors(t, low -> Seq(1L), high -> Seq(1L)),
    isolation = since(read, level),
    read = ReadRows(idBelow(20))
  )

  /** A copy-on-write statement that replaces the file `low`. */
  private def rewriteRows(read: Table, level: IsolationLevel): OverwriteFiles = new OverwriteFiles(
    AlwaysFalse,
    Vector(file("mine", ids = (0, 9))),
    since(read, level),
    removed = Vector(low),
    read = Some(idBelow(10))
  )

  for (level <- IsolationLevel.all) {
    test(s"the conflict is FilesOnly if compactions replaced the files that a statement changes (${level.name})") {
      val t = withTwoFiles()
      val read = t.table
      compact(t, low)
      compact(t, high)
      t.append(file("other", ids = (100, 110)))
      assert(scopeOf(t.commitOn(read, delete(t, read, level))) == ChangeScope.FilesOnly)
      assert(scopeOf(t.commitOn(read, update(t, read, level))) == ChangeScope.FilesOnly)
      val error = intercept[ConcurrentChange](t.commitOn(read, rewriteRows(read, level)))
      assert(error.scope == ChangeScope.FilesOnly && error.getMessage.contains("rewrote its rows to other files"))
      assert(t.orphanFiles.isEmpty)
    }

    test(s"the conflict is about rows if an updated row was deleted before a concurrent compaction (${level.name})") {
      val t = withTwoFiles()
      val read = t.table
      t.commitOn(read, new RowDelta(vectors(t, low -> Seq(1L, 2L))))
      compact(t, low)
      assert(scopeOf(t.commitOn(read, update(t, read, level))) == ChangeScope.Rows)
      assert(scopeOf(t.commitOn(read, rewriteRows(read, level))) == ChangeScope.Rows)
      assert(
        scopeOf(t.commitOn(read, delete(t, read, level))) == ChangeScope.FilesOnly,
        "both writers only delete rows"
      )
    }
  }

  test("the conflict is FilesOnly if other rows of the file were deleted before a concurrent compaction") {
    val t = withTwoFiles()
    val read = t.table
    t.commitOn(read, new RowDelta(vectors(t, low -> Seq(7L))))
    compact(t, low)
    assert(scopeOf(t.commitOn(read, update(t, read, IsolationLevel.Serializable))) == ChangeScope.FilesOnly)
  }

  test("the conflict is about rows if the file got position deletes before a concurrent compaction") {
    val t = withTwoFiles(V2)
    val read = t.table
    t.commitOn(read, new RowDelta(Vector(positionDeletes("theirs", low))))
    compact(t, low)
    val mine = new RowDelta(
      Vector(positionDeletes("mine", low), added),
      isolation = snapshot(read),
      read = ReadRows(idBelow(10), isRowByRow = true)
    )
    assert(scopeOf(t.commitOn(read, mine)) == ChangeScope.Rows)
    assert(scopeOf(t.commitOn(read, rewriteRows(read, IsolationLevel.Snapshot))) == ChangeScope.Rows)
  }

  test("the conflict is about rows if a file was overwritten or removed, even if another file was only compacted") {
    Seq[Table => Action](
      _ => new OverwriteFiles(idBelow(10), Vector(file("over", ids = (0, 9)))),
      _ => new RemoveFiles(Set("low"))
    ).foreach { theirs =>
      val t = withTwoFiles()
      val read = t.table
      compact(t, high)
      t.commitOn(t.table, theirs(t.table))
      val both = new RowDelta(
        vectors(t, low -> Seq(1L), high -> Seq(1L)) :+ added,
        isolation = snapshot(read),
        read = ReadRows(idBelow(20), isRowByRow = true)
      )
      assert(scopeOf(t.commitOn(read, both)) == ChangeScope.Rows)
      val replaceBoth = new OverwriteFiles(
        AlwaysFalse,
        Vector(file("mine", ids = (0, 19))),
        snapshot(read),
        removed = Vector(high, low),
        read = Some(idBelow(20))
      )
      assert(scopeOf(t.commitOn(read, replaceBoth)) == ChangeScope.Rows)
    }
  }

  test("under serializable isolation, the conflict is about rows if matching rows were added after a compaction") {
    val t = withTwoFiles()
    val read = t.table
    compact(t, low)
    t.append(file("matching", ids = (5, 6)))
    Seq(IsolationLevel.Serializable -> ChangeScope.Rows, IsolationLevel.Snapshot -> ChangeScope.FilesOnly).foreach {
      case (level, scope) =>
        assert(scopeOf(t.commitOn(read, update(t, read, level))) == scope)
        assert(scopeOf(t.commitOn(read, rewriteRows(read, level))) == scope)
    }
  }
}
