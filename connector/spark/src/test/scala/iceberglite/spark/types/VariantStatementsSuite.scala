package iceberglite.spark.types

import org.apache.iceberg.types.Types
import org.apache.iceberg.types.Types.NestedField.optional
import org.apache.iceberg.{Schema => PeerSchema}
import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.CommandResultExec
import org.apache.spark.sql.execution.datasources.v2.{BatchScanExec, V2TableWriteExec}
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.conformance.MetricsRules
import iceberglite.spark.rowlevel.StatementFixture
import iceberglite.spec.IcebergError.ConcurrentChange
import iceberglite.table.action.MergeAppend

/** Tests that DELETE, UPDATE and MERGE skip files by conditions on parts of variants, and detect all conflicts. */
class VariantStatementsSuite extends AnyFunSuite with VariantQueries with StatementFixture {

  private def modeOf(mode: String): Seq[(String, String)] =
    Seq("delete", "update", "merge").map(command => s"write.$command.mode" -> mode)

  private def variant(n: Int): String = {
    val x = s"named_struct('s', 'text ${n + 10}', 'day', date_add(DATE'2024-01-01', $n))"
    s"$toVariant(named_struct('i', $n, 'x', $x))"
  }

  /** A table with three files, whose values of all parts are in different ranges. */
  private def table(mode: String, properties: (String, String)*): String = {
    val t = newVariantTable(flat, modeOf(mode) ++ properties: _*)
    for (file <- 0 until 3) insert(t, file * 10, (0 until 10).map(i => variant(file * 10 + i)): _*)
    t
  }

  private def planOf(t: String, statement: String): Seq[BatchScanExec] =
    sql(statement.replace("%t", t)).queryExecution.executedPlan match {
      case CommandResultExec(_, plan, _) => plan.children.collect { case write: V2TableWriteExec => write.query }
          .flatMap(collectWithSubqueries(_) { case s: BatchScanExec => s })
      case other => fail(s"no write: $other")
    }

  /** Runs a statement. @return the number of files that each scan of the table read */
  private def filesRead(t: String, statement: String): Seq[Long] =
    planOf(t, statement).flatMap(_.metrics.get("resultDataFiles")).map(_.value)

  private def dataFiles(t: String): Set[String] = rows(s"SELECT DISTINCT _file FROM $t").map(_.getString(0)).toSet

  private val part = get("$.i", "int")
  private val ofTarget = part.replace("(v", "(t.v")

  /** Statements with the number of files that they read. */
  private val statements = Seq(
    s"DELETE FROM %t WHERE $part = 15" -> 1,
    s"DELETE FROM %t WHERE ${get("$.x.s", "string")} LIKE 'text 2%' AND id % 2 = 0" -> 1,
    s"UPDATE %t SET id = id + 100 WHERE $part BETWEEN 8 AND 11" -> 2,
    s"UPDATE %t SET v = $toVariant(named_struct('i', 3.5BD)) WHERE ${get("$.x.day", "date")} > DATE'2024-01-28'" -> 1,
    s"MERGE INTO %t t USING (SELECT id FROM range(0, 30, 3)) s ON t.id = s.id AND $ofTarget < 7 " +
      s"WHEN MATCHED AND $ofTarget = 3 THEN DELETE WHEN MATCHED THEN UPDATE SET id = t.id + 200" -> 1,
    s"DELETE FROM %t WHERE ${get("$.i", "string")} = '17'" -> 3
  )

  /** The variants without the widths of their integers, which are those of the column if they are shredded. */
  private def values(t: String): Map[Long, String] =
    kept(t).map { case (id, v) => id -> v.replaceAll("INT\\d+", "INT") }

  for (mode <- Seq("copy-on-write", "merge-on-read"))
    test(
      s"statements skip files by conditions on parts of variants ($mode)",
      Slow,
      MetricsRules.variantFilters
    ) {
      val plain = table(mode)
      for ((statement, expected) <- statements) withClue(statement) {
        val (t, before) = (table(mode, shredded), table(mode))
        val read = filesRead(t, statement)
        assert(read.nonEmpty && read.max == expected, read)
        filesRead(before, statement)
        assert(values(t) == values(before) && sorted(s"SELECT * FROM $t") == sorted(s"SELECT * FROM $before"))
        assert(sorted(s"SELECT * FROM $t") != sorted(s"SELECT * FROM $plain"))
      }
    }

