package iceberglite.spark.rowlevel

import java.nio.file.{Files, Path}

import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling

/**
 * Kills drivers at different points of a statement. Afterwards, the table must have either its old or its
 * new rows, and the files that the driver left must be orphan files, which can be deleted.
 */
class DyingDriverSuite extends AnyFunSuite with DriverFixture {
  private def slow(death: CrashPoint): Seq[Tag] = Sampling.slowUnless(death == CrashPoint.InCommit)

  private def casesOf(death: CrashPoint): Seq[Case] =
    sampled(3, casesIn(namespaces(CrashPoint.ofStatements.indexOf(death))))

  /** Checks that the orphan files are those that a driver leaves if it dies at the given point of a statement. */
  private def checkOrphans(c: Case, death: CrashPoint, files: Set[Path]): Unit = withClue(s"${c.table} with $files: ") {
    val (data, metadata) = files.partition(_.toString.contains("/data/"))
    assert(data.nonEmpty == (death != CrashPoint.AfterCommit))
    assert(metadata.nonEmpty == (death == CrashPoint.InCommit))
    ()
  }

  /** Checks the rows, deletes the orphan files, and runs the statement again unless it was committed. */
  private def checkAndContinue(c: Case, death: CrashPoint, filesBefore: Set[Path]): Unit = {
    val (oldRows, newRows) = expected(c.name)
    val isCommitted = death == CrashPoint.AfterCommit
    check(c, if (isCommitted) newRows else oldRows)
    val orphanFiles = orphans(c)
    checkOrphans(c, death, orphanFiles)
    assert((orphanFiles & filesBefore).isEmpty, "a file that existed before the statement is an orphan")
    orphanFiles.foreach(Files.delete(_))
    if (!isCommitted) sql(c.statement)
    check(c, newRows)
    assert(orphans(c).isEmpty)
    ()
  }

  /** Kills the drivers of statements in one process. @return the cases, with the files before the statements */
  private def killed(deaths: Seq[CrashPoint]): Map[CrashPoint, Seq[(Case, Set[Path])]] = {
    val cases = deaths.map(death => death -> casesOf(death))
    cases.foreach(_._2.foreach(create))
    val withFiles = cases.map { case (death, ofDeath) => death -> ofDeath.map(c => c -> filesOf(c)) }
    kill(for ((death, ofDeath) <- cases; c <- ofDeath) yield Death(death, directoryOf(c.table).toString, c.statement))
    withFiles.toMap
  }

  private val (inFastTier, inSlowTier) = CrashPoint.ofStatements.partition(slow(_).isEmpty)
  private lazy val killedInFastTier = killed(inFastTier)
  private lazy val killedInSlowTier = killed(inSlowTier)

  CrashPoint.ofStatements.foreach { death =>
    test(s"no row is lost or duplicated when the driver dies ${death.name}", slow(death): _*) {
      val cases = if (inFastTier.contains(death)) killedInFastTier else killedInSlowTier
      cases(death).foreach { case (c, files) => checkAndContinue(c, death, files) }
    }
  }
}
