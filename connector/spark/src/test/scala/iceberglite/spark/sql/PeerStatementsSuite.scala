package iceberglite.spark.sql

import scala.util.control.NonFatal

import org.apache.spark.sql.connector.catalog.Identifier
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.metadata.{SnapshotRef, TableMetadata}

/**
 * Runs the same statements on a table of iceberg-lite and on one of Apache Iceberg, in one session with both
 * extensions. After each statement, results are equal, and so are branches, tags, snapshots and identifier fields in
 * the metadata, with snapshot ids replaced by their indexes. At the end, the rows of every branch and tag are equal,
 * and the peer reads the same rows from our table.
 */
class PeerStatementsSuite extends AnyFunSuite with SharedSession {

  /**
   * The table of one side. Statements contain the placeholders `{t}`, `{cat}`, `{name}`, and `{n}` for the nth
   * snapshot.
   */
  final private class Side(catalog: String, table: String) {

    /** The file-system catalogs share their storage, so our catalog reads the metadata of both sides. */
    private def metadata: TableMetadata = {
      val ours = spark.sessionState.catalogManager.catalog("lite").asInstanceOf[LiteCatalog]
      val live = ours.sharedTable(Identifier.of(Array(ns), table))
      live.refresh()
      live.current.metadata
    }

    def run(statement: String): Either[String, Seq[String]] = {
      val full = s"$catalog.$ns.$table"
      val named = Seq("{t}" -> full, "{cat}" -> catalog, "{name}" -> s"$ns.$table").foldLeft(statement) {
        case (text, (placeholder, value)) => text.replace(placeholder, value)
      }
      val text = """\{(\d+)\}""".r.replaceAllIn(named, m => metadata.snapshots(m.group(1).toInt).snapshotId.toString)
      try {
        val result = sql(text)
        // The peer declares some columns as nullable that are never null.
        val columns = result.schema.map(f => s"${f.name} ${f.dataType.sql}")
        val known = metadata
        Right(columns ++ result.collect().map(_.toSeq.map(numbered(known)).mkString(" | ")))
      } catch { case NonFatal(e) => Left(e.getMessage) }
    }

    /** Replaces ids and timestamps of snapshots by their indexes. */
    private def numbered(table: TableMetadata)(value: Any): String = {
      val index = table.snapshots.indexWhere(s =>
        Seq(s.snapshotId, s.timestampMs).exists(n => value == n || value == n.toString)
      )
      if (index >= 0) s"#$index" else String.valueOf(value)
    }

    /** @param keys keys of snapshot summaries */
    def state(keys: Seq[String]): Seq[String] = {
      val table = metadata
      val number = numbered(table) _
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
    def data(as: String = catalog): Seq[String] = {
      val full = s"$as.$ns.$table"
      sorted(s"SELECT * FROM $full") ++ metadata.refs.keys.toSeq.sorted.map { name =>
        s"$name: ${sorted(s"SELECT * FROM $full VERSION AS OF '$name'")}"
      }
    }
  }

  /** @param unlike a key of snapshot summaries in which the two sides differ */
  private def same(columns: String, unlike: String = "")(statements: String*): Unit = {
    val keys = PeerStatementsSuite.summaryKeys.filterNot(_ == unlike)
    val table = newTable().split('.').last
    val (ours, theirs) = (new Side("lite", table + "_ours"), new Side("ice", table + "_theirs"))
    val all = s"CREATE TABLE {t} ($columns) USING iceberg PARTITIONED BY (p)" +: statements
    try all.foreach { statement =>
        (ours.run(statement), theirs.run(statement)) match {
          case (Right(mine), Right(peers)) => assert(mine == peers, statement)
          case (Left(_), Left(_)) => ()
          case (mine, peers) => fail(s"$statement\nours: $mine\ntheirs: $peers")
        }
        assert(ours.state(keys) == theirs.state(keys), statement)
      }
    finally Seq("spark.wap.id", "spark.wap.branch").foreach(spark.conf.unset)
    assert(ours.data() == theirs.data())
    assert(ours.data("ice") == ours.data(), "the peer on our table")
  }

  private val columns = "id INT NOT NULL, p STRING"

  test("branches and tags are created, replaced and dropped, with retention") {
    same(columns)(
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

  test("branches can be created in a table without a snapshot, tags cannot") {
    same(columns)(
      "ALTER TABLE {t} CREATE TAG v",
      "ALTER TABLE {t} REPLACE BRANCH b",
      "ALTER TABLE {t} CREATE BRANCH b RETAIN 2 DAYS WITH SNAPSHOT RETENTION 3 SNAPSHOTS",
      "ALTER TABLE {t} CREATE OR REPLACE BRANCH c",
      "INSERT INTO {t}.branch_b VALUES (1, 'a')",
      "CALL {cat}.system.fast_forward('{name}', 'main', 'b')",
      "CALL {cat}.system.ancestors_of('{name}')"
    )
  }

  test("rows of a branch are appended, overwritten, deleted and read with the table's columns") {
    same(columns)(
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

  test("snapshots staged with a WAP id are published once") {
    same(columns)(
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

  test("a session with a WAP branch writes to and reads from it") {
    // In a branch created by the write, the peer counts total records from zero.
    same(columns, unlike = "total-records")(
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

  test("procedures return the same columns and rows, and reject the same calls") {
    same(columns)(
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

  test("identifier fields, also nested ones, are set and dropped") {
    same(s"$columns, s STRUCT<k: INT NOT NULL, n: INT> NOT NULL, d DOUBLE NOT NULL, l ARRAY<INT>")(
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

  test("register_table returns the same columns and counts") {
    val results = Seq("litejdbc", "icejdbc").map { catalog =>
      val t = newTable(catalog = catalog)
      sql(s"CREATE TABLE $t (id INT) USING iceberg")
      val empty = rows(s"SELECT file FROM $t.metadata_log_entries").head.getString(0)
      sql(s"INSERT INTO $t SELECT explode(array(1, 2, 3))")
      val newest = rows(s"SELECT file FROM $t.metadata_log_entries ORDER BY timestamp DESC").head.getString(0)
      val again = Seq(empty, newest).zipWithIndex.map { case (file, i) =>
        val result = sql(s"CALL $catalog.system.register_table('${t.stripPrefix(s"$catalog.")}_$i', '$file')")
        val columns = result.schema.map(f => (f.name, f.dataType, f.nullable))
        (columns, result.collect().toSeq.map(row => (row.isNullAt(0), row.toSeq.tail)))
      }
      intercept[Exception](sql(s"CALL $catalog.system.register_table('$ns.x', '')").collect())
      Seq(0, 1).foreach(i => sql(s"DROP TABLE ${t}_$i"))
      again
    }
    assert(results.head == results.last)
  }
}

object PeerStatementsSuite {
  private val summaryKeys =
    Seq("operation", "wap.id", "published-wap-id", "source-snapshot-id", "total-records", "added-records")
}
