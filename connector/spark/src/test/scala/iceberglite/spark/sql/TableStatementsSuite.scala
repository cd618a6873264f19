package iceberglite.spark.sql

import java.nio.file.attribute.FileTime
import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import org.apache.iceberg.spark.Spark3Util
import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.{AnalysisException, Row, SparkSession}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.FilesBelow
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spark.{SharedSession, SparkSessionCatalog}

/**
 * Checks the statements OPTIMIZE, VACUUM, DESCRIBE HISTORY, RESTORE and ANALYZE TABLE: their results, in part compared
 * with those of the corresponding procedures, their errors, and that Spark's own DESCRIBE and ANALYZE TABLE statements
 * still work.
 */
class TableStatementsSuite extends AnyFunSuite with StatementFixture {
  // This session also has the extensions of Apache Iceberg.
  override lazy val spark: SparkSession = SharedSession.spark

  /** Creates a table with the given number of commits, each of which adds the given number of files. */
  private def tableWithCommits(commits: Int, files: Int = 1): String = {
    val t = create("id BIGINT, p INT, s STRUCT<x: INT>", 2, "merge-on-read", "write.distribution-mode" -> "none")
    val rows = 10 * files
    for (i <- 0 until commits)
      sql(s"INSERT INTO $t SELECT id, id % 3, NULL FROM range(${i * rows}, ${(i + 1) * rows}, 1, $files)")
    t
  }

  private def call(procedure: String, table: String, arguments: String*): Seq[Row] = {
    val Array(catalog, rest) = table.split("\\.", 2)
    rows(s"CALL $catalog.system.$procedure(${(s"table => '$rest'" +: arguments).mkString(", ")})")
  }

  private def syntaxError(statement: String): ParseException = intercept[ParseException](sql(statement))

  private def compareWithProcedure(clauses: String, isRewritten: Boolean, arguments: String*): Unit = {
    val t = tableWithCommits(1, files = 6)
    val before = sorted(s"SELECT * FROM $t")
    val Seq(planned) = call("rewrite_data_files", t, arguments :+ "dry_run => true": _*)
    val Seq(result) = rows(s"OPTIMIZE $t$clauses")
    assert(result == planned && result.schema == planned.schema, clauses)
    assert(sorted(s"SELECT * FROM $t") == before && sorted(s"SELECT * FROM ${inApacheIceberg(t)}") == before, clauses)
    assert((result.getInt(0) > 0) == isRewritten, clauses)
  }

  test("OPTIMIZE returns the result that rewrite_data_files plans with the same arguments, and keeps all rows") {
    compareWithProcedure("", isRewritten = true)
  }

