package iceberglite.conformance

/** Spec: "Appendix A: Format-specific Requirements". */
object FormatRules extends RuleBook("formats", "File formats") {
}
