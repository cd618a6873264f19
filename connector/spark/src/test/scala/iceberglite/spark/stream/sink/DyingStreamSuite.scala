package iceberglite.spark.stream.sink

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.rowlevel.{CrashPoint, Death, DriverFixture}

/**
 * Kills the drivers of streaming queries at different points of their third micro-batch, and continues the queries with
 * their checkpoints. Each row must be written exactly once. `make soak` sets the number of kills with
 * `ICEBERG_LITE_STREAM_KILLS`.
 */
class DyingStreamSuite extends AnyFunSuite with DriverFixture {

  /** All drivers die in the test that runs first, so that a sample of the tests would save little time. */
  override protected def isSampled: Boolean = false

  private val points = CrashPoint.ofStreams

  private val streamsPerDeath: Int =
    sys.env.get("ICEBERG_LITE_STREAM_KILLS").fold(2)(kills => math.ceil(kills.toDouble / points.size).toInt)

  /** The number of streams that die in one process. The tasks of a stream that dies never release their slots. */
  private val streamsPerProcess = 8

  private def create(mode: String, namespace: String, number: String): (Case, FileStream) = {
    val version = if (mode == "update") 3 else 2
    val c = Case(namespace, s"${mode}_$number", version, "stream", "")
    val columns = if (addsRows(mode)) FileStream.Columns else "p STRING, n BIGINT"
    sql(
      s"CREATE TABLE dying.${c.table} ($columns) USING iceberg PARTITIONED BY (p) " +
        s"TBLPROPERTIES ('format-version' = '$version')"
    )
    // The driver accesses the checkpoint through the same file system as the table.
    val checkpoint = s"ofs://dying${checkpointOf(c)}"
    val stream = FileStream(s"dying.${c.table}", mode, newDirectory("stream"), checkpoint)
    if (stream.isFeed) sql(s"CREATE TABLE ${stream.source} (${FileStream.Columns}) USING iceberg")
    (0 to 2).foreach { i =>
      stream.addFile(i, batch(i))
      if (i < 2) stream.release(spark)
    }
    (c, stream)
  }

  private def addsRows(mode: String): Boolean = mode == "append" || mode == FileStream.Feed

  private def checkpointOf(c: Case): Path = directoryOf(c.table).resolve("checkpoint")

  /** Returns the files of the table, without those of the checkpoint, that its metadata does not reference. */
  private def unreferenced(c: Case): Set[Path] = orphans(c).filterNot(_.startsWith(checkpointOf(c)))

  /** The rows of a micro-batch. */
  private def batch(number: Int): Seq[(Long, String)] =
    (0 until 10).map(i => (10L * number + i) -> Seq("a", "b", "c")((number + i) % 3))

  /** The rows of the table after the given number of micro-batches. */
  private def expectedRows(mode: String, batches: Int): Seq[String] = {
    val rows = (0 until batches).flatMap(batch)
    if (addsRows(mode)) rows.map { case (id, p) => s"[$id,$p]" }.sorted
    else rows.groupBy(_._2).map { case (p, group) => s"[$p,${group.size}]" }.toSeq.sorted
  }

  /** The streams of all drivers, by the point of death. The streams of a group run and die in one process. */
  private lazy val killed: Map[CrashPoint, Seq[(Case, FileStream)]] = {
    val streams = for {
      (death, index) <- points.zipWithIndex
      // If there are only two streams for each death, each of the other three modes is tested with every third death.
      others = Seq("append", "update", "complete")
      modes = FileStream.Feed +: (others.drop(index % 3) ++ others.take(index % 3))
      number <- 0 until streamsPerDeath
    } yield death -> create(modes(number % modes.size), namespaces(index % namespaces.size), s"${index}_$number")
    streams.grouped(streamsPerProcess).foreach { group =>
      val deaths = group.map { case (death, (c, stream)) =>
        Death(death, directoryOf(c.table).toString, stream.toString)
      }
      kill(deaths, "iceberglite.spark.stream.sink.DyingStream")
    }
    streams.groupBy(_._1).map { case (death, ofDeath) => death -> ofDeath.map(_._2) }
  }

  points.foreach { death =>
    test(s"streams write each row exactly once if their driver dies ${death.name}", Slow) {
      killed(death).foreach { case (c, stream) => checkAndContinue(c, stream, death) }
    }
  }

  private def checkAndContinue(c: Case, stream: FileStream, death: CrashPoint): Unit = {
    val isCommitted = death == CrashPoint.AfterCommit || death == CrashPoint.AfterCheckpoint
    check(c, expectedRows(stream.mode, if (isCommitted) 3 else 2))
    val orphansOfDriver = unreferenced(c)
    val continued = stream.copy(checkpoint = checkpointOf(c).toString)
    if (stream.isFeed) expireSource(stream)
    continued.start(spark).awaitTermination()
    check(c, expectedRows(stream.mode, 3))
    // The files of the driver that died are still orphan files. The query has added none.
    assert(unreferenced(c) == orphansOfDriver)
    // In update mode, tasks write the keys of their rows to temporary files (`-deletes-`). The driver removes them
    // after the commit, in the background. If it dies before that, they are orphan files.
    val unused = orphansOfDriver.filter(_ => isCommitted && stream.mode == "update")
    assert(unused.forall(_.toString.contains("-deletes-")))
    assert((orphansOfDriver -- unused).isEmpty == (isCommitted || death == CrashPoint.AfterPlanning))
    orphansOfDriver.foreach(Files.delete(_))
    stream.addFile(3, batch(3))
    stream.release(spark)
    continued.start(spark).awaitTermination()
    check(c, expectedRows(stream.mode, 4))
    assert(unreferenced(c).isEmpty)
    ()
  }

  /**
   * Adds a commit without rows, so that the last commit with rows is not the current snapshot, and expires the source.
   * The tag of the consumer keeps the commits that the query has not read.
   */
  private def expireSource(stream: FileStream): Unit = {
    def snapshots: Seq[Long] =
      rows(s"SELECT snapshot_id FROM ${stream.source}.snapshots ORDER BY committed_at").map(_.getLong(0))
    sql(s"INSERT INTO ${stream.source} SELECT id, 'x' FROM range(0)")
    val before = snapshots
    sql(s"CALL dying.system.expire_snapshots(table => '${stream.source.stripPrefix("dying.")}', " +
      "older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1)")
    assert(before.size == 4 && snapshots == before.drop(1))
    ()
  }
}
