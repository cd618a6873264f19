package iceberglite.conformance

/** Spec: "Manifests", "Manifest Lists", "Sequence Number Inheritance". */
object ManifestRules extends RuleBook("manifests", "Manifests and manifest lists") {
}
