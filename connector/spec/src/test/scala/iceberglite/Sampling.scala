package iceberglite

import java.lang.management.ManagementFactory
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._
import scala.util.Random
import scala.util.hashing.MurmurHash3

import org.scalatest.Tag
import org.scalatest.tagobjects.Slow

/**
 * Selects the tests that run. Each test belongs to one of two tiers: `make test` runs only the fast tier, and `make
 * test-all` also runs the slow tier, whose tests have the tag `Slow`. If a set of cases is too large for the slow tier,
 * only a random sample of the cases runs. See `docs/testing.md`.
 */
object Sampling {

  /** Whether this is the fast tier, in which a few rounds are enough. */
  val isFast: Boolean = Option(System.getProperty("iceberglite.tier")).contains("fast")

  /** Whether large sets of cases run completely. If false, only a sample of the cases runs. */
  val isOff: Boolean = sys.env.get("ICEBERG_LITE_ALL").exists(_.nonEmpty)

  /**
   * The seed of the sample. `tests/run.py` derives it from the id of the commit, so that later commits run other cases.
   * If it is not set, the seed of [[Fuzz]] is used.
   */
  val seed: Long = sys.env.get("ICEBERG_LITE_SAMPLE").filter(_.nonEmpty).fold(Fuzz.seed)(_.toLong)

  /** Returns the tags of a test that belongs to the fast tier if `isInFastTier`, and otherwise to the slow tier. */
  def slowUnless(isInFastTier: Boolean): Seq[Tag] = if (isInFastTier) Nil else Seq(Slow)

  /**
   * Returns the tags of a test that exists once for each of several versions, formats or modes. If `isInFastTier` is
   * true, the test has no tags and belongs to the fast tier. Otherwise it repeats a test of the fast tier, and belongs
   * to the slow tier, which runs only a sample of these repetitions: about a quarter. `make nightly` runs all of them.
   */
  def slowInSomeRunsUnless(isInFastTier: Boolean): Seq[Tag] =
    if (isInFastTier) Nil else slowInSomeRuns(isAlwaysRun = false)

  /**
   * Returns the tags of a test of the slow tier that is one of several variants of a test. Variants with `isAlwaysRun =
   * true` are in every run of the slow tier. Each other variant is only in about one of four runs, which the seed
   * selects. `make nightly` runs all variants.
   */
  def slowInSomeRuns(isAlwaysRun: Boolean): Seq[Tag] =
    if (isAlwaysRun || isOff || isSelected()) Seq(Slow, InEveryRun) else Seq(Slow, OmittedBySample)

  /**
   * Adds the tag [[OmittedBySample]] to about three quarters of the slow tests of a suite. The seed selects these tests
   * by their names. Tests whose tags come from [[slowInSomeRuns]] are not considered. `make nightly` runs all slow
   * tests.
   *
   * @param tags the tags of the tests of the suite, by the name of the test
   */
  def quarterOfSlow(suite: String, tags: Map[String, Set[String]]): Map[String, Set[String]] = {
    def isOmitted(test: String): Boolean = MurmurHash3.productHash((seed, suite, test)) % 4 != 0
    if (isOff || isFast) tags
    else {
      val slow = tags.filter(t => t._2(Slow.name) && !t._2(InEveryRun.name) && !t._2(OmittedBySample.name)).keySet
      val omitted = slow.filter(isOmitted)
      recordQuarter(suite, omitted.size, slow.size)
      tags.map { case (test, own) => test -> (if (omitted(test)) own + OmittedBySample.name else own) }
    }
  }

  private val quarters = new ConcurrentHashMap[String, (Int, Int)]

  private def recordQuarter(suite: String, omitted: Int, slow: Int): Unit = {
    quarters.put(suite, (omitted, slow))
    val (allOmitted, all) = quarters.values.asScala.toVector.unzip
    // Several JVMs run the tests of a project.
    val process = ManagementFactory.getRuntimeMXBean.getName.takeWhile(_ != '@')
    val project = System.getProperty("iceberglite.project")
    recordSkipped(allOmitted.sum, all.sum, s"slow tests of $project in process $process")
  }

  /**
   * Returns some pairs of a value of `first` and a value of `second`, so that each value occurs in at least one pair.
   * The seed selects the pairs. In `make nightly`, the result contains all pairs.
   */
  def pairs[A, B](first: Seq[A], second: Seq[B], subject: String): Seq[(A, B)] = {
    val all = for (a <- first; b <- second) yield (a, b)
    val shift = Math.floorMod(MurmurHash3.productHash((seed, subject)), second.size)
    val selected = (0 until math.max(first.size, second.size)).map { i =>
      (first(i % first.size), second((i + shift) % second.size))
    }
    recordOf(all, selected, subject)
  }

  /**
   * Returns half of the values, which the seed selects, in their order. In `make nightly`, the result contains all of
   * them.
   */
  def half[A](values: Seq[A], subject: String): Seq[A] = {
    val shuffled = new Random(seed ^ subject.hashCode).shuffle(values.indices.toVector)
    val selected = shuffled.take((values.size + 1) / 2).toSet
    recordOf(values, values.indices.filter(selected).map(values), subject)
  }

  private def recordOf[A](all: Seq[A], selected: Seq[A], subject: String): Seq[A] =
    if (isOff) all
    else {
      if (!isFast) recordSkipped(all.size - selected.size, all.size, subject)
      selected
    }

  private val repetitions = new AtomicInteger
  private val omitted = new AtomicInteger

  private def isSelected(): Boolean = {
    val number = repetitions.incrementAndGet()
    val selected = MurmurHash3.productHash((seed, number)) % 4 == 0
    if (!selected) omitted.incrementAndGet()
    if (Option(System.getProperty("iceberglite.tier")).contains("slow")) {
      val project = System.getProperty("iceberglite.project")
      recordSkipped(omitted.get, number, s"tests of $project that repeat a test with another version, format or mode")
    }
    selected
  }

  /** Records how many cases this run skips. `tests/run.py` prints this number before the number of tests. */
  def recordSkipped(skipped: Int, total: Int, subject: String): Unit =
    for (directory <- sys.env.get("ICEBERG_LITE_LEFT_OUT").filter(_ => skipped > 0)) {
      val file = Paths.get(directory, subject.replaceAll("\\W+", "-"))
      Files.createDirectories(file.getParent)
      Files.write(file, s"$skipped of $total $subject".getBytes(UTF_8))
    }
}

/** Marks a test that the sample of the slow tier omits. */
object OmittedBySample extends Tag("iceberglite.OmittedBySample")

/** Marks a slow test that no sample omits. */
object InEveryRun extends Tag("iceberglite.InEveryRun")

/**
 * Marks a single test that repeats its checks in random rounds; see [[MoreRoundsInSlowTier]], which marks a whole suite
 * of such tests.
 */
object MoreRoundsInSlowTierTag extends Tag("iceberglite.MoreRoundsInSlowTier")
