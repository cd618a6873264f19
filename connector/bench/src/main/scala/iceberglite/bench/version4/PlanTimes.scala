package iceberglite.bench.version4

import java.lang.management.ManagementFactory

import iceberglite.bench.Timing
import iceberglite.scan.ScanPlan
import iceberglite.spec.FormatVersion.{V3, V4}

/**
 * Compares the processor times of plans in versions 3 and 4. The plans of the two tables alternate, so that other
 * processes and the state of the JVM affect both versions in the same way. The times are those of all Java threads,
 * without the compiler and the garbage collector. Only the second half of the rounds counts.
 *
 * Arguments: the numbers of files and of columns, each separated by commas, and the number of rounds.
 */
object PlanTimes {
  def main(args: Array[String]): Unit = args match {
    case Array(files, columns, rounds) =>
      println("| columns | files | predicate | cache | v3, ms | v4, ms | v4 / v3 |\n|---|---|---|---|---|---|---|")
      for (c <- numbers(columns); f <- numbers(files)) measure(c, f, rounds.toInt)
    case _ => throw new IllegalArgumentException("Usage: PlanTimes FILES COLUMNS ROUNDS, such as 1000,10000 10 250")
  }

  private def numbers(list: String): Vector[Int] = list.split(',').map(_.toInt).toVector

  private def measure(columns: Int, files: Int, rounds: Int): Unit = {
    val tables = Vector(V3, V4).map(new BenchTable(_, new SyntheticFiles(columns, files), files))
    PlanKind.all.foreach { kind =>
      val times = Vector.fill(rounds)(tables.map(coldAndWarm(_, kind))).drop(rounds / 2)
      Seq("cold", "warm").zipWithIndex.foreach { case (cache, i) =>
        val Vector(three, four) = tables.indices.map(t => Timing.median(times.map(_(t)(i)))).toVector
        println(f"| $columns | $files%,d | ${kind.name} | $cache | $three%.2f | $four%.2f | ${four / three}%.2f |")
      }
    }
  }

  /** Returns the times in milliseconds of a plan with an empty cache, and of the same plan again. */
  private def coldAndWarm(table: BenchTable, kind: PlanKind): Vector[Double] = {
    val (io, filter) = (table.cold(0), kind.filter(table))
    Vector.fill(2)(processorTime(PlanCost.plan(table, io, filter)))
  }

  private val threads = ManagementFactory.getThreadMXBean

  private def processorTime(plan: => ScanPlan): Double = {
    val start = total
    plan
    (total - start) / 1e6
  }

  private def total: Long = threads.getAllThreadIds.map(id => math.max(0L, threads.getThreadCpuTime(id))).sum
}
