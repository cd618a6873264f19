package iceberglite.spark.read.deletes

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.conformance.ScanRules

/** Checks that both connectors read the same rows from tables with merge-on-read deletes of Apache Iceberg. */
class PeerDeletesSuite extends AnyFunSuite with PeerDeletesFixture {

  /** Runs DELETE, UPDATE and MERGE statements of Apache Iceberg that repeatedly change rows of the same files. */
  private def change(table: String): Unit = {
    val peerTable = inApacheIceberg(table)
    sql(s"INSERT INTO $peerTable ${values(0, 100)}")
    sql(s"INSERT INTO $peerTable ${values(100, 200)}")
    sql(s"DELETE FROM $peerTable WHERE id % 10 = 3")
    sql(s"UPDATE $peerTable SET cat = 'c1', s = named_struct('a', -1, 'b', NULL) WHERE id % 25 = 1")
    sql(
      s"""MERGE INTO $peerTable t USING (SELECT id AS k FROM range(90, 110)) u ON t.id = u.k
         |WHEN MATCHED AND u.k % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET t.l = array(7)
         |WHEN NOT MATCHED THEN INSERT (id, cat) VALUES (u.k, 'new')""".stripMargin
    )
    sql(s"DELETE FROM $peerTable WHERE id % 10 = 4")
  }

  for {
    granularity <- Seq("file", "partition")
    (kind, partitioning) <- Seq("an unpartitioned" -> "", "a partitioned" -> "PARTITIONED BY (cat)")
  } test(
    s"position delete files per $granularity remove rows of $kind table",
    ScanRules.positionRows +: Sampling.slowInSomeRuns(isAlwaysRun = granularity == "file" && partitioning.nonEmpty): _*
  ) {
    val table = create(columns, partitioning, mergeOnRead(2) :+ ("write.delete.granularity" -> granularity): _*)
    change(table)
    assert(deleteFileFormats(table) == Seq("[1,PARQUET]"))
    assert(sameRows(table, "SELECT id FROM %s").size < 190)
    queries.foreach(sameRows(table, _))
    withConf("spark.sql.columnVector.offheap.enabled" -> "true")(sameRows(table, "SELECT * FROM %s"))
    withConf("spark.sql.iceberg.vectorization.enabled" -> "false")(sameRows(table, "SELECT * FROM %s"))
  }

  test(
    "deletion vectors remove rows, and live rows keep their row lineage",
    Slow,
    ScanRules.vectorScope,
    ScanRules.rowIds,
    ScanRules.lastUpdated
  ) {
    for (partitioned <- Seq("", "PARTITIONED BY (cat)")) {
      val table = create(columns, partitioned, mergeOnRead(3): _*)
      change(table)
      assert(deleteFileFormats(table) == Seq("[1,PUFFIN]"))
      queries.foreach(sameRows(table, _))
      sameRows(table, "SELECT id, _row_id, _last_updated_sequence_number FROM %s")
    }
  }

  test(
    "after an upgrade to version 3, deletion vectors and older position delete files remove rows",
    ScanRules.vectorBeforePositions,
    ScanRules.noLineage,
    Slow
  ) {
    for (granularity <- Seq("file", "partition")) {
      val table = create(columns, "", mergeOnRead(2) :+ ("write.delete.granularity" -> granularity): _*)
      change(table)
      sql(s"ALTER TABLE ${inApacheIceberg(table)} SET TBLPROPERTIES ('format-version' = '3')")
      sameRows(table, "SELECT id, _row_id FROM %s")
      sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id % 10 = 5 AND id < 100")
      assert(deleteFileFormats(table).contains("[1,PUFFIN]"))
      queries.foreach(sameRows(table, _))
      sameRows(table, "SELECT id, _row_id, _last_updated_sequence_number FROM %s")
    }
  }

  for ((data, deletes) <- Seq("orc" -> "parquet", "avro" -> "orc", "parquet" -> "avro", "orc" -> "orc"))
    test(
      s"delete files in $deletes format remove rows of $data files",
      ScanRules.everyFormat +: Sampling.slowInSomeRuns(isAlwaysRun = data == "orc" && deletes == "parquet"): _*
    ) {
      val formats = Seq("write.format.default" -> data, "write.delete.format.default" -> deletes)
      val table = create(columns, "PARTITIONED BY (truncate(1, cat))", mergeOnRead(2) ++ formats: _*)
      change(table)
      assert(deleteFileFormats(table) == Seq(s"[1,${deletes.toUpperCase}]"))
      queries.foreach(sameRows(table, _))
    }

  test("deletion vectors remove rows of files of several formats in one scan", Slow) {
    val table = create(columns, "", mergeOnRead(3): _*)
    Seq("orc", "parquet", "avro").zipWithIndex.foreach { case (format, i) =>
      sql(s"ALTER TABLE ${inApacheIceberg(table)} SET TBLPROPERTIES ('write.format.default' = '$format')")
      sql(s"INSERT INTO ${inApacheIceberg(table)} ${values(i * 100, i * 100 + 100)}")
    }
    sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id % 10 = 3")
    queries.foreach(sameRows(table, _))
    sameRows(table, "SELECT id, _row_id, _last_updated_sequence_number FROM %s")
    assert(!sorted(s"EXPLAIN SELECT * FROM $table").exists(_.contains("rows one by one")))
  }

