package iceberglite.spark.rowlevel

import java.util.concurrent.{Callable, Executors, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

import scala.annotation.tailrec
import scala.collection.JavaConverters._
import scala.util.Random

import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{Fuzz, MoreRoundsInSlowTier, Sampling}
import iceberglite.spark.SharedSession
import iceberglite.spark.write.TableChecks

/**
 * A statement of a writer.
 *
 * @param change returns the rows after the statement, given the rows before it. The rows are a map from `id` to `n`.
 */
final private[iceberglite] case class Step(sql: String, change: Map[Long, Long] => Map[Long, Long])

/**
 * Runs several writers that change rows of the same table concurrently. Each writer changes only rows whose ids (keys)
 * are in its own range, and retries a statement after a conflict. At the end, the table must have the changes of all
 * writers.
 */
@MoreRoundsInSlowTier
class ConcurrentStatementsSuite extends AnyFunSuite with TableChecks {
  override lazy val spark: SparkSession = SharedSession.liteExtensions
  private val Writers = 3
  private val MaxAttempts = 40

  /**
   * Returns random statements of a writer.
   *
   * @param from first key of the writer
   * @param until end of the range of the writer's keys, exclusive
   */
  private def steps(random: Random, from: Long, until: Long): Seq[Step] = Seq.fill(Fuzz.slowRounds(3, least = 2)) {
    val (mod, remainder) = (2L + random.nextInt(4), 1L)
    val (low, high) = (from + random.nextInt(40), until - random.nextInt(40))
    def isOwnKey(key: Long) = key >= from && key < until && key % mod == remainder
    val where = s"id >= $from AND id < $until AND id % $mod = $remainder"
    random.nextInt(4) match {
      case 0 => Step(s"DELETE FROM %s WHERE $where", _.filterNot { case (key, _) => isOwnKey(key) })
      case 1 =>
        Step(
          s"UPDATE %s SET n = n * 2 + 1 WHERE $where",
          _.map { case (k, n) => k -> (if (isOwnKey(k)) n * 2 + 1 else n) }
        )
      case 2 =>
        val source = s"(SELECT id AS k FROM range($low, $high, $mod))"
        val sources = (low until high by mod).toSet
        Step(
          s"MERGE INTO %s t USING $source s ON t.id = s.k AND t.id >= $from AND t.id < $until " +
            "WHEN MATCHED AND s.k % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET n = n - 7 " +
            "WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.k, -1)",
          rows =>
            rows.collect {
              case (k, n) if !sources(k) => k -> n
              case (k, n) if k % 2 != 0 => k -> (n - 7)
            } ++ sources.filterNot(rows.contains).map(_ -> -1L)
        )
      case _ => Step(
          s"MERGE INTO %s t USING (SELECT id AS k FROM range($low, $high)) s ON t.id = s.k " +
            "WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.k, s.k)",
          rows => rows ++ (low until high).filterNot(rows.contains).map(k => k -> k)
        )
    }
  }

  @tailrec
  private def run(statement: String, attempt: Int): Int = {
    val isConflict =
      try {
        spark.sql(statement)
        false
      } catch {
        case e: Exception if attempt < MaxAttempts && messages(e).contains("Run the statement again") => true
      }
    if (isConflict) run(statement, attempt + 1) else attempt
  }

  private def create(version: Int, mode: String): String = {
    val t = newTable()
    val modes = Seq("delete", "update", "merge").map(c => s"'write.$c.mode' = '$mode'").mkString(", ")
    sql(s"CREATE TABLE $t (id BIGINT, n BIGINT) USING iceberg PARTITIONED BY (truncate(150, id)) TBLPROPERTIES " +
      s"('format-version' = '$version', 'commit.retry.num-retries' = '20', $modes)")
    sql(s"INSERT INTO $t SELECT id, id % 10 FROM range(${Writers * 100})")
    t
  }

  /**
   * Returns for each writer a task that runs the writer's statements, and the writer's rows after the last statement.
   * The task returns the number of conflicts.
   */
  private def writers(t: String, seed: Int): Seq[(Callable[Int], Map[Long, Long])] = (0 until Writers).map { w =>
    val (from, until) = (w * 100L, w * 100L + 100)
    val statements = steps(new Random(seed + w), from, until)
    val rows = statements.foldLeft((from until until).map(k => k -> k % 10).toMap)((state, step) => step.change(state))
    val work: Callable[Int] = () => statements.map(s => run(s.sql.replace("%s", t), 0)).sum
    (work, rows)
  }

  /** Runs the writers and `others` concurrently. @param others must return once its argument returns true */
  private def runAll(writers: Seq[Callable[Int]], others: (() => Boolean) => Unit = _ => ()): Unit = {
    val pool = Executors.newFixedThreadPool(Writers + 1)
    val running = new AtomicInteger(writers.size)
    def counted(work: Callable[Int]): Callable[Int] = () =>
      try work.call()
      finally running.decrementAndGet()
    val other: Callable[Int] = { () =>
      others(() => running.get == 0)
      0
    }
    try pool.invokeAll((writers.map(counted) :+ other).asJava, 240, TimeUnit.SECONDS).asScala.foreach(_.get())
    finally pool.shutdownNow()
    ()
  }

  private def check(t: String, rows: Seq[Map[Long, Long]]): Unit = {
    val expected = rows.flatten.map { case (k, n) => s"[$k,$n]" }.sorted
    assert(sorted(s"SELECT * FROM $t") == expected, s"seed ${Fuzz.seed}")
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}") == expected, "rows read by Apache Iceberg")
    checkMetadata(t)
  }

  for ((version, mode) <- Seq(2 -> "copy-on-write", 2 -> "merge-on-read", 3 -> "merge-on-read"))
    test(
      s"all concurrent statements on disjoint rows are applied (version $version, $mode)",
      Sampling.slowInSomeRunsUnless(version == 3): _*
    ) {
      val t = create(version, mode)
      val work = writers(t, Fuzz.seed.hashCode ^ (version, mode).hashCode)
      runAll(work.map(_._1))
      check(t, work.map(_._2))
    }

  for (version <- Seq(2, 3))
    test(
      s"most compactions during concurrent statements are committed, and no change is lost, version $version",
      Slow
    ) {
      val t = create(version, "merge-on-read")
      val work = writers(t, Fuzz.seed.hashCode ^ version)
      val (committed, failed) = (new AtomicInteger, new AtomicInteger)
      val Array(catalog, name) = t.split("\\.", 2)
      runAll(
        work.map(_._1),
        isDone =>
          while (!isDone()) {
            val begin = System.nanoTime
            try {
              spark.sql(
                s"CALL $catalog.system.rewrite_data_files(table => '$name', options => map('rewrite-all', 'true'))"
              )
              committed.incrementAndGet()
            } catch { case e: Exception if messages(e).contains("again") => failed.incrementAndGet() }
            // Each compaction makes the running statements start again. The pause gives them time.
            Thread.sleep(math.max(1000L, 2 * TimeUnit.NANOSECONDS.toMillis(System.nanoTime - begin)))
          }
      )
      check(t, work.map(_._2))
      assert(committed.get + 1 > failed.get, s"${committed.get} compactions were committed, ${failed.get} failed")
    }
}
