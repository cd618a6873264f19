package iceberglite.spark.rowlevel

import java.nio.file.{Files, Path}
import java.nio.file.attribute.FileTime
import java.time.{Duration, Instant}

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling

/**
 * Kills drivers at different points of a maintenance procedure. Afterwards, the table must have its rows
 * and all files that it references, and a second call must complete the work.
 */
class DyingMaintenanceSuite extends AnyFunSuite with DriverFixture {
  private val commitDeaths = Seq(CrashPoint.BeforeCommit, CrashPoint.InCommit, CrashPoint.AfterCommit)
  private val rewriteDeaths = CrashPoint.WhileTasksWrite +: commitDeaths
  private val farFuture = "TIMESTAMP '2100-01-01 00:00:00'"

  /** Options by which `rewrite_data_files` chooses all files with deleted rows, and no file because of its size. */
  private val withDeletes = "'delete-file-threshold', '1', 'min-file-size-bytes', '0'"

  private val calls: Seq[(String, String, Seq[CrashPoint])] = Seq(
    (
      "binpack",
      s"rewrite_data_files(table => '%s', options => map($withDeletes, 'partial-progress.enabled', 'true', " +
        "'max-file-group-input-files', '2'))",
      rewriteDeaths
    ),
    ("sort", s"rewrite_data_files(table => '%s', sort_order => 'n', options => map($withDeletes))", rewriteDeaths),
    (
      "hilbert",
      s"rewrite_data_files(table => '%s', sort_order => 'hilbert(id, n)', options => map($withDeletes))",
      rewriteDeaths
    ),
    (
      "zorder",
      s"rewrite_data_files(table => '%s', sort_order => 'zorder(id, n)', options => map($withDeletes))",
      rewriteDeaths
    ),
    ("deletes", "rewrite_position_delete_files(table => '%s', options => map('rewrite-all', 'true'))", rewriteDeaths),
    ("manifests", "rewrite_manifests('%s')", commitDeaths),
    ("statistics", "compute_table_stats('%s')", commitDeaths),
    ("partitions", "compute_partition_stats('%s')", commitDeaths),
    (
      "path",
      "rewrite_table_path(table => '%s', source_prefix => '%p', target_prefix => 'ofs://dying/elsewhere')",
      Seq(CrashPoint.BeforeCommit, CrashPoint.WhileMetadataIsCopied)
    ),
    ("convert", "convert_equality_deletes('%s')", rewriteDeaths),
    ("clone", "clone(source_table => '%s', table => '%s_clone')", commitDeaths),
    (
      "expire",
      s"expire_snapshots(table => '%s', older_than => $farFuture, retain_last => 1)",
      commitDeaths :+ CrashPoint.WhileFilesAreDeleted
    ),
    ("orphans", "remove_orphan_files(table => '%s')", Seq(CrashPoint.WhileFilesAreDeleted)),
    ("maintain", "maintain(table => '%s', options => map('min-input-files', '2'))", rewriteDeaths)
  )

  private val deaths: Seq[CrashPoint] = CrashPoint.all.filter(death => calls.exists(_._3.contains(death)))

  /** Returns the cases for a crash point, such that each call and each format version occurs. The seed selects them. */
  private def casesOf(death: CrashPoint): Seq[Case] = for {
    ((name, call, _), version) <- Sampling
      .pairs(calls.filter(_._3.contains(death)), Seq(2, 3), s"calls with a version that die ${death.name}")
    if name != "deletes" || version == 2
  } yield {
    val namespace = namespaces(CrashPoint.all.indexOf(death) % namespaces.size)
    val c = Case(namespace, s"${name}_${death.name.replace(' ', '_')}", version, "merge-on-read", call)
    c.copy(sql = s"CALL dying.system.${call.replace("%p", s"$warehouse/${c.table.replace('.', '/')}")}")
  }

  private val DataFiles = 10
  private val PlantedOrphans = 60

  private def fill(c: Case): Unit = {
    val table = s"dying.${c.table}"
    val partitioning = if (c.name.startsWith("partitions")) "PARTITIONED BY (truncate(1000, id))" else ""
    sql(
      s"CREATE TABLE $table (id BIGINT, n BIGINT) USING iceberg $partitioning TBLPROPERTIES (" +
        s"'format-version' = '${c.version}', 'write.delete.mode' = 'merge-on-read', " +
        "'write.delete.granularity' = 'file')"
    )
    // Two commits write half of the files each, so that there are manifests to combine and snapshots to expire.
    (0 until 2).foreach { i =>
      sql(s"INSERT INTO $table SELECT id, id % 10 FROM range(${i * 500}, ${i * 500 + 500}, 1, ${DataFiles / 2})")
    }
    sql(s"DELETE FROM $table WHERE n = 3")
    if (c.name.startsWith("convert"))
      sql(s"INSERT INTO $table WITH ('upsert-keys' = 'id') SELECT id, n + 1 FROM $table WHERE n = 4")
    val old = FileTime.from(Instant.now.minus(Duration.ofDays(10)))
    (0 until PlantedOrphans).foreach { i =>
      val orphan = DriverFixture.storage.resolve(c.table.replace('.', '/')).resolve(s"data/orphan-$i.parquet")
      Files.setLastModifiedTime(Files.createFile(orphan), old)
    }
  }

