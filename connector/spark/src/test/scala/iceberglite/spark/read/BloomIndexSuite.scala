package iceberglite.spark.read

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path, Paths, StandardOpenOption}

import scala.collection.JavaConverters._
import scala.util.Random

import org.apache.iceberg.puffin.Puffin
import org.apache.iceberg.spark.Spark3Util
import org.apache.spark.sql.SparkSession
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.conformance.StatisticsRules
import iceberglite.puffin.PuffinFile
import iceberglite.spark.{IcebergTable, SharedSession, SparkCatalog}
import iceberglite.spark.read.planning.OpenedFiles
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spec.metadata.{BlobMetadata, BlobType, StatisticsFile}

/** Tests that the Bloom index skips files of point queries and joins, and that it never loses a row. */
class BloomIndexSuite extends AnyFunSuite with StatementFixture {
  // Apache Iceberg's procedures need its SQL extensions.
  override lazy val spark: SparkSession = SharedSession.spark

  private val Keys = 4000

  private def call(t: String, procedure: String = "compute_table_stats", arguments: String = ""): Unit = {
    val Array(catalog, rest) = t.split("\\.", 2)
    sql(s"CALL $catalog.system.$procedure(table => '$rest'$arguments)")
    ()
  }

  /** Returns the number of files in the plan of a query. */
  private def planned(query: String): Int = {
    val plan = spark.sql(query).queryExecution.executedPlan.toString
    "files=(\\d+) of".r.findFirstMatchIn(plan).map(_.group(1).toInt).getOrElse(fail(plan))
  }

  /** Creates a table of files whose ranges of ids overlap, so that bounds exclude no file. */
  private def scattered(
      files: Int,
      columns: String = "id BIGINT, n STRING",
      properties: String = "'format-version'='2'",
      t: String = newTable()
  ): String = {
    sql(s"CREATE TABLE $t ($columns) USING iceberg TBLPROPERTIES ($properties)")
    // 7919 and 4000 have no common divisor, so each key from 0 to 3999 occurs once.
    sql(s"INSERT INTO $t SELECT k, concat('s', k) FROM (SELECT id * 7919 % $Keys AS k FROM range(0, $Keys, 1, $files))")
    t
  }

  private def indexed(t: String, columns: String = "id"): Unit = {
    sql(s"ALTER TABLE $t SET BLOOM INDEX ($columns)")
    call(t, arguments = ", bloom_index_only => true")
  }

  private def statistics(t: String): StatisticsFile = {
    val metadata = live(t).metadata
    metadata.statistics.find(_.snapshotId == metadata.currentSnapshot.get.snapshotId).get
  }

  private def blobs(t: String, blobType: String): Vector[BlobMetadata] =
    PuffinFile.open(live(t).io, statistics(t).statisticsPath).blobs.map(_.metadata).filter(_.blobType == blobType)

  private def indexedFiles(t: String): Int = blobs(t, BlobType.BloomIndex).head.properties("files").toInt

  private def localPath(file: StatisticsFile): Path = Paths.get(file.statisticsPath.replaceFirst("^file:/*", "/"))

  test(
    "a point query and a join with few keys open only the files that may contain a key",
    Slow,
    StatisticsRules.bloomIndex
  ) {
    val settings = SharedSession.catalogConf(
      "indexed",
      classOf[SparkCatalog].getName,
      "type" -> "jdbc",
      "uri" -> s"jdbc:sqlite:${newDirectory("opened")}/catalog.db",
      "warehouse" -> s"opened://wh${newDirectory("opened")}",
      "hadoop.fs.opened.impl" -> classOf[OpenedFiles].getName
    )
    withConf(settings.toSeq: _*) {
      sql("CREATE NAMESPACE indexed.db")
      val t = scattered(200, t = "indexed.db.t")
      def opened(query: String): Int = {
        OpenedFiles.names.clear()
        assert(rows(query).map(_.getLong(0)) == Seq(1234L), query)
        OpenedFiles.names.asScala.toSeq.filter(_.endsWith(".parquet")).distinct.size
      }
      val point = s"SELECT id FROM $t WHERE id = 1234"
      val join = s"SELECT f.id FROM $t f JOIN (VALUES (1234L), (9999L)) AS d(k) ON f.id = d.k"
      assert(opened(point) > 100 && opened(join) > 100)
      indexed(t)
      assert(opened(point) <= 8 && opened(join) <= 14)
      val size = Files.size(localPath(statistics(t).copy(statisticsPath =
        statistics(t).statisticsPath.replaceFirst("^opened://wh", "")
      )))
      assert(
        size < 200 * (32 + 32) + 1000,
        "expected for each of 200 files: 32 bytes, and 20 values with 1.25 bytes each"
      )
    }
  }