  test("copy-on-write replaces only the files that conditions on parts select", MetricsRules.variantFilters) {
    withConf(SQLConf.RUNTIME_ROW_LEVEL_OPERATION_GROUP_FILTER_ENABLED.key -> "false") {
      val t = table("copy-on-write", shredded)
      val before = dataFiles(t)
      sql(s"UPDATE $t SET id = -1 WHERE $part = 15")
      assert(before.diff(dataFiles(t)).size == 1 && rows(s"SELECT count(*) FROM $t WHERE id = -1") == Seq(Row(1L)))
    }
  }

  test("EXPLAIN of a statement shows the parts and the files", MetricsRules.variantFilters) {
    for (mode <- Seq("copy-on-write", "merge-on-read")) {
      val t = table(mode, shredded)
      for (statement <- Seq(s"DELETE FROM $t WHERE $part = 15", s"UPDATE $t SET id = 0 WHERE $part = 15")) {
        val plan = rows(s"EXPLAIN $statement").head.getString(0)
        assert(plan.contains("variant_get(v, $['i'], int) = 15, files=1 of 3"), plan)
        assert(!plan.contains("variant_part"), plan)
      }
    }
  }

  test("conditions on variants in structs skip files, and the search for files reads only the parts") {
    val inStruct = optional(2, "s", Types.StructType.of(optional(3, "v", Types.VariantType.get)))
    val schema = new PeerSchema(flat.findField("id"), inStruct)
    val t = newVariantTable(schema, modeOf("copy-on-write") :+ shredded: _*)
    for (file <- 0 until 2) sql(s"""INSERT INTO $t VALUES ($file, named_struct('v', '{"a":$file,"b":"b"}'))""")
    val scans = planOf(t, "DELETE FROM %t WHERE lite.system.variant_get(s.v, '$.a', 'int') = 1")
    assert(scans.map(_.metrics("resultDataFiles").value).max == 1)
    assert(scans.exists(_.scan.description.contains("parts=s.v: $['a']")), scans.map(_.scan.description))
    assert(rows(s"SELECT id FROM $t") == Seq(Row(0L)))
  }

  /** Whether a statement that reads the rows with the part 15 conflicts with a commit that adds rows meanwhile. */
  private def conflicts(mode: String, statement: String)(variants: Seq[String])(
      properties: Seq[(String, String)]
  ): Boolean = {
    val (t, added) = (table(mode, shredded), newVariantTable(flat, shredded +: properties: _*))
    insert(added, 100, variants: _*)
    val files = dataFilesAt(live(added), live(added).currentSnapshot)
    val commits = commitWhenCalled(t) { table =>
      table.transaction().add(new MergeAppend(files)).commit()
      ()
    }
    try {
      sql(s"${statement.replace("%t", t)} AND commit_and_return(id) >= 0")
      false
    } catch {
      case e: Exception =>
        val causes = Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).toVector
        assert(causes.exists(_.isInstanceOf[ConcurrentChange]), e)
        true
    } finally assert(commits() == 1)
  }

  for (mode <- Seq("copy-on-write", "merge-on-read"))
    test(
      s"a statement conflicts with all commits that may add matching rows ($mode)",
      Slow,
      MetricsRules.variantConflicts
    ) {
      val change = if (mode == "merge-on-read") "UPDATE %t SET id = -1" else "DELETE FROM %t"
      val conflict = conflicts(mode, s"$change WHERE $part = 15") _
      assert(!conflict(Seq(variant(100), variant(101)))(Nil))
      assert(!conflict(Seq("NULL", "NULL"))(Nil))
      assert(conflict(Seq(variant(15)))(Nil))
      assert(conflict(Seq(variant(1), variant(100)))(Nil))
      // These files have no bounds of the part.
      assert(conflict(Seq(variant(100), "'{\"i\":\"15\"}'"))(Nil))
      assert(conflict(Seq(variant(100)))(Seq("write.parquet.shred-variants" -> "false")))
      assert(conflict(Seq(variant(100)))(Seq("write.format.default" -> "avro")))
      assert(conflict(Seq(variant(100)))(Seq("write.metadata.metrics.default" -> "none")))
    }
}
