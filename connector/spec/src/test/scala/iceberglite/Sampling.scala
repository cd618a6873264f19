package iceberglite

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import org.scalatest.Tag
import org.scalatest.tagobjects.Slow

/** Which tests run: those of the tier that tests/run.py selects, and of large sets those that the seed selects. */
object Sampling {

  /** Whether this is the fast tier, in which a few rounds are enough. */
  val isFast: Boolean = Option(System.getProperty("iceberglite.tier")).contains("fast")

  /** Whether large sets of cases run completely, instead of a sample. */
  val isOff: Boolean = sys.env.get("ICEBERG_LITE_ALL").exists(_.nonEmpty)

  /** Selects the sample: the commit's in ordinary runs, so that later commits run what this one leaves out. */
  val seed: Long = sys.env.get("ICEBERG_LITE_SAMPLE").filter(_.nonEmpty).fold(Fuzz.seed)(_.toLong)

  /** Returns the tags of a test that is in the fast tier only if it is small. */
  def slowUnless(isSmall: Boolean): Seq[Tag] = if (isSmall) Nil else Seq(Slow)

  /** Records what this run leaves out; tests/run.py prints it before the number of tests. */
  def recordSkipped(out: Int, of: Int, what: String): Unit =
    for (directory <- sys.env.get("ICEBERG_LITE_LEFT_OUT").filter(_ => out > 0)) {
      val file = Paths.get(directory, what.replaceAll("\\W+", "-"))
      Files.createDirectories(file.getParent)
      Files.write(file, s"$out of $of $what".getBytes(UTF_8))
    }
}

/** The counterpart of [[MoreRounds]] for single tests. */
object Rounds extends Tag("iceberglite.MoreRounds")
