package iceberglite.sim

import java.util.concurrent.TimeUnit

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRoundsInSlowTier, Sampling}

/**
 * Runs simulated writers that commit to one table, on storage and a catalog where every call can fail. `make soak`
 * runs this suite for longer. The suite reads these environment variables:
 *
 *  - `ICEBERG_LITE_SEED` is the seed of the random generator,
 *  - `ICEBERG_LITE_SOAK` is the duration in minutes,
 *  - `ICEBERG_LITE_HISTORY` is the seed of a single history to run instead of many.
 */
@MoreRoundsInSlowTier
class SimulationSuite extends AnyFunSuite {

  /** The number of histories from which the slow tier selects half. */
  protected def allHistories: Int = 1000

  /** The numbers of the histories to run. The fast tier always runs the same few. */
  private def histories: Seq[Int] =
    if (Sampling.isFast) 0 until 60
    else Sampling.half(0 until allHistories, s"histories of ${getClass.getSimpleName}")

  private val minutes = SimulationSuite.number("ICEBERG_LITE_SOAK")

  test("concurrent writers on a failing storage and catalog violate no rule of the checker") {
    val seeds = SimulationSuite.seeds(histories, minutes.map(TimeUnit.MINUTES.toNanos(_)))
    val checked = seeds.map(SimulationSuite.check).size
    info(s"$checked histories")
  }
}

object SimulationSuite {
  def number(variable: String): Option[Long] = sys.env.get(variable).filter(_.nonEmpty).map(_.toLong)

  def seed(round: Int): Long = Fuzz.seed * 1000003L + round

  /**
   * Returns the seeds of the histories to run: the one that `ICEBERG_LITE_HISTORY` sets, as many as can start within
   * the given time, or those with the given numbers.
   */
  def seeds(numbers: => Seq[Int], nanos: Option[Long]): Iterator[Long] = {
    val start = System.nanoTime
    def ofRun: Iterator[Long] =
      nanos.fold(numbers.iterator)(n => Iterator.from(0).takeWhile(_ => System.nanoTime - start < n)).map(seed)
    number("ICEBERG_LITE_HISTORY").fold(ofRun)(Iterator(_))
  }

  /** Runs the history of a seed and fails if it violates a rule. */
  def check(seed: Long): Unit = {
    val settings = Settings.of(seed)
    check(settings, new History(settings), Check.all)
    ()
  }

  /** Runs a history and fails if it violates a rule. */
  def check(settings: Settings, history: History, checks: Seq[Check]): FinishedHistory = {
    val ended =
      try history.run()
      catch { case e: Throwable => throw new AssertionError(s"$settings: the simulation itself failed with $e", e) }
    val violations = Checker.violations(ended, checks)
    if (violations.nonEmpty) throw new AssertionError(
      s"$settings breaks a rule. Replay it with: " +
        s"make soak HISTORY=${settings.seed}\n${violations.take(5).mkString("\n")}\n" +
        ended.simulation.trace.mkString("\n")
    )
    ended
  }
}
