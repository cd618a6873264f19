package iceberglite.spark.read.soundness

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.apache.spark.sql.types.BinaryType
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{Fuzz, MoreRoundsInSlowTier, Sampling}
import iceberglite.spark.SharedSession
import iceberglite.spark.session.LiteCatalog

/**
 * Checks random tables with row-level deletes. Their files have many row groups, pages and batches. A scan that skips
 * rows by filters and deletes must return the same values and positions as a scan that reads all rows and filters them.
 */
@MoreRoundsInSlowTier
class SkippedRowsFuzzSuite extends AnyFunSuite with SharedSession {
  private val tableCount = Fuzz.slowRounds(4)
  private val conditionsPerTable = if (Sampling.isFast) 6 else 20

  private def settings(random: Random): Seq[(String, String)] = Seq(
    "spark.sql.session.timeZone" -> "UTC",
    "spark.sql.datetime.java8API.enabled" -> "true",
    "spark.sql.columnVector.offheap.enabled" -> random.nextBoolean().toString,
    // For few rows, interpreting a query is faster than compiling it.
    "spark.sql.codegen.wholeStage" -> "false",
    "spark.sql.codegen.factoryMode" -> "NO_CODEGEN",
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.leafNodeDefaultParallelism" -> "1"
  )

  /** Returns the parameters of a table whose files have row groups with at least about ten rows and several pages. */
  private def shape(round: Int, random: Random): TableShape = TableShape(
    version = 2 + round % 2,
    maxGroups = 1,
    runsPerGroup = 6,
    maxRowsPerRun = 25,
    hasTypesWithoutSparkName = round % 4 == 1,
    hasLists = true,
    properties = Map(
      "write.parquet.row-group-size-bytes" -> oneOf(Seq("300", "1500", "1000000"), random),
      "write.parquet.page-row-limit" -> oneOf(Seq("7", "20"), random),
      "write.parquet.dict-size-bytes" -> oneOf(Seq("64", "1048576"), random),
      "write.orc.stripe-size-bytes" -> "4000"
    )
  )

  private def oneOf[A](items: Seq[A], random: Random): A = items(random.nextInt(items.size))

  /**
   * Returns the rows as text, without the sign of zeros: within a batch, the ORC library treats both zeros as one
   * value.
   */
  private def texts(query: DataFrame): Seq[String] =
    query.collect().map(_.toString.replaceAll("-0\\.0(?!\\d)", "0.0")).sorted.toSeq

  /** Returns the columns for a SELECT clause. Binary columns are converted to text, so that rows can be compared. */
  private def columns(table: DataFrame): Seq[String] =
    table.schema.map(f => if (f.dataType == BinaryType) s"hex(${f.name}) AS ${f.name}" else f.name)

  private case class RowCounts(read: Long, inTable: Long)

  private class TableCheck(table: EvolvingTable, random: Random) {
    private val fullScan = spark.read.option("batch-size", oneOf(Seq(3, 16, 5000), random).toString).table(table.name)
    private val allColumns = columns(fullScan) ++ Seq("_file", "_pos")

    /** The rows that a scan without a filter returns, as a DataFrame in memory. */
    private val localCopy: DataFrame = {
      val query = fullScan.selectExpr("*", "_file", "_pos")
      spark.createDataFrame(java.util.Arrays.asList(query.collect(): _*), query.schema)
    }

    /**
     * Compares the rows of a scan without a filter with the recorded live rows, with a scan that also returns deleted
     * rows (`_deleted`), and with the scan of Apache Iceberg.
     */
    def checkFullScan(): Unit = {
      val positions = localCopy.select("id", "_file", "_pos").collect().map {
        case Row(id: Int, file: String, pos: Long) => id -> (file -> pos)
      }
      assert(positions.toMap == table.livePositions && positions.length == table.livePositions.size)
      val expected = texts(localCopy.selectExpr(allColumns: _*))
      val notDeleted = fullScan.where("NOT _deleted").selectExpr(allColumns: _*)
      assert(texts(notDeleted) == expected, "scan that also reads deleted rows")
      if (!table.shape.hasTypesWithoutSparkName) {
        assert(expected == texts(spark.table(table.peerName).selectExpr(allColumns: _*)), "Apache Iceberg's scan")
      }
    }