  test("a query with several indexed columns skips files, and a dropped index is not used") {
    val t = scattered(16)
    val query = s"SELECT * FROM $t WHERE id = 1234"
    val before = planned(query)
    indexed(t, "id, n")
    assert(before > 10 && planned(query) <= 3)
    assert(rows(query).map(_.getString(1)) == Seq("s1234"))
    assert(planned(s"SELECT * FROM $t WHERE id IN (5, 6) AND n = 's5'") <= 3)
    assert(rows(s"SELECT id FROM $t WHERE id IN (5, 6)").size == 2)
    assert(rows(s"SELECT id FROM $t WHERE id = 99 OR n = 's77'").size == 2)
    assert(count(t, "id <> 5") == 3999 && count(t, "id > 3000 AND id NOT IN (5, 3001)") == 998)
    // Files without a filter are read.
    sql(s"INSERT INTO $t VALUES (1234, 'new')")
    assert(rows(query).size == 2)
    def property = rows(s"SHOW TBLPROPERTIES $t").find(_.getString(0) == "iceberg-lite.bloom-index.columns")
    assert(property.map(_.getString(1)).contains("id,n"))
    sql(s"ALTER TABLE $t DROP BLOOM INDEX (n)")
    assert(property.map(_.getString(1)).contains("id") && planned(query) <= 4)
    sql(s"ALTER TABLE $t DROP BLOOM INDEX")
    assert(property.isEmpty && planned(query) > 10 && rows(query).size == 2)
  }

  test("no row is lost after deletes and changes of columns, and in old snapshots and branches", Slow) {
    val t = scattered(8, "id INT, n STRING")
    val first = live(t).metadata.currentSnapshot.get.snapshotId
    sql(s"DELETE FROM $t WHERE id = 7")
    indexed(t)
    assert(rows(s"SELECT id FROM $t WHERE id = 7").isEmpty)
    assert(rows(s"SELECT id FROM $t VERSION AS OF $first WHERE id = 7").size == 1)
    sql(s"ALTER TABLE $t CREATE BRANCH work AS OF VERSION $first")
    assert(rows(s"SELECT id FROM $t VERSION AS OF 'work' WHERE id = 7").size == 1)
    sql(s"ALTER TABLE $t ALTER COLUMN id TYPE BIGINT")
    val random = new Random(5)
    Seq.fill(20)(random.nextInt(5000)).foreach { id =>
      assert(rows(s"SELECT id FROM $t WHERE id = $id").size == (if (id < Keys && id != 7) 1 else 0), id)
    }
    sql(s"ALTER TABLE $t RENAME COLUMN id TO key")
    assert(planned(s"SELECT * FROM $t WHERE key = 8") <= 3 && count(t, "key = 8") == 1)
    assert(live(t).metadata.properties("iceberg-lite.bloom-index.columns") == "key")
    sql(s"ALTER TABLE $t DROP COLUMN key")
    sql(s"ALTER TABLE $t ADD COLUMN key BIGINT")
    sql(s"ALTER TABLE $t SET BLOOM INDEX (key)")
    sql(s"INSERT INTO $t (n, key) VALUES ('again', 8)")
    assert(rows(s"SELECT n FROM $t WHERE key = 8").map(_.getString(0)) == Seq("again"))
  }

  test("a compaction adds its files to the index, and keeps the numbers of distinct values", Slow) {
    val t = scattered(8)
    sql(s"ALTER TABLE $t SET BLOOM INDEX (id)")
    call(t, arguments = ", columns => array('n')")
    val sketches = blobs(t, BlobType.ThetaSketch)
    assert(indexedFiles(t) == 8 && sketches.size == 1)
    sql(s"DELETE FROM $t WHERE id < 100")
    sql(s"INSERT INTO $t SELECT id + 10000, 'moved' FROM range(0, 100)")
    call(t, "rewrite_data_files", s", options => map('rewrite-all', 'true', 'target-file-size-bytes', '6000')")
    assert(indexedFiles(t) > 1 && blobs(t, BlobType.ThetaSketch) == sketches)
    assert(indexedFiles(t) == live(t).metadata.currentSnapshot.get.summary("total-data-files").toInt)
    assert(planned(s"SELECT * FROM $t WHERE id = 10005") <= 2)
    assert(count(t, "id = 10005") == 1 && count(t, "id IN (500, 501, 10006)") == 3 && count(t, "id = 5") == 0)
  }

