package iceberglite.conformance

object RuleBooks {

  /** The rules of the specification that tests refer to ([[Rule]]), in its order, and the rules of Spark. */
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
