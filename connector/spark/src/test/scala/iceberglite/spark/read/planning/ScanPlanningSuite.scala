package iceberglite.spark.read.planning

import java.nio.file.{Files, Paths}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, TimeUnit}

import scala.collection.JavaConverters._

import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart}
import org.apache.spark.sql.connector.catalog.Identifier
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.scan.{FileScanTask, TableScan}
import iceberglite.spark.SharedSession
import iceberglite.spark.conf.{PlanningMode, PlanningModes}
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.expr.Expression.{AlwaysTrue, GreaterThan}
import iceberglite.spec.file.{ContentFile, MetricMaps}
import iceberglite.spec.types.Literal.LongLiteral
import iceberglite.table.Table
import iceberglite.tree.ManifestCache

/** Checks that distributed planning on executors gives the same result as local planning on the driver. */
class ScanPlanningSuite extends AnyFunSuite with SharedSession {
  private val Data = "spark.sql.iceberg.data-planning-mode"
  private val Deletes = "spark.sql.iceberg.delete-planning-mode"

  /** Runs `body`. Returns its result, and the descriptions of the Spark jobs that `body` started to read manifests. */
  private def planningJobs[A](body: => A): (A, Seq[String]) = {
    val descriptions = new ConcurrentLinkedQueue[String]
    val ended = new CountDownLatch(1)
    val listener = new SparkListener {
      override def onJobStart(job: SparkListenerJobStart): Unit =
        Option(job.properties.getProperty("spark.job.description")).foreach { description =>
          if (description.contains("manifests of")) descriptions.add(description)
          if (description == "the end") ended.countDown()
        }
    }
    val context = spark.sparkContext
    context.addSparkListener(listener)
    try {
      val result = body
      // Spark delivers events in order. Therefore all events of `body` have arrived when the event of this job arrives.
      context.setJobDescription("the end")
      try context.parallelize(Seq(1)).count()
      finally context.setJobDescription(null)
      assert(ended.await(60, TimeUnit.SECONDS))
      (result, descriptions.asScala.toSeq)
    } finally context.removeSparkListener(listener)
  }

  /** Creates a table with several manifests and row-level deletes that Apache Iceberg wrote. */
  private def tableWithDeletes(version: Int): String = {
    val table = newTable()
    val name = inApacheIceberg(table)
    sql(
      s"""CREATE TABLE $name (id bigint, cat string, d double) USING iceberg PARTITIONED BY (cat)
         |TBLPROPERTIES ('format-version' = '$version', 'write.delete.mode' = 'merge-on-read',
         |  'commit.manifest-merge.enabled' = 'false')""".stripMargin
    )
    (0 until 3).foreach { i =>
      sql(
        s"""INSERT INTO $name SELECT id, IF(id % 5 = 0, NULL, concat('c', id % 3)),
        IF(id % 7 = 0, double('NaN'), id / 2)
           |FROM range(${i * 50}, ${i * 50 + 50})""".stripMargin
      )
    }
    sql(s"DELETE FROM $name WHERE id % 10 = 3")
    sql(s"DELETE FROM $name WHERE id BETWEEN 70 AND 80")
    sql(s"REFRESH TABLE $table")
    table
  }

  private val filters = Seq(
    "true",
    "cat IS NULL AND id > 60",
    "isnan(d) AND id IN (7, 14, 77, 140)",
    "id = 123456"
  )

  for (version <- Seq(2, 3)) test(
    s"distributed planning gives the same result as local planning, version $version",
    Sampling.slowInSomeRuns(isAlwaysRun = version == 3): _*
  ) {
    val table = tableWithDeletes(version)
    filters.foreach { filter =>
      val query = s"SELECT *, _file, _pos FROM $table WHERE $filter"
      val (local, localJobs) = planningJobs(withConf(Data -> "local", Deletes -> "local")(sorted(query)))
      assert(localJobs.isEmpty)
      val (distributed, jobs) = planningJobs(withConf(Data -> "distributed", Deletes -> "distributed")(sorted(query)))
      assert(distributed == local, filter)
      assert(jobs.nonEmpty, filter)
    }
    val query = s"SELECT * FROM $table"
    val (result, jobs) = planningJobs(withConf(Data -> "local", Deletes -> "distributed")(sorted(query)))
    assert(result == sorted(query) && jobs == Seq(s"Reading 2 manifests of $table"))
    assert(sorted(s"SELECT * FROM $table") == sorted(s"SELECT * FROM ${inApacheIceberg(table)}"))
  }

