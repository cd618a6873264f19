package iceberglite.spark.maintenance

import scala.collection.mutable

import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskEnd, SparkListenerTaskStart}
import org.scalatest.concurrent.Eventually
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow
import org.scalatest.time.{Millis, Seconds, Span}

import iceberglite.spark.rowlevel.StatementFixture

/** Tests rewrites of data files whose Spark jobs are cancelled while their tasks run. */
class RewriteCancellationSuite extends AnyFunSuite with StatementFixture with Eventually {
  implicit override val patienceConfig: PatienceConfig = PatienceConfig(Span(60, Seconds), Span(50, Millis))

  private val group = "rewrite to cancel"

  /** Cancels the jobs of the group when task number `afterTasks` has begun, and records which tasks are running. */
  final private class Canceller(afterTasks: Int) extends SparkListener {
    private var started = 0
    private val running = mutable.Set.empty[Long]

    override def onTaskStart(event: SparkListenerTaskStart): Unit = synchronized {
      started += 1
      running += event.taskInfo.taskId
      if (started == afterTasks) spark.sparkContext.cancelJobGroup(group)
    }

    /** Spark may report the end of a task that began before this listener was added. */
    override def onTaskEnd(event: SparkListenerTaskEnd): Unit = synchronized {
      running -= event.taskInfo.taskId
      ()
    }

    def isIdle: Boolean = synchronized(started > 0 && running.isEmpty)
  }

  /** Calls the procedure and cancels its jobs. @return whether the call failed because of the cancellation */
  private def isCancelled(t: String, afterTasks: Int, interrupts: Boolean, arguments: String): Boolean = {
    val (canceller, context) = (new Canceller(afterTasks), spark.sparkContext)
    context.addSparkListener(canceller)
    context.setJobGroup(group, "rewrite", interruptOnCancel = interrupts)
    try {
      val Array(catalog, rest) = t.split("\\.", 2)
      sql(s"CALL $catalog.system.rewrite_data_files(table => '$rest', $arguments)")
      false
    } catch {
      case e: Exception if messages(e).toLowerCase.contains("cancelled") => true
    } finally {
      context.clearJobGroup()
      // Tasks that were killed may end later than their job.
      eventually(assert(canceller.isIdle))
      context.removeSparkListener(canceller)
      sql(s"REFRESH TABLE $t")
    }
  }

  private def unlisted(t: String): Set[String] = {
    val listed = rows(s"SELECT file_path FROM $t.all_files").map(_.getString(0).split('/').last).toSet
    dataFilesOf(t).map(_.getFileName.toString) -- listed
  }

  private def contents(t: String): Seq[String] = sorted(s"SELECT * FROM $t")

  for (
    (name, arguments) <- Seq(
      "bin-packing" -> "options => map('rewrite-all', 'true', 'max-file-group-input-files', '2')",
      "sorting" -> "strategy => 'sort', sort_order => 'n DESC', options => map('rewrite-all', 'true')"
    );
    interrupts <- Seq(false, true)
  ) test(s"after $name is cancelled, no row is changed and no unreferenced file remains, interrupt $interrupts", Slow) {
    val t = create("id BIGINT, n BIGINT", 2, "merge-on-read", "write.distribution-mode" -> "none")
    sql(s"INSERT INTO $t SELECT id, id * 7919 % 10007 FROM range(0, 100000, 1, 24)")
    val before = contents(t)
    val snapshots = count(s"$t.snapshots")
    val cancelled = Seq(1, 2, 5).map { afterTasks =>
      val isStopped = isCancelled(t, afterTasks, interrupts, arguments)
      assert(contents(t) == before && unlisted(t).isEmpty, s"after $afterTasks tasks")
      isStopped
    }
    assert(cancelled.contains(true))
    assert(count(s"$t.snapshots") == snapshots + cancelled.count(!_))
    sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
    assert(contents(inApacheIceberg(t)) == before)
  }
}
