package iceberglite.spark.procedure

import java.net.URI
import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path, Paths}

import org.apache.spark.sql.{Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.FilesBelow
import iceberglite.spark.SharedSession
import iceberglite.spark.rowlevel.StatementFixture

/** `CALL remove_orphan_files`, compared with Apache Iceberg. */
class RemoveOrphanFilesSuite extends AnyFunSuite with StatementFixture {
  // Only this session has procedures of Apache Iceberg.
  override lazy val spark: SparkSession = SharedSession.spark
  private val DayMs = 86400000L

  private def directoryOf(t: String): Path = Paths.get(new URI(live(t).location).getPath)

  /** Makes all files of a table older than a number of days. */
  private def age(t: String, days: Long): Unit = FilesBelow.of(directoryOf(t)).foreach { file =>
    Files.setLastModifiedTime(file, FileTime.fromMillis(System.currentTimeMillis - days * DayMs - 1))
  }

  private def call(table: String, arguments: String*): Seq[Row] = {
    val Array(catalog, rest) = table.split("\\.", 2)
    rows(s"CALL $catalog.system.remove_orphan_files(${(s"table => '$rest'" +: arguments).mkString(", ")})")
  }

  private def names(result: Seq[Row]): Set[String] = result.map(_.getString(0).split('/').last).toSet

  /** Creates a table with changes of both engines, and adds files that it does not refer to. */
  private def withOrphans(version: Int): (String, Set[Path]) = {
    val t = filled(version, if (version == 1) "copy-on-write" else "merge-on-read")
    sql(s"DELETE FROM $t WHERE id % 7 = 0")
    sql(s"INSERT INTO ${peer(t)} VALUES (-1, -1)")
    sql(s"REFRESH TABLE $t")
    val orphans = Seq("data/orphan.parquet", "data/n=1/a b%20c.parquet", "metadata/orphan-m0.avro", "metadata/x.stats")
      .map(directoryOf(t).resolve)
    orphans.foreach { file =>
      Files.createDirectories(file.getParent)
      Files.write(file, Array[Byte](1))
    }
    (t, orphans.toSet)
  }

  for (version <- Seq(1, 2, 3))
    test(s"the same files are orphans as in Apache Iceberg, version $version") {
      val (t, orphans) = withOrphans(version)
      assert(call(t).isEmpty)
      age(t, 4)
      val before = FilesBelow.of(directoryOf(t))
      val planned = call(t, "dry_run => true")
      assert(names(planned) == names(call(peer(t), "dry_run => true")) && planned.forall(_.isNullAt(1)))
      assert(FilesBelow.of(directoryOf(t)) == before)
      val rowsBefore = rows(s"SELECT * FROM $t ORDER BY id")
      assert(names(call(t)) == orphans.map(_.getFileName.toString))
      assert(before -- FilesBelow.of(directoryOf(t)) == orphans)
      assert(call(t).isEmpty && call(peer(t), "dry_run => true").isEmpty)
      sql(s"REFRESH TABLE $t")
      assert(rows(s"SELECT * FROM $t ORDER BY id") == rowsBefore)
      assert(rows(s"SELECT * FROM ${peer(t)} ORDER BY id") == rowsBefore)
    }

  test("a view can list the files") {
    val (t, orphans) = withOrphans(2)
    val all = FilesBelow.of(directoryOf(t)).toSeq.filterNot(_.getFileName.toString.startsWith(".")).map(file =>
      (s"file:$file", new java.sql.Timestamp(0L))
    )
    spark.createDataFrame(all).toDF("file_path", "last_modified").createOrReplaceTempView("listed")
    val planned = call(t, "file_list_view => 'listed'", "dry_run => true")
    assert(names(planned) == orphans.map(_.getFileName.toString))
    val ofData = call(t, "file_list_view => 'listed'", s"location => '${live(t).location}/data'", "dry_run => true")
    assert(names(ofData) == Set("orphan.parquet", "a b%20c.parquet"))
    assert(names(call(t, "file_list_view => 'listed'")) == orphans.map(_.getFileName.toString))
    assert(orphans.forall(!Files.exists(_)))
    sql("CREATE OR REPLACE TEMP VIEW listed AS SELECT 'x' AS file_path, 1 AS last_modified")
    val error = intercept[Exception](call(t, "file_list_view => 'listed'"))
    assert(messages(error).contains("last_modified has the type int"))
  }

  test("a location selects a part of the table, and another table's directory is rejected") {
    val (t, _) = withOrphans(2)
    age(t, 4)
    assert(names(call(t, s"location => '${live(t).location}/metadata'", "dry_run => true")) ==
      Set("orphan-m0.avro", "x.stats"))
    val (other, orphans) = withOrphans(2)
    age(other, 4)
    val error = intercept[Exception](call(t, s"location => '${live(other).location}'"))
    assert(messages(error).contains("location") && orphans.forall(Files.exists(_)))
  }

  test("an age under 24 hours is rejected") {
    val (t, orphans) = withOrphans(2)
    val error = intercept[Exception](call(t, "older_than => current_timestamp() - INTERVAL 23 HOURS"))
    assert(messages(error).contains("at least 24 hours ago") && orphans.forall(Files.exists(_)))
  }
}
