package iceberglite.spark.error

private[iceberglite] object Causes {

  /** Maximum number of causes to follow. The number is limited because the chain of causes can contain a cycle. */
  private val MaxCauses = 100

  /** Returns an error and its causes, outermost first. */
  def of(error: Throwable): Iterator[Throwable] =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).take(MaxCauses)
}
