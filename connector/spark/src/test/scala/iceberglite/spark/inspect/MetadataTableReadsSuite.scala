package iceberglite.spark.inspect

import java.net.URI
import java.nio.file.{Files, Paths}

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.inspect.MetadataTables
import iceberglite.spark.SharedSession

/** Reads metadata tables with filters, options and Spark tasks, and compares the rows with those of Apache Iceberg. */
class MetadataTableReadsSuite extends AnyFunSuite with SharedSession {
  private def create(properties: (String, String)*): String = {
    val t = newTable()
    val list = (("write.delete.mode" -> "merge-on-read") +: properties).map { case (k, v) => s"'$k' = '$v'" }
    sql(
      s"CREATE TABLE $t (id BIGINT, s STRING) USING iceberg PARTITIONED BY (s) TBLPROPERTIES (${list.mkString(", ")})"
    )
    sql(s"INSERT INTO $t SELECT id, concat('p', id % 3) FROM range(0, 30, 1, 1)")
    sql(s"DELETE FROM $t WHERE id IN (1, 2, 7)")
    sql(s"ALTER TABLE $t ADD PARTITION FIELD bucket(2, id)")
    sql(s"INSERT INTO $t SELECT id, if(id = 41, null, 'p1') FROM range(40, 50, 1, 1)")
    sql(s"DELETE FROM $t WHERE id IN (3, 44)")
    t
  }

  private lazy val table: String = create()

  private def read(name: String, options: (String, String)*): DataFrame = spark.read.options(options.toMap).table(name)

  private def sortedRows(frame: DataFrame): Seq[String] = frame.collect().map(_.toString).toSeq.sorted

  private val byTasks = Seq("data-planning-mode" -> "distributed", "split-size" -> "1")

  /** Returns the number of tasks that read a metadata table; absent if the driver produces the rows. */
  private def tasksOf(frame: DataFrame): Option[Int] = frame.queryExecution.sparkPlan
    .collectFirst { case scan: BatchScanExec => scan.batch.planInputPartitions().length }

  private def tiers(format: String): Seq[Tag] = if (format == "parquet") Nil else Seq(Slow)

  for {
    (version, formats) <- Seq("2" -> Seq("parquet", "orc", "avro"), "3" -> Seq("parquet"))
    format <- formats
  } test(
    s"position_deletes has the rows of Apache Iceberg: version $version, $format",
    (if (version == "2") tiers(format) else Seq(Slow)): _*
  ) {
    val t = create("format-version" -> version, "write.format.default" -> format)
    val expected = sortedRows(read(s"${inApacheIceberg(t)}.position_deletes"))
    assert(expected.size == 5)
    assert(sortedRows(read(s"$t.position_deletes")) == expected)
    assert(sortedRows(read(s"$t.position_deletes", byTasks: _*)) == expected)
    for (filter <- Seq("pos > 0", "partition.s = 'p1'", "spec_id = 1", "file_path LIKE '%s=p2%'", "row IS NULL")) {
      val filtered = read(s"$t.position_deletes").where(filter)
      assert(sortedRows(filtered) == sortedRows(read(s"${inApacheIceberg(t)}.position_deletes").where(filter)), filter)
    }
    assert(read(s"$t.position_deletes").select("pos").distinct().count() > 1)
  }

  test("filters on metadata tables of files return the rows of Apache Iceberg, on the driver and in tasks", Slow) {
    val columns = Seq("content", "file_path", "spec_id", "record_count", "partition", "readable_metrics")
    val filters = Seq(
      "content = 0",
      "content <> 0 AND record_count = 1",
      "partition.s = 'p1'",
      "partition.s IS NULL",
      "partition.id_bucket_2 = 1 OR partition.s = 'p2'",
      "NOT (partition.s <=> 'p0')",
      "spec_id = 0 AND readable_metrics.id.lower_bound >= 1",
      "readable_metrics.s.null_value_count > 0",
      "file_path LIKE '%s=p2%'",
      "content = 7"
    )
    val names = Seq("files", "data_files", "delete_files", "all_files", "all_data_files", "all_delete_files")
    for ((name, filter) <- Sampling.pairs(names, filters, "filters of metadata tables of files"))
      withClue(s"$name: $filter: ") {
        def rowsOf(frame: DataFrame): Seq[String] = sortedRows(frame.where(filter).selectExpr(columns: _*))
        val expected = rowsOf(read(s"${inApacheIceberg(table)}.$name"))
        assert(rowsOf(read(s"$table.$name")) == expected)
        assert(rowsOf(read(s"$table.$name", byTasks: _*)) == expected)
      }
  }

