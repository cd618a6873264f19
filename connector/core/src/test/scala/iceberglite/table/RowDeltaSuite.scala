package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.CommitRules
import iceberglite.spec.FormatVersion.V3
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{CommitStateUnknown, ConcurrentChange, InvalidArgument, ValidationFailed}
import iceberglite.spec.file.ContentFile
import iceberglite.table.Actions._
import iceberglite.table.TestTables._
import iceberglite.table.action.{OverwriteFiles, RemoveFiles, RewriteFiles, RowDelta}
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.conflict.Isolation
import iceberglite.table.action.ReadRows

/** Tests [[iceberglite.table.action.RowDelta]] with deletion vectors of two or three concurrent writers. */
class RowDeltaSuite extends AnyFunSuite {
  private val low = file("low", ids = (0, 9))
  private val high = file("high", ids = (10, 19))

  private def withTwoFiles: Actions = {
    val t = unpartitionedTable(V3)
    t.append(low, high)
    t
  }

  private def delete(deletes: Vector[ContentFile], read: Table): RowDelta =
    new RowDelta(deletes, isolation = serializable(read))

  private def rejection(body: => Any): String = intercept[IcebergError](body) match {
    case error @ (_: ValidationFailed | _: ConcurrentChange) => error.getMessage
    case other => fail(other)
  }

  test("deletes of different rows of one file by two writers are merged into one vector", CommitRules.unitedVectors) {
    val t = withTwoFiles
    val read = t.table
    val (mine, theirs) = (t.vectors("mine.puffin", low -> Seq(1L, 2L)), t.vectors("theirs.puffin", low -> Seq(7L)))
    t.commitOn(read, delete(theirs, read))
    val table = t.commitOn(read, delete(mine, read))
    assert(t.deleted(table, low) == Vector(1L, 2L, 7L))
    assert(operation(table) == "delete")
    val s = summary(table)
    assert((s("added-dvs"), s("removed-dvs"), s("added-position-deletes"), s("total-position-deletes")) ==
      (("1", "1", "3", "3")))
    assert(t.unreferencedPuffins == Set("theirs.puffin"), "an older snapshot references this file")
    assert(t.orphanFiles.isEmpty)
  }

  test("a commit with two deletion vectors for one data file is rejected") {
    val t = withTwoFiles
    val vectors = t.vectors("a.puffin", low -> Seq(1L)) ++ t.vectors("b.puffin", low -> Seq(2L), high -> Seq(3L))
    val message = s"Cannot commit two deletion vectors for the data file ${low.path}: a data file has at most one. " +
      "The table may list this data file twice; write one vector with the deleted rows of both"
    assert(intercept[ValidationFailed](t.commit(new RowDelta(vectors))) == ValidationFailed(message))
  }

  test("deletes of the same rows by two writers both succeed") {
    val t = withTwoFiles
    val read = t.table
    t.commitOn(read, delete(t.vectors("a.puffin", low -> Seq(3L, 4L)), read))
    val table = t.commitOn(read, delete(t.vectors("b.puffin", low -> Seq(4L, 3L)), read))
    assert(t.deleted(table, low) == Vector(3L, 4L))
    assert(summary(table)("total-position-deletes") == "2")
  }

  test("deletes of a third writer are merged into the merged vector, and its failed attempts leave no files") {
    val t = withTwoFiles
    val read = t.table
    val third = read.transaction(Map.empty, environment).add(delete(t.vectors("3.puffin", low -> Seq(3L)), read))
    t.commitOn(read, delete(t.vectors("1.puffin", low -> Seq(1L)), read))
    t.committer.loads = Vector(
      () => (),
      () => t.commitOn(t.empty.at(t.committer.current), delete(t.vectors("2.puffin", low -> Seq(2L)), read))
    )
    t.committer.script = Vector(ScriptedCommitter.conflict, ScriptedCommitter.conflict)
    val table = third.commit()
    assert(t.deleted(table, low) == Vector(1L, 2L, 3L))
    val unreferenced = t.unreferencedPuffins
    assert(unreferenced.count(_.contains("merged")) == 1, "the previous snapshot references this file")
    assert(!unreferenced.contains("3.puffin") && unreferenced.contains("1.puffin"))
    assert(t.orphanFiles.isEmpty)
  }

  test("a vector that replaces an earlier vector is merged with another vector that replaced it concurrently") {
    val t = withTwoFiles
    t.commit(delete(t.vectors("first.puffin", low -> Seq(0L)), t.table))
    val read = t.table
    val old = live(t.store, read).map(_.file).filter(_.isDeletionVector)
    def replaced(path: String, row: Long): RowDelta =
      new RowDelta(t.vectors(path, low -> Seq(0L, row)), removed = old, isolation = serializable(read))
    t.commitOn(read, replaced("theirs.puffin", 5L))
    val table = t.commitOn(read, replaced("mine.puffin", 6L))
    assert(t.deleted(table, low) == Vector(0L, 5L, 6L))
  }

