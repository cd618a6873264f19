package iceberglite.conformance

/** Spec: "Table Statistics", "Partition Statistics", and Puffin with its deletion vectors. */
object StatisticsRules extends RuleBook("statistics", "Puffin, deletion vectors and statistics") {
}