  test("OPTIMIZE of a branch, by name or by path, rewrites the files of the branch only", Slow) {
    val t = tableWithCommits(1)
    for (name <- Seq(s"$t.branch_b", s"lite.`${live(t).location}#branch_b`")) {
      sql(s"ALTER TABLE $t CREATE OR REPLACE BRANCH b")
      for (id <- 100 until 106) sql(s"INSERT INTO $t.branch_b VALUES ($id, 1, NULL)")
      val main = rows(s"SELECT file_path FROM $t.files ORDER BY 1")
      val before = sorted(s"SELECT * FROM ${inApacheIceberg(t)} VERSION AS OF 'b'")
      assert(rows(s"OPTIMIZE $name").head.getInt(0) == 7, name)
      assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)} VERSION AS OF 'b'") == before)
      assert(rows(s"SELECT file_path FROM $t.files ORDER BY 1") == main)
    }
  }

  test("OPTIMIZE with a condition or a Z-order returns what rewrite_data_files plans, and keeps all rows", Slow) {
    compareWithProcedure(" WHERE id >= 30 AND p < 2", isRewritten = false, "where => 'id >= 30 AND p < 2'")
    compareWithProcedure(
      " WHERE s.x = 1 OR p = 0 ZORDER BY id, p",
      isRewritten = true,
      "where => 's.x = 1 OR p = 0'",
      "sort_order => 'zorder(id, p)'",
      "options => map('rewrite-all', 'true')"
    )
  }

  test("the condition of OPTIMIZE and the state of RESTORE can be query parameters") {
    val t = tableWithCommits(1)
    assert(spark.sql(s"OPTIMIZE $t WHERE p = :p", Map[String, Any]("p" -> 7)).head.getInt(0) == 0)
    val first = live(t).currentSnapshot.get.snapshotId
    sql(s"DELETE FROM $t WHERE id = 1")
    assert(spark.sql(s"RESTORE $t TO VERSION AS OF ?", Array[Any](first)).head.getLong(1) == first)
    assert(count(t) == 10)
  }

  test("RESTORE refreshes cached queries, and Apache Iceberg reads the restored rows") {
    val t = tableWithCommits(2)
    val first = live(t).metadata.snapshots.head.snapshotId
    val cached = spark.table(t).cache()
    try {
      assert(cached.count() == 20)
      val Seq(report) = rows(s"RESTORE TABLE $t TO VERSION AS OF $first")
      assert(report.toSeq.drop(1) == Seq(first, 0, 1, 0, 10, 0, 0))
      assert(spark.table(t).count() == 10 && count(inApacheIceberg(t)) == 10)
    } finally cached.unpersist()
    val lastTime = live(t).metadata.snapshots.last.timestampMs
    val expected = rows(s"SELECT * FROM $t TIMESTAMP AS OF timestamp_millis(${lastTime}L) ORDER BY id")
    sql(s"RESTORE TABLE $t TO TIMESTAMP AS OF timestamp_millis(${lastTime}L)")
    assert(rows(s"SELECT * FROM $t ORDER BY id") == expected && expected.size == 20)
  }

  private def age(t: String, hours: Long): Unit = FilesBelow.withoutHints(directoryOf(t)).foreach { file =>
    Files.setLastModifiedTime(file, FileTime.fromMillis(System.currentTimeMillis - hours * 3600000L))
  }

  private def directoryOf(t: String): Path = Paths.get(new java.net.URI(live(t).location).getPath)

  test("VACUUM never removes files that a commit in progress may own, and its dry run lists what it removes") {
    val t = tableWithCommits(2)
    sql(s"INSERT OVERWRITE $t SELECT 1, 1, NULL")
    val orphan = Files.write(directoryOf(t).resolve("data").resolve("orphan.parquet"), Array[Byte](1))
    age(t, 23)
    def planned = rows(s"VACUUM $t RETAIN 0 HOURS DRY RUN").map(r => (r.getString(0), r.getString(1)))
    assert(planned.groupBy(_._1).mapValues(_.size).toMap ==
      Map("snapshot" -> 2, "data file" -> 2, "manifest" -> 2, "manifest list" -> 2))
    age(t, 25)
    assert(planned.filter(_._1 == "orphan file").map(_._2.split('/').last) == Seq("orphan.parquet"))
    assert(rows(s"VACUUM $t RETAIN 26 HOURS DRY RUN").isEmpty)
    val before = FilesBelow.withoutHints(directoryOf(t)).map(_.getFileName.toString)
    val expected = planned
    val counts = rows(s"VACUUM $t RETAIN 0 HOURS").map(r => r.getString(0) -> r.getLong(1)).filter(_._2 > 0).toMap
    assert(counts == expected.groupBy(_._1).mapValues(_.size.toLong).toMap)
    val after = FilesBelow.withoutHints(directoryOf(t)).map(_.getFileName.toString)
    assert(expected.filter(_._1 != "snapshot").map(_._2.split('/').last).toSet == before -- after)
    assert(!Files.exists(orphan) && count(t) == 1 && count(inApacheIceberg(t)) == 1)
  }

  test("DESCRIBE HISTORY lists the snapshots that the metadata tables show, including those of Apache Iceberg", Slow) {
    val t = tableWithCommits(2)
    sql(s"DELETE FROM ${inApacheIceberg(t)} WHERE id = 1")
    sql(s"ALTER TABLE $t CREATE BRANCH b AS OF VERSION ${live(t).metadata.snapshots.head.snapshotId}")
    sql(s"INSERT INTO $t.branch_b SELECT 1, 1, NULL")
    val history = sql(s"DESCRIBE HISTORY $t")
    val expected = rows(
      s"SELECT s.snapshot_id, committed_at, operation, s.parent_id, h.is_current_ancestor IS NOT NULL, summary " +
        s"FROM $t.snapshots s LEFT JOIN $t.history h ON h.snapshot_id = s.snapshot_id ORDER BY committed_at DESC"
    )
    assert(history.drop("branches", "tags", "engine").collect().toSeq == expected && expected.size == 4)
    val names = history.select("branches", "tags", "is_current_ancestor").collect().toSeq
    assert(names.map(r => (r.getSeq[String](0), r.getBoolean(2))) ==
      Seq((Seq("b"), false), (Seq("main"), true), (Nil, true), (Nil, true)))
    assert(history.select("engine").collect().forall(_.getString(0) == s"spark ${spark.version}"))
    assert(rows(s"DESCRIBE HISTORY $t LIMIT 2") == history.collect().toSeq.take(2))
  }

  /** Returns the number of distinct values by field id, in the statistics file of the current snapshot. */
  private def distinctValues(t: String): Map[Int, String] = {
    sql(s"REFRESH TABLE ${inApacheIceberg(t)}")
    val table = Spark3Util.loadIcebergTable(spark, inApacheIceberg(t))
    val files = table.statisticsFiles.asScala.filter(_.snapshotId == table.currentSnapshot.snapshotId)
    files.flatMap(_.blobMetadata.asScala).map(b => b.fields.get(0).intValue -> b.properties.get("ndv")).toMap
  }

  test("ANALYZE TABLE registers the statistics that Apache Iceberg computes") {
    val t = tableWithCommits(2)
    assert(sql(s"ANALYZE TABLE $t COMPUTE STATISTICS NOSCAN").collect().isEmpty && distinctValues(t).isEmpty)
    sql(s"ANALYZE TABLE $t COMPUTE STATISTICS FOR COLUMNS P")
    assert(distinctValues(t) == Map(2 -> "3"))
    for (clause <- Seq("", " FOR ALL COLUMNS")) {
      sql(s"ANALYZE TABLE $t COMPUTE STATISTICS$clause")
      assert(distinctValues(t) == Map(1 -> "20", 2 -> "3"), clause)
    }
    call("compute_table_stats", inApacheIceberg(t))
    assert(distinctValues(t) == Map(1 -> "20", 2 -> "3"))
  }

  test("a syntax error has the position of the invalid word") {
    val t = tableWithCommits(0)
    for (
      (statement, message, line, position) <- Seq(
        (s"OPTIMIZE $t\nZORDER BY", "expected a column", 2, 9),
        (s"OPTIMIZE $t WHERE\n  p = 1 AND ZORDER BY (id)", "near 'AND': expected a condition without an alias", 2, 8),
        (s"OPTIMIZE $t\nWHERE p = 1,", "near ','", 2, 11),
        (s"OPTIMIZE $t\nWHERE p = 1 x", "near 'x': expected a condition without an alias", 2, 12),
        (s"VACUUM $t\n RETAIN 5 DAYS", "expected HOURS", 2, 10),
        (s"VACUUM $t\n DRY RUN now", "near 'now': expected the end", 2, 9),
        (s"RESTORE TABLE $t\nTO SNAPSHOT 5", "near 'SNAPSHOT': expected VERSION AS OF", 2, 3),
        (s"RESTORE TABLE $t\nTO VERSION AS OF b", "in quotes: 'b'", 2, 17),
        (s"RESTORE TABLE $t\nTO TIMESTAMP AS OF 1 +", "", 2, 22),
        (s"DESCRIBE HISTORY $t\nLIMIT x", "expected a number of rows", 2, 6),
        (s"ANALYZE TABLE $t\nPARTITION (p = 1) COMPUTE STATISTICS FOR COLUMNS id", "near 'PARTITION'", 2, 0),
        ("OPTIMIZE\n5", "near '5': expected the name of a table", 2, 0),
        (s"VACUUM\nice.$ns.t", "VACUUM supports only tables of iceberg-lite catalogs", 2, 0),
        (s"RESTORE TABLE\nlit.$ns.t TO VERSION AS OF 1", "did you mean the catalog lite?", 2, 0),
        (s"DESCRIBE HISTORY\nice.$ns.t", "DESCRIBE HISTORY supports only tables of iceberg-lite catalogs", 2, 0)
      )
    ) {
      val e = syntaxError(statement)
      assert(e.getMessage.contains(message), statement)
      assert((e.line, e.startPosition) == ((Some(line), Some(position))), s"$statement\n${e.getMessage}")
    }
  }

  test("a missing table or column has Spark's error class, a suggestion and the position in the statement") {
    val t = tableWithCommits(0)
    val missing = t.init + (if (t.last == 'x') 'y' else 'x')
    for (
      statement <- Seq(
        s"OPTIMIZE\n $missing WHERE p = 1",
        s"VACUUM\n $missing",
        s"RESTORE TABLE\n $missing TO VERSION AS OF 1",
        s"DESCRIBE HISTORY\n $missing LIMIT 1",
        s"ANALYZE TABLE\n $missing COMPUTE STATISTICS"
      )
    ) {
      val e = intercept[AnalysisException](sql(statement))
      assert(e.getErrorClass == "TABLE_OR_VIEW_NOT_FOUND" && e.getMessage.contains("did you mean"), statement)
      assert((e.line, e.startPosition) == ((Some(2), Some(1))), s"$statement\n${e.getMessage}")
    }
    for ((clause, position) <- Seq("WHERE ip = 1" -> 6, "ZORDER BY (id, ip)" -> 15)) {
      val e = intercept[AnalysisException](sql(s"OPTIMIZE $t\n$clause"))
      assert(e.getErrorClass.startsWith("UNRESOLVED_COLUMN") && e.getMessage.contains("`p`"), clause)
      assert((e.line, e.startPosition) == ((Some(2), Some(position))), s"$clause\n${e.getMessage}")
    }
  }

  test("views and metadata tables are rejected, and branches are rejected except by OPTIMIZE") {
    val t = tableWithCommits(1)
    sql(s"ALTER TABLE $t CREATE BRANCH b")
    val before = live(t).metadataLocation
    sql("CREATE OR REPLACE TEMP VIEW a_view AS SELECT 1 AS id")
    val statements =
      Seq("OPTIMIZE %s", "VACUUM %s RETAIN 0 HOURS", "DESCRIBE HISTORY %s LIMIT 1", "RESTORE %s TO VERSION AS OF 1")
    val session = spark.newSession()
    session.sql(s"USE lite.$ns")
    for (statement <- statements) {
      def message(name: String, in: SparkSession = spark): String =
        messages(intercept[AnalysisException](in.sql(statement.format(name))))
      assert(message(s"$t.snapshots").contains("It is not an iceberg-lite table"), statement)
      if (!statement.startsWith("OPTIMIZE"))
        assert(message(s"$t.branch_b").contains("Remove the snapshot, branch or tag from the name"), statement)
      session.sql("CREATE OR REPLACE TEMP VIEW a_view AS SELECT 1 AS id")
      assert(message("a_view", session).toLowerCase.contains("view"), statement)
    }
    assert(live(t).metadataLocation == before)
  }

  test("objects of Spark can have the names of the statements", Slow) {
    val session = spark.newSession()
    session.sql(s"CREATE NAMESPACE IF NOT EXISTS lite.$ns.words")
    session.sql(s"USE lite.$ns.words")
    for (name <- Seq("optimize", "vacuum", "restore", "history", "analyze")) {
      session.sql(s"CREATE TABLE $name ($name INT, x STRING) USING iceberg")
      session.sql(s"INSERT INTO $name VALUES (1, 'a')")
      assert(session.sql(s"SELECT $name FROM $name WHERE $name = 1").collect().toSeq == Seq(Row(1)))
      assert(session.sql(s"TABLE $name").count() == 1 && session.sql(s"FROM $name SELECT $name.$name").count() == 1)
      session.sql(s"OPTIMIZE $name WHERE $name = 1")
      session.sql(s"VACUUM $name DRY RUN")
      assert(session.sql(s"DESCRIBE HISTORY $name").count() == 1)
    }
    // There is no table `x`, so the statements describe a column of the table `history`.
    for (statement <- Seq("DESCRIBE history x", "DESC history x", "DESCRIBE TABLE history x"))
      assert(session.sql(statement).columns.head == "info_name", statement)
    assert(session.sql("DESCRIBE `history` history").columns.head == "info_name")
    assert(session.sql("DESCRIBE history").columns.head == "col_name")
    // Names are case-sensitive in this catalog.
    val missing = intercept[AnalysisException](session.sql("DESCRIBE HISTORY x"))
    assert(missing.getErrorClass == "TABLE_OR_VIEW_NOT_FOUND" && missing.getMessage.contains("`x`"))
    assert(session.sql("DESCRIBE HISTORY history").columns.head == "snapshot_id")
    session.sql("CREATE TABLE x (id INT) USING iceberg")
    assert(session.sql("DESCRIBE HISTORY x").columns.head == "snapshot_id")
    assert(session.sql("DESCRIBE TABLE history x").columns.head == "info_name")
    for (name <- Seq("optimize", "vacuum", "restore", "history", "analyze", "x")) session.sql(s"DROP TABLE $name")
    session.sql("USE spark_catalog.default")
    session.sql(s"DROP NAMESPACE lite.$ns.words CASCADE")
  }

  test("ANALYZE TABLE for tables of other catalogs is passed on to Spark's parser and to other extensions", Slow) {
    val t = tableWithCommits(1)
    for (table <- Seq(inApacheIceberg(t), s"ice.$ns.nothing")) {
      val e = intercept[Exception](sql(s"ANALYZE TABLE $table COMPUTE STATISTICS"))
      assert(!messages(e).contains("iceberg-lite") && messages(e).contains("ANALYZE TABLE"), messages(e))
    }
    sql("CREATE TABLE spark_catalog.default.plain_analyzed (id INT, part INT) USING parquet PARTITIONED BY (part)")
    try {
      sql("INSERT INTO spark_catalog.default.plain_analyzed VALUES (1, 1), (2, 1)")
      sql("ANALYZE TABLE spark_catalog.default.plain_analyzed PARTITION (part = 1) COMPUTE STATISTICS")
      sql("ANALYZE TABLE spark_catalog.default.plain_analyzed COMPUTE STATISTICS FOR COLUMNS id")
      val described = rows("DESCRIBE EXTENDED spark_catalog.default.plain_analyzed id")
      assert(described.contains(Row("distinct_count", "2")))
    } finally sql("DROP TABLE spark_catalog.default.plain_analyzed")
  }

  test("in a session catalog, Spark analyzes its own tables, and other statements accept only Iceberg tables", Slow) {
    val session = spark.newSession()
    val settings = Seq("type" -> "hadoop", "warehouse" -> newDirectory().toUri.toString)
    SharedSession.catalogConf("spark_catalog", classOf[SparkSessionCatalog].getName, settings: _*)
      .foreach { case (key, value) => session.conf.set(key, value) }
    session.sql(s"CREATE DATABASE both_$ns")
    session.sql(s"USE both_$ns")
    try {
      session.sql("CREATE TABLE mine (id INT) USING iceberg")
      session.sql("INSERT INTO mine VALUES (1)")
      session.sql("CREATE TABLE theirs (id INT, part INT) USING parquet PARTITIONED BY (part)")
      session.sql("INSERT INTO theirs VALUES (1, 1), (2, 1)")
      session.sql("ANALYZE TABLE theirs PARTITION (part = 1) COMPUTE STATISTICS")
      session.sql("ANALYZE TABLE theirs COMPUTE STATISTICS FOR COLUMNS id")
      val described = session.sql("DESCRIBE EXTENDED theirs id").collect().toSeq
      assert(described.contains(Row("distinct_count", "2")))
      session.sql("ANALYZE TABLE mine COMPUTE STATISTICS FOR COLUMNS id")
      val files = session.sql(s"SELECT * FROM spark_catalog.both_$ns.mine.metadata_log_entries").count()
      assert(files == 3)
      assert(session.sql("DESCRIBE HISTORY mine").count() == 1)
      session.sql("OPTIMIZE mine")
      for (statement <- Seq("OPTIMIZE theirs", "VACUUM theirs", "RESTORE theirs TO VERSION AS OF 1")) {
        val e = intercept[AnalysisException](session.sql(statement))
        assert(e.getMessage.contains("It is not an iceberg-lite table"), statement)
      }
      intercept[ParseException](session.sql("ANALYZE TABLE mine PARTITION (id = 1) COMPUTE STATISTICS"))
    } finally {
      session.sql("DROP TABLE IF EXISTS mine")
      session.sql("DROP TABLE IF EXISTS theirs")
      session.sql("USE default")
      session.sql(s"DROP DATABASE both_$ns")
    }
  }
}
