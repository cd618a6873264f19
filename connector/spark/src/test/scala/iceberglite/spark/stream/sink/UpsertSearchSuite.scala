package iceberglite.spark.stream.sink

import java.nio.file.Files

import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.connector.write.WriterCommitMessage
import org.apache.spark.sql.connector.write.streaming.StreamingWrite
import org.apache.spark.sql.types.{BooleanType, IntegerType, LongType, StructType}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.error.StatementError
import iceberglite.spark.write.{CommitForm, PendingCommit, WriteCommit}
import iceberglite.spec.IcebergError.{ConcurrentChange, UnreadableFile, ValidationFailed}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.table._

/**
 * Checks that micro-batches with key columns have the intended effect if other programs change the table while the
 * replaced rows are searched, or between the search and the commit.
 */
class UpsertSearchSuite extends AnyFunSuite with EpochFixture {
  private val withDeletes = new StructType().add("id", LongType).add("part", LongType).add("gone", BooleanType)
  private val byId = "upsert-keys" -> "id"

  private def newTableOf(version: Int, ids: Seq[Int], more: String = "", idType: String = "BIGINT"): String = {
    val t = tableWith(
      s"id $idType, part BIGINT",
      s"TBLPROPERTIES ('format-version' = '$version', 'write.delete.mode' = 'merge-on-read'$more)"
    )
    val values = ids.mkString("(", "), (", ")")
    if (ids.nonEmpty)
      sql(s"INSERT INTO $t SELECT /*+ COALESCE(1) */ CAST(id AS $idType), 0 FROM VALUES $values AS v (id)")
    t
  }

  private def run(write: StreamingWrite, epoch: Long, rows: Array[Any]*): Array[WriterCommitMessage] = {
    val messages = written(write, rows: _*)
    write.commit(epoch, messages)
    messages
  }

  private def written(write: StreamingWrite, rows: Array[Any]*): Array[WriterCommitMessage] = {
    val task = writer(write, 7L)
    rows.foreach(row => task.write(new GenericInternalRow(row)))
    Array(task.commit())
  }

  private def change(id: Long): Array[Any] = Array(id, 9L)

  private def deletion(id: Long): Array[Any] = Array(id, null, true)

  private def refreshed(t: String): Seq[String] = {
    sql(s"REFRESH TABLE $t")
    read(t)
  }

  /** The content of each delete file: 1 for positions, 2 for keys. */
  private def deleteContents(t: String): Set[Int] = rows(s"SELECT content FROM $t.delete_files").map(_.getInt(0)).toSet

  private def expireAll(t: String): Unit = {
    sql(s"CALL lite.system.expire_snapshots(table => '$t', older_than => TIMESTAMP '2100-01-01 00:00:00', " +
      "retain_last => 1)")
    ()
  }

  private def replaceFiles(t: String): Unit = {
    sql(s"CALL lite.system.rewrite_data_files(table => '$t', options => map('rewrite-all', 'true'))")
    expireAll(t)
  }

  for ((when, expectedKeys) <- Seq("before" -> false, "during" -> true))
    test(s"a micro-batch that only deletes deletes a row that another writer adds $when its search") {
      val t = newTableOf(3, Seq(1, 2, 4, 5))
      def insert(): Unit = {
        sql(s"INSERT INTO $t VALUES (3, 0)")
        ()
      }
      val steps = new Steps(t, afterLoad = if (when == "during") insert())
      val write = writeTo(steps.table, withDeletes, byId, "upsert-delete-column" -> "gone")
      if (when == "before") insert()
      run(write, 0, deletion(3))
      assert(refreshed(t) == Seq("[1,0]", "[2,0]", "[4,0]", "[5,0]"))
      assert(deleteContents(t).contains(2) == expectedKeys)
      assertNoOrphans(t)
    }

  test("a micro-batch that only deletes commits nothing if no row has its keys and the table does not change") {
    val t = newTableOf(3, Seq(1, 2, 4, 5))
    assertUnchanged(t)(run(
      writeTo(new Steps(t).table, withDeletes, byId, "upsert-delete-column" -> "gone"),
      0,
      deletion(3)
    ))
  }

  for (version <- Seq(2, 3))
    test(s"if the snapshot of the planning expires, the newest one is searched, in version $version") {
      val t = newTableOf(version, Seq(1, 2))
      val write = writeTo(tableOf(t), byId)
      val messages = written(write, change(1))
      replaceFiles(t)
      write.commit(0, messages)
      assert(refreshed(t) == Seq("[1,9]", "[2,0]") && deleteContents(t) == Set(1))
      assertNoOrphans(t)
    }

