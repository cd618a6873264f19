package iceberglite.spark.stream.source

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.Trigger
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
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
    test(
      s"a stream of changes returns the rows of the metadata table changes, also after a restart ($mode)",
      Sampling.slowUnless(mode == "merge-on-read"): _*
    ) {
      val t = withDeletedRow(mode)
      val checkpoint = newCheckpoint()
      val first = read(stream(t, changes), checkpoint)
      change(t)
      val second = batches(stream(s"$t.changes", "streaming-max-files-per-micro-batch" -> "1"), checkpoint)
      assert((first ++ second.flatten).sorted == sorted(s"SELECT * FROM $t.changes"))
      def ordinals(batch: Vector[String]): Vector[Int] = batch.map(_.split(',').takeRight(2).head.toInt).distinct
      val commits = second.filter(_.nonEmpty).map(ordinals)
      assert(commits.forall(_.size == 1), "each batch must contain one commit")
      assert(
        ordinals(first).sorted ++ commits.flatten == rows(s"SELECT DISTINCT _change_ordinal FROM $t.changes")
          .map(_.getInt(0)).sorted,
        "the batches must be in the order of the commits"
      )
    }

  /** Rows that differ from each other, so that the size of a file depends on their number. */
  private def appendText(t: String, count: Int): Unit = {
    sql(s"INSERT INTO $t SELECT id, sha2(CAST(id AS STRING), 512) FROM range(0, $count, 1, 1)")
    ()
  }

  test("the tasks of a micro-batch of changes return the rows of each commit before those of later commits") {
    val t = numbers()
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('read.split.adaptive-size.enabled' = 'false')")
    Seq(2000, 2000, 1, 2000, 1).foreach(appendText(t, _))
    val sizes = rows(s"SELECT file_size_in_bytes FROM $t.files").map(_.getLong(0))
    // A file with one row has space in each task, so that packing by size would move it to the first one.
    val options = Seq(changes, "split-size" -> (sizes.max + 2 * sizes.min).toString, "file-open-cost" -> "1")
    var tasks = 0
    val ordinals = Vector.newBuilder[Int]
    val collect: (DataFrame, Long) => Unit = { (batch, _) =>
      tasks = batch.rdd.getNumPartitions
      ordinals ++= batch.select("_change_ordinal").collect().map(_.getInt(0))
    }
    stream(t, options: _*).writeStream.foreachBatch(collect).option("checkpointLocation", newCheckpoint())
      .trigger(Trigger.AvailableNow).start().awaitTermination()
    assert(tasks == 3)
    assert(ordinals.result() == Seq(0 -> 2000, 1 -> 2000, 2 -> 1, 3 -> 2000, 4 -> 1).flatMap { case (commit, count) =>
      Vector.fill(count)(commit)
    })
  }

  for (mode <- Seq("position deletes", "equality deletes"))
    test(s"a stream of changes of a table of version 2 returns the rows that $mode delete, in each division", Slow) {
      val t = newTable()
      sql(s"CREATE TABLE $t (id BIGINT, name STRING) USING iceberg TBLPROPERTIES " +
        "('format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read')")
      Seq(0 until 3, 3 until 5).foreach(append(t, _))
      val checkpoint = newCheckpoint()
      val options = Seq(changes, "streaming-max-files-per-micro-batch" -> "1")
      val first = batches(stream(t, options: _*), checkpoint)
      // The second change concerns a file with earlier deletes, and a row that was deleted before.
      if (mode == "position deletes") {
        sql(s"DELETE FROM $t WHERE id IN (1, 3)")
        SharedSession.liteExtensions.sql(s"UPDATE $t SET name = 'new' WHERE id = 2")
      } else Seq("id AS id, 'up' AS name" -> Seq(1, 3), "id AS id, 'new' AS name" -> Seq(2, 1)).foreach {
        case (columns, ids) =>
          spark.sql(s"SELECT $columns FROM VALUES ${ids.map(id => s"(${id}L)").mkString(", ")} AS v (id)")
            .writeTo(t).option("upsert-keys", "id").append()
      }
      val content = rows(s"SELECT DISTINCT content FROM $t.delete_files").map(_.getInt(0))
      assert(content == Seq(if (mode == "position deletes") 1 else 2))
      sql(s"INSERT INTO $t VALUES (9, 'n9')")
      val read = first ++ batches(stream(t, options: _*), checkpoint)
      val inserted = (0 until 5).map(id => s"[$id,n$id,INSERT,${if (id < 3) 0 else 1}]") :+ "[9,n9,INSERT,4]"
      val changed =
        if (mode == "position deletes")
          Seq("[1,n1,DELETE,2]", "[3,n3,DELETE,2]", "[2,n2,DELETE,3]", "[2,new,INSERT,3]")
        else Seq(1, 3).flatMap(id => Seq(s"[$id,n$id,DELETE,2]", s"[$id,up,INSERT,2]")) ++
          Seq("[2,n2,DELETE,3]", "[2,new,INSERT,3]", "[1,up,DELETE,3]", "[1,new,INSERT,3]")
      val withoutIds = read.flatten.map(row => row.substring(0, row.lastIndexOf(',')) + "]")
      assert(withoutIds.sorted == (inserted ++ changed).sorted)
      assert(read.flatten.sorted == sorted(s"SELECT * FROM $t.changes"))
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
