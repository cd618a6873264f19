package iceberglite.spark.rowlevel

import java.nio.file.{Files, Path}

import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{MoreRoundsInSlowTierTag, Sampling}

/**
 * Kills drivers at different points of a statement. Afterwards, the table must have either its old or its new rows, and
 * the files that the driver wrote but did not commit must be orphan files, which can be deleted.
 */
class DyingDriverSuite extends AnyFunSuite with DriverFixture {
  private def tagOf(point: CrashPoint): Tag = if (point == CrashPoint.InCommit) MoreRoundsInSlowTierTag else Slow

  private def casesOf(point: CrashPoint): Seq[Case] =
    sampled(if (Sampling.isFast) 1 else 3, casesIn(namespaces(CrashPoint.ofStatements.indexOf(point))))

  /** Checks that the orphan files are those that a driver leaves if it dies at the given point of a statement. */
  private def checkOrphans(c: Case, point: CrashPoint, files: Set[Path]): Unit = withClue(s"${c.table} with $files: ") {
    val (data, metadata) = files.partition(_.toString.contains("/data/"))
    assert(data.nonEmpty == (point != CrashPoint.AfterCommit))
    assert(metadata.nonEmpty == (point == CrashPoint.InCommit))
    ()
  }

  /** Checks the rows, deletes the orphan files, and runs the statement again unless it was committed. */
  private def checkAndContinue(c: Case, point: CrashPoint, filesBefore: Set[Path]): Unit = {
    val (oldRows, newRows) = expected(c.name)
    val isCommitted = point == CrashPoint.AfterCommit
    check(c, if (isCommitted) newRows else oldRows)
    val orphanFiles = orphans(c)
    checkOrphans(c, point, orphanFiles)
    assert((orphanFiles & filesBefore).isEmpty, "a file that existed before the statement is an orphan")
    orphanFiles.foreach(Files.delete(_))
    if (!isCommitted) sql(c.statement)
    check(c, newRows)
    assert(orphans(c).isEmpty)
    ()
  }

  /**
   * Runs the statements of all cases concurrently in one separate process. The driver of each statement counts as dead
   * from its crash point on, and the process is killed when all drivers are dead.
   *
   * @return the cases of each crash point, with the files of their tables before the statements
   */
  private def killed(points: Seq[CrashPoint]): Map[CrashPoint, Seq[(Case, Set[Path])]] = {
    val cases = points.map(point => point -> casesOf(point))
    cases.foreach(_._2.foreach(create))
    val withFiles = cases.map { case (point, ofPoint) => point -> ofPoint.map(c => c -> filesOf(c)) }
    kill(for ((point, ofPoint) <- cases; c <- ofPoint) yield Death(point, directoryOf(c.table).toString, c.statement))
    withFiles.toMap
  }

  private lazy val killedInThisTier = killed(CrashPoint.ofStatements.filter(!Sampling.isFast || tagOf(_) != Slow))

  CrashPoint.ofStatements.foreach { point =>
    test(s"no row is lost or duplicated when the driver dies ${point.name}", tagOf(point)) {
      killedInThisTier(point).foreach { case (c, files) => checkAndContinue(c, point, files) }
    }
  }
}
