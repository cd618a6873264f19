package iceberglite.spark.write.parquet

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.write.WriteFixture

/** Checks that table properties for single columns have the same effect on Parquet files as in Apache Iceberg. */
class ParquetColumnsSuite extends AnyFunSuite with WriteFixture with AdaptiveSparkPlanHelper {
  private val noDictionary = "write.parquet.dict-encoding-enabled.column.v" -> "false"
  private val bloomFilter = "write.parquet.bloom-filter-enabled.column.v" -> "true"

  /** Creates a table whose files have several row groups, each with values of `v` from almost the whole range. */
  private def tableOf(properties: (String, String)*): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (v BIGINT, s STRUCT<x: DOUBLE, w: STRING>, c STRING) USING iceberg")
    val allProperties = ("write.parquet.row-group-size-bytes" -> "20000") +: properties
    sql(s"ALTER TABLE $t SET TBLPROPERTIES (${allProperties.map { case (k, v) => s"'$k' = '$v'" }.mkString(", ")})")
    t
  }

  private def write(table: String): Unit = spark.range(0, 6000, 1, 1)
    .selectExpr(
      "id * 7919 % 6007 * 2 AS v",
      "named_struct('x', id * 0.5, 'w', concat('w', id)) AS s",
      "concat('c', id) AS c"
    ).writeTo(table).append()

  private def withReader[A](path: String)(body: ParquetFileReader => A): A = {
    val reader = ParquetFileReader.open(HadoopInputFile.fromPath(new HadoopPath(path), new Configuration()))
    try body(reader)
    finally reader.close()
  }

  /** Returns for each column the numbers of row groups with a Bloom filter, bounds, a column index and a dictionary. */
  private def rowGroupCounts(table: String): Map[String, Seq[Int]] = {
    val featuresByColumn = listed(table, "file_path").map(row =>
      withReader(row.getString(0)) { reader =>
        reader.getFooter.getBlocks.asScala.flatMap(_.getColumns.asScala.map { c =>
          val features = Seq(
            reader.readBloomFilter(c) != null,
            c.getStatistics.hasNonNullValue,
            reader.readColumnIndex(c) != null,
            c.getEncodings.asScala.exists(_.usesDictionary)
          )
          c.getPath.toDotString -> features
        })
      }
    )
    featuresByColumn.flatten.groupBy(_._1).map { case (path, features) =>
      path -> features.map(_._2).transpose.map(_.count(identity))
    }
  }

  /** Returns the number of rows that a query reads from the files. */
  private def rowsRead(query: String): Long = {
    val frame = sql(query)
    frame.collect()
    collect(frame.queryExecution.executedPlan) { case scan: BatchScanExec => scan.metrics("numOutputRows").value }.sum
  }

  test("a scan for a value skips row groups whose Bloom filter does not contain the value", Slow) {
    val withoutFilter = tableOf(noDictionary)
    val withFilter = tableOf(
      noDictionary,
      bloomFilter,
      "write.parquet.bloom-filter-ndv.column.v" -> "3000",
      "write.parquet.bloom-filter-fpp.column.v" -> "0.0001"
    )
    Seq(withoutFilter, withFilter).foreach(write)
    val groups = rowGroupCounts(withFilter)("v").head
    assert(groups > 2 && rowGroupCounts(withoutFilter)("v").head == 0)
    assert(rowsRead(s"SELECT * FROM $withoutFilter WHERE v = 4001") == 6000)
    assert(rowsRead(s"SELECT * FROM $withFilter WHERE v = 4001") == 0)
    val rowsReadForValue = rowsRead(s"SELECT * FROM $withFilter WHERE v = 4000")
    assert(rowsReadForValue > 0 && rowsReadForValue < 6000)
    Seq("v = 4000", "v IN (4000, 4001, 5)", "v <> 4000 AND v < 20").foreach { where =>
      val expected = sorted(s"SELECT * FROM $withoutFilter WHERE $where")
      assert(sorted(s"SELECT * FROM $withFilter WHERE $where") == expected)
      assert(sorted(s"SELECT * FROM ${inApacheIceberg(withFilter)} WHERE $where") == expected)
    }
  }

  test("the same properties have the same effect on files and metadata as in Apache Iceberg", Slow) {
    val properties = Seq(
      noDictionary,
      bloomFilter,
      "write.parquet.bloom-filter-enabled.column.s.w" -> "true",
      "write.parquet.bloom-filter-enabled.column.nobody" -> "true",
      "write.parquet.bloom-filter-ndv.column.s.w" -> "100",
      "write.parquet.bloom-filter-max-bytes" -> "65536",
      "write.parquet.dict-encoding-enabled.column.s.w" -> "false",
      "write.parquet.stats-enabled.column.s.x" -> "false",
      "write.parquet.stats-enabled.column.c" -> "false",
      "write.parquet.page-version" -> "v2"
    )
    val (liteTable, peerTable) = (tableOf(properties: _*), tableOf(properties: _*))
    write(liteTable)
    write(inApacheIceberg(peerTable))
    sql(s"REFRESH TABLE $peerTable")
    def hasFeature(table: String): Map[String, Seq[Boolean]] =
      rowGroupCounts(table).map { case (path, counts) => path -> counts.map(_ > 0) }
    assert(hasFeature(liteTable) == hasFeature(peerTable))
    assert(hasFeature(liteTable)("s.x").slice(1, 3) == Seq(false, false) && hasFeature(liteTable)("v").head)
    val columns = "value_counts, null_value_counts, nan_value_counts, lower_bounds, upper_bounds"
    // The column with the id 4 (`s.x`) is left out of the value and null counts, because Apache Iceberg counts the
    // values of floating-point columns differently.
    def metrics(table: String) =
      comparableMaps(listed(table, columns)).map(maps => maps.take(2).map(_ - 4) ++ maps.drop(2))
    assert(metrics(liteTable) == metrics(peerTable))
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(liteTable)}") == sorted(s"SELECT * FROM $peerTable"))
    assert(sorted(s"SELECT * FROM $peerTable WHERE s.w = 'w7'") == sorted(s"SELECT * FROM $liteTable WHERE s.w = 'w7'"))
  }

  private def comparableMaps(files: Seq[Row]): Seq[Seq[Map[Int, String]]] = files.map(_.toSeq.map {
    case map: scala.collection.Map[_, _] => map.map {
        case (id: Int, bytes: Array[Byte]) => id -> bytes.mkString(",")
        case (id, count) => id.asInstanceOf[Int] -> count.toString
      }.toMap
    case _ => Map.empty[Int, String]
  })

  test("position delete files follow the properties for delete files, not those for data files") {
    val t = tableOf(
      "write.delete.mode" -> "merge-on-read",
      "write.parquet.compression-codec" -> "gzip",
      "write.delete.parquet.compression-codec" -> "snappy",
      "write.parquet.stats-enabled.column.pos" -> "false"
    )
    sql(s"ALTER TABLE $t RENAME COLUMN v TO pos")
    sql(s"INSERT INTO $t SELECT /*+ COALESCE(1) */ id, NULL, 'c' FROM range(9)")
    sql(s"DELETE FROM $t WHERE pos = 3")
    val codecs = listed(t, "content, file_path").map(row =>
      withReader(row.getString(1)) { reader =>
        val last = reader.getFooter.getBlocks.get(0).getColumns.asScala.last
        (row.getInt(0), last.getCodec.name, last.getStatistics.hasNonNullValue)
      }
    )
    assert(codecs.toSet == Set((0, "GZIP", true), (1, "SNAPPY", true)))
    assert(rows(s"SELECT count(*) FROM ${inApacheIceberg(t)}").head.getLong(0) == 8)
  }

  test("the properties of a column are renamed with the column, and removed when the column is dropped") {
    val t = tableOf(bloomFilter, "write.parquet.dict-encoding-enabled.column.c" -> "false")
    sql(s"ALTER TABLE $t RENAME COLUMN v TO value")
    sql(s"ALTER TABLE $t DROP COLUMN c")
    val columnProperties = rows(s"SHOW TBLPROPERTIES $t").map(_.getString(0)).filter(_.contains(".column."))
    assert(columnProperties == Seq("write.parquet.bloom-filter-enabled.column.value"))
  }

  test("an invalid value of a column property is rejected when the property is set") {
    val t = tableOf()
    val error = intercept[Exception](sql(s"ALTER TABLE $t SET TBLPROPERTIES ('${bloomFilter._1}' = 'maybe')"))
    assert(messages(error).contains(s"table property ${bloomFilter._1}: maybe. It must be true or false"))
  }
}
