package iceberglite.spark.rowlevel

import java.nio.file.{Files, Path}

import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling

/**
 * The driver's process is killed at different points of a statement. The table has either its old or its new rows, and
 * the files left behind are known and can be deleted.
 */
class DyingDriverSuite extends AnyFunSuite with DriverFixture {
  private def slow(death: Death): Seq[Tag] = Sampling.slowUnless(death == Death.InCommit)

  private def casesOf(death: Death): Seq[Case] = chosen(3, casesIn(namespaces(Death.all.indexOf(death))))

  /** Checks that the orphans match the point that the statement had reached. */
  private def checkOrphans(c: Case, death: Death, found: Set[Path]): Unit = withClue(s"${c.table} left $found: ") {
    val (data, metadata) = found.partition(_.toString.contains("/data/"))
    assert(data.nonEmpty == (death != Death.AfterCommit))
    assert(metadata.nonEmpty == (death == Death.InCommit))
    ()
  }

  /** Deletes the orphans, and runs the statement again if it was not committed. */
  private def continueAfter(c: Case, death: Death, before: Set[Path]): Unit = {
    val (old, changed) = expected(c.name)
    val isCommitted = death == Death.AfterCommit
    check(c, if (isCommitted) changed else old)
    val found = orphans(c)
    checkOrphans(c, death, found)
    assert((found & before).isEmpty, "a file that existed before the statement is an orphan")
    found.foreach(Files.delete(_))
    if (!isCommitted) sql(c.statement)
    check(c, changed)
    assert(orphans(c).isEmpty)
    ()
  }

  Death.all.foreach { death =>
    test(s"no row is lost or duplicated when the driver dies ${death.name}", slow(death): _*) {
      val cases = casesOf(death)
      cases.foreach(create)
      val before = cases.map(filesOf)
      val program = "iceberglite.spark.rowlevel.DyingDriver"
      val (exit, output) = DriverProcess.run(program, death.name, warehouse, cases.map(_.statement), newDirectory())
      assert(exit == DyingDriver.Killed, output)
      cases.zip(before).foreach { case (c, files) => continueAfter(c, death, files) }
    }
  }
}
