package iceberglite.bench

/** Measures wall times. */
private[iceberglite] object Timing {

  /** Returns the wall time in milliseconds, and the result. */
  def of[A](body: => A): (Double, A) = {
    val start = System.nanoTime()
    val result = body
    ((System.nanoTime() - start) / 1e6, result)
  }

  /** Returns the median; of an even number of times, the larger of the two in the middle. */
  def median(times: Seq[Double]): Double = times.sorted.apply(times.size / 2)
}
