package iceberglite.spark.stream.source

import scala.util.Random

import org.apache.spark.sql.{Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRoundsInSlowTierTag, Sampling}
import iceberglite.scan.RandomHistory
import iceberglite.spark.SharedSession
import iceberglite.spec.file.FileFormat

/**
 * Compares the changes that streaming queries deliver with those that a batch read returns, for random histories and
 * random divisions into runs of the query and into micro-batches. Some runs end because the sink fails.
 */
class ChangeStreamFuzzSuite extends AnyFunSuite with SourceFixture {
  import ChangeStreamFuzzSuite._

  // In a session with the extensions of Apache Iceberg, UPDATE and MERGE fail for tables of another source.
  override lazy val spark: SparkSession = SharedSession.liteExtensions

  private def limits(random: Random): Seq[(String, String)] =
    Seq("files" -> 4, "rows" -> 30, "bytes" -> 4000).filter(_ => random.nextBoolean()).map { case (unit, most) =>
      s"streaming-max-$unit-per-micro-batch" -> (1 + random.nextInt(most)).toString
    }

  /** A streaming query that is started again and again with its checkpoint. */
  final private class Consumer(t: String, random: Random, options: (String, String)*) {
    private val checkpoint = newCheckpoint()
    private var batches = Vector.empty[Vector[Row]]

    /** Reads what the table has, or a part of it if the sink fails. */
    def run(): Unit =
      read(if (random.nextInt(3) == 0) Some(batches.size.toLong + random.nextInt(3)) else None)

    /** Reads the rest, and returns the rows of each micro-batch. */
    def finish(): Vector[Vector[Row]] = {
      read(None)
      batches
    }

    private def read(failAt: Option[Long]): Unit =
      batches ++= rowsOfBatches(stream(t, options ++ limits(random): _*), checkpoint, failAt = failAt)
  }

  private def check(delivered: Vector[Vector[Row]], expected: Seq[Row], clue: String): Unit = {
    assert(delivered.flatten.map(text).sorted == expected.map(text).sorted, clue)
    val commits = delivered.filter(_.nonEmpty).map(_.map(_.getAs[Int]("_change_ordinal")))
    commits.zip(commits.drop(1)).foreach { case (earlier, later) =>
      assert(earlier.max < later.min, s"a commit must not be divided: $clue")
    }
  }

  private def checkUpdates(delivered: Vector[Vector[Row]], clue: String): Unit = delivered.foreach { batch =>
    def updated(kind: String): Vector[(Int, Long)] = batch.filter(_.getAs[String]("_change_type") == kind)
      .map(row => (row.getAs[Int]("_change_ordinal"), row.getAs[Long]("id"))).sorted
    assert(updated("UPDATE_BEFORE") == updated("UPDATE_AFTER"), clue)
  }

  private def create(version: Int, mode: String, columns: String, random: Random, partitionings: String*): String = {
    val t = newTable()
    val modes = Seq("delete", "update", "merge").map(s => s"'write.$s.mode' = '$mode'").mkString(", ")
    val partitioning = partitionings(random.nextInt(partitionings.size))
    sql(s"CREATE TABLE $t ($columns) USING iceberg $partitioning TBLPROPERTIES " +
      s"('format-version' = '$version', 'commit.manifest.min-count-to-merge' = '3', $modes)")
    t
  }

  for ((version, mode) <- Seq(3 -> "merge-on-read", 2 -> "merge-on-read", 3 -> "copy-on-write", 2 -> "copy-on-write"))
    test(
      "streams of changes with and without identifier columns deliver each change of random statements once: version " +
        s"$version, $mode",
      Sampling.slowInSomeRuns(isAlwaysRun = version == 3 && mode == "merge-on-read"): _*
    ) {
      (0 until Fuzz.slowRounds(1)).foreach { round =>
        val seed = Fuzz.seed ^ (version, mode, round).hashCode
        val random = new Random(seed)
        val partitionings = Seq("", "PARTITIONED BY (p)", "PARTITIONED BY (bucket(2, id))")
        val t = create(version, mode, RandomChanges.Columns, random, partitionings: _*)
        sql(s"ALTER TABLE $t SET IDENTIFIER FIELDS id")
        val changes = new RandomChanges(spark, t, random)
        val plain = new Consumer(t, random, "streaming-changes" -> "true")
        val updates = new Consumer(t, random, "streaming-changes" -> "true", "compute-updates" -> "true")
        changes.everyChange()
        val steps = (0 until 14).map { _ =>
          if (random.nextInt(4) == 0) plain.run()
          if (random.nextInt(4) == 0) updates.run()
          changes.step()
        }
        val clue = s"seed $seed: ${steps.mkString("\n", "\n", "\n")}"
        check(plain.finish(), rows(s"SELECT * FROM $t.changes"), clue)
        val name = t.stripPrefix("lite.")
        sql(
          s"CALL lite.system.create_changelog_view(table => '$name', changelog_view => 'all', compute_updates => true)"
        )
        val delivered = updates.finish()
        check(delivered, rows("SELECT * FROM `all`"), clue)
        checkUpdates(delivered, clue)
      }
    }

  for (version <- Seq(3, 2))
    test(
      s"a stream of changes delivers each change of random commits once, version $version",
      MoreRoundsInSlowTierTag +: Sampling.slowInSomeRunsUnless(version == 2): _*
    ) {
      (0 until Fuzz.slowRounds(4)).foreach { round =>
        val seed = Fuzz.seed ^ (version, round).hashCode
        val random = new Random(seed)
        val columns = "id BIGINT, category STRING, note STRING"
        val t = create(version, "merge-on-read", columns, random, "", "PARTITIONED BY (category)")
        val history = new RandomHistory(coreTable(t), random, Vector(FileFormat.Parquet))
        val consumer = new Consumer(t, random, "streaming-changes" -> "true")
        (0 until 4).foreach { _ =>
          (0 until random.nextInt(5)).foreach(_ => history.step(None))
          sql(s"REFRESH TABLE $t")
          consumer.run()
        }
        history.everyChange()
        sql(s"REFRESH TABLE $t")
        check(consumer.finish(), rows(s"SELECT * FROM $t.changes"), s"seed $seed")
      }
    }
}

object ChangeStreamFuzzSuite {

  /**
   * Returns the names and values of a row, without nulls: a column that was added later is absent from the rows of
   * earlier runs of a query, and null in a batch read.
   */
  private def text(row: Row): String = row.schema.fieldNames.zip(row.toSeq).collect {
    case (name, value) if value != null => s"$name=$value"
  }.sorted.mkString(", ")
}
