package iceberglite.conformance

/** Spec: "Manifests" (`data_file`), "Appendix D: Single-value serialization". */
object MetricsRules extends RuleBook("metrics", "Metrics of files") {
}
