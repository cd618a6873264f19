package iceberglite

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import org.scalatest.Tag
import org.scalatest.tagobjects.Slow

/** What of the tests runs: the tier that tests/run.py is at, and what is left to other seeds. */
object Sampling {

  /** Whether a run of the other tier has the rest, so that a few rounds are enough. */
  val isFast: Boolean = Option(System.getProperty("iceberglite.tier")).contains("fast")

  /** Whether nothing is left to other seeds. */
  val isOff: Boolean = sys.env.get("ICEBERG_LITE_ALL").exists(_.nonEmpty)

  /** The tags of a test of which a small round alone is in the fast tier. */
  def slowUnless(isSmall: Boolean): Seq[Tag] = if (isSmall) Nil else Seq(Slow)

  /** Says what this run leaves out; tests/run.py shows it beside the number of tests. */
  def leaves(out: Int, of: Int, what: String): Unit =
    for (directory <- sys.env.get("ICEBERG_LITE_LEFT_OUT").filter(_ => out > 0)) {
      val file = Paths.get(directory, what.replaceAll("\\W+", "-"))
      Files.createDirectories(file.getParent)
      Files.write(file, s"$out of $of $what".getBytes(UTF_8))
    }
}

/** What [[MoreRounds]] is for suites, for single tests. */
object Rounds extends Tag("iceberglite.MoreRounds")
