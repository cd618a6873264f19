package iceberglite.spark.stream.source

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.{count, lit}
import org.apache.spark.sql.streaming.{OutputMode, Trigger}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession

/** Tests that streams of changes return the same updates and net changes as the procedure `create_changelog_view`. */
class ChangeViewStreamSuite extends AnyFunSuite with SourceFixture {
  private val changes = "streaming-changes" -> "true"
  private val byId = "identifier-columns" -> "id"
  private val net = "net-changes" -> "true"
  private val oneCommit = "streaming-max-files-per-micro-batch" -> "1"

  /** Creates a table with updates, deletes, a compaction, and rows that commits rewrite without changing them. */
  private def changed(mode: String): String = {
    val t = withDeletedRow(mode)
    SharedSession.liteExtensions.sql(s"UPDATE $t SET name = 'new' WHERE id IN (3, 6)")
    SharedSession.liteExtensions.sql(s"UPDATE $t SET name = 'newer' WHERE id = 6")
    compact(t)
    append(t, 2 until 3)
    t
  }

  private def view(t: String, arguments: String): Seq[String] = {
    sql(
      s"CALL lite.system.create_changelog_view(table => '${t.stripPrefix("lite.")}', changelog_view => 'seen', " +
        s"$arguments)"
    )
    sorted("SELECT * FROM seen")
  }

  for (mode <- Seq("copy-on-write", "merge-on-read"))
    test(
      s"a stream with identifier columns returns the updates of the changelog view, in one or more batches ($mode)",
      Slow
    ) {
      val t = changed(mode)
      val expected = view(t, "identifier_columns => array('id')")
      assert(expected.count(_.contains("UPDATE_AFTER")) == 3)
      assert(read(stream(t, changes, byId)) == expected)
      val single = batches(stream(t, changes, byId, oneCommit))
      assert(single.flatten.sorted == expected)
      assert(single.forall { rows =>
        rows.count(_.contains("UPDATE_BEFORE")) == rows.count(_.contains("UPDATE_AFTER"))
      })
    }

  test("with compute-updates and without identifier-columns, the identifier fields of the table identify updates") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT NOT NULL, name STRING) USING iceberg")
    sql(s"ALTER TABLE $t SET IDENTIFIER FIELDS id")
    append(t, 0 until 3)
    SharedSession.liteExtensions.sql(s"UPDATE $t SET name = 'new' WHERE id = 1")
    val kinds = stream(t, changes, "compute-updates" -> "true").where("id = 1").select("name", "_change_type")
    assert(read(kinds) == Vector("[n1,INSERT]", "[n1,UPDATE_BEFORE]", "[new,UPDATE_AFTER]"))
  }

  test(
    "a stream of net changes returns the net changes of each micro-batch, which together result in the table's rows",
    Slow
  ) {
    val t = changed("copy-on-write")
    assert(read(stream(t, changes, net)) == view(t, "net_changes => true"))
    val kinds = stream(t, changes, net, oneCommit).select("id", "name", "_change_type")
    val state = batches(kinds).foldLeft(Set.empty[String]) { (rows, batch) =>
      def of(kind: String) = batch.filter(_.endsWith(s",$kind]")).map(_.stripSuffix(s",$kind]") + "]").toSet
      assert(of("DELETE").subsetOf(rows))
      rows -- of("DELETE") ++ of("INSERT")
    }
    assert(state == sorted(s"SELECT * FROM $t").toSet)
  }

  test(
    "an aggregation of changes keeps its state between micro-batches, and the progress reports the rows read",
    Slow
  ) {
    val t = changed("copy-on-write")
    val counts = stream(t, changes, byId, oneCommit).groupBy("_change_type").agg(count(lit(1)).as("n"))
    val query = counts.writeStream.outputMode(OutputMode.Complete()).format("memory").queryName("counted_changes")
      .option("checkpointLocation", newCheckpoint()).trigger(Trigger.AvailableNow).start()
    query.awaitTermination()
    view(t, "identifier_columns => array('id')")
    assert(sorted("SELECT * FROM counted_changes") == sorted("SELECT _change_type, count(*) FROM seen GROUP BY 1"))
    assert(query.recentProgress.map(_.numInputRows).sum == rows(s"SELECT * FROM $t.changes").size)
    assert(query.recentProgress.flatMap(_.sources).forall(_.description.contains("stream of changes")))
  }

  test("a stream of net changes returns only the rows that overwrites added, and not those that they rewrote", Slow) {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, name STRING) USING iceberg TBLPROPERTIES ('write.update.mode' = 'copy-on-write')")
    append(t, 0 until 5)
    val checkpoint = newCheckpoint()
    def added = stream(t, changes, net).where("_change_type = 'INSERT'").select("id", "name")
    assert(read(added, checkpoint) == texts(0 until 5))
    SharedSession.liteExtensions.sql(s"UPDATE $t SET name = 'new' WHERE id = 3")
    sql(s"INSERT OVERWRITE $t SELECT * FROM $t WHERE id > 1 UNION ALL SELECT 9L, 'n9'")
    assert(rows(s"SELECT operation FROM $t.snapshots ORDER BY committed_at").map(_.getString(0)) ==
      Seq("append", "overwrite", "overwrite"))
    assert(read(added, checkpoint) == Vector("[3,new]", "[9,n9]"))
  }

  test("a batch read rejects the options of streams of changes") {
    val t = numbers(0 until 1)
    def frame(table: String, options: (String, String)*): DataFrame = spark.read.options(options.toMap).table(table)
    def rejected(key: String)(query: => Any): Unit = {
      val error = intercept[Exception](query).getMessage
      assert(error.contains(s"option $key for a read of $t") && error.contains("create_changelog_view"), error)
    }
    Seq(t, s"$t.changes").foreach { name =>
      rejected("net-changes")(frame(name, net).collect())
      rejected("identifier-columns")(frame(name, byId).collect())
      rejected("identifier-columns")(frame(name, "identifier-columns" -> "nosuch").collect())
      rejected("net-changes")(frame(name, net).count())
    }
    val first = rows(s"SELECT snapshot_id FROM $t.snapshots").head.getLong(0).toString
    rejected("net-changes")(frame(t, net, "start-snapshot-id" -> first).collect())
  }

  test("options of changes are rejected if they contradict each other, do not fit the table or need the extensions") {
    val t = numbers(0 until 1)
    assert(failure(stream(t, changes, byId, net)).contains("Net changes have no updates"))
    assert(failure(stream(t, changes, "compute-updates" -> "true")).contains("SET IDENTIFIER FIELDS"))
    assert(failure(stream(t, changes, "identifier-columns" -> "key")).contains("key"))
    assert(failure(stream(t, net)).contains("option net-changes for a read of"))
    val message = inSession(SharedSession.withoutExtensions) { s =>
      failure(s.readStream.options(Map(net)).table(s"$t.changes"))
    }
    assert(message.contains("in a session without the SQL extensions"), message)
  }
}
