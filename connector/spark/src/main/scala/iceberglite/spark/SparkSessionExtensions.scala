package iceberglite.spark

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkStrategy
import org.apache.spark.sql.{SparkSessionExtensions => Extensions}

import iceberglite.spark.function.SessionFunctions
import iceberglite.spark.read.aggregate.AggregateScanStrategy
import iceberglite.spark.rules.{
  AddBroadcastPruning,
  AddGroupFilterByMetadata,
  AddGroupFilterForUnmatched,
  CheckGenerationExpressions,
  CheckMetadataTables,
  CheckNamedColumns,
  CompileFunctionCalls,
  ComputeGeneratedColumns,
  ComputeStreamedChanges,
  DropUnstableGroupFilters,
  LoadMicroBatchTable,
  MarkDeletedRows,
  AllowFilteringByMetrics,
  MergeSmallPartitions,
  NameFunctionCalls,
  PrepareMicroBatchWrite,
  PrepareRowLevelOperations,
  PruneVariants,
  ReplacePinnedRelations,
  ReportFailedWrites,
  RequireValues,
  ResolveStreamedChanges,
  ResolveStreamedColumns,
  ResolveStreamedTypes,
  ResolveToVariant,
  ResolveVariantGet,
  RestoreCachedRelation,
  RestoreRelationBeforeMerge,
  RewriteCharPadding,
  RewriteFunctionsToRanges,
  RewriteMergeJoin,
  RewritePartialOverwrite,
  RewriteReplaceWhere,
  RewriteUpdateWithSubquery,
  SplitGroupFilter,
  StoragePartitionedJoins,
  WriteExactVariants
}
import iceberglite.spark.session.BucketingSettings
import iceberglite.spark.sql.{
  AnalyzeTableCommand,
  DeferredStatement,
  DescribeColumnStatistics,
  DisplayTableTypes,
  EvolvingMerge,
  FillMissingColumns,
  MetadataAssignments,
  ReleaseRowLevelCommands,
  ResolveLikeSource,
  RewriteRowLevelCommands,
  SqlParser,
  StatementWithOptions,
  SuggestTableNames
}
import iceberglite.spark.stream.source.MicroBatchStrategy
import iceberglite.spark.view.ResolveViews

/**
 * The extensions of a session, which are configured with
 * `spark.sql.extensions=iceberglite.spark.SparkSessionExtensions`. This class should be listed after other extensions.
 * Spark calls the parser of the last extension first. The parser of this class passes statements that do not concern
 * iceberg-lite tables to the parser of the previous extension.
 *
 * Features that do not work without the extensions include: views; the connector's own statements such as `ALTER TABLE
 * ... ADD PARTITION FIELD`, which are syntax errors in Spark; INSERT statements that omit columns, which Spark rejects;
 * the computation of missing values of generated columns; and the methods `delete`, `update`, `merge` and `evolve` of
 * [[IcebergTable]].
 */
class SparkSessionExtensions extends (Extensions => Unit) {

  override def apply(extensions: Extensions): Unit = {
    extensions.injectParser((session, delegate) => new SqlParser(session, delegate))
    SparkSessionExtensions.rules.foreach(_.inject(extensions))
    extensions.injectColumnar(_ => ReportFailedWrites)
    extensions.injectColumnar(_ => MergeSmallPartitions)
    SessionFunctions.all.foreach(SparkSessionExtensions.inject(_, extensions))
  }
}

object SparkSessionExtensions {

  /** A rule and its phase in Spark's planning. */
  sealed private[iceberglite] trait Injection {
    def inject(extensions: Extensions): Unit
  }

  /** Runs with the resolution rules, in each of their iterations, and needs the session. */
  final private case class SessionResolution(rule: SparkSession => Rule[LogicalPlan]) extends Injection {
    override def inject(extensions: Extensions): Unit = extensions.injectResolutionRule(rule)
  }

  /** Runs with the resolution rules, in each of their iterations. */
  final private case class Resolution(rule: Rule[LogicalPlan]) extends Injection {
    override def inject(extensions: Extensions): Unit = extensions.injectResolutionRule(_ => rule)
  }

  /** Runs once after resolution. */
  final private case class AfterResolution(rule: SparkSession => Rule[LogicalPlan]) extends Injection {
    override def inject(extensions: Extensions): Unit = extensions.injectPostHocResolutionRule(rule)
  }

  /** Runs with the operator optimization rules, in each of their iterations. */
  final private case class Optimization(rule: Rule[LogicalPlan]) extends Injection {
    override def inject(extensions: Extensions): Unit = extensions.injectOptimizerRule(_ => rule)
  }

  /** Runs after operator optimization, before scans are planned. */
  final private case class BeforeScans(rule: Rule[LogicalPlan]) extends Injection {
    override def inject(extensions: Extensions): Unit = extensions.injectPreCBORule(_ => rule)
  }