  test("if the searched snapshot expires during the search, the rows are deleted by key, and no file is left over") {
    val t = tableWith(
      "id BIGINT, part BIGINT",
      "PARTITIONED BY (part) TBLPROPERTIES ('format-version' = '3', 'write.object-storage.enabled' = 'true')"
    )
    sql(s"INSERT INTO $t VALUES (1, 0), (2, 0), (3, 1), (4, 1)")
    // Only one of the two searched files is lost, so that the search has written deletes of the other one.
    def replaceOne(): Unit = {
      sql(s"CALL lite.system.rewrite_data_files(table => '$t', where => 'part = 0', " +
        "options => map('rewrite-all', 'true'))")
      expireAll(t)
    }
    run(writeTo(new Steps(t, afterLoad = replaceOne()).table, byId), 0, change(1), change(3))
    assert(refreshed(t) == Seq("[1,9]", "[2,0]", "[3,9]", "[4,1]") && deleteContents(t) == Set(2))
    assertNoOrphans(t)
  }

  test("if the searched snapshot expires before its partition specs are read, the micro-batch does not fail") {
    val t = tableWith("id BIGINT, part BIGINT", "TBLPROPERTIES ('format-version' = '3')")
    sql(s"ALTER TABLE $t ADD PARTITION FIELD bucket(2, id)")
    sql(s"INSERT INTO $t VALUES (1, 0), (2, 0)")
    def expireSearched(): Unit = {
      replaceFiles(t)
      // Otherwise, the manifest list of the expired snapshot would be in the cache.
      sql(s"REFRESH TABLE $t")
      ()
    }
    val write = writeTo(new Steps(t, afterLoad = expireSearched()).table, byId)
    val messages = written(write, change(1))
    // The planning has not read the manifest list of this snapshot.
    sql(s"INSERT INTO $t VALUES (3, 0)")
    write.commit(0, messages)
    assert(refreshed(t) == Seq("[1,9]", "[2,0]", "[3,0]") && deleteContents(t) == Set(2))
    assertNoOrphans(t)
  }

