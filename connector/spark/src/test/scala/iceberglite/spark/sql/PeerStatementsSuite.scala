package iceberglite.spark.sql

import scala.util.control.NonFatal

import org.apache.spark.sql.connector.catalog.Identifier
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.spark.SharedSession
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.metadata.{SnapshotRef, TableMetadata}

/**
 * Runs the same statements on a table with iceberg-lite and on another table with Apache Iceberg, in a session with
 * both extensions. After each statement, the results must be equal, and so must the branches, tags, snapshots and
 * identifier fields in the metadata, with snapshot ids replaced by their indexes. At the end, the rows of every branch
 * and tag must be equal, and Apache Iceberg must read the same rows from the table of iceberg-lite.
 */
class PeerStatementsSuite extends AnyFunSuite with SharedSession {

  /**
   * The table of one of the two connectors. Statements contain placeholders: `{t}` for the table, `{cat}` for the
   * catalog, `{name}` for the table name with its namespace, and `{n}` for the id of the nth snapshot.
   */
  final private class ConnectorTable(catalog: String, table: String) {

    /** The current metadata. The catalog `lite` can read both tables, because both catalogs have the same warehouse. */
    private def metadata: TableMetadata = {
      val liteCatalog = spark.sessionState.catalogManager.catalog("lite").asInstanceOf[LiteCatalog]
      val sharedTable = liteCatalog.sharedTable(Identifier.of(Array(ns), table))
      sharedTable.refresh()
      sharedTable.current.metadata
    }

    def run(statement: String): Either[String, Seq[String]] = {
      val full = s"$catalog.$ns.$table"
      val named = Seq("{t}" -> full, "{cat}" -> catalog, "{name}" -> s"$ns.$table").foldLeft(statement) {
        case (text, (placeholder, value)) => text.replace(placeholder, value)
      }
      val text = """\{(\d+)\}""".r.replaceAllIn(named, m => metadata.snapshots(m.group(1).toInt).snapshotId.toString)
      try {
        val result = sql(text)
        // Nullability is not compared, because Apache Iceberg declares some columns as nullable that are never null.
        val columns = result.schema.map(f => s"${f.name} ${f.dataType.sql}")
        val current = metadata
        Right(columns ++ result.collect().map(_.toSeq.map(withIndexes(current)).mkString(" | ")))
      } catch { case NonFatal(e) => Left(e.getMessage) }
    }

    /** Returns the text of a value, or the index of the snapshot if the value is the id or timestamp of a snapshot. */
    private def withIndexes(table: TableMetadata)(value: Any): String = {
      val index = table.snapshots.indexWhere(s =>
        Seq(s.snapshotId, s.timestampMs).exists(n => value == n || value == n.toString)
      )
      if (index >= 0) s"#$index" else String.valueOf(value)
    }

    /** Returns the metadata that is compared, as text. @param keys the keys of snapshot summaries to include */
    def state(keys: Seq[String]): Seq[String] = {
      val table = metadata
      val number = withIndexes(table) _
      val refs = table.refs.toSeq.sortBy(_._1).map {
        case (name, b: SnapshotRef.Branch) => s"$name: ${b.copy(snapshotId = 0)} at ${number(b.snapshotId)}"
        case (name, t: SnapshotRef.Tag) => s"$name: ${t.copy(snapshotId = 0)} at ${number(t.snapshotId)}"
      }
      val snapshots = table.snapshots.map { s =>
        val summary = keys.map(key => s.summary.get(key).map(number))
        s"${number(s.snapshotId)} after ${s.parentSnapshotId.map(number)}: ${summary.mkString(" ")}"
      }
      val log = table.snapshotLog.map(entry => number(entry.snapshotId))
      refs ++ snapshots :+ s"$log ${table.schema.identifierFieldIds} ${table.currentSnapshotId.map(number)}"
    }