  test("filters on entries return the rows of Apache Iceberg, on the driver and in tasks", Slow) {
    val columns =
      Seq("status", "snapshot_id", "sequence_number", "data_file.file_path", "readable_metrics.id.upper_bound")
    val filters = Seq("status = 1", "data_file.content = 1", "data_file.partition.s = 'p0'", "sequence_number > 2")
    for (name <- Seq("entries", "all_entries"); filter <- filters) withClue(s"$name: $filter: ") {
      def rowsOf(frame: DataFrame): Seq[String] = sortedRows(frame.where(filter).selectExpr(columns: _*))
      val expected = rowsOf(read(s"${inApacheIceberg(table)}.$name"))
      assert(rowsOf(read(s"$table.$name")) == expected)
      assert(rowsOf(read(s"$table.$name", byTasks: _*)) == expected)
    }
  }

  test("for each column of a metadata table, the filters IS NULL and IS NOT NULL together return all rows", Slow) {
    for (m <- MetadataTables.all) {
      val frame = read(s"$table.${m.name}")
      val all = frame.count()
      for (column <- Sampling.half(frame.columns.toSeq, s"columns of ${m.name}")) withClue(s"${m.name}.$column: ") {
        assert(frame.where(s"$column IS NULL").count() + frame.where(s"$column IS NOT NULL").count() == all)
      }
    }
  }

  test("tasks read the manifests of a large metadata table, and each task reads up to the split size", Slow) {
    val manifests = read(s"$table.manifests").count().toInt
    assert(tasksOf(read(s"$table.files")).isEmpty)
    assert(tasksOf(read(s"$table.files", "split-size" -> "1")).contains(manifests))
    assert(tasksOf(read(s"$table.files", "split-size" -> "1", "data-planning-mode" -> "local")).isEmpty)
    assert(tasksOf(read(s"$table.files", "data-planning-mode" -> "distributed")).contains(1))
    val t = create("read.split.metadata-target-size" -> "1")
    assert(tasksOf(read(s"$t.entries")).exists(_ > 1))
    assert(sortedRows(read(s"$t.entries").select("status")) == sortedRows(
      read(s"${inApacheIceberg(t)}.entries").select("status")
    ))
  }

  test("if partitions, manifests or all_manifests is larger than a split, tasks produce the rows of the driver", Slow) {
    for (name <- Seq("partitions", "manifests", "all_manifests")) withClue(s"$name: ") {
      val expected = sortedRows(read(s"$table.$name", "data-planning-mode" -> "local"))
      assert(expected.size > 1 && tasksOf(read(s"$table.$name")).isEmpty)
      assert(tasksOf(read(s"$table.$name", "split-size" -> "1")).exists(_ > 0))
      assert(sortedRows(read(s"$table.$name", "split-size" -> "1")) == expected)
      val names = read(s"${inApacheIceberg(table)}.$name").columns.toSeq
      def rowsOf(frame: DataFrame): Seq[String] = sortedRows(frame.selectExpr(names: _*))
      assert(rowsOf(read(s"$table.$name", byTasks: _*)) == rowsOf(read(s"${inApacheIceberg(table)}.$name")))
    }
    val snapshots = read(s"$table.snapshots").count().toInt
    assert(tasksOf(read(s"$table.all_manifests", byTasks: _*)).contains(snapshots))
    assert(tasksOf(read(s"$table.manifests", byTasks: _*)).contains(1))
    for (filter <- Seq("partition.s = 'p1'", "partition.s IS NULL", "spec_id = 1", "record_count > 5")) {
      val filtered = read(s"$table.partitions", byTasks: _*).where(filter)
      assert(sortedRows(filtered) == sortedRows(read(s"${inApacheIceberg(table)}.partitions").where(filter)), filter)
    }
  }

