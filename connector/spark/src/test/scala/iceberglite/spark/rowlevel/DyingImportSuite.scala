package iceberglite.spark.rowlevel

import java.nio.file.{Files, Path}

import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.FilesBelow
import iceberglite.spark.SharedSession

/**
 * Kills drivers at different points of `add_files` and `snapshot`. Afterwards, the source must be unchanged, and the
 * target must have none or all of its rows. A second call must complete the import, or fail if the first call was
 * committed.
 */
class DyingImportSuite extends AnyFunSuite with DriverFixture {

  /** @param creates whether the import creates its target; if not, the target has rows before the import */
  private case class Import(target: Case, creates: Boolean, source: String, files: Path) {
    val call: String = target.statement
    val define: String = s"CREATE TABLE $source USING parquet LOCATION '${files.toUri}'"
  }

  private def importsOf(death: CrashPoint): Seq[Import] =
    for (creates <- Seq(false, true); version <- Seq(2, 3)) yield {
      val source = s"spark_catalog.default.source_${SharedSession.counter.incrementAndGet()}"
      val name = s"${if (creates) "snapshot" else "add"}_${death.name.replace(' ', '_')}"
      val call =
        if (!creates) s"add_files(table => '%s', source_table => '$source')"
        else s"snapshot(source_table => '$source', table => '%s', properties => map('format-version', '$version'))"
      val namespace = namespaces(CrashPoint.all.indexOf(death) % namespaces.size)
      val target = Case(namespace, name, version, "copy-on-write", s"CALL dying.system.$call")
      Import(target, creates, source, newDirectory("source").resolve("files"))
    }

  private def fill(i: Import): Seq[String] = {
    spark.range(0, 50, 1, 2).selectExpr("id + 5000 AS id", "id % 7 AS n").write.parquet(i.files.toUri.toString)
    sql(i.define)
    if (i.creates) Seq.empty
    else {
      create(i.target)
      sorted(s"SELECT * FROM dying.${i.target.table}")
    }
  }

  private def repeat(i: Import, isCommitted: Boolean): Unit =
    if (!isCommitted) rows(i.call)
    else {
      val error = intercept[AnalysisException](sql(i.call))
      val expected = if (i.creates) "TABLE_OR_VIEW_ALREADY_EXISTS" else "ICEBERG_LITE.VALIDATION_FAILED"
      assert(error.getErrorClass == expected)
      ()
    }

  private def checkAndContinue(i: Import, isCommitted: Boolean, before: Seq[String], files: Set[Path]): Unit =
    withClue(s"${i.target.table}: ") {
      val table = s"dying.${i.target.table}"
      val imported = sorted(s"SELECT * FROM ${i.source}")
      val complete = (before ++ imported).sorted
      assert(imported.size == 50 && FilesBelow.withoutHints(i.files) == files)
      if (i.creates) assert(spark.catalog.tableExists(table) == isCommitted)
      if (isCommitted || !i.creates) check(i.target, if (isCommitted) complete else before)
      repeat(i, isCommitted)
      check(i.target, complete)
      orphans(i.target).foreach(Files.delete(_))
      check(i.target, complete)
      assert(FilesBelow.withoutHints(i.files) == files)
      sql(s"DROP TABLE ${i.source}")
      ()
    }

  /** An import whose driver died, with the rows of the target and the source files before the import. */
  private case class KilledImport(i: Import, death: CrashPoint, rows: Seq[String], files: Set[Path])

  private val deaths = Seq(CrashPoint.BeforeCommit, CrashPoint.InCommit, CrashPoint.AfterCommit)

  /** The imports of all drivers, which run and die in one process. */
  private lazy val killed: Seq[KilledImport] = {
    val imports = for (death <- deaths; i <- importsOf(death))
      yield KilledImport(i, death, fill(i), FilesBelow.withoutHints(i.files))
    kill(imports.map { k =>
      Death(k.death, directoryOf(k.i.target.table).toString, k.i.define + DyingDriver.Separator + k.i.call)
    })
    imports
  }

  for (death <- deaths)
    test(s"an import has no or all rows when the driver dies ${death.name}; an uncommitted one can be repeated", Slow) {
      killed.filter(_.death == death).foreach { k =>
        checkAndContinue(k.i, death == CrashPoint.AfterCommit, k.rows, k.files)
      }
    }
}
