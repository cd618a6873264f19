package iceberglite.spark.write

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.rowlevel.StatementFixture

/** Tests tables of format version 4 with SQL, and how Apache Iceberg treats them. */
class Version4Suite extends AnyFunSuite with StatementFixture {
  private val modes = Seq("merge-on-read", "copy-on-write")

  private val statements = Seq(
    "INSERT INTO %s SELECT id, id % 3, CAST(id AS STRING), date_add(DATE'2024-01-01', CAST(id AS INT)) FROM range(40)",
    "DELETE FROM %s WHERE p = 1 AND id > 20",
    "UPDATE %s SET s = 'updated' WHERE id % 5 = 0",
    "MERGE INTO %s t USING (SELECT id FROM range(35, 45)) u ON t.id = u.id " +
      "WHEN MATCHED AND t.id = 36 THEN DELETE WHEN MATCHED THEN UPDATE SET s = 'merged' " +
      "WHEN NOT MATCHED THEN INSERT (id, p, s, d) VALUES (u.id, NULL, 'new', NULL)",
    "ALTER TABLE %s ADD PARTITION FIELD days(d)",
    "ALTER TABLE %s ADD COLUMN added INT",
    "INSERT INTO %s VALUES (100, 2, NULL, DATE'2024-02-01', 5), (101, NULL, '', NULL, NULL)",
    "DELETE FROM %s WHERE id IN (3, 4, 101)",
    "INSERT OVERWRITE %s SELECT id, p, 'overwritten', d, added FROM %s WHERE id < 5",
    "DELETE FROM %s WHERE p = 0"
  )

  private def partitioned(version: Int, mode: String): String = {
    val t = create("id BIGINT, p BIGINT, s STRING, d DATE", version, mode)
    sql(s"ALTER TABLE $t ADD PARTITION FIELD p")
    sql(s"ALTER TABLE $t ADD PARTITION FIELD bucket(3, id)")
    t
  }

  private def run(statement: String, t: String): Unit = {
    sql(statement.replace("%s", t))
    ()
  }

  /** Returns the rows of each snapshot, in the order of the commits. */
  private def history(t: String): Seq[Seq[String]] = rows(s"SELECT snapshot_id FROM $t.snapshots").map { row =>
    sorted(s"SELECT id, p, s, d FROM $t VERSION AS OF ${row.getLong(0)}")
  }

  for (mode <- modes; upgradeAfter <- Seq(0, 2, 5))
    test(
      s"after the same statements, tables of versions 3 and 4 have the same rows in each snapshot: $mode, and an " +
        s"upgrade after $upgradeAfter statements",
      Slow
    ) {
      val (v3, v4) = (partitioned(3, mode), partitioned(if (upgradeAfter == 0) 4 else 3, mode))
      statements.zipWithIndex.foreach { case (statement, i) =>
        if (i == upgradeAfter && i > 0) sql(s"ALTER TABLE $v4 SET TBLPROPERTIES ('format-version' = '4')")
        Seq(v3, v4).foreach(run(statement, _))
        assert(sorted(s"SELECT * FROM $v4") == sorted(s"SELECT * FROM $v3"), statement)
        val lineage = rows(s"SELECT _row_id FROM $v4").map(_.getLong(0))
        assert(lineage.distinct.size == lineage.size, statement)
        assert(sorted(s"SELECT id FROM $v4 WHERE d > DATE'2024-01-20' AND id % 2 = 0") ==
          sorted(s"SELECT id FROM $v3 WHERE d > DATE'2024-01-20' AND id % 2 = 0"))
      }
      assert(history(v4) == history(v3) && history(v4).size >= 7)
    }

  /** Returns the files in the table's metadata directory, except those of the table metadata. */
  private def treeFiles(t: String): Set[Path] =
    filesOf(t).filter(f => f.getParent.endsWith("metadata") && !f.toString.contains("metadata.json"))

  test("a small commit writes one file besides the table metadata, and keeps the manifests of an upgraded table") {
    val t = create("id BIGINT", 2, "merge-on-read")
    sql(s"INSERT INTO $t SELECT id FROM range(0, 100, 1, 1)")
    val before = treeFiles(t)
    assert(before.size == 2 && before.forall(_.toString.endsWith(".avro")))
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('format-version' = '4')")
    assert(treeFiles(t) == before)
    sql(s"INSERT INTO $t VALUES (1000)")
    val added = treeFiles(t) -- before
    assert(added.size == 1 && added.head.getFileName.toString.startsWith("root-"))
    sql(s"DELETE FROM $t WHERE id >= 0 AND id < 100")
    assert((treeFiles(t) -- before).size == 2 && before.subsetOf(treeFiles(t)))
    assert(sorted(s"SELECT id FROM $t") == Seq("[1000]"))
  }

