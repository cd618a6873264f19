package iceberglite.conformance

object RuleBooks {

  /** The rules that tests refer to ([[Rule]]): those of the specification, in its order, and then those for Spark. */
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
