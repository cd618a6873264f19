package iceberglite

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import org.scalatest.Tag
import org.scalatest.tagobjects.Slow

/** Selects the tests that run. `tests/run.py` sets a tier. From large sets of cases, a seed selects a sample. */
object Sampling {

  /** Whether this is the fast tier, in which a few rounds are enough. */
  val isFast: Boolean = Option(System.getProperty("iceberglite.tier")).contains("fast")

  /** Whether all cases of large sets of cases run, instead of a sample. */
  val isOff: Boolean = sys.env.get("ICEBERG_LITE_ALL").exists(_.nonEmpty)

  /** The seed of the sample. By default, it depends on the commit, so that later commits run other cases. */
  val seed: Long = sys.env.get("ICEBERG_LITE_SAMPLE").filter(_.nonEmpty).fold(Fuzz.seed)(_.toLong)

  /** Returns the tags of a test that is in the fast tier only if it is small. */
  def slowUnless(isSmall: Boolean): Seq[Tag] = if (isSmall) Nil else Seq(Slow)

  /** Records how many cases this run skips. `tests/run.py` prints this number before the number of tests. */
  def recordSkipped(skipped: Int, total: Int, what: String): Unit =
    for (directory <- sys.env.get("ICEBERG_LITE_LEFT_OUT").filter(_ => skipped > 0)) {
      val file = Paths.get(directory, what.replaceAll("\\W+", "-"))
      Files.createDirectories(file.getParent)
      Files.write(file, s"$skipped of $total $what".getBytes(UTF_8))
    }
}

/** The counterpart of [[MoreRounds]] for single tests. */
object Rounds extends Tag("iceberglite.MoreRounds")
