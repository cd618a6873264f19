package iceberglite.conformance

object RuleBooks {

  /** The rule books whose rules tests refer to: the rules of the specification, followed by the rules for Spark. */
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
