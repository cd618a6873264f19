package iceberglite.spark.stream.source

import java.util.concurrent.{FutureTask, TimeUnit}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/**
 * Tests streaming reads with the option `consumer-id`. A tag of the table records the position of such a query (a
 * consumer), and protects the snapshots that the query has not read. Two tests read without a consumer.
 */
class ConsumerSuite extends AnyFunSuite with SourceFixture {
  private val options = Seq("consumer-id" -> "etl", "streaming-max-files-per-micro-batch" -> "1")

  private def call(t: String, procedure: String, more: String = ""): Seq[String] =
    sorted(s"CALL lite.system.$procedure(table => '${t.stripPrefix("lite.")}'$more)")

  private def expire(t: String): Unit = {
    call(t, "expire_snapshots", ", older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1")
    ()
  }

  private def snapshots(t: String): Seq[Long] =
    rows(s"SELECT snapshot_id FROM $t.snapshots ORDER BY committed_at").map(_.getLong(0))

  test("a consumer protects from expiration the snapshots that it has not read, until it is dropped", Slow) {
    val t = numbers(0 until 2, 2 until 4)
    val checkpoint = newCheckpoint()
    assert(read(stream(t, options: _*), checkpoint) == texts(0 until 4))
    Seq(4 until 5, 5 until 6, 6 until 7).foreach(append(t, _))
    val before = snapshots(t)
    val Seq(consumer) = rows(s"CALL lite.system.consumers('${t.stripPrefix("lite.")}')")
    assert(consumer.getString(0) == "etl" && before.take(2).contains(consumer.getLong(1)))
    assert(consumer.getLong(3) == before.size - 1 - before.indexOf(consumer.getLong(1)))
    expire(t)
    assert(snapshots(t) == before.drop(before.indexOf(consumer.getLong(1))))
    val unread = intercept[Exception](call(t, "expire_snapshots", s", snapshot_ids => array(${before(3)})")).getMessage
    assert(unread.contains("has not read all later snapshots"), unread)
    assert(read(stream(t, options: _*), checkpoint) == texts(4 until 7))
    assert(call(t, "drop_consumer", ", consumer_id => 'etl'").size == 1)
    expire(t)
    assert(snapshots(t) == before.takeRight(1) && call(t, "consumers").isEmpty)
    val missing = intercept[Exception](call(t, "drop_consumer", ", consumer_id => 'etl'")).getMessage
    assert(missing.contains("The table has no consumer etl"), missing)
  }

  test(
    "a consumer's lag is counted on the branch that it follows, or is unknown if several branches have its position",
    Slow
  ) {
    val t = numbers(0 until 1)
    sql(s"ALTER TABLE $t CREATE BRANCH b")
    append(s"$t.branch_b", 1 until 2)
    append(t, 2 until 3)
    val checkpoint = newCheckpoint()
    def ofBranch = stream(t, "branch" -> "b", "consumer-id" -> "etl")
    assert(read(ofBranch, checkpoint) == texts(0 until 2))
    // The second run moves the tag to the end of the micro-batch of the first run.
    assert(read(ofBranch, checkpoint).isEmpty)
    def lag: String = rows(s"CALL lite.system.consumers('${t.stripPrefix("lite.")}')")
      .map(row => s"${row.get(3)} snapshots, ${row.get(4)} files").mkString
    assert(lag == "0 snapshots, 0 files")
    append(s"$t.branch_b", 3 until 4)
    sql(s"INSERT INTO $t.branch_b SELECT /*+ REPARTITION(2) */ id, 'x' FROM range(4)")
    assert(lag == "2 snapshots, 3 files")
    sql(s"ALTER TABLE $t CREATE BRANCH same AS OF VERSION ${rows(s"SELECT snapshot_id FROM $t.refs WHERE name = 'b'")
        .head.getLong(0)}")
    assert(lag == "2 snapshots, 3 files", "both branches have the same snapshots")
    append(s"$t.branch_same", 5 until 6)
    assert(lag == "null snapshots, null files", "the consumer may follow either branch")
  }

