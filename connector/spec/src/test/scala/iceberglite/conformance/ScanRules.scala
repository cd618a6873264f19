package iceberglite.conformance

/** Spec: "Scan Planning", "Delete Formats". */
object ScanRules extends RuleBook("scans", "Scan planning and row-level deletes") {
}
