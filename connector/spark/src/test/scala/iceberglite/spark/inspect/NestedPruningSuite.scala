package iceberglite.spark.inspect

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession

/** Tests that a metadata table produces only the requested fields of structs, on the driver and in tasks. */
class NestedPruningSuite extends AnyFunSuite with SharedSession {
  private lazy val table: String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, s STRING, p STRUCT<x: INT, y: INT>) USING iceberg PARTITIONED BY (s)")
    sql(s"INSERT INTO $t SELECT id, if(id > 5, null, 'a'), named_struct('x', id, 'y', -id) FROM range(0, 9, 1, 1)")
    sql(s"INSERT INTO $t VALUES (20, 'b', null)")
    t
  }

  private val byTasks = Map("data-planning-mode" -> "distributed", "split-size" -> "1")

  private def frame(t: String, view: String, options: Map[String, String], filter: String, columns: Seq[String]) =
    spark.read.options(options).table(s"$t.$view").where(filter).selectExpr(columns: _*)

  private def scanOf(frame: DataFrame): Scan = frame.queryExecution.optimizedPlan.collectFirst {
    case relation: DataSourceV2ScanRelation => relation.scan
  }.get

  private def sortedRows(frame: DataFrame): Seq[String] = frame.collect().map(_.toString).toSeq.sorted

  /** The metadata table, a filter and the selected columns; and the columns that the scan produces. */
  private val queries = Seq(
    ("files", "true", Seq("readable_metrics.id.lower_bound")) ->
      "struct<readable_metrics:struct<id:struct<lower_bound:bigint>>>",
    ("data_files", "true", Seq("readable_metrics.`p.x`.upper_bound", "partition.s", "record_count")) ->
      "struct<partition:struct<s:string>,record_count:bigint,readable_metrics:struct<p.x:struct<upper_bound:int>>>",
    ("files", "readable_metrics.s.null_value_count > 0", Seq("readable_metrics.id.value_count")) ->
      "struct<readable_metrics:struct<id:struct<value_count:bigint>,s:struct<null_value_count:bigint>>>",
    ("entries", "status = 1", Seq("data_file.file_path", "data_file.partition")) ->
      "struct<status:int,data_file:struct<file_path:string,partition:struct<s:string>>>",
    ("files", "readable_metrics.id IS NOT NULL", Seq("content")) ->
      ("struct<content:int,readable_metrics:struct<id:struct<column_size:bigint,value_count:bigint," +
        "null_value_count:bigint,nan_value_count:bigint,lower_bound:bigint,upper_bound:bigint>>>")
  )

  for (((view, filter, columns), schema) <- queries)
    test(s"only requested fields are produced: ${columns.mkString(", ")} of $view where $filter") {
      val expected = sortedRows(frame(inApacheIceberg(table), view, Map.empty, filter, columns))
      assert(expected.nonEmpty)
      for (options <- Seq(Map.empty[String, String], byTasks)) {
        val query = frame(table, view, options, filter, columns)
        assert(sortedRows(query) == expected)
        assert(scanOf(query).readSchema.catalogString == schema)
        assert(scanOf(query).isInstanceOf[DistributedMetadataScan] == options.nonEmpty)
      }
      withConf(SQLConf.NESTED_SCHEMA_PRUNING_ENABLED.key -> "false") {
        assert(sortedRows(frame(table, view, Map.empty, filter, columns)) == expected)
      }
    }
}
