package iceberglite.spark.procedure

import scala.collection.JavaConverters._

import org.apache.iceberg.spark.Spark3Util
import org.apache.spark.sql.{AnalysisException, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession
import iceberglite.spark.rowlevel.StatementFixture

/** Tests `CALL compute_table_stats`, and compares the results with Apache Iceberg. */
class ComputeTableStatsSuite extends AnyFunSuite with StatementFixture {
  // Apache Iceberg's procedures need its SQL extensions. This session has them, unlike that of StatementFixture.
  override lazy val spark: SparkSession = SharedSession.spark

  private def created(): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (i INT, l BIGINT, f FLOAT, d DOUBLE, s STRING, b BINARY, dec DECIMAL(20, 3), dt DATE, " +
      "ts TIMESTAMP, ntz TIMESTAMP_NTZ, bool BOOLEAN, st STRUCT<x: INT>) USING iceberg")
    sql(s"INSERT INTO $t SELECT id % 700, id, id % 5 / 3.0F, id % 11 / 7.0D, concat('s', id % 900), " +
      "unhex(hex(id % 13)), CAST(id % 333 AS DECIMAL(20, 3)) / 8, date_add(DATE '2020-01-01', CAST(id % 99 AS INT)), " +
      "timestamp_seconds(id % 1234), CAST(timestamp_seconds(id % 77) AS TIMESTAMP_NTZ), id % 3 = 0, " +
      "named_struct('x', 1) FROM range(0, 20000, 1, 4)")
    sql(s"INSERT INTO $t (i) VALUES (NULL), (-5)")
    sql(s"DELETE FROM ${inApacheIceberg(t)} WHERE l = 3")
    sql(s"REFRESH TABLE $t")
    t
  }

  /** Returns the numbers of distinct values in the statistics file of the current snapshot, by field id. */
  private def distinctValues(t: String): Map[Int, String] = {
    sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
    val table = Spark3Util.loadIcebergTable(spark, inApacheIceberg(t))
    table.statisticsFiles.asScala.filter(_.snapshotId == table.currentSnapshot.snapshotId).flatMap(
      _.blobMetadata.asScala
    )
      .map(blob => blob.fields.get(0).intValue -> blob.properties.get("ndv")).toMap
  }

  private def call(table: String, arguments: String*): Seq[String] = {
    val Array(catalog, rest) = table.split("\\.", 2)
    val text = (s"table => '$rest'" +: arguments).mkString(", ")
    rows(s"CALL $catalog.system.compute_table_stats($text)").map(_.getString(0))
  }

  test("the exact numbers of distinct values equal those of Apache Iceberg, and estimates are close", Slow) {
    val t = created()
    assert(call(t).map(_.endsWith(".stats")) == Seq(true))
    val ours = distinctValues(t)
    assert(ours.size == 11 && ours(1) == "701" && ours(3) == "5")
    assert(call(inApacheIceberg(t)).size == 1)
    val theirs = distinctValues(t)
    // Column 2 is compared separately: above 4,096 distinct values, a sketch gives an estimate, which depends on the
    // order of the rows.
    assert(theirs - 2 == ours - 2)
    Seq(ours, theirs).foreach(ndv => assert(math.abs(ndv(2).toInt - 19999) < 1000, ndv))
  }

  test("columns and a snapshot can be chosen, and a table without snapshots has no statistics") {
    val t = created()
    assert(call(t, "columns => array('S', 'i')").size == 1 && distinctValues(t).keySet == Set(1, 5))
    val first = rows(s"SELECT snapshot_id FROM $t.snapshots ORDER BY committed_at").head.getLong(0)
    assert(call(t, s"snapshot_id => $first").size == 1 && live(t).metadata.statistics.map(_.snapshotId).contains(first))
    val empty = newTable()
    sql(s"CREATE TABLE $empty (id INT) USING iceberg")
    assert(call(empty).isEmpty)
    for (
      (arguments, message) <- Seq(
        "columns => array('nothing')" -> "Column not found: nothing",
        "columns => array('st')" -> "choose other columns",
        "snapshot_id => 42" -> "Snapshot not found: 42"
      )
    ) assert(messages(intercept[AnalysisException](call(t, arguments))).contains(message), arguments)
  }
}
