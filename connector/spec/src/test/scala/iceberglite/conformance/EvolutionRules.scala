package iceberglite.conformance

/** Spec: "Schema Evolution", "Identifier Field IDs", "Reserved Field IDs". */
object EvolutionRules extends RuleBook("evolution", "Schema evolution") {
}
