package iceberglite.spark.rowlevel

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

/**
 * The driver's process ends at once, at one moment or another of a statement: the table is what it was or what it was to
 * become, and what the dead left is known and can go.
 */
class DyingDriverSuite extends AnyFunSuite with DriverFixture {
  private def casesOf(death: Death): Seq[Case] = chosen(3, casesIn(namespaces(Death.all.indexOf(death))))

  /** What is left is what the statement had got to. */
  private def checkLeft(c: Case, death: Death, left: Set[Path]): Unit = withClue(s"${c.table} left $left: ") {
    val (data, metadata) = left.partition(_.toString.contains("/data/"))
    assert(data.nonEmpty == (death != Death.AfterCommit))
    assert(metadata.nonEmpty == (death == Death.InCommit))
    ()
  }

  /** What the dead left goes, and the statement is run again if it was not committed. */
  private def goOn(c: Case, death: Death, before: Set[Path]): Unit = {
    val (old, changed) = expected(c.name)
    val isCommitted = death == Death.AfterCommit
    check(c, if (isCommitted) changed else old)
    val left = orphans(c)
    checkLeft(c, death, left)
    assert((left & before).isEmpty, "an orphan that was there before")
    left.foreach(Files.delete(_))
    if (!isCommitted) sql(c.statement)
    check(c, changed)
    assert(orphans(c).isEmpty)
    ()
  }

  Death.all.foreach { death =>
    test(s"no row is lost and none there twice when the driver dies ${death.name}") {
      val cases = casesOf(death)
      cases.foreach(create)
      val before = cases.map(filesOf)
      val program = "iceberglite.spark.rowlevel.DyingDriver"
      val (exit, said) = DriverProcess.run(program, death.name, warehouse, cases.map(_.statement), newDirectory())
      assert(exit == DyingDriver.Killed, said)
      cases.zip(before).foreach { case (c, files) => goOn(c, death, files) }
    }
  }
}