  test("only the vectors whose data files have concurrent deletes are rewritten, even if they share a Puffin file") {
    val t = withTwoFiles
    val read = t.table
    t.commitOn(read, delete(t.vectors("theirs.puffin", low -> Seq(1L)), read))
    val table = t.commitOn(read, delete(t.vectors("mine.puffin", low -> Seq(2L), high -> Seq(5L)), read))
    assert(t.deleted(table, low) == Vector(1L, 2L) && t.deleted(table, high) == Vector(5L))
    val paths = live(t.store, table).map(_.file).filter(_.isDeletionVector).map(_.path)
    assert(paths.contains("mine.puffin") && paths.exists(_.startsWith("mem://t/data/")))
  }

  test("a vector is merged with an existing vector that its writer did not know") {
    val t = withTwoFiles
    t.commit(delete(t.vectors("first.puffin", low -> Seq(0L)), t.table))
    val table = t.commit(delete(t.vectors("second.puffin", low -> Seq(9L)), t.table))
    assert(t.deleted(table, low) == Vector(0L, 9L))
  }

  test(
    "a commit with unknown outcome keeps its Puffin files, and a failed commit removes those with merged vectors",
    CommitRules.unknownKept
  ) {
    val t = withTwoFiles
    val read = t.table
    t.commitOn(read, delete(t.vectors("theirs.puffin", low -> Seq(1L)), read))
    val before = t.store.paths
    t.committer.script = Vector(ScriptedCommitter.conflict, ScriptedCommitter.unknown(happens = false, 99))
    intercept[CommitStateUnknown](t.commitOn(read, delete(t.vectors("mine.puffin", low -> Seq(2L)), read)))
    assert((t.store.paths -- before).count(_.endsWith(".puffin")) == 2, "mine.puffin and the merged file")
    val later = t.store.paths
    t.committer.script = Vector.fill(5)(ScriptedCommitter.conflict)
    intercept[Exception](t.commitOn(read, delete(t.vectors("again.puffin", low -> Seq(3L)), read)))
    assert(t.store.paths -- later == Set("again.puffin"), "the writer removes its own file later")
  }

  test("concurrent updates of different rows of one file are merged, also under serializable isolation if row by row") {
    Seq(snapshot _ -> false, serializable _ -> true).foreach { case (isolation, rowByRow) =>
      val t = withTwoFiles
      val read = t.table
      def update(name: String, row: Long): RowDelta = new RowDelta(
        t.vectors(s"$name.puffin", low -> Seq(row)) :+ file(name, records = 1, ids = (row, row)),
        isolation = isolation(read),
        read = ReadRows(idBelow(2), isRowByRow = rowByRow)
      )
      t.commitOn(read, update("theirs", 5L))
      val table = t.commitOn(read, update("mine", 1L))
      assert(t.deleted(table, low) == Vector(1L, 5L))
      assert(operation(table) == "overwrite")
    }
  }

  test("two writers that update the same row conflict", CommitRules.lostUpdate) {
    IsolationLevel.all.foreach { level =>
      val t = withTwoFiles
      val read = t.table
      def update(name: String): RowDelta = new RowDelta(
        t.vectors(s"$name.puffin", low -> Seq(4L)) :+ file(name, records = 1, ids = (50, 50)),
        isolation = since(read, level),
        read = ReadRows(idBelow(9), isRowByRow = true)
      )
      t.commitOn(read, update("theirs"))
      assert(rejection(t.commitOn(read, update("mine"))).contains("deletes row 4 of low"))
      assert(t.orphanFiles.isEmpty)
    }
  }

  test(
    "a delete of a row that another writer updated is rejected instead of deleting only the old version",
    CommitRules.lostUpdate
  ) {
    val t = withTwoFiles
    val read = t.table
    val update = new RowDelta(
      t.vectors("theirs.puffin", low -> Seq(4L)) :+ file("new", records = 1, ids = (4, 4)),
      isolation = snapshot(read)
    )
    t.commitOn(read, update)
    def mine(row: Long, isolation: Option[Isolation]): RowDelta =
      new RowDelta(
        t.vectors(s"$row$isolation.puffin", low -> Seq(row)),
        isolation = isolation,
        read = ReadRows(idBelow(5))
      )
    assert(rejection(t.commitOn(read, mine(4L, snapshot(read)))).contains("deletes row 4 of low"))
    assert(rejection(t.commitOn(read, mine(4L, serializable(read)))).contains("added new"))
    assert(t.deleted(t.commitOn(read, mine(5L, snapshot(read))), low) == Vector(4L, 5L))
  }

  test("concurrent updates do not conflict because of a row that was already deleted when both writers started") {
    val t = withTwoFiles
    t.commit(delete(t.vectors("first.puffin", low -> Seq(0L)), t.table))
    val read = t.table
    def update(name: String, row: Long): RowDelta = new RowDelta(
      t.vectors(s"$name.puffin", low -> Seq(0L, row)) :+ file(name, records = 1, ids = (50, 50)),
      isolation = snapshot(read)
    )
    t.commitOn(read, update("theirs", 1L))
    assert(t.deleted(t.commitOn(read, update("mine", 2L)), low) == Vector(0L, 1L, 2L))
  }

