package iceberglite.spark.cluster

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow
import org.scalatest.time.{Millis, Seconds, Span}

import iceberglite.spark.rowlevel.StatementFixture

/** Checks the progress that procedures report, also for work that the driver does without a Spark job. */
class DriverProgressSuite extends AnyFunSuite with StatementFixture {
  implicit override val patienceConfig: PatienceConfig = PatienceConfig(Span(60, Seconds), Span(10, Millis))

  /** Returns the activities that a call reports. */
  private def activities(call: => Unit): Vector[JobActivity] = {
    val (context, last) = (spark.sparkContext, "the last job")
    val progress = new JobProgress(context)
    def all = Iterator.from(1).map(number => Option(progress.activity(number))).takeWhile(_.isDefined).flatten.toVector
    progress.start()
    try {
      call
      // Spark reports events in order. When the end of this job is reported, all events of the call have been reported.
      ClusterJob.withDescription(context, last)(context.parallelize(Seq(1), 1).count())
      eventually(assert(all.exists(a => a.description == last && a.runningJobs == 0)))
      all.filterNot(_.description == last)
    } finally progress.stop()
  }

  test("procedures on small tables, which the driver runs without a Spark job, report their tasks", Slow) {
    val t = create("id BIGINT, n BIGINT", 2, "merge-on-read", "commit.manifest-merge.enabled" -> "false")
    (0 until 3).foreach(i => sql(s"INSERT INTO $t VALUES ($i, $i)"))
    val Array(catalog, rest) = t.split("\\.", 2)
    for (
      (procedure, description) <- Seq(
        s"rewrite_manifests('$rest')" -> "Rewriting manifests of",
        s"expire_snapshots(table => '$rest', older_than => now(), retain_last => 1)" -> "Expiring snapshots of",
        s"remove_orphan_files('$rest')" -> "Removing orphan files of"
      )
    ) {
      val found = activities { sql(s"CALL $catalog.system.$procedure"); () }
      val own = found.filter(_.description.startsWith(description))
      assert(own.size == 1 && own.head.tasks > 0 && own.head.completedTasks == own.head.tasks, s"$procedure: $found")
      assert(own.head.runningJobs == 0)
      if (procedure.startsWith("rewrite")) assert(own.head.bytesRead > 0)
    }
    assert(count(t) == 3)
  }

  /** Creates a table with small files, position deletes, equality deletes and several manifests. */
  private def table(): String = {
    val t = create("id BIGINT NOT NULL, n BIGINT", 2, "merge-on-read", "commit.manifest-merge.enabled" -> "false")
    sql(s"ALTER TABLE $t ADD PARTITION FIELD bucket(2, id)")
    sql(s"ALTER TABLE $t SET IDENTIFIER FIELDS id")
    (0 until 2).foreach(i => sql(s"INSERT INTO $t SELECT id, id % 7 FROM range(${i * 50}, ${i * 50 + 50}, 1, 1)"))
    (1 to 2).foreach(n => sql(s"DELETE FROM $t WHERE n = $n"))
    sql(s"INSERT INTO $t WITH ('upsert' = 'true') SELECT 10L, 3L")
    t
  }

  private def calls(t: String): Seq[(String, String)] = {
    val location = live(t).location
    val source = newDirectory("source")
    spark.range(100, 120, 1, 2).selectExpr("id", "id AS n").write.mode("overwrite").parquet(source.toUri.toString)
    val plain = create("id BIGINT, n BIGINT", 2, "copy-on-write")
    val all = "options => map('rewrite-all', 'true')"
    Seq(
      "rewrite_position_delete_files(table => 'T', ALL)" -> "Rewriting \\d+ position delete files of .*",
      "convert_equality_deletes('T')" -> "Converting 1 equality delete files \\(.*B\\) of .*",
      "rewrite_data_files(table => 'T', ALL)" -> "Rewriting \\d+ data files \\(.*B\\) of .*",
      "rewrite_data_files(table => 'T', sort_order => 'n', ALL)" -> "Rewriting \\d+ data files \\(.*B\\) of .*",
      "compute_table_stats('T')" -> "Counting distinct values of 2 columns of .*",
      "compute_partition_stats('T')" -> "Computing partition statistics of .*",
      s"rewrite_table_path('T', '$location', '$location-moved')" -> "Rewriting the paths of .*",
      s"add_files('${plain.split('.').tail.mkString(".")}', 'parquet.`$source`')" ->
        "Reading the metadata of 2 files \\(.*B\\) to add to .*"
    ).map { case (call, description) => call.replace("ALL", all) -> description }
  }

  test("each procedure reports its work with a description and the number of completed tasks", Slow) {
    val t = table()
    val Array(catalog, rest) = t.split("\\.", 2)
    calls(t).foreach { case (call, description) =>
      val found = activities { sql(s"CALL $catalog.system.${call.replace("'T'", s"'$rest'")}"); () }
      val own = found.filter(_.description.matches(description))
      assert(own.nonEmpty && own.forall(a => a.tasks > 0 && a.completedTasks == a.tasks), s"$call: $found")
    }
  }
}