  test("a query that begins with an empty table protects the first snapshot when it plans to read it") {
    val t = numbers()
    val reader = sourceOf(t, "consumer-id" -> "etl")
    val first = reader.initialOffset()
    append(t, 0 until 1)
    append(t, 1 until 2)
    assert(Option(reader.latestOffset(first, reader.getDefaultReadLimit)).isDefined)
    expire(t)
    assert(snapshots(t).size == 2)
  }

  test("a commit after an AvailableNow query has selected its last snapshot is left to the next query") {
    val t = numbers(0 until 1)
    Seq("current", "now").foreach { from =>
      val reader = sourceOf(t, "stream-from" -> from)
      reader.prepareForTriggerAvailableNow()
      val head = snapshots(t).last
      append(t, 1 until 2)
      val first = reader.initialOffset()
      assert(IcebergOffset.of(first).position.snapshotId.contains(head))
      assert(Option(reader.latestOffset(first, reader.getDefaultReadLimit)).isDefined == (from == "current"))
    }
  }

  test(
    "a consumer continues while a branch has the name of its tag, and creates the tag again after the branch is dropped"
  ) {
    val t = numbers(0 until 1)
    val reader = sourceOf(t, "consumer-id" -> "etl")
    val first = reader.initialOffset()
    def nextTrigger(): Unit = assert(Option(reader.latestOffset(first, reader.getDefaultReadLimit)).isDefined)
    sql(s"ALTER TABLE $t DROP TAG `stream-etl`")
    sql(s"ALTER TABLE $t CREATE BRANCH `stream-etl`")
    nextTrigger()
    assert(sorted(s"SELECT type FROM $t.refs WHERE name = 'stream-etl'") == Seq("[BRANCH]"))
    sql(s"ALTER TABLE $t DROP BRANCH `stream-etl`")
    nextTrigger()
    assert(sorted(s"SELECT type FROM $t.refs WHERE name = 'stream-etl'") == Seq("[TAG]"))
  }

  test("of two queries with the same consumer, the one whose tag the other moved ends with an error") {
    val t = numbers(0 until 1)
    val queries = Seq.fill(2)(sourceOf(t, "consumer-id" -> "etl"))
    val limit = queries.head.getDefaultReadLimit
    val Seq(first, second) = queries.map(q => q.latestOffset(q.initialOffset(), limit))
    append(t, 1 until 2)
    queries.head.latestOffset(queries.head.latestOffset(first, limit), limit)
    val error = intercept[Exception](queries(1).latestOffset(second, limit)).getMessage
    assert(error.contains("have the consumer-id etl") && error.contains("Each query needs its own consumer-id"), error)
    val restarted = sourceOf(t, "consumer-id" -> "etl")
    assert(Option(restarted.latestOffset(first, limit)).isDefined, "a query may continue after an earlier run")
  }

  private def taggedSnapshots(t: String): Seq[Long] =
    rows(s"SELECT snapshot_id FROM $t.refs WHERE name = 'stream-etl'").map(_.getLong(0))

  test("a query that reads a table twice moves its tag to the older position of its sources") {
    val t = numbers(0 until 1, 1 until 2)
    val checkpoint = newCheckpoint()
    val sources = (0 to 1).map(i => streamOf(scanOf(t, options: _*), s"$checkpoint/sources/$i"))
    val limit = sources.head.getDefaultReadLimit
    val starts = sources.map(_.initialOffset())
    val ends = sources.zip(starts).map { case (source, start) => source.latestOffset(start, limit) }
    val next = sources.head.latestOffset(ends.head, limit)
    sources.head.latestOffset(next, limit)
    assert(taggedSnapshots(t) == snapshots(t).take(1), "the second source has read nothing")
    sources(1).latestOffset(ends(1), limit)
    sources(1).latestOffset(next, limit)
    assert(taggedSnapshots(t) == snapshots(t).drop(1))
    sources.foreach(_.stop())
  }