  /** Runs as a planning strategy, before Spark's own strategies. */
  final private case class Planning(strategy: SparkStrategy) extends Injection {
    override def inject(extensions: Extensions): Unit = extensions.injectPlannerStrategy(_ => strategy)
  }

  /**
   * The rules and planning strategies for which Spark has an extension point. Some rules are the companion objects of
   * the plan nodes that they handle, and have the same names: [[DeferredStatement]], [[EvolvingMerge]],
   * [[StatementWithOptions]] and [[AnalyzeTableCommand]]. [[ReleaseRowLevelCommands]] is needed for old releases of
   * Spark 3.5, in which the parser hides the target tables of DELETE, UPDATE and MERGE from Spark's rules.
   * [[ReplacePinnedRelations]] handles relations whose tables [[PrepareRowLevelOperations]] has pinned to one version,
   * so that a statement that reads them several times sees the same rows.
   */
  private[iceberglite] val rules: Seq[Injection] = Seq(
    SessionResolution(new ResolveViews(_)),
    SessionResolution(new ResolveLikeSource(_)),
    SessionResolution(new ResolveStreamedColumns(_)),
    Resolution(ResolveStreamedChanges),
    Resolution(ResolveStreamedTypes),
    Resolution(FillMissingColumns),
    Resolution(ResolveVariantGet),
    Resolution(ResolveToVariant),
    Resolution(NameFunctionCalls),
    Resolution(DeferredStatement),
    Resolution(CheckNamedColumns),
    Resolution(MetadataAssignments),
    Resolution(EvolvingMerge),
    Resolution(StatementWithOptions),
    Resolution(AnalyzeTableCommand),
    Resolution(DescribeColumnStatistics),
    Resolution(DisplayTableTypes),
    AfterResolution(_ => ReleaseRowLevelCommands),
    AfterResolution(_ => LoadMicroBatchTable),
    AfterResolution(_ => CheckGenerationExpressions),
    AfterResolution(_ => ComputeGeneratedColumns),
    AfterResolution(_ => RequireValues),
    AfterResolution(_ => WriteExactVariants),
    AfterResolution(_ => CheckMetadataTables),
    AfterResolution(new RewriteReplaceWhere(_)),
    AfterResolution(_ => RewriteCharPadding),
    AfterResolution(_ => PrepareRowLevelOperations),
    AfterResolution(_ => ReplacePinnedRelations),
    AfterResolution(_ => PrepareMicroBatchWrite),
    AfterResolution(new ComputeStreamedChanges(_)),
    AfterResolution(_ => RewriteUpdateWithSubquery),
    AfterResolution(_ => RewritePartialOverwrite),
    AfterResolution(_ => new RewriteRowLevelCommands),
    AfterResolution(new SuggestTableNames(_)),
    Optimization(RewriteFunctionsToRanges),
    Optimization(RestoreCachedRelation),
    Optimization(MarkDeletedRows),
    Optimization(AddGroupFilterByMetadata),
    Optimization(AddGroupFilterForUnmatched),
    Optimization(SplitGroupFilter),
    Optimization(RewriteMergeJoin),
    Optimization(DropUnstableGroupFilters),
    BeforeScans(AllowFilteringByMetrics),
    Planning(AggregateScanStrategy),
    Planning(MicroBatchStrategy)
  )

  /** The rules that run after almost all of Spark's own optimizer rules, when the plan contains scans. */
  private val lastRules: Seq[Rule[LogicalPlan]] =
    Seq(
      StoragePartitionedJoins,
      RestoreRelationBeforeMerge,
      AddBroadcastPruning,
      CompileFunctionCalls,
      PruneVariants
    )

  private def inject(function: SessionFunctions.Entry, extensions: Extensions): Unit = extensions.injectFunction((
    function.identifier,
    function.info,
    arguments => {
      registerLastRules(SparkSession.active)
      function.call(arguments)
    }
  ))

  /**
   * Registers [[lastRules]] in a session that has the extensions. Spark 3.5 has no extension point for such rules, and
   * the session does not exist yet when Spark requests the rules of the extensions. Therefore, this method is called
   * when a catalog loads a table or a function, and when a function of the extensions is resolved; the rules concern
   * only plans with tables or functions of the connector. All sessions share one instance of each rule, so that a
   * session registers a rule only once.
   */
  private[iceberglite] def registerLastRules(session: SparkSession): Unit =
    if (BucketingSettings.hasExtensions(session)) {
      val experimental = session.experimental
      experimental.synchronized {
        val missing = lastRules.diff(experimental.extraOptimizations)
        if (missing.nonEmpty) experimental.extraOptimizations ++= missing
      }
    }
}
