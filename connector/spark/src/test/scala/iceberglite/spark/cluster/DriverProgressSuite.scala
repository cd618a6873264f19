package iceberglite.spark.cluster

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.rowlevel.StatementFixture

/** The progress of procedures whose work the driver does without a Spark job. */
class DriverProgressSuite extends AnyFunSuite with StatementFixture {

  /** Returns the activities that a call reports. */
  private def activities(call: => Unit): Vector[JobActivity] = {
    val progress = new JobProgress(spark.sparkContext)
    progress.start()
    try call
    finally progress.stop()
    Iterator.from(1).map(number => Option(progress.activity(number))).takeWhile(_.isDefined).flatten.toVector
  }

  test("the driver's stages of small tables are activities with counts and bytes", Slow) {
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
}
