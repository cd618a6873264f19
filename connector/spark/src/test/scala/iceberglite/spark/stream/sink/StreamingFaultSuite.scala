package iceberglite.spark.stream.sink

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.error.{OperationError, StatementError}
import iceberglite.spark.table.IcebergWriteBuilder
import iceberglite.spec.IcebergError.{CommitStateUnknown, StorageFailed, ValidationFailed}
import iceberglite.table._

/**
 * Calls the methods of a micro-batch's write as Spark calls them, with failed commits, repeated epochs and repeated
 * tasks, and checks which rows and files the table has afterwards.
 */
class StreamingFaultSuite extends AnyFunSuite with EpochFixture {

  test("after a commit with an unknown outcome that took effect, the next run of the epoch changes nothing") {
    val t = partitioned()
    val (write, messages) = writeFiles(committing(t, takesEffect = true))
    assert(intercept[OperationError](write.commit(0, messages)).getCause.isInstanceOf[CommitStateUnknown])
    write.abort(0, messages)
    assert(dataFilesOf(t).size == 3 && idsOf(t) == (0 until 6))
    assertUnchanged(t)(runEpoch(t, 0))
    runEpoch(t, 1, 6 until 12)
    assert(idsOf(t) == (0 until 12))
  }

  test("after a commit with an unknown outcome that had no effect, the next run of the epoch adds its rows") {
    val t = partitioned()
    val (write, messages) = writeFiles(committing(t, takesEffect = false))
    assert(intercept[OperationError](write.commit(0, messages)).getCause.isInstanceOf[CommitStateUnknown])
    write.abort(0, messages)
    // The files are kept, because the commit may still take effect. They are orphan files now.
    assert(dataFilesOf(t).size == 3 && idsOf(t).isEmpty)
    runEpoch(t, 0)
    assert(dataFilesOf(t).size == 6 && idsOf(t) == (0 until 6))
  }

  test("after a commit that definitely failed, the files are removed, and the next run of the epoch adds its rows") {
    val t = partitioned()
    val (write, messages) = writeFiles(failing(tableOf(t), ValidationFailed("not allowed")))
    assert(intercept[StatementError](write.commit(0, messages)).getMessage.contains("not allowed"))
    write.abort(0, messages)
    assert(dataFilesOf(t).isEmpty)
    runEpoch(t, 0)
    assert(idsOf(t) == (0 until 6))
  }

  test("if two runs of one epoch write at the same time, the second to commit adds nothing and removes its files") {
    val t = partitioned()
    val (first, firstMessages) = writeFiles(tableOf(t))
    val (second, secondMessages) = writeFiles(tableOf(t))
    second.commit(0, secondMessages)
    val files = dataFilesOf(t)
    assert(files.size == 6)
    first.commit(0, firstMessages)
    assert(dataFilesOf(t).size == 3 && dataFilesOf(t).subsetOf(files) && idsOf(t) == (0 until 6))
  }

  test("the last epoch changes nothing if it runs again, and an epoch that is older fails and removes its files") {
    val t = partitioned()
    runEpoch(t, 4)
    val files = dataFilesOf(t)
    assertUnchanged(t) {
      Seq(0L, 3L).foreach { epoch =>
        val (write, messages) = writeFiles(tableOf(t))
        val message = intercept[StatementError](write.commit(epoch, messages)).getMessage
        assert(message.contains(s"Cannot write epoch $epoch of query query") && message.contains("new checkpoint"))
        write.abort(epoch, messages)
      }
      runEpoch(t, 4)
    }
    assert(dataFilesOf(t) == files)
    assertUnchanged(t)(runEpoch(t, 4, 100 until 110))
    runEpoch(t, 5, 6 until 9)
    assert(idsOf(t) == (0 until 9))
  }

  test("a session that stages writes with spark.wap.id cannot write streams") {
    val t = tableWith("id BIGINT, part BIGINT", "TBLPROPERTIES ('write.wap.enabled' = 'true')")
    inSession(spark.newSession()) { session =>
      session.conf.set("spark.wap.id", "audit")
      val write = new IcebergWriteBuilder(tableOf(t), new Info(Map.empty), session, None, Nil).build()
      val message = messages(intercept[Exception](write.toStreaming))
      assert(message.contains("in a session with spark.wap.id"), message)
    }
  }

  test("of two attempts of a task, only the files of the attempt that Spark reports are committed") {
    val t = partitioned()
    val write = writeTo(tableOf(t))
    val (first, second) = (writer(write, 7L), writer(write, 8L))
    val messages = Seq(first, second).map(put(_, 0 until 6))
    assert(dataFilesOf(t).size == 6)
    second.abort()
    second.close()
    write.commit(0, Array(messages.head))
    assert(idsOf(t) == (0 until 6) && dataFilesOf(t).size == 3)
  }

  test("an aborted micro-batch removes the files of tasks that have not reported a result") {
    val t = partitioned()
    val write = writeTo(tableOf(t))
    put(writer(write, 7L), 0 until 6)
    assert(dataFilesOf(t).size == 3)
    write.abort(0, Array(null))
    assert(dataFilesOf(t).isEmpty)
  }

  private def partitioned(): String = tableWith(
    "id BIGINT, part BIGINT",
    "PARTITIONED BY (part) TBLPROPERTIES " +
      "('commit.status-check.num-retries' = '1', 'commit.status-check.min-wait-ms' = '1')"
  )

  private def idsOf(t: String): Seq[Long] = {
    sql(s"REFRESH TABLE $t")
    ids(t)
  }

  /** Returns the table with a committer that fails with the given error. */
  private def failing(table: Table, error: Throwable): Table = withCommitter(table) { (_, _, _) => throw error }

  /** Returns the table with a committer whose responses are lost. The outcome of its commits cannot be determined. */
  private def committing(t: String, takesEffect: Boolean): Table = withCommitter(tableOf(t)) { (id, base, change) =>
    if (takesEffect) shared(t).commit(id, base, change)
    throw CommitStateUnknown(id.toString, base.map(_.metadataLocation), "the answer was lost", None)
  }

  private def withCommitter(table: Table)(run: (TableIdentifier, Option[TableVersion], Change) => TableVersion)
      : Table = {
    val committer = new Committer {
      override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion =
        run(id, base, change)
      override def load(id: TableIdentifier): TableVersion = throw StorageFailed.at("load", id.toString, "it is down")
    }
    new Table(table.id, table.name, table.version, table.io, committer)
  }

  private def runEpoch(t: String, epoch: Long, ids: Seq[Int] = 0 until 6): Unit = {
    val (write, messages) = writeFiles(tableOf(t), ids)
    write.commit(epoch, messages)
  }
}