  private def rowsOf(c: Case): Seq[String] = sorted(s"SELECT * FROM dying.${c.table}")

  private def local(path: String): Path = Path.of(path.stripPrefix("ofs://dying"))

  /**
   * Checks that all source files in a list of files to copy exist, and that at least one of them is a metadata file.
   */
  private def assertCopied(list: String): Unit = {
    val sources = Files.readAllLines(local(list)).asScala.map(_.takeWhile(_ != ','))
    assert(sources.exists(_.endsWith(".metadata.json")) && sources.forall(source => Files.exists(local(source))))
    ()
  }

  private def isPlanted(path: Path): Boolean = path.getFileName.toString.startsWith("orphan-")

  private def checkAndContinue(c: Case, death: CrashPoint, before: Seq[String], filesBefore: Set[Path]): Unit =
    withClue(s"${c.table}: ") {
      check(c, before)
      // The files of expired snapshots become orphans if the driver dies before it deletes them.
      if (!c.name.startsWith("expire"))
        assert((orphans(c) & filesBefore).forall(isPlanted), "a file that existed before the call is an orphan")
      val planted = orphans(c).count(isPlanted)
      assert(if (c.name.startsWith("orphans")) planted > 0 && planted < PlantedOrphans else planted == PlantedOrphans)
      // If the driver died after a commit of the first call, the second call has nothing left to commit, except in the
      // case `binpack`, whose call makes several commits.
      val isCommitted = death == CrashPoint.AfterCommit
      val result = if (isCommitted && c.name.startsWith("clone")) Seq.empty else rows(c.statement)
      check(c, before)
      val table = s"dying.${c.table}"
      c.name.takeWhile(_ != '_') match {
        case "binpack" => assert(result.head.getInt(0) == (if (isCommitted) DataFiles - 2 else DataFiles))
        case "sort" | "hilbert" | "zorder" => assert(result.head.getInt(0) == (if (isCommitted) 0 else DataFiles))
        case "deletes" => assert(rows(s"SELECT * FROM $table.delete_files").size == DataFiles)
        case "manifests" => assert(rows(s"SELECT * FROM $table.manifests").size == 2)
        case "statistics" => assert(result.size == 1)
        case "partitions" => assert(Files.exists(local(result.head.getString(0))))
        case "path" => assertCopied(result.head.getString(1))
        case "convert" => assert(rows(s"SELECT * FROM $table.delete_files WHERE content = 2").isEmpty)
        case "clone" => assert(sorted(s"SELECT * FROM ${table}_clone") == before)
        case "expire" => assert(rows(s"SELECT * FROM $table.snapshots").size == 1)
        case "orphans" => assert(!orphans(c).exists(isPlanted))
        case "maintain" => assert(rows(s"SELECT * FROM $table.data_files").size == 1)
      }
      orphans(c).foreach(Files.delete(_))
      check(c, before)
    }

  /** A call whose driver died, with the rows and files of the table before the call. */
  private case class KilledCall(c: Case, death: CrashPoint, rows: Seq[String], files: Set[Path])

  /** The directory of the table that the call writes. */
  private def writtenBy(c: Case): String =
    directoryOf(if (c.name.startsWith("clone")) s"${c.table}_clone" else c.table).toString

  /** The calls of all drivers, which run and die in one process. */
  private lazy val killed: Seq[KilledCall] = {
    val cases = for (death <- deaths; c <- casesOf(death)) yield (c, death)
    cases.foreach(c => fill(c._1))
    val calls = cases.map { case (c, death) => KilledCall(c, death, rowsOf(c), filesOf(c)) }
    kill(calls.map(call => Death(call.death, writtenBy(call.c), call.c.statement)))
    calls
  }

  deaths.foreach { death =>
    test(s"maintenance loses no row when the driver dies ${death.name}, and a second call completes it", Slow) {
      killed.filter(_.death == death).foreach(call => checkAndContinue(call.c, death, call.rows, call.files))
    }
  }
}