    /** Compares a query with a filter and random columns with the same query on [[localCopy]]. */
    def checkWhere(condition: String): RowCounts = {
      val selected = random.shuffle(allColumns).take(1 + random.nextInt(allColumns.size))
      val options = Map(
        "batch-size" -> oneOf(Seq(1, 3, 8, 64, 5000), random).toString,
        "split-size" -> oneOf(Seq(3000, 1 << 27), random).toString,
        "vectorization-enabled" -> (random.nextInt(6) > 0).toString
      )
      val query = spark.read.options(options).table(table.name).where(condition).selectExpr(selected: _*)
      withClue(s"SELECT ${selected.mkString(", ")} WHERE $condition\n$options\n") {
        assert(texts(query) == texts(localCopy.where(condition).selectExpr(selected: _*)))
      }
      val read = query.queryExecution.executedPlan.collectLeaves().collect { case scan: BatchScanExec =>
        scan.metrics("numOutputRows").value
      }
      RowCounts(read.sum, table.livePositions.size.toLong)
    }

    def rowGroups: Seq[Int] = {
      val files = spark.sql(s"SELECT file_format, size(split_offsets) FROM ${table.name}.data_files").collect()
      files.toSeq.collect { case Row(format: String, groups: Int) if format.equalsIgnoreCase("parquet") => groups }
    }
  }

  private def catalog: LiteCatalog =
    spark.sessionState.catalogManager.catalog("lite").asInstanceOf[LiteCatalog]

  test("scans that skip rows by filters and deletes return the same values and positions as full scans") {
    (0 until tableCount).foreach { round =>
      val random = new Random(Fuzz.seed + round * 6271L)
      withConf(settings(random): _*) {
        val table = new EvolvingTable(newTable("skipped"), shape(round, random), random, sql)(catalog)
        withClue(s"ICEBERG_LITE_SEED=${Fuzz.seed}, round $round\n") {
          withClue(s"${table.description}\n")(table.build())
          withClue(s"${table.description}\n") {
            val check = new TableCheck(table, random)
            check.checkFullScan()
            val predicates = new RandomPredicates(EvolvingTable.leavesOf(table.table.schema), random)
            (0 until conditionsPerTable).foreach(i => check.checkWhere(predicates.next(i % 3)))
          }
        }
      }
    }
  }

  private val selectiveConditions =
    Seq("id <= 20", "id > 980", "id BETWEEN 500 AND 520", "id IN (77, 78)", "id = 5 AND i IS NULL") ++
      Seq("id < 10 OR id > 990", "NOT (id > 15)", "id < 30 AND (x > 0 OR t IS NOT NULL)")

  test("in a file with many row groups, a scan skips most rows if its condition holds in few row groups", Slow) {
    for (version <- 2 to 3) {
      val random = new Random(Fuzz.seed + version)
      withConf(settings(random): _*) {
        val properties = Map("write.parquet.row-group-size-bytes" -> "1500", "write.parquet.page-row-limit" -> "20")
        val shape = TableShape(version = version, hasLists = true, properties = properties)
        val table = new EvolvingTable(newTable("ordered"), shape, random, sql)(catalog)
        withClue(s"ICEBERG_LITE_SEED=${Fuzz.seed}, version $version\n") {
          val check = new TableCheck(table.buildOrdered(1000), random)
          check.checkFullScan()
          assert(check.rowGroups.max > 4, "row groups of the file")
          selectiveConditions.foreach { condition =>
            val counts = check.checkWhere(condition)
            assert(counts.read < counts.inTable / 2, s"rows read WHERE $condition")
          }
        }
      }
    }
  }
}