  test("position deletes apply only to data files of their own partition spec", Slow, ScanRules.positionPartition) {
    val table = create(columns, "PARTITIONED BY (cat)", mergeOnRead(2): _*)
    val peerTable = inApacheIceberg(table)
    sql(s"INSERT INTO $peerTable ${values(0, 50)}")
    sql(s"DELETE FROM $peerTable WHERE id = 1")
    sql(s"ALTER TABLE $peerTable DROP PARTITION FIELD cat")
    sql(s"INSERT INTO $peerTable ${values(50, 100)}")
    sql(s"DELETE FROM $peerTable WHERE id % 10 = 2")
    sql(s"ALTER TABLE $peerTable ADD PARTITION FIELD bucket(3, id)")
    sql(s"INSERT INTO $peerTable ${values(100, 150)}")
    sql(s"DELETE FROM $peerTable WHERE id % 10 = 7")
    queries.foreach(sameRows(table, _))
  }

  test("position deletes, deletion vectors and equality deletes apply to the same file") {
    val table = create(columns, "", mergeOnRead(2): _*)
    sql(s"INSERT INTO ${inApacheIceberg(table)} ${values(0, 100)}")
    sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id % 10 = 3")
    deletes(table).commit(Seq("id"))(Seq(3L), Seq(4L))
    sql(s"ALTER TABLE ${inApacheIceberg(table)} SET TBLPROPERTIES ('format-version' = '3')")
    sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id = 5")
    deletes(table).commit(Seq("cat", "id"))(Seq("c0", 6L))
    queries.foreach(sameRows(table, _))
  }

  test("deletes apply to files with many batches, row groups and splits", Slow) {
    val properties = Seq("write.parquet.row-group-size-bytes" -> "65536", "read.split.target-size" -> "65536")
    val table = create("id bigint, text string", "", mergeOnRead(3) ++ properties: _*)
    sql(
      s"INSERT INTO ${inApacheIceberg(table)} SELECT /*+ COALESCE(1) */ id, repeat(md5(CAST(id AS string)), 2) " +
        "FROM range(0, 20000)"
    )
    sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id % 3 = 1 OR id BETWEEN 5000 AND 12000 OR id = 19999")
    deletes(table).commit(Seq("id"))((0L until 2000L by 5).map(Seq(_)): _*)
    val positions = "SELECT id, _pos FROM %s WHERE id > 4000 AND id < 13000"
    Seq("SELECT * FROM %s", positions, "SELECT count(*) FROM %s").foreach(sameRows(table, _))
  }

  test("a query that selects _deleted also returns deleted rows, for which _deleted is true", Slow) {
    for (format <- Seq("parquet", "orc")) {
      val table = create(columns, "", mergeOnRead(2) :+ ("write.format.default" -> format): _*)
      sql(s"INSERT INTO ${inApacheIceberg(table)} ${values(0, 20)}")
      sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id % 10 = 3")
      assert(sameRows(table, "SELECT id, _deleted FROM %s").count(_.endsWith("true]")) == 2)
      // Apache Iceberg is not compared: with equality deletes, its column `_deleted` is also true for some live rows.
      deletes(table).commit(Seq("s.a"))(Seq(5))
      sql(s"REFRESH TABLE $table")
      assert(sorted(s"SELECT id FROM $table WHERE _deleted") == Seq("[13]", "[3]", "[5]"))
      assert(sorted(s"SELECT id, s.b FROM $table WHERE NOT _deleted").size == 17)
    }
  }

  test("statistics do not count deleted rows, and EXPLAIN shows the number of delete files") {
    val table = create(columns, "", mergeOnRead(3): _*)
    sql(s"INSERT INTO ${inApacheIceberg(table)} ${values(0, 100)}")
    sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id % 10 = 3")
    val plan = sql(s"SELECT * FROM $table").queryExecution.optimizedPlan
    assert(plan.stats.rowCount.contains(BigInt(90)))
    assert(sorted(s"EXPLAIN SELECT * FROM $table").exists(_.contains("deleteFiles=")))
  }

  test("positions are correct if deleted rows are in pages that a filter skips", Slow, ScanRules.positionRows) {
    for (version <- 2 to 3) {
      val table = create("id bigint", "", mergeOnRead(version) :+ ("write.parquet.page-row-limit" -> "100"): _*)
      sql(s"INSERT INTO ${inApacheIceberg(table)} SELECT /*+ COALESCE(1) */ id FROM range(0, 1000)")
      sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id IN (500, 501, 900)")
      assert(sameRows(table, "SELECT * FROM %s WHERE id IN (1, 900, 901)") == Seq("[1]", "[901]"))
      sameRows(table, "SELECT id, _pos FROM %s WHERE id < 5 OR id > 990")
    }
  }
}
