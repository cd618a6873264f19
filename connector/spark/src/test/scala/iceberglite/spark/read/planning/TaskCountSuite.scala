package iceberglite.spark.read.planning

import scala.util.Random

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/** Compares the number of scan tasks of a query with the number in Apache Iceberg, in the same session. */
class TaskCountSuite extends AnyFunSuite with DeclaredFiles with AdaptiveSparkPlanHelper {
  private val KB = 1L << 10
  private val MB = 1L << 20
  private val Cores = 2

  /**
   * Runs `body` with the given number of shuffle partitions, on which Apache Iceberg's number of tasks depends. The
   * session of the tests has two.
   */
  private def withShufflePartitions[A](partitions: Int)(body: => A): A =
    withConf("spark.sql.shuffle.partitions" -> partitions.toString)(body)

  private def scans(df: DataFrame): Seq[BatchScanExec] =
    collect(df.queryExecution.executedPlan) { case s: BatchScanExec => s }

  private def tasks(query: String): Int = scans(sql(query)).map(_.inputPartitions.size).sum

  private def query(table: String): String = s"SELECT * FROM $table"

  /**
   * Returns the numbers of tasks of iceberg-lite and of Apache Iceberg with 200 shuffle partitions. Checks with 1 and
   * 200 shuffle partitions that iceberg-lite has no more tasks than Apache Iceberg, or no more tasks than there are
   * cores.
   */
  private def taskCounts(table: String, query: String => String = query): (Int, Int) = {
    val counts = Seq(1, 200).map { partitions =>
      withShufflePartitions(partitions) {
        val (lite, iceberg) = (tasks(query(table)), tasks(query(inApacheIceberg(table))))
        assert(lite <= math.max(iceberg, Cores), s"with $partitions shuffle partitions; Apache Iceberg has $iceberg")
        (lite, iceberg)
      }
    }
    counts.last
  }

  private def tableOf(sizes: Seq[Long], partitions: Int = 0): String = {
    val table = declaredTable(partitions > 0)
    append(
      table,
      t => sizes.zipWithIndex.map { case (s, i) => dataFile(t, s, partition = i % math.max(1, partitions)) }
    )
    table
  }

  test("twelve small files in twelve partitions are read by one task per core") {
    val (lite, iceberg) = taskCounts(tableOf(Seq.fill(12)(450 * KB), partitions = 12))
    assert(lite == Cores && iceberg == 3)
  }

  test("13 and 84 small files are read by a multiple of the number of cores, with fewer tasks than in Apache Iceberg") {
    assert(taskCounts(tableOf(Seq.fill(13)(350 * KB), partitions = 13)) == ((Cores, 4)))
    val (lite, iceberg) = taskCounts(tableOf(Seq.fill(84)(450 * KB), partitions = 84))
    assert(lite == 4 * Cores && iceberg == 21)
  }

  test("a few small files, and a file of a few megabytes, are read by all cores") {
    assert(taskCounts(tableOf(Seq.fill(2)(450 * KB)))._1 == Cores)
    assert(taskCounts(tableOf(Seq(9 * MB)))._1 == Cores)
    assert(taskCounts(tableOf(Seq(450 * KB)))._1 == 1)
  }

  test("one large file is split at its row groups or at any position", Slow) {
    for (group <- Seq(4, 16, 20, 128)) {
      val table = declaredTable(partitioned = false)
      val size = 1000 * MB
      append(table, t => Seq(dataFile(t, size, offsets = 4L +: (group * MB until size by (group * MB)))))
      val (lite, _) = taskCounts(table)
      assert(lite >= 4 * Cores, s"row groups of $group MB")
    }
    assert(taskCounts(tableOf(Seq(1000 * MB)))._1 >= 4 * Cores)
  }

  test("files of different sizes are read by at least two tasks per core", Slow) {
    for (seed <- 1 to 5) {
      val random = new Random(seed)
      val sizes = Seq.fill(60)(math.pow(2, 10 + random.nextDouble() * 18).toLong)
      val (lite, _) = taskCounts(tableOf(sizes, partitions = 7))
      assert(lite >= 2 * Cores, s"seed $seed")
    }
  }

  test("files with row groups of different sizes are read by at least two tasks per core", Slow) {
    for (seed <- 1 to 5) {
      val random = new Random(seed)
      val table = declaredTable(partitioned = false)
      append(
        table,
        t =>
          Seq.fill(30) {
            val ends = Seq.fill(1 + random.nextInt(8))(MB + random.nextInt(30 << 20)).scanLeft(4L)(_ + _)
            dataFile(t, ends.last, offsets = ends.init)
          }
      )
      assert(taskCounts(table)._1 >= 2 * Cores, s"seed $seed")
    }
  }

  test("many large files are read by tasks of the split size") {
    val (lite, iceberg) = taskCounts(tableOf(Seq.fill(300)(128 * MB)))
    assert(lite == 300 && iceberg == 300)
  }

