package iceberglite.conformance

/** Spec: "Schemas and Data Types", "Default values". */
object TypeRules extends RuleBook("types", "Types and default values") {
}
