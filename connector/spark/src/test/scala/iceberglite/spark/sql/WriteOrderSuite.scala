package iceberglite.spark.sql

import scala.util.Try

import org.apache.spark.sql.connector.catalog.Identifier
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.conformance.PartitionRules
import iceberglite.spark.session.LiteCatalog
import iceberglite.spark.write.WriteFixture
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.SortOrder
import iceberglite.spec.property.TableProperty

/**
 * Checks the effect of `ALTER TABLE ... WRITE ...` on the table's metadata, compared with Apache Iceberg, and on later
 * writes.
 */
class WriteOrderSuite extends AnyFunSuite with WriteFixture {

  /** Returns the metadata of a table of either catalog. Both catalogs have the same warehouse directory. */
  private def metadata(table: String): TableMetadata = {
    val catalog = spark.sessionState.catalogManager.catalog("lite").asInstanceOf[LiteCatalog]
    val sharedTable = catalog.sharedTable(Identifier.of(Array(ns), table.split('.').last))
    sharedTable.refresh()
    sharedTable.current.metadata
  }

  private def state(table: String): (Vector[SortOrder], Int, Option[String]) = {
    val m = metadata(table)
    (m.sortOrders, m.defaultSortOrderId, m.properties.get(TableProperty.Distribution.key))
  }

  test(
    "the statements set the same sort orders and distributions, and fail for the same input, as in Apache Iceberg",
    Slow
  ) {
    val columns = "id BIGINT, data STRING, ts TIMESTAMP, s STRUCT<x: INT, `a.b`: STRING>, l ARRAY<INT>, asc INT"
    val (liteTable, peerTable) = (newTable(), newTable())
    Seq(liteTable, inApacheIceberg(peerTable))
      .foreach(t => sql(s"CREATE TABLE $t ($columns) USING iceberg PARTITIONED BY (days(ts))"))
    val statements = Seq(
      "ORDERED BY id",
      "ORDERED BY id ASC NULLS FIRST",
      "LOCALLY ORDERED BY id DESC, data ASC NULLS LAST",
      "UNORDERED",
      "LOCALLY ORDERED BY id",
      "DISTRIBUTED BY PARTITION",
      "DISTRIBUTED BY PARTITION ORDERED BY bucket(8, id), truncate(4, data) DESC",
      "ORDERED BY (days(ts), hours(ts) NULLS LAST) DISTRIBUTED BY PARTITION",
      "DISTRIBUTED BY PARTITION UNORDERED",
      "ordered by years(ts), months(ts) desc nulls first",
      "ORDERED BY s.x, `s`.x DESC, asc ASC",
      "ORDERED BY year(ts), hour(ts)",
      "ORDERED BY nothing",
      "ORDERED BY l",
      "ORDERED BY s",
      "ORDERED BY bucket(id)",
      "ORDERED BY days(data)",
      "ORDERED BY zorder(id, data)",
      "ORDERED BY id UNORDERED",
      "DISTRIBUTED BY PARTITION DISTRIBUTED BY PARTITION",
      "DISTRIBUTED BY id",
      "ORDERED BY",
      ""
    )
    statements.foreach { statement =>
      val results =
        Seq(liteTable, inApacheIceberg(peerTable)).map(t => Try(sql(s"ALTER TABLE $t WRITE $statement")).isSuccess)
      assert(results.distinct.size == 1, s"$statement succeeds: $results")
      assert(state(liteTable) == state(peerTable), statement)
      assert(writeProperties(inApacheIceberg(liteTable)) == writeProperties(inApacheIceberg(peerTable)), statement)
      assert(writeProperties(liteTable) == writeProperties(inApacheIceberg(liteTable)), statement)
    }
  }

  /** Returns the properties for order and mode. Apache Iceberg shows the width of truncate after the column. */
  private def writeProperties(table: String): Seq[String] = {
    sql(s"REFRESH TABLE $table")
    rows(s"SHOW TBLPROPERTIES $table").map(_.toString.replace("truncate(data, 4)", "truncate(4, data)"))
      .filter(p => p.contains("sort-order") || p.contains("mode"))
  }

