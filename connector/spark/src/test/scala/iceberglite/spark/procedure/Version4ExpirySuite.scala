package iceberglite.spark.procedure

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.rowlevel.StatementFixture

/**
 * Tests expiration, the removal of orphan files, DROP TABLE PURGE and the `all_*` metadata tables for tables whose
 * snapshots have manifest lists and roots. [[ReachableFiles]] lists the files that snapshots need, independently of the
 * tested code.
 */
class Version4ExpirySuite extends AnyFunSuite with StatementFixture {

  /** Limits with which commits move files to leaves, and deletion vectors of leaves to Puffin files. */
  private val smallRoots = Seq(
    "write.v4.single-commit-max-files" -> "2",
    "write.v4.root.max-data-files" -> "2",
    "write.v4.root.max-delete-entries" -> "1",
    "write.v4.root.max-vector-bytes" -> "1",
    "commit.manifest.target-size-bytes" -> "4000"
  )

  private def treeOf(t: String): Set[Path] = {
    val reachable = new ReachableFiles(spark)
    rows(s"SELECT manifest_list FROM $t.snapshots").map(_.getString(0)).toSet.flatMap(reachable.of)
  }

  /** Returns all files of the table, except those with table metadata. */
  private def files(t: String): Set[Path] = filesOf(t).filterNot(_.toString.endsWith(".metadata.json"))

  private def call(procedure: String, t: String, arguments: String = ""): Unit = {
    sql(s"CALL lite.system.$procedure(table => '${t.stripPrefix("lite.")}'$arguments)")
    ()
  }

  private def expire(t: String, retained: Int): Unit =
    call("expire_snapshots", t, s", older_than => TIMESTAMP'2100-01-01 00:00:00', retain_last => $retained")

  private def contents(t: String): Map[Long, Seq[String]] =
    rows(s"SELECT snapshot_id FROM $t.snapshots").map(_.getLong(0)).map { id =>
      id -> sorted(s"SELECT * FROM $t VERSION AS OF $id")
    }.toMap

  /** Statements on `%s` before and after the upgrade of a table to version 4. */
  private val before = Seq(
    "INSERT INTO %s SELECT id, id % 3 FROM range(0, 60)",
    "DELETE FROM %s WHERE id % 10 = 3",
    "INSERT INTO %s SELECT id, id % 4 FROM range(100, 160)",
    "ALTER TABLE %s CREATE TAG old",
    "DELETE FROM %s WHERE id % 10 = 4 OR id = 103"
  )
  private val after = Seq(
    "INSERT INTO %s SELECT id, id % 5 FROM range(200, 260)",
    "DELETE FROM %s WHERE id % 10 = 5",
    "ALTER TABLE %s CREATE BRANCH b",
    "INSERT INTO %s.branch_b SELECT id, id % 3 FROM range(300, 360)",
    "DELETE FROM %s.branch_b WHERE id % 10 = 6",
    "DELETE FROM %s WHERE p = 0",
    "DELETE FROM %s WHERE p = 1 AND id < 100",
    "INSERT INTO %s SELECT id, id % 2 FROM range(400, 420)",
    "DELETE FROM %s WHERE id % 10 = 7",
    "DELETE FROM %s WHERE p = 4",
    "INSERT INTO %s SELECT id, id % 2 FROM range(500, 510)"
  )

  private def newMixed(version: Int): String = {
    val t = create("id BIGINT, p BIGINT", version, "merge-on-read", smallRoots: _*)
    sql(s"ALTER TABLE $t ADD PARTITION FIELD p")
    before.foreach(statement => sql(statement.replace("%s", t)))
    t
  }

  /** Creates a table of an earlier version that is upgraded to version 4 in the middle of its history. */
  private def mixed(version: Int): String = {
    val t = newMixed(version)
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('format-version' = '4')")
    after.foreach(statement => sql(statement.replace("%s", t)))
    t
  }

  /** Sets the modification time of all files to an earlier one, at which they can be orphan files. */
  private def age(t: String): Unit = {
    val time = FileTime.fromMillis(System.currentTimeMillis - 10L * 86400000L)
    filesOf(t).foreach(Files.setLastModifiedTime(_, time))
  }

