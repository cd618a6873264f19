package iceberglite.spark.error

/**
 * An object whose methods Spark or the user calls. Each of its methods that can fail on the driver runs with `in`, so
 * that Spark and the user receive errors of Spark's types instead of an `IcebergError`. `SourceRulesSuite` checks this
 * for the methods that Spark calls on the driver, and lists the exceptions.
 */
private[iceberglite] trait ErrorBoundary {

  /** The name of the table, view or namespace, for messages. */
  protected def errorName: String

  /** Runs an operation, and converts its errors with [[SparkErrors]]. */
  final private[iceberglite] def in[A](operation: => A): A = SparkErrors.in(errorName)(operation)
}

private[iceberglite] object Boundaries {

  /** Whether an object is an [[ErrorBoundary]], and therefore belongs to this connector. */
  def contain(called: Any): Boolean = called.isInstanceOf[ErrorBoundary]
}
