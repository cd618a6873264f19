package iceberglite.conformance

/** Spec: "Appendix C: JSON serialization", the vocabulary of the REST catalog, and the view spec. */
object JsonRules extends RuleBook("json", "JSON") {
}
