package iceberglite.spark.error

/**
 * An object whose methods Spark or the user calls. Each of its methods that can fail runs with `in`, so that Spark and
 * the user receive errors of Spark's types instead of an `IcebergError`. `SourceRulesSuite` checks this for all methods
 * that Spark calls.
 */
private[iceberglite] trait ErrorBoundary {

  /** The name of the table, the namespace or the statement, for messages. */
  protected def errorName: String

  /** Runs an operation, and converts its errors with [[SparkErrors]]. */
  final private[iceberglite] def in[A](operation: => A): A = SparkErrors.in(errorName)(operation)
}

private[iceberglite] object Boundaries {

  /** Whether an object converts its errors, so that it belongs to this connector. */
  def contain(called: Any): Boolean = called.isInstanceOf[ErrorBoundary]
}
