package iceberglite.conformance

/** Spec: "Table Metadata", "Snapshots", "Snapshot Reference", "Snapshot Retention Policy", "Appendix E". */
object MetadataRules extends RuleBook("metadata", "Table metadata") {
}