  test("for the planning mode, read options override session settings, which override table properties", Slow) {
    val table = tableWithDeletes(2)
    sql(s"ALTER TABLE $table SET TBLPROPERTIES ('read.data-planning-mode' = 'DISTRIBUTED')")
    def jobs(body: => Any): Seq[String] = planningJobs(body)._2
    assert(jobs(rows(s"SELECT * FROM $table")) == Seq(s"Reading 3 manifests of $table"))
    withConf(Data -> "local")(assert(jobs(rows(s"SELECT * FROM $table")).isEmpty))
    withConf(Data -> "local") {
      val requested = spark.read.option("data-planning-mode", "distributed").table(table)
      assert(jobs(requested.collect()) == Seq(s"Reading 3 manifests of $table"))
    }
    withConf(Data -> "auto")(assert(jobs(rows(s"SELECT * FROM $table")).isEmpty, "small scans must be planned locally"))
    sql(
      s"ALTER TABLE $table SET TBLPROPERTIES ('read.data-planning-mode' = 'local', " +
        "'read.delete-planning-mode' = 'distributed')"
    )
    assert(jobs(rows(s"SELECT * FROM $table")) == Seq(s"Reading 2 manifests of $table"))
    withConf(Deletes -> "local") {
      assert(jobs(rows(s"SELECT * FROM $table")).isEmpty)
      val requested = spark.read.option("delete-planning-mode", "distributed").table(table)
      assert(jobs(requested.collect()) == Seq(s"Reading 2 manifests of $table"))
    }
  }

  for (version <- Seq(2, 3)) test(
    s"the mode auto plans on executors only above its thresholds, version $version",
    Sampling.slowInSomeRuns(isAlwaysRun = version == 3): _*
  ) {
    val table = tableWithDeletes(version)
    val liveTable = loaded(table)
    val clusterCores = spark.sparkContext.defaultParallelism
    val lengths =
      rows(s"SELECT content, sum(length) FROM ${inApacheIceberg(table)}.manifests GROUP BY content").map(_.getLong(1))
    def planned(filter: Expression, cores: Int, bytes: Long): (Map[FileScanTask, Seq[String]], Seq[String]) = {
      val auto = PlanningModes(PlanningMode.Auto, PlanningMode.Auto)
      val manifests = new SparkPlanning(spark.sparkContext, auto, table, cores, bytes)
      val scan =
        TableScan(liveTable.tree(), liveTable.currentSnapshot, filter, caseSensitive = true, ManifestCache.Disabled)
      planningJobs(scan.copy(cluster = Some(manifests)).plan().tasks.map { task =>
        val compared = task.copy(file = comparable(task.file), deletes = Vector.empty, addedBy = 0L)
        compared -> task.deletes.map(_.file.path).sorted
      }.toMap)
    }
    Seq(AlwaysTrue, GreaterThan(Term.Named("id"), LongLiteral(60))).foreach { filter =>
      val (local, localJobs) = planned(filter, cores = 1, bytes = lengths.max)
      assert(localJobs.isEmpty && local.values.exists(_.nonEmpty))
      val (distributed, jobs) = planned(filter, cores = 1, bytes = lengths.min - 1)
      assert(distributed == local && jobs.sorted == Seq(2, 3).map(n => s"Reading $n manifests of $table"))
      val (equalCores, noJobs) = planned(filter, cores = clusterCores, bytes = 0L)
      assert(equalCores == local && noJobs.isEmpty, "the cluster has no more cores than the driver")
    }
  }

  /** Converts the file's metrics to one class. Local and distributed planning use different classes for metrics. */
  private def comparable(file: ContentFile): ContentFile = {
    import file.metrics._
    val maps = MetricMaps(columnSizes, valueCounts, nullValueCounts, nanValueCounts, lowerBounds, upperBounds)
    file.copy(metrics = maps)
  }

  private def loaded(table: String): Table = {
    val parts = table.split('.')
    val catalog = spark.sessionState.catalogManager.catalog("lite").asInstanceOf[LiteCatalog]
    catalog.sharedTable(Identifier.of(Array(parts(1)), parts(2))).current
  }

  test("the error for an unknown planning mode contains the setting and the valid modes", Slow) {
    val table = tableWithDeletes(2)
    withConf(Data -> "everywhere") {
      val e = intercept[Exception](rows(s"SELECT * FROM $table"))
      assert(Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).exists {
        case error: InvalidArgument => error.getMessage.contains(Data) && error.getMessage.contains("distributed")
        case _ => false
      })
    }
    assert(PlanningMode.all.flatMap(m => PlanningMode.parse(m.name.toUpperCase)) == PlanningMode.all)
  }

  test("a damaged manifest gives the same error on an executor as on the driver", Slow) {
    val table = tableWithDeletes(2)
    val manifest = rows(s"SELECT path FROM ${inApacheIceberg(table)}.manifests WHERE content = 0").head.getString(0)
    Files.write(Paths.get(java.net.URI.create(manifest)), Array[Byte](1, 2, 3))
    sql(s"REFRESH TABLE $table")
    def message(mode: String): String =
      withConf(Data -> mode)(intercept[Exception](rows(s"SELECT * FROM $table")).getMessage)
    assert(message("distributed") == message("local") && message("local").contains(manifest))
  }

  test("distributed planning for LIMIT reads as few manifests as local planning") {
    val table = newTable()
    sql(s"CREATE TABLE $table (id bigint) TBLPROPERTIES ('commit.manifest-merge.enabled' = 'false')")
    (0 until 5).foreach(i => sql(s"INSERT INTO $table SELECT id FROM range(${i * 10}, ${i * 10 + 10})"))
    withConf(Data -> "distributed") {
      val (result, jobs) = planningJobs(rows(s"SELECT * FROM $table LIMIT 3"))
      assert(result.size == 3 && jobs == Seq(s"Reading 1 manifests of $table"))
    }
  }
}
