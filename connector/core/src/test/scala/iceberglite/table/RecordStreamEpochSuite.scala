package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.{AlreadyCommitted, ValidationFailed}
import iceberglite.table.TestTables._
import iceberglite.table.action.{FastAppend, RecordStreamEpoch}

/** Tests the record of the epochs of a streaming query. */
class RecordStreamEpochSuite extends AnyFunSuite {

  private def commitEpoch(t: Actions, query: String, epoch: Long, read: Option[Table] = None): Table = {
    val record = new RecordStreamEpoch(query, epoch)
    val append = new FastAppend(Vector(file(s"$query-$epoch")))
    read.getOrElse(t.table).transaction(record.summary, environment).add(record).add(append).commit()
  }

  private def file(path: String) = TestTables.file(path)

  private def lastEpoch(body: => Any): Long = intercept[AlreadyCommitted](body).last

  test("each epoch of a query is committed once, and the epochs of other queries are separate") {
    val t = new Actions(unpartitioned())
    commitEpoch(t, "q", 0)
    commitEpoch(t, "q", 3)
    commitEpoch(t, "other", 0)
    assert(lastEpoch(commitEpoch(t, "q", 3)) == 3)
    assert(lastEpoch(commitEpoch(t, "other", 0)) == 0)
    commitEpoch(t, "q", 4)
    assert(liveFiles(t.table) == Vector("other-0", "q-0", "q-3", "q-4"))
  }

  test("an epoch that is older than the last one fails, because its rows may be new") {
    val t = new Actions(unpartitioned())
    commitEpoch(t, "q", 3)
    t.table.transaction(new RecordStreamEpoch("p", 3).summary, environment).add(new FastAppend(Vector(file("p-3"))))
      .commit()
    for (query <- Seq("q", "p"); n <- Seq(0L, 2L)) {
      val message = intercept[ValidationFailed](commitEpoch(t, query, n)).getMessage
      assert(message.contains(s"Cannot write epoch $n of query $query") && message.contains("already has epoch 3"))
      assert(message.contains("Use a new checkpoint location"))
    }
    assert(liveFiles(t.table) == Vector("p-3", "q-3"))
  }

  test("a concurrent commit of the same epoch is found when the commit is retried") {
    val t = new Actions(unpartitioned())
    val before = t.table
    commitEpoch(t, "q", 0)
    assert(lastEpoch(commitEpoch(t, "q", 0, Some(before))) == 0)
    assert(liveFiles(t.table) == Vector("q-0"))
  }

  test("an epoch counts even if only a snapshot summary records it, as Apache Iceberg's writes do") {
    val t = new Actions(unpartitioned())
    val summary = new RecordStreamEpoch("q", 7).summary
    t.table.transaction(summary, environment).add(new FastAppend(Vector(file("foreign")))).commit()
    t.append(file("later"))
    assert(lastEpoch(commitEpoch(t, "q", 7)) == 7)
    commitEpoch(t, "q", 8)
    assert(liveFiles(t.table) == Vector("foreign", "later", "q-8"))
  }

  test("an epoch in the summary of a staged snapshot, which is not in the history of the target, does not count") {
    val t = new Actions(unpartitioned())
    t.append(file("first"))
    val append = new FastAppend(Vector(file("staged")), SnapshotTarget.Staged)
    t.table.transaction(new RecordStreamEpoch("q", 7).summary, environment).add(append).commit()
    commitEpoch(t, "q", 7)
    assert(liveFiles(t.table) == Vector("first", "q-7"))
  }
}
