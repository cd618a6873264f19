package iceberglite.spark.rowlevel

import java.util.concurrent.{Callable, Executors, TimeUnit}

import scala.annotation.tailrec
import scala.collection.JavaConverters._
import scala.util.Random

import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRounds, Sampling}
import iceberglite.spark.SharedSession
import iceberglite.spark.write.TableChecks

/** A statement of one writer, and its effect on the rows, from key to value. */
final private[iceberglite] case class Step(sql: String, change: Map[Long, Long] => Map[Long, Long])

/**
 * Several writers change rows of one table concurrently. Each has its own keys and retries a statement after a
 * conflict. In the end the table has the changes of all writers.
 */
@MoreRounds
class ConcurrentStatementsSuite extends AnyFunSuite with TableChecks {
  override lazy val spark: SparkSession = SharedSession.alone
  private val Writers = 3
  private val Tries = 40

  /** @param from first key @param until key after the last; no other writer changes keys in this range */
  private def steps(random: Random, from: Long, until: Long): Seq[Step] = Seq.fill(Fuzz.slowRounds(3, least = 2)) {
    val (mod, rest) = (2L + random.nextInt(4), 1L)
    val (low, high) = (from + random.nextInt(40), until - random.nextInt(40))
    def isOwnKey(key: Long) = key >= from && key < until && key % mod == rest
    val where = s"id >= $from AND id < $until AND id % $mod = $rest"
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
  private def run(statement: String, tries: Int): Int = {
    val again =
      try {
        spark.sql(statement)
        false
      } catch {
        case e: Exception if tries < Tries && messages(e).contains("Run the statement again") => true
      }
    if (again) run(statement, tries + 1) else tries
  }

  for ((version, mode) <- Seq(2 -> "copy-on-write", 2 -> "merge-on-read", 3 -> "merge-on-read"))
    test(
      s"concurrent statements on disjoint rows are all applied, version $version by $mode",
      Sampling.slowUnless(version == 3): _*
    ) {
      val t = newTable()
      val modes = Seq("delete", "update", "merge").map(c => s"'write.$c.mode' = '$mode'").mkString(", ")
      sql(s"CREATE TABLE $t (id BIGINT, n BIGINT) USING iceberg PARTITIONED BY (truncate(150, id)) TBLPROPERTIES " +
        s"('format-version' = '$version', 'commit.retry.num-retries' = '20', $modes)")
      sql(s"INSERT INTO $t SELECT id, id % 10 FROM range(${Writers * 100})")
      val seed = Fuzz.seed ^ (version, mode).hashCode
      val writers = (0 until Writers).map { w =>
        val (from, until) = (w * 100L, w * 100L + 100)
        val history = steps(new Random(seed + w), from, until)
        val rows = history.foldLeft((from until until).map(k => k -> k % 10).toMap)((now, step) => step.change(now))
        val work: Callable[Int] = () => history.map(s => run(s.sql.replace("%s", t), 0)).sum
        (work, rows)
      }
      val pool = Executors.newFixedThreadPool(Writers)
      try pool.invokeAll(writers.map(_._1).asJava, 240, TimeUnit.SECONDS).asScala.foreach(_.get())
      finally pool.shutdownNow()
      val expected = writers.flatMap(_._2).map { case (k, n) => s"[$k,$n]" }.sorted
      assert(sorted(s"SELECT * FROM $t") == expected, s"seed ${Fuzz.seed}")
      assert(sorted(s"SELECT * FROM ${peer(t)}") == expected, "as Apache Iceberg reads it")
      checkMetadata(t)
    }
}