    /** Returns the rows of the table and of its branches and tags, read through one of the catalogs. */
    def data(readCatalog: String = catalog): Seq[String] = {
      val full = s"$readCatalog.$ns.$table"
      sorted(s"SELECT * FROM $full") ++ metadata.refs.keys.toSeq.sorted.map { name =>
        s"$name: ${sorted(s"SELECT * FROM $full VERSION AS OF '$name'")}"
      }
    }
  }

  /**
   * Creates both tables, runs the statements on both and compares them.
   *
   * @param ignoredKey a key of snapshot summaries that is not compared, because the two connectors differ
   */
  private def assertSame(columns: String, ignoredKey: String = "")(statements: String*): Unit = {
    val keys = PeerStatementsSuite.summaryKeys.filterNot(_ == ignoredKey)
    val table = newTable().split('.').last
    val (lite, iceberg) = (new ConnectorTable("lite", table + "_ours"), new ConnectorTable("ice", table + "_theirs"))
    val allStatements = s"CREATE TABLE {t} ($columns) USING iceberg PARTITIONED BY (p)" +: statements
    try allStatements.foreach { statement =>
        (lite.run(statement), iceberg.run(statement)) match {
          case (Right(liteResult), Right(icebergResult)) => assert(liteResult == icebergResult, statement)
          case (Left(_), Left(_)) => ()
          case (liteResult, icebergResult) =>
            fail(s"$statement\niceberg-lite: $liteResult\nApache Iceberg: $icebergResult")
        }
        assert(lite.state(keys) == iceberg.state(keys), statement)
      }
    finally Seq("spark.wap.id", "spark.wap.branch").foreach(spark.conf.unset)
    assert(lite.data() == iceberg.data())
    assert(lite.data("ice") == lite.data(), "rows that Apache Iceberg reads from the table of iceberg-lite")
  }

  private val columns = "id INT NOT NULL, p STRING"

  test("branches and tags are created, replaced and dropped, with retention", Slow) {
    assertSame(columns)(
      "INSERT INTO {t} VALUES (1, 'a')",
      "INSERT INTO {t} VALUES (2, 'b')",
      "ALTER TABLE {t} CREATE BRANCH b1",
      "ALTER TABLE {t} CREATE BRANCH b1",
      "ALTER TABLE {t} CREATE BRANCH IF NOT EXISTS b1 AS OF VERSION {0}",
      "ALTER TABLE {t} CREATE BRANCH b2 AS OF VERSION {0} RETAIN 3 DAYS WITH SNAPSHOT RETENTION 2 SNAPSHOTS 5 HOURS",
      "ALTER TABLE {t} CREATE BRANCH b3 WITH SNAPSHOT RETENTION 7 MINUTES",
      "ALTER TABLE {t} CREATE BRANCH b4 AS OF VERSION 1",
      "ALTER TABLE {t} CREATE TAG b1",
      "ALTER TABLE {t} CREATE TAG v1 AS OF VERSION {0} RETAIN 1 DAYS",
      "ALTER TABLE {t} CREATE TAG IF NOT EXISTS v1",
      "ALTER TABLE {t} CREATE BRANCH IF NOT EXISTS v1",
      "ALTER TABLE {t} REPLACE BRANCH b2",
      "ALTER TABLE {t} REPLACE BRANCH b3 AS OF VERSION {0} RETAIN 2 HOURS",
      "ALTER TABLE {t} REPLACE TAG v1 RETAIN 5 MINUTES",
      "ALTER TABLE {t} REPLACE TAG b1",
      "ALTER TABLE {t} REPLACE BRANCH nothing",
      "ALTER TABLE {t} CREATE OR REPLACE BRANCH b5 AS OF VERSION {0}",
      "ALTER TABLE {t} CREATE OR REPLACE BRANCH b5",
      "ALTER TABLE {t} CREATE OR REPLACE TAG v2",
      "ALTER TABLE {t} REPLACE BRANCH main AS OF VERSION {0}",
      "ALTER TABLE {t} CREATE BRANCH b6 RETAIN 0 DAYS",
      "ALTER TABLE {t} DROP BRANCH b1",
      "ALTER TABLE {t} DROP BRANCH b1",
      "ALTER TABLE {t} DROP BRANCH IF EXISTS b1",
      "ALTER TABLE {t} DROP TAG b2",
      "ALTER TABLE {t} DROP BRANCH IF EXISTS v1",
      "ALTER TABLE {t} DROP TAG v1",
      "ALTER TABLE {t} DROP BRANCH main",
      "ALTER TABLE {t} CREATE BRANCH b7 RETAIN 1 MONTHS",
      "ALTER TABLE {t} CREATE TAG v3 WITH SNAPSHOT RETENTION 1 SNAPSHOTS"
    )
  }