  test("Table.maintain writes the filters of new files, and then has nothing to do", Slow) {
    val t = scattered(2)
    indexed(t)
    sql(s"INSERT INTO $t VALUES (9999, 'x')")
    def maintain(): Option[String] = {
      val Array(catalog, rest) = t.split("\\.", 2)
      rows(s"CALL $catalog.system.maintain(table => '$rest')").find(_.getAs[String]("action") == "compute_table_stats")
        .map(_.getAs[String]("status"))
    }
    assert(maintain().contains("done") && indexedFiles(t) == 3)
    assert(maintain().contains("skipped"))
    (1 to 3).foreach(i => sql(s"INSERT INTO $t VALUES (${9999 + i}, 'x')"))
    maintain()
    assert(indexedFiles(t) == 1 && planned(s"SELECT * FROM $t WHERE id = 10001") == 1)
    assert(maintain().contains("skipped"))
  }

  test(
    "automatic compactions, and rewrites without an index, compute no filters; other rewrites only those of new files",
    Slow
  ) {
    val t = scattered(4, properties = "'format-version'='2', 'iceberg-lite.auto-compact.min-input-files'='2'")
    def ofIndex: Int = live(t).metadata.statistics.size
    def rewrite(condition: String): Unit =
      call(t, "rewrite_data_files", s", where => '$condition', options => map('rewrite-all', 'true')")
    sql(s"ALTER TABLE $t SET BLOOM INDEX (id)")
    rewrite("id < 9999")
    assert(ofIndex == 0)
    call(t, arguments = ", bloom_index_only => true")
    spark.sql("SELECT 70000L AS id, 'x' AS n").writeTo(t).option("iceberg-lite.auto-compact", "true").append()
    val replaced = live(t).metadata.currentSnapshot.get.operation
    assert(replaced.contains("replace") && ofIndex == 1, replaced)
    sql(s"INSERT INTO $t VALUES (80000, 'x')")
    sql(s"INSERT INTO $t VALUES (90000, 'x')")
    rewrite("id > 85000")
    // The file with 80000 and the file of the automatic compaction have no filters.
    assert(ofIndex == 2 && indexedFiles(t) == 1)
    assert(planned(s"SELECT * FROM $t WHERE id = 5") == 1 && count(t, "id = 90000") == 1 && count(t, "id = 5") == 1)
  }

  test("a rewrite whose files cannot be added to the index succeeds") {
    val t = scattered(4)
    indexed(t)
    sql(s"ALTER TABLE ${inApacheIceberg(t)} SET TBLPROPERTIES ('iceberg-lite.bloom-index.columns'=' ,')")
    sql(s"REFRESH TABLE $t")
    call(t, "rewrite_data_files", ", options => map('rewrite-all', 'true')")
    val snapshot = live(t).metadata.currentSnapshot.get
    assert(snapshot.operation.contains("replace") && count(t, "id = 5") == 1)
  }

