package iceberglite.spark.read.soundness

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.apache.spark.sql.types.BinaryType
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRounds, Sampling}
import iceberglite.spark.SharedSession
import iceberglite.spark.session.LiteCatalog

/**
 * Random tables whose files have many row groups, pages and batches, and row-level deletes. A scan that skips rows by
 * filters and deletes returns the same rows, with the same values and positions, as a scan without skipping.
 */
@MoreRounds
class SkippedRowsFuzzSuite extends AnyFunSuite with SharedSession {
  private val tables = Fuzz.slowRounds(4, least = 2)
  private val conditionsEach = if (Sampling.isFast) 8 else 20

  private def settings(random: Random): Seq[(String, String)] = Seq(
    "spark.sql.session.timeZone" -> "UTC",
    "spark.sql.datetime.java8API.enabled" -> "true",
    "spark.sql.columnVector.offheap.enabled" -> random.nextBoolean().toString,
    // For a few rows, interpreting a query is faster than compiling it.
    "spark.sql.codegen.wholeStage" -> "false",
    "spark.sql.codegen.factoryMode" -> "NO_CODEGEN",
    "spark.sql.adaptive.enabled" -> "false",
    "spark.sql.leafNodeDefaultParallelism" -> "1"
  )

  /** Row groups of about ten rows or more, with several pages. */
  private def shape(round: Int, random: Random): TableShape = TableShape(
    version = 2 + round % 2,
    files = 1,
    runs = 6,
    rowsEach = 25,
    hasNewTypes = round % 4 == 1,
    hasLists = true,
    properties = Map(
      "write.parquet.row-group-size-bytes" -> oneOf(Seq("300", "1500", "1000000"), random),
      "write.parquet.page-row-limit" -> oneOf(Seq("7", "20"), random),
      "write.parquet.dict-size-bytes" -> oneOf(Seq("64", "1048576"), random),
      "write.orc.stripe-size-bytes" -> "4000"
    )
  )

  private def oneOf[A](of: Seq[A], random: Random): A = of(random.nextInt(of.size))

  /**
   * Returns the rows as text, without the sign of zeros: within a batch, the ORC library treats both zeros as one
   * value.
   */
  private def texts(query: DataFrame): Seq[String] =
    query.collect().map(_.toString.replaceAll("-0\\.0(?!\\d)", "0.0")).sorted.toSeq

  /** Returns the columns of a table, with bytes as text, so that they can be compared. */
  private def columns(table: DataFrame): Seq[String] =
    table.schema.map(f => if (f.dataType == BinaryType) s"hex(${f.name}) AS ${f.name}" else f.name)

  /** The number of rows that a scan has read, and of all rows of the table. */
  private case class Amounts(read: Long, all: Long)

  private class Checked(table: EvolvingTable, random: Random) {
    private val all = spark.read.option("batch-size", oneOf(Seq(3, 16, 5000), random).toString).table(table.name)
    private val rows = columns(all) ++ Seq("_file", "_pos")

    /** The rows found without any filter, in memory. */
    private val plain: DataFrame = {
      val whole = all.selectExpr("*", "_file", "_pos")
      spark.createDataFrame(java.util.Arrays.asList(whole.collect(): _*), whole.schema)
    }

    /**
     * Compares the unpruned scan with the written rows, with a scan that includes deleted rows, and with Apache
     * Iceberg.
     */
    def unpruned(): Unit = {
      val places = plain.select("id", "_file", "_pos").collect().map { case Row(id: Int, file: String, pos: Long) =>
        id -> (file -> pos)
      }
      assert(places.toMap == table.live && places.length == table.live.size)
      val expected = texts(plain.selectExpr(rows: _*))
      assert(texts(all.where("NOT _deleted").selectExpr(rows: _*)) == expected, "beside the deleted rows")
      if (!table.shape.hasNewTypes) {
        assert(expected == texts(spark.table(table.peerName).selectExpr(rows: _*)), "as Apache Iceberg reads it")
      }
    }

    def where(condition: String): Amounts = {
      val wanted = random.shuffle(rows).take(1 + random.nextInt(rows.size))
      val batches = Map(
        "batch-size" -> oneOf(Seq(1, 3, 8, 64, 5000), random).toString,
        "split-size" -> oneOf(Seq(3000, 1 << 27), random).toString,
        "vectorization-enabled" -> (random.nextInt(6) > 0).toString
      )
      val query = spark.read.options(batches).table(table.name).where(condition).selectExpr(wanted: _*)
      withClue(s"SELECT ${wanted.mkString(", ")} WHERE $condition\n$batches\n") {
        assert(texts(query) == texts(plain.where(condition).selectExpr(wanted: _*)))
      }
      val read = query.queryExecution.executedPlan.collectLeaves().collect { case scan: BatchScanExec =>
        scan.metrics("numOutputRows").value
      }
      Amounts(read.sum, table.live.size.toLong)
    }

    def rowGroups: Seq[Int] = {
      val files = spark.sql(s"SELECT file_format, size(split_offsets) FROM ${table.name}.data_files").collect()
      files.toSeq.collect { case Row(format: String, groups: Int) if format.equalsIgnoreCase("parquet") => groups }
    }
  }

  private def catalog: LiteCatalog =
    spark.sessionState.catalogManager.catalog("lite").asInstanceOf[LiteCatalog]

  test("scans with rows skipped by filters and rows deleted return the correct rows") {
    (0 until tables).foreach { round =>
      val random = new Random(Fuzz.seed + round * 6271L)
      withConf(settings(random): _*) {
        val table = new EvolvingTable(newTable("skipped"), shape(round, random), random, sql)(catalog)
        withClue(s"ICEBERG_LITE_SEED=${Fuzz.seed}, round $round\n") {
          withClue(s"${table.description}\n")(table.build())
          withClue(s"${table.description}\n") {
            val checked = new Checked(table, random)
            checked.unpruned()
            val predicates = new RandomPredicates(EvolvingTable.leavesOf(table.table.schema), random)
            (0 until conditionsEach).foreach(i => checked.where(predicates.next(i % 3)))
          }
        }
      }
    }
  }

  private val few = Seq("id <= 20", "id > 980", "id BETWEEN 500 AND 520", "id IN (77, 78)", "id = 5 AND i IS NULL") ++
    Seq("id < 10 OR id > 990", "NOT (id > 15)", "id < 30 AND (x > 0 OR t IS NOT NULL)")

  test("in a file with many row groups, scans skip most rows by conditions that hold for few row groups") {
    for (version <- 2 to 3) {
      val random = new Random(Fuzz.seed + version)
      withConf(settings(random): _*) {
        val properties = Map("write.parquet.row-group-size-bytes" -> "1500", "write.parquet.page-row-limit" -> "20")
        val shape = TableShape(version = version, hasLists = true, properties = properties)
        val table = new EvolvingTable(newTable("ordered"), shape, random, sql)(catalog)
        withClue(s"ICEBERG_LITE_SEED=${Fuzz.seed}, version $version\n") {
          val checked = new Checked(table.buildOrdered(1000), random)
          checked.unpruned()
          assert(checked.rowGroups.max > 4, "row groups of the file")
          few.foreach { condition =>
            val amounts = checked.where(condition)
            assert(amounts.read < amounts.all / 2, s"rows read WHERE $condition")
          }
        }
      }
    }
  }
}