  test("branches, but not tags, can be created in a table without a snapshot", Slow) {
    assertSame(columns)(
      "ALTER TABLE {t} CREATE TAG v",
      "ALTER TABLE {t} REPLACE BRANCH b",
      "ALTER TABLE {t} CREATE BRANCH b RETAIN 2 DAYS WITH SNAPSHOT RETENTION 3 SNAPSHOTS",
      "ALTER TABLE {t} CREATE OR REPLACE BRANCH c",
      "INSERT INTO {t}.branch_b VALUES (1, 'a')",
      "CALL {cat}.system.fast_forward('{name}', 'main', 'b')",
      "CALL {cat}.system.ancestors_of('{name}')"
    )
  }

  test("rows of a branch are appended, overwritten, deleted, and read with the current columns of the table", Slow) {
    assertSame(columns)(
      "INSERT INTO {t} VALUES (1, 'a'), (2, 'b')",
      "ALTER TABLE {t} CREATE BRANCH b",
      "ALTER TABLE {t} CREATE TAG v",
      "INSERT INTO {t}.branch_b VALUES (3, 'c')",
      "INSERT INTO {t}.branch_nothing VALUES (3, 'c')",
      "INSERT INTO {t}.tag_v VALUES (3, 'c')",
      "INSERT INTO {t}.branch_v VALUES (3, 'c')",
      "INSERT OVERWRITE {t}.branch_b PARTITION (p = 'a') SELECT 10",
      "DELETE FROM {t}.branch_b WHERE p = 'b'",
      "DELETE FROM {t}.tag_v WHERE p = 'b'",
      "ALTER TABLE {t} ADD COLUMN more INT",
      "SELECT * FROM {t}.branch_b ORDER BY id",
      "SELECT * FROM {t}.tag_v ORDER BY id",
      "SELECT * FROM {t} VERSION AS OF 'b' ORDER BY id",
      "SELECT * FROM {t} VERSION AS OF 'v' ORDER BY id",
      "SELECT * FROM {t}.branch_b VERSION AS OF 'main'",
      "SELECT * FROM {t}.branch_b TIMESTAMP AS OF '2100-01-01'",
      "TRUNCATE TABLE {t}.branch_b",
      "SELECT * FROM {t}.branch_main ORDER BY id"
    )
  }

  test("snapshots that were staged with a WAP id can be published once", Slow) {
    assertSame(columns)(
      "ALTER TABLE {t} SET TBLPROPERTIES ('write.wap.enabled' = 'true')",
      "INSERT INTO {t} VALUES (1, 'a')",
      "SET spark.wap.id=one",
      "INSERT INTO {t} VALUES (2, 'b')",
      "SELECT * FROM {t} VERSION AS OF {1} ORDER BY id",
      "SET spark.wap.id=two",
      "INSERT INTO {t} VALUES (3, 'c')",
      "RESET spark.wap.id",
      "CALL {cat}.system.publish_changes('{name}', 'one')",
      "CALL {cat}.system.publish_changes('{name}', 'one')",
      "CALL {cat}.system.publish_changes(wap_id => 'two', table => '{name}')",
      "CALL {cat}.system.publish_changes('{name}', 'three')",
      "SET spark.wap.id=four",
      "INSERT OVERWRITE {t} PARTITION (p = 'a') SELECT 4",
      "INSERT INTO {t} VALUES (5, 'c')",
      "RESET spark.wap.id",
      "CALL {cat}.system.publish_changes('{name}', 'four')"
    )
  }