  test("partitions is read from partition statistics, except the columns last_updated_*, with the same rows") {
    val t = create()
    val columns = read(s"$t.partitions").columns.toSeq.filterNot(_.startsWith("last_updated"))
    def partitions: Seq[String] = sortedRows(read(s"$t.partitions", byTasks: _*).selectExpr(columns: _*))
    val expected = partitions
    sql(s"CALL lite.system.compute_partition_stats('${t.stripPrefix("lite.")}')")
    assert(partitions == expected && expected.size > 3)
    val last = Seq("last_updated_snapshot_id", "last_updated_at").mkString(", ")
    assert(rows(s"SELECT $last FROM $t.partitions").forall(!_.anyNull))
    rows(s"SELECT path FROM $t.manifests").foreach(row => Files.delete(Paths.get(pathOf(row.getString(0)))))
    assert(partitions == expected)
    // The columns last_updated_* are not in the statistics, and need the manifests.
    intercept[Exception](read(s"$t.partitions", byTasks: _*).collect())
  }

  private def pathOf(location: String): String =
    if (location.startsWith("/")) location else URI.create(location).getPath

  test("a filter on the content, the partition spec or the partition omits the manifests that cannot match") {
    def tasks(filter: String): Int = tasksOf(read(s"$table.files", "split-size" -> "1").where(filter)).getOrElse(0)
    val all = tasks("record_count >= 0")
    val deletes = read(s"$table.manifests").where("content = 1").count().toInt
    assert(tasks("content <> 0") == deletes && tasks("content = 0") == all - deletes && deletes > 0)
    assert(tasks("spec_id = 1") == read(s"$table.manifests").where("partition_spec_id = 1").count().toInt)
    assert(tasks("partition.s = 'p0'") < all && tasks("partition.s = 'none'") == 0)
  }

  test("read options select the snapshot of a metadata table; the table snapshots rejects them") {
    val first = rows(s"SELECT snapshot_id, committed_at FROM $table.snapshots ORDER BY committed_at").head
    val id = first.getLong(0).toString
    val time = first.getTimestamp(1).getTime.toString
    sql(s"ALTER TABLE $table CREATE OR REPLACE TAG v1 AS OF VERSION $id")
    sql(s"ALTER TABLE $table CREATE OR REPLACE BRANCH b1 AS OF VERSION $id")
    val expected = sortedRows(read(s"${inApacheIceberg(table)}.files", "snapshot-id" -> id).select("file_path"))
    assert(expected.nonEmpty)
    for (option <- Seq("snapshot-id" -> id, "as-of-timestamp" -> time, "tag" -> "v1", "branch" -> "b1"))
      withClue(s"$option: ") {
        assert(sortedRows(read(s"$table.files", option).select("file_path")) == expected)
        assert(read(s"$table.position_deletes", option).count() == 0)
        val error = intercept[Exception](read(s"$table.snapshots", option).count())
        assert(error.getMessage.contains("does not support time travel"))
        intercept[Exception](read(s"$table.tag_v1.files", "snapshot-id" -> "1").count())
      }
  }

  test("a misspelled option of a metadata table is rejected, and an unknown option is accepted") {
    val error = intercept[Exception](read(s"$table.files", "snapshotid" -> "1").count())
    assert(error.getMessage.contains("snapshot-id"))
    assert(read(s"$table.files", "unknown-setting" -> "1").count() > 0)
  }

  test("the metadata table properties shows the value of each property, and its default") {
    val known = rows(s"SELECT value, is_set, default_value FROM $table.properties WHERE key = 'write.delete.mode'")
    assert(known == Seq(Row("merge-on-read", true, "copy-on-write")))
    val set = rows(s"SELECT key, value FROM $table.properties WHERE is_set").map(r => r.getString(0) -> r.getString(1))
    val shown = rows(s"SHOW TBLPROPERTIES $table").map(r => r.getString(0) -> r.getString(1)).toSet
    assert(set.size > 2 && set.filterNot(_._1 == "owner").forall(shown))
  }
}
