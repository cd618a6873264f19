package iceberglite.spark.procedure

import java.util.concurrent.{CountDownLatch, TimeUnit}

import scala.concurrent.duration._
import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global

import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.{call_udf, col}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Millis, Seconds, Span}

import iceberglite.maintenance.health.MaintenanceAction
import iceberglite.spark.{IcebergTable, SharedSession}
import iceberglite.spark.maintenance.SessionRunningReads
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.table.action.ExpireOptions

/** Tests the warning of `expire_snapshots` about running queries that read snapshots which expire. */
class RunningReadsSuite extends AnyFunSuite with StatementFixture {
  implicit override val patienceConfig: PatienceConfig = PatienceConfig(Span(60, Seconds), Span(20, Millis))

  /** Creates a table with four snapshots. @return the name of the table, and the ids of its snapshots, oldest first */
  private def tableWithSnapshots(): (String, Seq[Long]) = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg")
    (1 to 4).foreach(i => sql(s"INSERT OVERWRITE $t VALUES ($i)"))
    (t, rows(s"SELECT snapshot_id FROM $t.snapshots ORDER BY committed_at").map(_.getLong(0)))
  }

  private def expire(table: String, arguments: String): Row = rows(
    s"CALL lite.system.expire_snapshots(table => '${table.stripPrefix("lite.")}', " +
      s"older_than => current_timestamp(), $arguments)"
  ).head

  private def warning(table: String, arguments: String = "dry_run => true"): Option[String] =
    Option(expire(table, arguments).getAs[String]("warning"))

  private def runningReads(table: String): Vector[Set[Long]] = new SessionRunningReads(spark).of(live(table).metadata)

  /** Runs `body` while a query reads the snapshots, all of them in one task. */
  private def whileReading[A](table: String, snapshots: Long*)(body: => A): A =
    whileRunning(table, snapshots: _*) { wait =>
      val rowsOf = snapshots.map(id => spark.read.option("snapshot-id", id).table(table)).reduce(_ union _)
      rowsOf.coalesce(1).select(call_udf(wait, col("id"))).collect()
    }(body)

  /**
   * Runs `body` while a query is running.
   *
   * @param snapshots the snapshots that the query reads
   * @param query runs the query. Its argument is the name of a SQL function that the query must call for its rows. The
   *   function waits until `body` has ended
   */
  private def whileRunning[A](table: String, snapshots: Long*)(query: String => Any)(body: => A): A = {
    val name = s"${ns}_${SharedSession.counter.incrementAndGet()}"
    val gate = new RunningReadsSuite.Gate
    RunningReadsSuite.gates.put(name, gate)
    spark.udf.register(name, (id: Int) => RunningReadsSuite.pass(name, id))
    val result = Future(query(name))
    try {
      assert(gate.started.await(60, TimeUnit.SECONDS))
      eventually(assert(runningReads(table) == Vector(snapshots.toSet)))
      body
    } finally {
      gate.end.countDown()
      Await.ready(result, 60.seconds)
    }
  }

  test("without running queries there is no warning") {
    val (t, _) = tableWithSnapshots()
    assert(warning(t).isEmpty)
  }

  test("the warning counts the running queries that read snapshots which expire, even in a dry run") {
    val (t, ids) = tableWithSnapshots()
    whileReading(t, ids(0), ids(2)) {
      assert(warning(t).exists(_.startsWith("1 running query reads 2 of the 3 snapshots that expire")))
      assert(warning(t, "retain_last => 2").exists(_.startsWith("1 running query reads 1 of the 2 snapshots")))
      assert(warning(t, "retain_last => 1").exists(_.startsWith("1 running query reads 1 of the 1 snapshots")))
    }
    eventually(assert(runningReads(t).isEmpty))
  }

  test("a running UPDATE counts as a read of the current snapshot, and causes no warning") {
    val (t, ids) = tableWithSnapshots()
    whileRunning(t, ids.last)(wait => sql(s"UPDATE $t SET id = $wait(id)"))(assert(warning(t).isEmpty))
  }

  test("the Scala method counts running queries as the procedure does") {
    val (t, ids) = tableWithSnapshots()
    val options = ExpireOptions(olderThanMs = Some(System.currentTimeMillis), retainLast = Some(1))
    whileReading(t, ids(0)) {
      val reads = IcebergTable.forName(spark, t).expireSnapshots(options, dryRun = true).reads
      assert(reads.warning == warning(t, "retain_last => 1, dry_run => true") && reads.queries == 1)
    }
  }

  test("VACUUM and its dry run return a row with the warning") {
    val (t, ids) = tableWithSnapshots()
    def warnings(statement: String): Seq[Row] = rows(statement).filter(_.getString(0) == "warning")
    assert(warnings(s"VACUUM $t RETAIN 0 HOURS DRY RUN").isEmpty)
    whileReading(t, ids(0), ids(2)) {
      val Seq(planned) = warnings(s"VACUUM $t RETAIN 0 HOURS DRY RUN")
      val Seq(done) = warnings(s"VACUUM $t RETAIN 0 HOURS")
      assert(planned.getString(1).startsWith("1 running query reads 2 of the 3 snapshots that expire"))
      assert(done.getLong(1) == 1 && done.getString(2) == planned.getString(1))
    }
    assert(warnings(s"VACUUM $t RETAIN 0 HOURS").isEmpty)
  }

  test("the message of maintain contains the warning") {
    val (t, ids) = tableWithSnapshots()
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('history.expire.max-snapshot-age-ms' = '1')")
    whileReading(t, ids(0)) {
      val steps = IcebergTable.forName(spark, t).maintain()
      val expiry = steps.find(_.step.action == MaintenanceAction.ExpireSnapshots).get
      assert(expiry.message.exists(_.contains("; 1 running query reads 1 of the 3 snapshots that expire")))
    }
  }

  test("queries of the current snapshot and of other tables cause no warning") {
    val (t, ids) = tableWithSnapshots()
    val (other, otherIds) = tableWithSnapshots()
    whileReading(t, ids.last) {
      assert(runningReads(other).isEmpty)
      assert(warning(t).isEmpty)
    }
    whileReading(other, otherIds.head)(assert(warning(t).isEmpty))
  }
}

private object RunningReadsSuite {
  val gates = new java.util.concurrent.ConcurrentHashMap[String, Gate]

  final class Gate {
    val started = new CountDownLatch(1)
    val end = new CountDownLatch(1)
  }

  /** Blocks the task that calls this method, and therefore its query, until the test opens the gate. */
  def pass(gate: String, id: Int): Int = {
    gates.get(gate).started.countDown()
    gates.get(gate).end.await(60, TimeUnit.SECONDS)
    id
  }
}
