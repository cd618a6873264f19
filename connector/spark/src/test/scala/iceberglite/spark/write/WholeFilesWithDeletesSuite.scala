package iceberglite.spark.write

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.conformance.ManifestRules
import iceberglite.spark.SharedSession

/**
 * Checks that statements of iceberg-lite that remove whole data files also remove the deletes of these files, on tables
 * with delete files that Apache Iceberg wrote.
 */
class WholeFilesWithDeletesSuite extends AnyFunSuite with SharedSession {
  private def create(version: Int, granularity: String): String = {
    val table = newTable()
    val peerTable = inApacheIceberg(table)
    sql(
      s"""CREATE TABLE $peerTable (id bigint, cat string) USING iceberg PARTITIONED BY (cat) TBLPROPERTIES (
         |'format-version' = '$version', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read',
         |'write.delete.granularity' = '$granularity')""".stripMargin
    )
    Seq(0, 30).foreach(from =>
      sql(s"INSERT INTO $peerTable SELECT id, concat('c', id % 3) FROM range($from, ${from + 30})")
    )
    sql(s"DELETE FROM $peerTable WHERE id % 10 = 3")
    sql(s"UPDATE $peerTable SET id = id + 100 WHERE id IN (1, 2, 6, 31)")
    sql(s"REFRESH TABLE $table")
    table
  }

  private val lineageColumns = Map(2 -> "", 3 -> ", _row_id, _last_updated_sequence_number")

  /** Returns the rows of the table, after checking that Apache Iceberg reads the same rows. */
  private def sameRows(table: String, version: Int): Seq[String] = {
    sql(s"REFRESH TABLE ${inApacheIceberg(table)}")
    val query = s"SELECT id, cat${lineageColumns(version)} FROM "
    val result = sorted(query + table)
    assert(result == sorted(query + inApacheIceberg(table)))
    result
  }

  /** Checks that no delete file refers to a removed data file, and that the totals in the summary match the files. */
  private def assertConsistent(table: String): Unit = {
    val peerTable = inApacheIceberg(table)
    val data = rows(s"SELECT file_path FROM $peerTable.data_files").map(_.getString(0)).toSet
    val deletes = rows(s"SELECT referenced_data_file, record_count FROM $peerTable.delete_files")
    assert(deletes.filterNot(_.isNullAt(0)).forall(r => data(r.getString(0))))
    val newest = rows(s"SELECT summary FROM $peerTable.snapshots ORDER BY committed_at DESC LIMIT 1").head
    val summary = newest.getMap[String, String](0)
    assert(summary("total-data-files") == data.size.toString && summary("total-delete-files") == deletes.size.toString)
    assert(summary("total-position-deletes") == deletes.map(_.getLong(1)).sum.toString)
    val recordCount = rows(s"SELECT sum(record_count) FROM $peerTable.data_files").head
    assert(summary("total-records") == (if (recordCount.isNullAt(0)) "0" else recordCount.getLong(0).toString))
    val result = sorted(s"SELECT file_path, record_count FROM $table.delete_files")
    assert(result == sorted(s"SELECT file_path, record_count FROM $peerTable.delete_files"))
  }

  /** Returns the number of delete files of the table, which Apache Iceberg reads. */
  private def deleteFiles(table: String): Long =
    rows(s"SELECT count(*) FROM ${inApacheIceberg(table)}.delete_files").head.getLong(0)

  private def lastOperation(table: String): String =
    rows(s"SELECT operation FROM ${inApacheIceberg(table)}.snapshots ORDER BY committed_at DESC").head.getString(0)

  /** Runs a statement with iceberg-lite, and with Apache Iceberg on a table with the same contents. */
  private def runOnBoth(version: Int, granularity: String)(statement: String => String): String = {
    val Seq(table, oracle) = Seq.fill(2)(create(version, granularity))
    sql(statement(table))
    sql(statement(inApacheIceberg(oracle)))
    val result = sameRows(table, version)
    sql(s"REFRESH TABLE $oracle")
    assert(sorted(s"SELECT id, cat FROM $table") == sorted(s"SELECT id, cat FROM ${inApacheIceberg(oracle)}"))
    assert(lineageColumns(version).isEmpty || result.forall(!_.contains("null")))
    assertConsistent(table)
    assert(deleteFiles(table) <= deleteFiles(oracle))
    assert(lastOperation(table) == lastOperation(oracle))
    // Apache Iceberg must be able to change the table that iceberg-lite has changed.
    sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (7, 'c0'), (8, 'c9')")
    sql(s"DELETE FROM ${inApacheIceberg(table)} WHERE id IN (7, 5, 0)")
    sql(s"REFRESH TABLE $table")
    sameRows(table, version)
    table
  }

  for ((version, granularity) <- Seq(2 -> "file", 2 -> "partition", 3 -> "file")) {
    test(
      s"DELETE of a partition removes the deletes of its files, version $version, granularity $granularity",
      ManifestRules.vectorIsRemoved +: Sampling.slowInSomeRuns(isAlwaysRun = version == 3): _*
    ) {
      runOnBoth(version, granularity)(t => s"DELETE FROM $t WHERE cat = 'c1'")
    }

    test(
      s"INSERT OVERWRITE removes the deletes of the old files, version $version, granularity $granularity",
      ManifestRules.vectorIsRemoved +: Sampling.slowInSomeRuns(isAlwaysRun = version == 3): _*
    ) {
      withConf("spark.sql.sources.partitionOverwriteMode" -> "dynamic") {
        runOnBoth(version, granularity)(t => s"INSERT OVERWRITE $t VALUES (1000, 'c1'), (1001, 'c7')")
      }
      runOnBoth(version, granularity)(t => s"INSERT OVERWRITE $t PARTITION (cat = 'c2') VALUES (1000), (3)")
    }

    test(
      s"TRUNCATE removes all deletes, version $version, granularity $granularity",
      ManifestRules.vectorIsRemoved +: Sampling.slowInSomeRunsUnless(version == 3): _*
    ) {
      val table = create(version, granularity)
      sql(s"TRUNCATE TABLE $table")
      assert(sameRows(table, version).isEmpty)
      assertConsistent(table)
      assert(deleteFiles(table) == 0 && lastOperation(table) == "delete")
    }
  }
}
