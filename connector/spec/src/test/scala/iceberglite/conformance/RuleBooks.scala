package iceberglite.conformance

object RuleBooks {

  /** All rule books, in the order of the specification. */
  val all: Seq[RuleBook] = Seq(
    TypeRules,
    EvolutionRules,
    ProjectionRules,
    PartitionRules,
    ManifestRules,
    MetricsRules,
    ScanRules,
    CommitRules,
    MetadataRules,
    StatisticsRules,
    FormatRules,
    ParquetRules,
    JsonRules,
    SparkRules
  )
}
