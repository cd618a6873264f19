package iceberglite.spark.write

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.ManifestRules
import iceberglite.spark.SharedSession

/**
 * Statements of iceberg-lite on tables with Apache Iceberg's delete files: whole data files are removed together with
 * their deletes.
 */
class WholeFilesWithDeletesSuite extends AnyFunSuite with SharedSession {
  private def create(version: Int, granularity: String): String = {
    val table = newTable()
    val there = peer(table)
    sql(
      s"""CREATE TABLE $there (id bigint, cat string) USING iceberg PARTITIONED BY (cat) TBLPROPERTIES (
         |'format-version' = '$version', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read',
         |'write.delete.granularity' = '$granularity')""".stripMargin
    )
    Seq(0, 30).foreach(from =>
      sql(s"INSERT INTO $there SELECT id, concat('c', id % 3) FROM range($from, ${from + 30})")
    )
    sql(s"DELETE FROM $there WHERE id % 10 = 3")
    sql(s"UPDATE $there SET id = id + 100 WHERE id IN (1, 2, 6, 31)")
    sql(s"REFRESH TABLE $table")
    table
  }

  private val lineage = Map(2 -> "", 3 -> ", _row_id, _last_updated_sequence_number")

  private def same(table: String, version: Int): Seq[String] = {
    sql(s"REFRESH TABLE ${peer(table)}")
    val query = s"SELECT id, cat${lineage(version)} FROM "
    val ours = sorted(query + table)
    assert(ours == sorted(query + peer(table)))
    ours
  }

  /** Checks that no delete refers to a removed file, and that the totals match the files. */
  private def assertConsistent(table: String): Unit = {
    val there = peer(table)
    val data = rows(s"SELECT file_path FROM $there.data_files").map(_.getString(0)).toSet
    val deletes = rows(s"SELECT referenced_data_file, record_count FROM $there.delete_files")
    assert(deletes.filterNot(_.isNullAt(0)).forall(r => data(r.getString(0))))
    val summary =
      rows(s"SELECT summary FROM $there.snapshots ORDER BY committed_at DESC LIMIT 1").head.getMap[String, String](0)
    assert(summary("total-data-files") == data.size.toString && summary("total-delete-files") == deletes.size.toString)
    assert(summary("total-position-deletes") == deletes.map(_.getLong(1)).sum.toString)
    val left = rows(s"SELECT sum(record_count) FROM $there.data_files").head
    assert(summary("total-records") == (if (left.isNullAt(0)) "0" else left.getLong(0).toString))
    val ours = sorted(s"SELECT file_path, record_count FROM $table.delete_files")
    assert(ours == sorted(s"SELECT file_path, record_count FROM $there.delete_files"))
  }

  private def deleteFiles(table: String): Long =
    rows(s"SELECT count(*) FROM ${peer(table)}.delete_files").head.getLong(0)

  private def lastOperation(table: String): String =
    rows(s"SELECT operation FROM ${peer(table)}.snapshots ORDER BY committed_at DESC LIMIT 1").head.getString(0)

  /** Runs a statement here, and in Apache Iceberg on a table with the same history. */
  private def runOnBoth(version: Int, granularity: String)(statement: String => String): String = {
    val Seq(table, other) = Seq.fill(2)(create(version, granularity))
    sql(statement(table))
    sql(statement(peer(other)))
    val ours = same(table, version)
    sql(s"REFRESH TABLE $other")
    assert(sorted(s"SELECT id, cat FROM $table") == sorted(s"SELECT id, cat FROM ${peer(other)}"))
    assert(lineage(version).isEmpty || ours.forall(!_.contains("null")))
    assertConsistent(table)
    assert(deleteFiles(table) <= deleteFiles(other))
    assert(lastOperation(table) == lastOperation(other))
    // The peer can also change the resulting table.
    sql(s"INSERT INTO ${peer(table)} VALUES (7, 'c0'), (8, 'c9')")
    sql(s"DELETE FROM ${peer(table)} WHERE id IN (7, 5, 0)")
    sql(s"REFRESH TABLE $table")
    same(table, version)
    table
  }

  for ((version, granularity) <- Seq(2 -> "file", 2 -> "partition", 3 -> "file")) {
    test(
      s"DELETE of a partition, version $version, a delete file for each $granularity",
      ManifestRules.vectorIsRemoved
    ) {
      runOnBoth(version, granularity)(t => s"DELETE FROM $t WHERE cat = 'c1'")
    }

    test(s"INSERT OVERWRITE, version $version, a delete file for each $granularity", ManifestRules.vectorIsRemoved) {
      withConf("spark.sql.sources.partitionOverwriteMode" -> "dynamic") {
        runOnBoth(version, granularity)(t => s"INSERT OVERWRITE $t VALUES (1000, 'c1'), (1001, 'c7')")
      }
      runOnBoth(version, granularity)(t => s"INSERT OVERWRITE $t PARTITION (cat = 'c2') VALUES (1000), (3)")
    }

    test(
      s"TRUNCATE leaves no delete file, version $version, one for each $granularity",
      ManifestRules.vectorIsRemoved
    ) {
      val table = create(version, granularity)
      sql(s"TRUNCATE TABLE $table")
      assert(same(table, version).isEmpty)
      assertConsistent(table)
      assert(deleteFiles(table) == 0 && lastOperation(table) == "delete")
    }
  }
}
