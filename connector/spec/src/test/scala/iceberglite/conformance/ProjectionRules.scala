package iceberglite.conformance

/** Spec: "Column Projection". */
object ProjectionRules extends RuleBook("projection", "Column projection") {
}