  test("files with delete files are read by no more tasks than in Apache Iceberg") {
    val withVectors = declaredTable(partitioned = true, version = 3)
    val files = append(withVectors, t => (0 until 12).map(i => dataFile(t, 450 * KB, partition = i)))
    addDeletes(withVectors, t => files.map(deletionVector(t, _, 10)))
    val (lite, iceberg) = taskCounts(withVectors)
    assert(lite == 6 && iceberg == 6)
    val sharedDeletes = tableOf(Seq.fill(40)(450 * KB), partitions = 1)
    addDeletes(sharedDeletes, t => Seq.fill(5)(positionDeletes(t, 100 * KB)))
    assert(taskCounts(sharedDeletes)._1 <= 4 * Cores)
  }

  test("the tasks of a scan with a limit are planned for the files that the scan reads") {
    val table = tableOf(Seq.fill(84)(450 * KB))
    val (lite, _) = taskCounts(table, t => s"SELECT * FROM $t LIMIT 11500")
    assert(lite == Cores)
  }

  test("the tasks of a scan with a filter are planned for the files that can match") {
    val table = tableOf(Seq.fill(84)(450 * KB), partitions = 84)
    val (lite, _) = taskCounts(table, t => s"SELECT * FROM $t WHERE p < 12")
    assert(lite == Cores)
  }

  test("split options of a read determine the number of tasks") {
    val table = tableOf(Seq.fill(12)(450 * KB))
    def tasks(options: (String, String)*) =
      withShufflePartitions(200)(spark.read.options(options.toMap).table(table).rdd.getNumPartitions)
    assert(tasks("split-size" -> (8 * MB).toString) == 6)
    assert(tasks("adaptive-split-size" -> "false") == 1)
    assert(tasks("file-open-cost" -> "0") == Cores)
  }

  test("EXPLAIN shows the number of tasks") {
    val table = tableOf(Seq.fill(12)(450 * KB), partitions = 12)
    Seq(query(table), s"SELECT * FROM $table WHERE p = 3", s"SELECT * FROM $table LIMIT 1500").foreach { q =>
      withShufflePartitions(200)(assert(sql(s"EXPLAIN $q").head.getString(0).contains(s", tasks=${tasks(q)}]"), q))
    }
  }

  test("a star-schema join reads a fact table with many small partitions by one task per core", Slow) {
    val (fact, days, shops) = (newTable("fact"), newTable("days"), newTable("shops"))
    sql(s"CREATE TABLE ${inApacheIceberg(fact)} (day INT, shop INT, v INT) USING iceberg PARTITIONED BY (day)")
    sql(s"INSERT INTO ${inApacheIceberg(fact)} SELECT int(id % 13), int(id % 5), int(id) FROM range(1300)")
    sql(s"CREATE TABLE ${inApacheIceberg(days)} USING iceberg AS SELECT int(id) day, int(id / 7) week FROM range(13)")
    sql(
      s"CREATE TABLE ${inApacheIceberg(shops)} USING iceberg AS SELECT int(id) shop, concat('s', id) name FROM range(5)"
    )
    def star(fact: String, days: String, shops: String) =
      s"""SELECT week, name, sum(v) FROM $fact f JOIN $days d ON f.day = d.day JOIN $shops s ON f.shop = s.shop
         |GROUP BY week, name""".stripMargin
    withShufflePartitions(200) {
      def factTasks(df: DataFrame) = {
        df.collect()
        scans(df).find(_.output.exists(_.name == "v")).get.inputRDD.getNumPartitions
      }
      val (lite, iceberg) =
        (sql(star(fact, days, shops)), sql(star(inApacheIceberg(fact), inApacheIceberg(days), inApacheIceberg(shops))))
      assert(factTasks(lite) == Cores && factTasks(iceberg) == 4)
      assert(lite.collect().map(_.toString).sorted.toSeq == iceberg.collect().map(_.toString).sorted.toSeq)
    }
  }

  test("a join of tables with many small partitions uses a shuffle instead of one task for each partition") {
    val (left, right) = (declaredTable(partitioned = true), declaredTable(partitioned = true))
    def fill(bytes: Long): Unit =
      Seq(left, right).foreach(t => append(t, p => (0 until 50).map(i => dataFile(p, bytes, 1000000L, partition = i))))
    def join(l: String, r: String) = s"SELECT l.k, r.k FROM $l l JOIN $r r ON l.p = r.p"
    def isGrouped = scans(sql(join(left, right))).exists(_.scan.description.contains("grouped by"))
    fill(350 * KB)
    withConf("spark.sql.autoBroadcastJoinThreshold" -> "-1")(withShufflePartitions(200) {
      assert(!isGrouped)
      assert(tasks(join(left, right)) <= tasks(join(inApacheIceberg(left), inApacheIceberg(right))))
      fill(4 * MB)
      Seq(left, right).foreach(t => sql(s"REFRESH TABLE $t"))
      assert(isGrouped)
    })
  }
}
