package iceberglite.spark.stream.source

import org.apache.spark.sql.DataFrame
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession

/** Tests streaming reads of changes. */
class ChangeStreamSuite extends AnyFunSuite with SourceFixture {
  private val changes = "streaming-changes" -> "true"

  private def change(t: String): Unit = {
    SharedSession.liteExtensions.sql(s"UPDATE $t SET name = 'new' WHERE id IN (3, 6)")
    compact(t)
    append(t, 8 until 9)
    sql(s"DELETE FROM $t WHERE id >= 0")
    ()
  }

  for (mode <- Seq("copy-on-write", "merge-on-read"))
    test(s"a stream of changes returns the rows of the metadata table changes, also after a restart ($mode)") {
      val t = withDeletedRow(mode)
      val checkpoint = newCheckpoint()
      val first = read(stream(t, changes), checkpoint)
      change(t)
      val second = batches(stream(s"$t.changes", "streaming-max-files-per-micro-batch" -> "1"), checkpoint)
      assert((first ++ second.flatten).sorted == sorted(s"SELECT * FROM $t.changes"))
      val commits = second.map(_.map(_.stripSuffix("]").split(',').last).toSet).filter(_.nonEmpty)
      assert(commits.forall(_.size == 1) && commits.distinct.size == commits.size, "each batch contains one commit")
    }

  test("a stream of changes can begin with the rows of the current snapshot", Slow) {
    val t = withDeletedRow("merge-on-read")
    val checkpoint = newCheckpoint()
    def columns(frame: DataFrame): DataFrame = frame.select("id", "_change_type", "_change_ordinal")
    val current = columns(stream(t, changes, "stream-from" -> "current"))
    assert(read(current, checkpoint) == Seq(0, 1, 3, 4, 5, 6, 7).map(id => s"[$id,INSERT,0]"))
    sql(s"DELETE FROM $t WHERE id = 4")
    assert(read(current, checkpoint) == Vector("[4,DELETE,1]"))
  }

  test("changes can be read by table, by format and by metadata table; streaming-changes needs the extensions", Slow) {
    val t = withDeletedRow("copy-on-write")
    val expected = sorted(s"SELECT * FROM $t.changes")
    assert(read(stream(t, changes)) == expected)
    assert(read(spark.readStream.format("iceberg-lite").options(Map(changes)).load(t)) == expected)
    assert(read(spark.readStream.format("iceberg-lite").load(s"$t.changes")) == expected)
    val filtered = stream(t, changes).where("_change_type = 'DELETE'").select("id", "_change_type")
    assert(read(filtered) == sorted(s"SELECT id, _change_type FROM $t.changes WHERE _change_type = 'DELETE'"))
    val message = inSession(SharedSession.withoutExtensions) { s =>
      failure(s.readStream.options(Map(changes)).table(t))
    }
    assert(message.contains(s"stream $t.changes"), message)
  }

  test("a stream of changes rejects the options that select the range of commits of a batch read") {
    val t = numbers(0 until 1)
    Seq("start-snapshot-id", "end-snapshot-id", "start-timestamp", "end-timestamp").foreach { key =>
      val value =
        if (key.endsWith("id")) rows(s"SELECT snapshot_id FROM $t.snapshots").head.getLong(0).toString
        else if (key.startsWith("start")) "0"
        else "4102444800000"
      val error = failure(stream(s"$t.changes", key -> value))
      assert(error.contains(s"option $key for a stream of changes") && error.contains("stream-from-snapshot-id"), error)
    }
  }
}