  test("a session with a WAP branch writes to this branch and reads from it", Slow) {
    // If a write creates the branch, Apache Iceberg counts the total records of the branch from zero.
    assertSame(columns, ignoredKey = "total-records")(
      "ALTER TABLE {t} SET TBLPROPERTIES ('write.wap.enabled' = 'true')",
      "INSERT INTO {t} VALUES (1, 'a')",
      "SET spark.wap.branch=audit",
      "SELECT * FROM {t}",
      "INSERT INTO {t} VALUES (2, 'b')",
      "SELECT * FROM {t} ORDER BY id",
      "DELETE FROM {t} WHERE p = 'a'",
      "ALTER TABLE {t} CREATE BRANCH other",
      "INSERT INTO {t}.branch_other VALUES (3, 'c')",
      "DELETE FROM {t}.branch_other",
      "SET spark.wap.id=x",
      "INSERT INTO {t} VALUES (3, 'c')",
      "RESET spark.wap.id",
      "RESET spark.wap.branch",
      "SELECT * FROM {t}",
      "CALL {cat}.system.fast_forward('{name}', 'main', 'audit')"
    )
  }

  test("procedures return the same columns and rows, and reject the same calls, as in Apache Iceberg", Slow) {
    assertSame(columns)(
      "INSERT INTO {t} VALUES (1, 'a')",
      "INSERT INTO {t} VALUES (2, 'b')",
      "INSERT INTO {t} VALUES (3, 'c')",
      "CALL {cat}.system.rollback_to_snapshot('{name}', {1})",
      "CALL {cat}.system.rollback_to_snapshot('{name}', {2})",
      "CALL {cat}.system.rollback_to_snapshot(snapshot_id => {0}, TABLE => '{cat}.{name}')",
      "CALL {cat}.system.set_current_snapshot('{name}', {2})",
      "CALL {cat}.system.rollback_to_timestamp('{name}', TIMESTAMP '2001-01-01 00:00:00')",
      "CALL {cat}.system.rollback_to_timestamp('{name}', TIMESTAMP '2100-01-01 00:00:00')",
      "ALTER TABLE {t} CREATE BRANCH b AS OF VERSION {0}",
      "ALTER TABLE {t} CREATE TAG v AS OF VERSION {1}",
      "CALL {cat}.system.set_current_snapshot(table => '{name}', ref => 'v')",
      "CALL {cat}.system.set_current_snapshot(table => '{name}', ref => 'w')",
      "CALL {cat}.system.set_current_snapshot('{name}')",
      "CALL {cat}.system.set_current_snapshot('{name}', {0}, 'v')",
      "CALL {cat}.system.set_current_snapshot('{name}', 5)",
      "INSERT INTO {t}.branch_b VALUES (4, 'd')",
      "CALL {cat}.system.cherrypick_snapshot('{name}', {3})",
      "CALL {cat}.system.cherrypick_snapshot('{name}', {3})",
      "CALL {cat}.system.cherrypick_snapshot('{name}', {2})",
      "CALL {cat}.system.fast_forward('{name}', 'b', 'main')",
      "CALL {cat}.system.fast_forward('{name}', 'new', 'v')",
      "CALL {cat}.system.fast_forward('{name}', 'new', 'main')",
      "CALL {cat}.system.fast_forward('{name}', 'v', 'main')",
      "CALL {cat}.system.fast_forward('{name}', 'new', 'nothing')",
      "CALL {cat}.system.ancestors_of('{name}', 5)",
      "SELECT count(*) FROM {t}.history",
      "CALL {cat}.system.rollback_to_snapshot('{name}')",
      "CALL {cat}.system.rollback_to_snapshot('{name}', 1, 2)",
      "CALL {cat}.system.rollback_to_snapshot('{name}', snapshot_id => 1)",
      "CALL {cat}.system.rollback_to_snapshot(table => '{name}', snap => 1)",
      "CALL {cat}.system.rollback_to_snapshot('{name}', 1.5)",
      "CALL {cat}.system.rollback_to_snapshot('spark_catalog.default.t', 1)",
      "CALL {cat}.system.rollback_to_snapshot('', 1)",
      "ALTER TABLE {t} SET TBLPROPERTIES ('current-snapshot-id' = '{0}')",
      "ALTER TABLE {t} SET TBLPROPERTIES ('cherry-pick-snapshot-id' = '{1}')",
      "ALTER TABLE {t} SET TBLPROPERTIES ('cherry-pick-snapshot-id' = '{2}', 'current-snapshot-id' = '{0}')",
      "ALTER TABLE {t} SET TBLPROPERTIES ('sort-order' = 'id')",
      "ALTER TABLE {t} SET TBLPROPERTIES ('identifier-fields' = 'id')"
    )
  }