  test("a query that reads a table twice can use one consumer-id for both reads", Slow) {
    val t = numbers(0 until 1, 1 until 2, 2 until 3)
    val checkpoint = newCheckpoint()
    def twice = stream(t, options: _*).union(stream(t, options: _*))
    assert(batches(twice, checkpoint).size == 3)
    append(t, 3 until 4)
    assert(read(twice, checkpoint) == texts(Seq(3, 3)))
  }

  test("the tag of a consumer is moved at most once for each micro-batch") {
    val t = numbers(0 until 1, 1 until 2)
    def versions: Int = rows(s"SELECT * FROM $t.metadata_log_entries").size
    val reader = sourceOf(t, options: _*)
    val limit = reader.getDefaultReadLimit
    val end = reader.latestOffset(reader.initialOffset(), limit)
    reader.planInputPartitions(reader.initialOffset(), end)
    val before = versions
    val next = reader.latestOffset(end, limit)
    reader.commit(end)
    reader.planInputPartitions(end, next)
    assert(versions <= before + 1)
    reader.latestOffset(next, limit)
    reader.commit(next)
    val after = versions
    (0 until 3).foreach(_ => assert(Option(reader.latestOffset(next, limit)).isEmpty))
    assert(versions == after)
  }

  test("the tag of a consumer moves to the last snapshot when a query has read all rows") {
    val t = numbers(0 until 1, 1 until 2)
    val reader = sourceOf(t, "consumer-id" -> "etl")
    val limit = reader.getDefaultReadLimit
    val end = reader.latestOffset(reader.initialOffset(), limit)
    assert(Option(reader.latestOffset(end, limit)).isEmpty)
    assert(taggedSnapshots(t) == snapshots(t).takeRight(1))
  }

  test("a consumer reads each row once while snapshots expire all the time", Slow) {
    val t = numbers(0 until 1)
    val checkpoint = newCheckpoint()
    val isDone = new AtomicBoolean
    val expirations = new AtomicInteger
    val expiring = new FutureTask[Unit](() =>
      inSession(spark) { session =>
        val older = "older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1"
        while (!isDone.get) {
          session.sql(s"CALL lite.system.expire_snapshots(table => '${t.stripPrefix("lite.")}', $older)")
          expirations.incrementAndGet()
        }
      }
    )
    // The tag protects what is appended after the first run.
    val first = read(stream(t, options: _*), checkpoint)
    val thread = new Thread(expiring)
    thread.start()
    def appendAndRead(round: Int): Vector[String] = {
      (0 until 3).foreach(i => append(t, 3 * round + i until 3 * round + i + 1))
      read(stream(t, options: _*), checkpoint)
    }
    val later =
      try Vector(1, 2, 3, 4).flatMap(appendAndRead)
      finally isDone.set(true)
    expiring.get(1, TimeUnit.MINUTES)
    assert((first ++ later).sorted == texts(0 +: (3 until 15)))
    assert(expirations.get > 1 && snapshots(t).size < 13)
  }

  test(
    "without a consumer, a stream whose unread commits have expired fails, and the error says where to continue",
    Slow
  ) {
    val t = numbers(0 until 2)
    val checkpoint = newCheckpoint()
    assert(read(stream(t), checkpoint) == texts(0 until 2))
    Seq(2 until 3, 3 until 4, 4 until 5).foreach(append(t, _))
    val before = snapshots(t)
    expire(t)
    val error = failure(stream(t), checkpoint)
    assert(
      error.contains(s"${before.head}, the position of a stream") && error.contains(s"still exists is ${before.last}")
    )
    assert(error.contains(s"stream-from-snapshot-id=${before(2)}"), error)
    assert(read(stream(t, "stream-from-snapshot-id" -> before(2).toString)) == texts(4 until 5))
  }
}
