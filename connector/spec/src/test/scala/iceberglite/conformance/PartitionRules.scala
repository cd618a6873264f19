package iceberglite.conformance

/** Spec: "Partitioning", "Sorting", "Appendix B: 32-bit Hash Requirements". */
object PartitionRules extends RuleBook("partitions", "Partitioning and sorting") {
}