  test("identifier fields, including nested fields, are set and dropped") {
    assertSame(s"$columns, s STRUCT<k: INT NOT NULL, n: INT> NOT NULL, d DOUBLE NOT NULL, l ARRAY<INT>")(
      "ALTER TABLE {t} SET IDENTIFIER FIELDS id",
      "ALTER TABLE {t} DROP IDENTIFIER FIELDS id",
      "ALTER TABLE {t} SET IDENTIFIER FIELDS s.k",
      "ALTER TABLE {t} SET IDENTIFIER FIELDS p",
      "ALTER TABLE {t} SET IDENTIFIER FIELDS d",
      "ALTER TABLE {t} SET IDENTIFIER FIELDS s.n",
      "ALTER TABLE {t} SET IDENTIFIER FIELDS l",
      "ALTER TABLE {t} SET IDENTIFIER FIELDS nothing",
      "ALTER TABLE {t} DROP IDENTIFIER FIELDS id",
      "ALTER TABLE {t} DROP IDENTIFIER FIELDS nothing",
      "ALTER TABLE {t} DROP COLUMN s.k",
      "ALTER TABLE {t} DROP IDENTIFIER FIELDS s.k"
    )
  }

  test("register_table returns the same columns and counts as in Apache Iceberg", Slow) {
    val results = Seq("litejdbc", "icejdbc").map { catalog =>
      val t = newTable(catalog = catalog)
      sql(s"CREATE TABLE $t (id INT) USING iceberg")
      val empty = rows(s"SELECT file FROM $t.metadata_log_entries").head.getString(0)
      sql(s"INSERT INTO $t SELECT explode(array(1, 2, 3))")
      val newest = rows(s"SELECT file FROM $t.metadata_log_entries ORDER BY timestamp DESC").head.getString(0)
      val registered = Seq(empty, newest).zipWithIndex.map { case (file, i) =>
        val result = sql(s"CALL $catalog.system.register_table('${t.stripPrefix(s"$catalog.")}_$i', '$file')")
        val columns = result.schema.map(f => (f.name, f.dataType, f.nullable))
        (columns, result.collect().toSeq.map(row => (row.isNullAt(0), row.toSeq.tail)))
      }
      val error = intercept[Exception](sql(s"CALL $catalog.system.register_table('$ns.x', '')").collect()).getMessage
      assert(error.contains("metadata_file") || error.contains("empty metadata file"), error)
      Seq(0, 1).foreach(i => sql(s"DROP TABLE ${t}_$i"))
      registered
    }
    assert(results.head == results.last)
  }
}

object PeerStatementsSuite {
  private val summaryKeys =
    Seq("operation", "wap.id", "published-wap-id", "source-snapshot-id", "total-records", "added-records")
}