  test("order and distribution are changed in one commit, which is rejected after a concurrent change") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, data STRING) USING iceberg")
    val versionsBefore = metadata(t).metadataLog.size
    sql(s"ALTER TABLE $t WRITE ORDERED BY data")
    assert(metadata(t).metadataLog.size == versionsBefore + 1)
    sql(s"ALTER TABLE ${inApacheIceberg(t)} WRITE UNORDERED")
    val error = intercept[Exception](sql(s"ALTER TABLE $t WRITE ORDERED BY id"))
    assert(messages(error).contains(t.split('.').last) && state(t)._3.contains("none"))
  }

  test("the rows of each file are sorted as ALTER TABLE declares, and files have the id of their sort order") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, data STRING, s STRUCT<x: BIGINT>) USING iceberg PARTITIONED BY (bucket(2, id))")
    def write(): Unit = spark.range(0, 1000, 1, 2)
      .selectExpr(
        "id",
        "if(id % 9 = 0, NULL, concat('n', lpad(id * 7919 % 100, 2, '0'))) AS data",
        "named_struct('x', if(id % 5 = 0, NULL, id * 31 % 17)) AS s"
      ).writeTo(t).append()
    orders.zipWithIndex.foreach { case ((statement, keys), i) =>
      sql(s"ALTER TABLE $t WRITE $statement")
      write()
      val files = listed(t, "file_path, sort_order_id").filter(_.getInt(1) == i + 1).map(_.getString(0))
      assert(files.size >= 2, statement)
      val sortKeys = spark.read.parquet(files: _*).selectExpr("input_file_name()" +: keys: _*).collect().toSeq
      sortKeys.groupBy(_.getString(0)).foreach { case (file, keysInFile) =>
        val numbers = keysInFile.map(_.toSeq.tail.map(_.asInstanceOf[Long]))
        assert(numbers == numbers.sorted(Ordering.Implicits.seqDerivedOrdering[Seq, Long]), s"$statement in $file")
      }
    }
    sql(s"ALTER TABLE $t WRITE UNORDERED")
    write()
    assert(listed(t, "sort_order_id").map(_.getInt(0)).toSet == Set(0, 1, 2, 3))
    assert(rows(s"SELECT count(*), sum(id) FROM ${inApacheIceberg(t)}").head.toString == "[4000,1998000]")
  }

  test("NaN is sorted as the greatest number, and nulls according to the null order", Slow, PartitionRules.sortNan) {
    val numbers = Seq("-Infinity", "-1.5", "0.0", "1.5", "Infinity", "NaN")
    val orders = Seq(
      "x" -> ("null" +: numbers),
      "x ASC NULLS LAST" -> (numbers :+ "null"),
      "x DESC" -> (numbers.reverse :+ "null"),
      "x DESC NULLS FIRST" -> ("null" +: numbers.reverse)
    )
    for (number <- Seq("DOUBLE", "FLOAT"); (order, expected) <- orders) {
      val t = newTable()
      sql(s"CREATE TABLE $t (x $number) USING iceberg")
      sql(s"ALTER TABLE $t WRITE LOCALLY ORDERED BY $order")
      val values = Seq("1.5", "NaN", "-Infinity", "0.0", "Infinity", "-1.5").map(v => s"($number('$v'))")
      sql(s"INSERT INTO $t SELECT /*+ COALESCE(1) */ * FROM VALUES ${values.mkString(", ")}, (NULL)")
      val file = listed(t, "file_path").map(_.getString(0))
      val sortKeys = spark.read.parquet(file: _*).selectExpr("CAST(x AS STRING)").collect().map(r => s"${r.get(0)}")
      assert(file.size == 1 && sortKeys.toSeq == expected, s"$number ORDERED BY $order")
    }
  }

  /** Clauses after WRITE, each with the expressions by which the rows of the files are then sorted, ascending. */
  private def orders: Seq[(String, Seq[String])] = Seq(
    "ORDERED BY data DESC, id" -> Seq(nullsLast("-CAST(substr(data, 2) AS BIGINT)"), "id"),
    "DISTRIBUTED BY PARTITION LOCALLY ORDERED BY s.x NULLS LAST, bucket(8, id) DESC, id" ->
      Seq(nullsLast("s.x"), "-CAST(lite.system.bucket(8, id) AS BIGINT)", "id"),
    "LOCALLY ORDERED BY truncate(2, data) ASC NULLS LAST, id DESC" ->
      Seq(nullsLast("CAST(substr(data, 2, 1) AS BIGINT)"), "-id")
  )

  private def nullsLast(number: String): String = s"coalesce($number, ${Long.MaxValue})"
}