  test("a changelog with a filter has the deleted rows if the filter excludes other files of the root manifest") {
    val t = create("id BIGINT", 4, "merge-on-read")
    sql(s"INSERT INTO $t SELECT id FROM range(0, 10, 1, 1)")
    sql(s"INSERT INTO $t SELECT id FROM range(100, 200, 1, 1)")
    sql(s"DELETE FROM $t WHERE id < 10")
    assert(sorted(s"SELECT _change_type, id FROM $t.changes WHERE id = 5") == Seq("[DELETE,5]", "[INSERT,5]"))
  }

  test("Apache Iceberg fails to read or write a table of version 4, and does not change it", Slow) {
    val t = partitioned(4, "merge-on-read")
    statements.take(4).foreach(run(_, t))
    val before = sorted(s"SELECT * FROM $t")
    Seq(
      "SELECT * FROM %s",
      "SELECT count(*) FROM %s",
      "SELECT max(id) FROM %s WHERE p = 1",
      "SELECT * FROM %s.files",
      "SELECT * FROM %s.entries",
      "INSERT INTO %s VALUES (1, 1, 'peer', NULL)",
      "DELETE FROM %s WHERE p = 0",
      "UPDATE %s SET s = 'peer' WHERE id = 1",
      "INSERT OVERWRITE %s VALUES (1, 1, 'peer', NULL)"
    ).foreach { statement =>
      val e = intercept[Exception](sql(statement.replace("%s", inApacheIceberg(t))).collect())
      info(s"$statement: ${messages(e).linesIterator.next()}")
      sql(s"REFRESH TABLE $t")
      assert(sorted(s"SELECT * FROM $t") == before, statement)
    }
  }

  test(
    "if Apache Iceberg drops the field expressions of the table metadata, the field is restored from its copy",
    Slow
  ) {
    val t = partitioned(4, "merge-on-read")
    statements.take(3).foreach(run(_, t))
    val before = sorted(s"SELECT * FROM $t")
    sql(s"ALTER TABLE ${inApacheIceberg(t)} SET TBLPROPERTIES ('written-by' = 'peer')")
    sql(s"ALTER TABLE ${inApacheIceberg(t)} ADD COLUMN added INT")
    sql(s"REFRESH TABLE $t")
    assert(rows(s"SHOW TBLPROPERTIES $t").map(_.getString(0)).contains("written-by"))
    assert(sorted(s"SELECT id, p, s, d FROM $t") == before)
    sql(s"INSERT INTO $t VALUES (500, 1, 'later', NULL, 7)")
    assert(sorted(s"SELECT id, added FROM $t WHERE added IS NOT NULL OR id = 500") == Seq("[500,7]"))
    assert(sorted(s"SELECT id, p, s, d FROM $t WHERE id < 500") == before)
  }

  test("a table of Apache Iceberg's own draft of version 4 is read, but not written", Slow) {
    val t = newTable()
    val properties = Seq("delete", "update", "merge").map(c => s"'write.$c.mode' = 'merge-on-read'").mkString(", ")
    sql(s"CREATE TABLE ${inApacheIceberg(t)} (id BIGINT, p BIGINT, s STRING, d DATE) USING iceberg " +
      s"PARTITIONED BY (p, bucket(3, id), days(d)) TBLPROPERTIES ('format-version' = '4', $properties)")
    statements.take(4).foreach(run(_, inApacheIceberg(t)))
    val expected = sorted(s"SELECT * FROM ${inApacheIceberg(t)}")
    assert(sorted(s"SELECT * FROM $t") == expected && expected.size > 30)
    Seq("p = 2", "id % 2 = 0 AND d > DATE'2024-01-20'", "s = 'updated'", "p IS NULL").foreach { filter =>
      val query = (table: String) => sorted(s"SELECT * FROM $table WHERE $filter")
      assert(query(t) == query(inApacheIceberg(t)) && query(t).nonEmpty, filter)
    }
    val files = "SELECT content, file_path, record_count, partition.p, null_value_counts FROM "
    assert(sorted(s"$files $t.files") == sorted(s"$files ${inApacheIceberg(t)}.files"))
    assert(history(t) == history(inApacheIceberg(t)))
    Seq("INSERT INTO %s VALUES (3, 3, '', NULL)", "DELETE FROM %s WHERE id = 1", "DELETE FROM %s WHERE p = 2").foreach {
      statement => intercept[Exception](sql(statement.replace("%s", t)).collect())
    }
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}") == expected)
  }
}
