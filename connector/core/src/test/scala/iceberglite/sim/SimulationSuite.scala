package iceberglite.sim

import java.util.concurrent.TimeUnit

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{Fuzz, MoreRounds, Sampling}

/**
 * Runs simulated writers that commit to one table, on storage and a catalog where every call can fail. `make soak`
 * runs this suite for longer. The suite reads these environment variables:
 *
 *  - `ICEBERG_LITE_SEED` is the seed of the random generator,
 *  - `ICEBERG_LITE_SOAK` is the duration in minutes,
 *  - `ICEBERG_LITE_HISTORY` is the seed of a single history to run instead of many.
 */
@MoreRounds
class SimulationSuite extends AnyFunSuite {

  /** The number of histories, except in the fast tier, which runs fewer. */
  protected def allHistories: Int = 1000

  private val histories = if (Sampling.isFast) 60 else allHistories
  private val minutes = SimulationSuite.number("ICEBERG_LITE_SOAK")
  private val replayedSeed = SimulationSuite.number("ICEBERG_LITE_HISTORY")

  test("concurrent writers on a failing storage and catalog violate no rule of the checker") {
    val end = System.nanoTime + TimeUnit.MINUTES.toNanos(minutes.getOrElse(0L))
    def shouldRun(round: Int): Boolean = minutes.fold(round < histories)(_ => System.nanoTime < end)
    val rounds = Iterator.from(0).takeWhile(shouldRun).map(SimulationSuite.seed)
    val checked = replayedSeed.fold(rounds)(Iterator(_)).map(SimulationSuite.check).size
    info(s"$checked histories")
  }
}

object SimulationSuite {
  def number(variable: String): Option[Long] = sys.env.get(variable).filter(_.nonEmpty).map(_.toLong)

  def seed(round: Int): Long = Fuzz.seed * 1000003L + round

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
      s"$settings breaks a rule. Replay it with: make soak HISTORY=${settings.seed}\n${violations.take(5).mkString("\n")}\n" +
        ended.simulation.trace.mkString("\n")
    )
    ended
  }
}