  test("a statement that read rows deleted concurrently fails with serializable isolation, but not with snapshot") {
    IsolationLevel.all.foreach { level =>
      val t = withTwoFiles
      val read = t.table
      t.commitOn(read, delete(t.vectors("theirs.puffin", low -> Seq(5L)), read))
      val merge = new RowDelta(
        t.vectors("mine.puffin", low -> Seq(1L)) :+ file("new", ids = (50, 50)),
        isolation = since(read, level),
        read = ReadRows(idBelow(10))
      )
      if (level == IsolationLevel.Snapshot) assert(t.deleted(t.commitOn(read, merge), low) == Vector(1L, 5L))
      else assert(rejection(t.commitOn(read, merge)).contains("added the delete file theirs.puffin"))
    }
  }

  test(
    "concurrent deletes in a file do not conflict if the statement's filter matches no rows of the file",
    CommitRules.disjoint
  ) {
    val t = withTwoFiles
    val read = t.table
    t.commitOn(read, delete(t.vectors("theirs.puffin", high -> Seq(5L)), read))
    val merge = new RowDelta(
      t.vectors("mine.puffin", low -> Seq(1L)) :+ file("new", ids = (50, 50)),
      isolation = serializable(read),
      read = ReadRows(idBelow(10))
    )
    assert(t.deleted(t.commitOn(read, merge), low) == Vector(1L))
  }

  test("matching rows added concurrently conflict with a serializable delete", CommitRules.serializable) {
    val t = withTwoFiles
    val read = t.table
    t.append(file("new", ids = (5, 6)))
    def mine(below: Long, isolation: Option[Isolation]): RowDelta =
      new RowDelta(t.vectors(s"$below.puffin", low -> Seq(1L)), isolation = isolation, read = ReadRows(idBelow(below)))
    assert(rejection(t.commitOn(read, mine(10, serializable(read)))).contains("added new"))
    t.commitOn(read, mine(5, serializable(read)))
    t.commitOn(read, mine(9, snapshot(read)))
  }

  test("deletes and updates conflict with a concurrent compaction of their file", CommitRules.filesStillExist) {
    Seq(Vector.empty[ContentFile], Vector(file("changed"))).foreach { rows =>
      IsolationLevel.all.foreach { level =>
        val t = withTwoFiles
        val read = t.table
        t.commitOn(
          read,
          new RewriteFiles(Vector(low), Vector(file("compacted", ids = (0, 9))), read.currentSnapshot.get.snapshotId)
        )
        val mine = new RowDelta(t.vectors("mine.puffin", low -> Seq(1L)) ++ rows, isolation = since(read, level))
        assert(rejection(t.commitOn(read, mine)).contains("low is not in the table any more"))
      }
    }
  }

  test("a concurrent removal of the file conflicts with an update, while deletes of the file's rows are dropped") {
    val t = withTwoFiles
    val read = t.table
    t.commitOn(read, new RemoveFiles(Set("low")))
    val changed = new RowDelta(t.vectors("c.puffin", low -> Seq(1L)) :+ file("changed"), isolation = snapshot(read))
    assert(rejection(t.commitOn(read, changed)).contains("low is not in the table any more"))
    val before = t.table
    assert(t.commitOn(read, delete(t.vectors("d.puffin", low -> Seq(1L)), read)).version == before.version)
    val table = t.commitOn(read, delete(t.vectors("e.puffin", low -> Seq(1L), high -> Seq(2L)), read))
    assert(t.deleted(table, low).isEmpty && t.deleted(table, high) == Vector(2L))
  }

  test("a delete conflicts with a concurrent overwrite of the file, because its rows may be in a new file") {
    val t = withTwoFiles
    val read = t.table
    t.commitOn(read, new OverwriteFiles(idBelow(10), Vector(file("over", ids = (0, 9)))))
    assert(rejection(t.commitOn(read, delete(t.vectors("mine.puffin", low -> Seq(1L)), read))).contains("low"))
  }

  test("deletes of a missing data file are rejected even without an isolation level") {
    val t = withTwoFiles
    t.commit(new RemoveFiles(Set("low")))
    assert(rejection(t.commit(new RowDelta(t.vectors("mine.puffin", low -> Seq(1L))))).contains("low"))
  }

  test("one row delta cannot both remove a data file and add deletes for it") {
    val t = withTwoFiles
    intercept[InvalidArgument](new RowDelta(t.vectors("mine.puffin", low -> Seq(1L)), removed = Vector(low)))
  }

  test("the operation describes the change: rows added, deleted, or both", CommitRules.operations) {
    val t = withTwoFiles
    assert(operation(t.commit(new RowDelta(Vector(file("new"))))) == "append")
    assert(operation(t.commit(new RowDelta(t.vectors("1.puffin", low -> Seq(1L))))) == "delete")
    assert(operation(t.commit(new RowDelta(t.vectors("2.puffin", low -> Seq(2L)) :+ file("n2")))) == "overwrite")
    assert(operation(t.commit(new RowDelta(Vector.empty, removed = Vector(high)))) == "delete")
    val before = t.table
    assert(t.commit(new RowDelta(Vector.empty)).version == before.version, "an empty change must make no commit")
  }
}
