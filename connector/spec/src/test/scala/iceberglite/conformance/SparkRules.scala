package iceberglite.conformance

/** What the rules of the specification mean for what Spark shows and writes. */
object SparkRules extends RuleBook("spark", "Spark") {
}