  test("if it is unknown whether the searched snapshot has expired, the error is that of the lost file") {
    val t = newTableOf(3, Seq(1, 2))
    val failure = ValidationFailed("not reachable")
    val steps = new Steps(t, afterLoad = replaceFiles(t), beforeReload = throw failure)
    val write = writeTo(steps.table, byId)
    val messages = written(write, change(1))
    val error = intercept[StatementError](write.commit(0, messages))
    val causes = Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null).toVector
    val lost = causes.collectFirst { case lost: UnreadableFile => lost }
    assert(lost.exists(_.getSuppressed.contains(failure)), causes)
    write.abort(0, messages)
    assert(refreshed(t) == Seq("[1,0]", "[2,0]"))
    assertNoOrphans(t)
  }

  test("if a file of the current snapshot is missing, the micro-batch fails instead of hiding the damage") {
    val t = newTableOf(3, Seq(1, 2), ", 'write.object-storage.enabled' = 'true'")
    sql(s"INSERT INTO $t SELECT /*+ COALESCE(1) */ id, 0 FROM VALUES (1), (3) AS v (id)")
    val before = dataFilesOf(t)
    Files.delete(before.toSeq.minBy(_.toString))
    val write = writeTo(tableOf(t), byId)
    val messages = written(write, change(1), change(2), change(3))
    val error = intercept[StatementError](write.commit(0, messages)).getMessage
    assert(error.contains("Cannot read") && error.contains(before.map(_.toString).min.split('/').last), error)
    write.abort(0, messages)
    val files = filesOf(t).map(_.toString).filter(name => name.endsWith(".parquet") || name.endsWith(".puffin"))
    assert(files == before.map(_.toString) - before.map(_.toString).min)
  }

  test("a failed commit removes the files of the search in a table whose files are spread over directories") {
    val t = newTableOf(3, Seq(1, 2), ", 'write.object-storage.enabled' = 'true'")
    val failing = new Steps(t, beforeCommit = throw ValidationFailed("not allowed"))
    assertUnchanged(t) {
      val write = writeTo(failing.table, byId)
      val messages = written(write, change(1))
      assert(intercept[StatementError](write.commit(0, messages)).getErrorClass == "ICEBERG_LITE.VALIDATION_FAILED")
      write.abort(0, messages)
    }
  }

  test("a micro-batch that is already in the table is not searched again") {
    val t = newTableOf(3, Seq(1, 2))
    run(writeTo(tableOf(t), byId), 0, change(1))
    assertUnchanged(t) {
      val kept = dataFilesOf(t).map(file => file -> Files.readAllBytes(file))
      val write = writeTo(tableOf(t), byId)
      val messages = written(write, change(2))
      kept.foreach { case (file, _) => Files.delete(file) }
      try write.commit(0, messages)
      finally kept.foreach { case (file, content) => Files.write(file, content) }
    }
  }

  test("if the branch was empty at the search and its first commits have expired, the rows are deleted by key") {
    val t = newTableOf(3, Nil)
    def others(): Unit = {
      sql(s"INSERT INTO $t VALUES (1, 0)")
      sql(s"INSERT INTO $t VALUES (2, 0)")
      expireAll(t)
    }
    run(writeTo(new Steps(t, afterLoad = others()).table, byId), 0, change(1))
    assert(refreshed(t) == Seq("[1,9]", "[2,0]"))
    assertNoOrphans(t)
  }

  for (when <- Seq("before the search", "between search and commit")) {
    test(s"if the format version is upgraded $when, the rows are deleted by key") {
      val t = newTableOf(2, Seq(1, 2))
      def upgrade(): Unit = {
        sql(s"ALTER TABLE $t SET TBLPROPERTIES ('format-version' = '3')")
        ()
      }
      val isBefore = when.startsWith("before")
      val steps = new Steps(t, beforeCommit = if (!isBefore) upgrade())
      val write = writeTo(steps.table, byId)
      val messages = written(write, change(1))
      if (isBefore) upgrade()
      val newest = shared(t).lastKnown.metadataLocation
      write.commit(0, messages)
      assert(
        steps.bases.head == newest,
        "the first attempt must be based on the newest version, not on that of the planning"
      )
      assert(refreshed(t) == Seq("[1,9]", "[2,0]") && deleteContents(t) == Set(2))
      assertNoOrphans(t)
    }

    test(s"if the type of a key column is promoted $when, the rows are deleted by key") {
      val t = newTableOf(3, Seq(1, 2), idType = "INT")
      def promote(): Unit = {
        sql(s"ALTER TABLE $t ALTER COLUMN id TYPE BIGINT")
        ()
      }
      val isBefore = when.startsWith("before")
      val columns = new StructType().add("id", IntegerType).add("part", LongType)
      val write = writeTo(new Steps(t, beforeCommit = if (!isBefore) promote()).table, columns, byId)
      val messages = written(write, Array(1, 9L))
      if (isBefore) promote()
      write.commit(0, messages)
      assert(refreshed(t) == Seq("[1,9]", "[2,0]") && deleteContents(t) == Set(2))
      assertNoOrphans(t)
    }
  }

  test("rows of a partition spec that is added after the planning are found") {
    val t = tableWith("id BIGINT, part BIGINT", "PARTITIONED BY (bucket(2, id)) TBLPROPERTIES ('format-version' = '3')")
    sql(s"INSERT INTO $t VALUES (1, 0)")
    val write = writeTo(tableOf(t), byId)
    val messages = written(write, change(1), change(2))
    sql(s"ALTER TABLE $t REPLACE PARTITION FIELD bucket(2, id) WITH bucket(3, id)")
    sql(s"INSERT INTO $t VALUES (2, 0)")
    write.commit(0, messages)
    assert(refreshed(t) == Seq("[1,9]", "[2,9]") && deleteContents(t) == Set(1))
  }

  test("earlier deletes of the searched files count towards the limit of the search") {
    val t = newTableOf(3, Seq(1, 2, 3))
    def replace(id: Long, epoch: Long): Unit = {
      run(writeTo(tableOf(t), byId, "upsert-search-bytes" -> (1 << 20).toString), epoch, change(id))
      sql(s"REFRESH TABLE $t")
      ()
    }
    replace(1, 0)
    assert(deleteContents(t) == Set(1))
    replace(2, 1)
    assert(deleteContents(t) == Set(1, 2) && refreshed(t) == Seq("[1,9]", "[2,9]", "[3,0]"))
  }

  test(
    "a write with a second form fails, and this form is not tried, if a conflict does not concern the searched rows"
  ) {
    val t = newTableOf(3, Seq(1))
    val table = tableOf(t)
    val conflict = new MetadataAction {
      override def changeFor(base: TableMetadata, context: CommitContext): Change =
        throw ConcurrentChange("another part of the table has changed")
    }
    var isOtherForm = false
    val other = () => {
      isOtherForm = true
      PendingCommit(table, Map.empty, None, None)
    }
    val pending =
      PendingCommit(table, Map.empty, None, Some(conflict), form = CommitForm(Vector.empty, Some(other)))
    val error = intercept[StatementError](new WriteCommit(table).commit(Array.empty)(pending)).getMessage
    assert(error.contains("another part of the table has changed") && !isOtherForm)
  }

  test("the files that the committed form does not use are deleted by the clean-up of the commit") {
    val table = tableOf(newTableOf(3, Seq(1)))
    val unused = s"${table.location}/data/unused.parquet"
    table.io.createExclusively(unused, Array[Byte](1))
    var delayed = Vector.empty[() => Unit]
    val cleanup = new CommitCleanup {
      override def run(what: String)(work: => Unit): Unit = delayed :+= (() => work)
      override def await(): Unit = ()
    }
    val pending = PendingCommit(table, Map.empty, None, None, form = CommitForm(Vector(unused), None))
    new WriteCommit(table, TestTables.environment.copy(cleanup = cleanup)).commit(Array.empty)(pending)
    assert(delayed.size == 1 && table.io.exists(unused))
    delayed.foreach(_())
    assert(!table.io.exists(unused))
  }
}
