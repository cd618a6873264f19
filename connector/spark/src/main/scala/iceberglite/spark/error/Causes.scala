package iceberglite.spark.error

private[iceberglite] object Causes {

  /** Limits the chain, because an error can be one of its own causes. */
  private val MaxCauses = 100

  /** Returns an error and its causes, outermost first. */
  def of(error: Throwable): Iterator[Throwable] =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).take(MaxCauses)
}