  for (version <- Seq(3, 2))
    test(
      s"an expiration of snapshots with manifest lists and roots deletes exactly the files that only they need: an " +
        s"upgrade from version $version",
      Slow
    ) {
      val t = mixed(version)
      val (main, rowsBefore) = (sorted(s"SELECT * FROM $t"), contents(t))
      assert(files(t) == treeOf(t))
      age(t)
      call("remove_orphan_files", t)
      assert(files(t) == treeOf(t))
      expire(t, retained = 3)
      val retained = contents(t)
      val formats = rows(s"SELECT manifest_list FROM $t.snapshots").map(_.getString(0).split('.').last).toSet
      assert(formats == Set("avro", "parquet") && retained.size < rowsBefore.size && retained.size >= 6)
      assert(retained.forall { case (id, found) => found == rowsBefore(id) })
      assert(files(t) == treeOf(t))
      Seq("rewrite_data_files", "rewrite_manifests", "rewrite_position_delete_files").foreach(call(_, t))
      assert(files(t) == treeOf(t))
      expire(t, retained = 1)
      assert(files(t) == treeOf(t) && contents(t).size == 3)
      age(t)
      call("remove_orphan_files", t)
      assert(files(t) == treeOf(t))
      assert(sorted(s"SELECT * FROM $t") == main)
      sql(s"ALTER TABLE $t DROP TAG old")
      sql(s"ALTER TABLE $t DROP BRANCH b")
      expire(t, retained = 1)
      assert(files(t) == treeOf(t) && contents(t).size == 1)
      sql(s"DROP TABLE $t PURGE")
      assert(filesOf(t).isEmpty)
    }

  test("the Puffin file of a replaced deletion vector of a leaf exists as long as the snapshot that replaced it") {
    val t = create("id BIGINT", 4, "merge-on-read", smallRoots.filterNot(_._1.endsWith("max-data-files")): _*)
    sql(s"INSERT INTO $t SELECT id FROM range(0, 90, 1, 9)")
    sql(s"DELETE FROM $t WHERE id < 10")
    sql(s"INSERT INTO $t VALUES (100)")
    val Seq(puffin) = files(t).filter(_.toString.endsWith(".puffin")).toSeq
    sql(s"DELETE FROM $t WHERE id >= 10 AND id < 20")
    expire(t, retained = 1)
    assert(files(t) == treeOf(t) && files(t).contains(puffin))
    val removed = sorted(s"SELECT count(*), max(data_file.record_count) FROM $t.entries WHERE status = 2")
    assert(removed == Seq("[1,10]"))
    sql(s"INSERT INTO $t VALUES (101)")
    expire(t, retained = 1)
    assert(files(t) == treeOf(t) && !files(t).contains(puffin))
    assert(rows(s"SELECT count(*) FROM $t").head.getLong(0) == 72L)
  }

  test(
    "the all_* metadata tables have the files of the same history in version 3, if a table is upgraded in it",
    Slow
  ) {
    val (upgraded, reference) = (mixed(3), newMixed(3))
    after.foreach(statement => sql(statement.replace("%s", reference)))
    def both(query: String): Unit = {
      val Seq(actual, expected) = Seq(upgraded, reference).map(t => sorted(query.replace("%s", t)))
      assert(actual == expected && expected.nonEmpty, query)
    }
    val file = "file_path, content_offset, content, partition.p AS p, record_count, spec_id"
    Seq("all_files", "all_data_files", "all_delete_files").foreach { table =>
      both(
        s"SELECT content, p, record_count, spec_id, count(*) FROM (SELECT DISTINCT $file FROM %s.$table) GROUP BY ALL"
      )
    }
    val columns = file.split(", ").map("data_file." + _).mkString(", ")
    both(
      "SELECT status, content, p, record_count, count(*) " +
        s"FROM (SELECT DISTINCT status, $columns FROM %s.all_entries WHERE status IN (1, 2)) GROUP BY ALL"
    )
    def live(content: String) =
      s"sum(added_${content}_files_count + existing_${content}_files_count)"
    both(
      s"SELECT row_number() OVER (ORDER BY committed_at), ${live("data")}, ${live("delete")} FROM %s.all_manifests " +
        "JOIN %s.snapshots ON reference_snapshot_id = snapshot_id GROUP BY committed_at"
    )
  }
}