  test("Spark evaluates a filter if the index excludes all files, because another plan may read them") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, n STRING) USING iceberg PARTITIONED BY (bucket(2, id))")
    (0 until 4).foreach(i => sql(s"INSERT INTO $t SELECT id * 8 + $i * 2, 'x' FROM range(0, 100)"))
    indexed(t)
    val query = s"SELECT n FROM $t WHERE id = 401"
    assert(planned(query) == 0)
    val plan = spark.sql(query).queryExecution.optimizedPlan.toString
    assert(plan.contains("Filter"), plan)
  }

  test("only new files are read for the index, and a damaged statistics file loses no row", Slow) {
    val t = scattered(8)
    indexed(t)
    sql(s"INSERT INTO $t VALUES (9999, 'x')")
    val file = IcebergTable.forName(spark, t).computeTableStats(bloomIndexOnly = true)
    assert(file.exists(_ == statistics(t)) && indexedFiles(t) == 9)
    assert(planned(s"SELECT * FROM $t WHERE id = 17") <= 3)
    val path = localPath(statistics(t))
    val bytes = Files.readAllBytes(path)
    (4 until bytes.length - 2000).foreach(i => bytes(i) = 0)
    Files.write(path, bytes, StandardOpenOption.TRUNCATE_EXISTING)
    assert(count(t, "id = 17") == 1 && count(t, "id IN (18, 9999)") == 2)
    Files.delete(path)
    assert(count(t, "id = 17") == 1)
    call(t, arguments = ", bloom_index_only => true")
    assert(planned(s"SELECT * FROM $t WHERE id = 17") <= 3 && count(t, "id = 17") == 1)
  }

  test(
    "Apache Iceberg reads, writes and expires a table with the index, and reads the footer of its file",
    Slow,
    StatisticsRules.bloomIndex
  ) {
    val t = scattered(4)
    indexed(t)
    val file = statistics(t)
    val theirs = Spark3Util.loadIcebergTable(spark, inApacheIceberg(t))
    assert(theirs.statisticsFiles.asScala.map(_.path) == Seq(file.statisticsPath))
    assert(theirs.statisticsFiles.get(0).blobMetadata.isEmpty, "PyIceberg rejects metadata with blobs of unknown types")
    val reader = Puffin.read(theirs.io.newInputFile(file.statisticsPath)).withFileSize(file.fileSizeInBytes)
      .withFooterSize(file.fileFooterSizeInBytes).build()
    try {
      val found = reader.fileMetadata.blobs.asScala.map(b => (b.`type`, b.inputFields.asScala.map(_.toInt)))
      assert(found == Seq((BlobType.BloomIndex, Seq(1))))
    } finally reader.close()
    sql(s"INSERT INTO ${inApacheIceberg(t)} VALUES (5, 'peer')")
    sql(s"REFRESH TABLE $t")
    assert(rows(s"SELECT * FROM ${inApacheIceberg(t)} WHERE id = 5").size == 2 && count(t, "id = 5") == 2)
    call(inApacheIceberg(t), "compute_table_stats")
    sql(s"REFRESH TABLE $t")
    assert(count(t, "id = 5") == 2 && planned(s"SELECT * FROM $t WHERE id = 6") <= 3)
    call(inApacheIceberg(t), "expire_snapshots", ", older_than => TIMESTAMP '2999-01-01 00:00:00', retain_last => 1")
    assert(!Files.exists(localPath(file)))
    sql(s"REFRESH TABLE $t")
    assert(count(t, "id = 5") == 2)
  }

  test("orphan removal keeps the file of the index, and expiration and DROP TABLE PURGE delete it") {
    val t = scattered(4)
    indexed(t)
    val first = localPath(statistics(t))
    Files.setLastModifiedTime(first, FileTime.fromMillis(0))
    call(t, "remove_orphan_files")
    assert(Files.exists(first))
    sql(s"INSERT INTO $t VALUES (1, 'x')")
    call(t, arguments = ", bloom_index_only => true")
    val second = localPath(statistics(t))
    call(t, "expire_snapshots", ", older_than => TIMESTAMP '2999-01-01 00:00:00', retain_last => 1")
    assert(!Files.exists(first) && Files.exists(second) && planned(s"SELECT * FROM $t WHERE id = 17") <= 3)
    sql(s"DROP TABLE $t PURGE")
    assert(!Files.exists(second))
  }

  test("columns that cannot be indexed, and calls without an index, are rejected") {
    val t = newTable()
    sql(s"CREATE TABLE $t (d DOUBLE, id INT, s STRUCT<x: INT>, `a,b` INT) USING iceberg")
    sql(s"INSERT INTO $t SELECT 1.0, 1, NULL, 1")
    def error(statement: String): String = intercept[Exception](sql(statement)).getMessage
    assert(error(s"ALTER TABLE $t SET BLOOM INDEX (d)").contains("cannot be indexed"))
    assert(error(s"ALTER TABLE $t SET BLOOM INDEX (s)").contains("choose other columns"))
    assert(error(s"ALTER TABLE $t SET BLOOM INDEX (s.x)").contains("Column not found: s.x"))
    assert(error(s"ALTER TABLE $t SET BLOOM INDEX (`a,b`)").contains("contains a comma"))
    assert(error(s"ALTER TABLE $t SET BLOOM INDEX (nothing)").contains("Column not found: nothing"))
    assert(error(s"ALTER TABLE $t SET BLOOM INDEX").contains("expected columns in parentheses"))
    assert(error(s"ALTER TABLE $t DROP BLOOM INDEX (id)").contains("It is not indexed"))
    val onlyIndex = intercept[Exception](call(t, arguments = ", bloom_index_only => true")).getMessage
    assert(onlyIndex.contains("No column of the table is indexed"))
    sql(s"ALTER TABLE $t SET BLOOM INDEX (id)")
    val twoArguments = ", bloom_index_only => true, columns => array('id')"
    val both = intercept[Exception](call(t, arguments = twoArguments)).getMessage
    assert(both.contains("omit one of the two arguments"))
  }
}
