package iceberglite.spark

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkStrategy
import org.apache.spark.sql.{SparkSessionExtensions => Extensions}

import iceberglite.spark.read.aggregate.{AnswerStrategy, WholeFileQueries}
import iceberglite.spark.read.report.GroupedJoins
import iceberglite.spark.rules.{
  BroadcastFilters,
  CachedTables,
  CachesBeforeMerge,
  CountedDeletes,
  FilesByMetadata,
  LastInOptimizer,
  MergeJoins,
  PaddedTargets,
  PartialOverwrites,
  RangesOfColumns,
  RewriteReplaceWhere,
  RowLevelPlans,
  SteadyGroupFilters,
  UpdatesInOneRead
}
import iceberglite.spark.sql.{
  EvolvingMerge,
  FillColumns,
  HeldStatement,
  SqlParser,
  StatementWithOptions,
  SuggestTableNames
}

/**
 * What we add to a session: `spark.sql.extensions=iceberglite.spark.SparkSessionExtensions`. Beside others it should
 * stand last, for the last parser sees a statement first, and ours passes on what concerns no table of ours.
 *
 * Without them everything works but our own statements, such as `ALTER TABLE ... ADD PARTITION FIELD`, which Spark
 * takes for syntax errors, and an INSERT that leaves columns out, which Spark refuses.
 */
class SparkSessionExtensions extends (Extensions => Unit) {

  override def apply(extensions: Extensions): Unit = {
    extensions.injectParser((session, delegate) => new SqlParser(session, delegate))
    SparkSessionExtensions.rules.foreach(_.inject(extensions))
  }
}

object SparkSessionExtensions {

  /** A rule and where in Spark's planning it runs. */
  sealed private[spark] trait Injection {
    def inject(extensions: Extensions): Unit
  }

  /** With the rules that resolve names, after each round of them. */
  final private case class Resolution(rule: Rule[LogicalPlan]) extends Injection {
    override def inject(extensions: Extensions): Unit = extensions.injectResolutionRule(_ => rule)
  }

  /** After names are resolved, once. */
  final private case class AfterResolution(rule: SparkSession => Rule[LogicalPlan]) extends Injection {
    override def inject(extensions: Extensions): Unit = extensions.injectPostHocResolutionRule(rule)
  }

  /** With the rules that simplify a query and push its filters down, in each round of them. */
  final private case class Optimization(rule: Rule[LogicalPlan]) extends Injection {
    override def inject(extensions: Extensions): Unit = extensions.injectOptimizerRule(_ => rule)
  }

  /** Once the query is optimized as far as it goes without a look at its tables. */
  final private case class BeforeScans(rule: Rule[LogicalPlan]) extends Injection {
    override def inject(extensions: Extensions): Unit = extensions.injectPreCBORule(_ => rule)
  }

  /** After all other rules of the optimizer. */
  final private case class Last(rule: Rule[LogicalPlan]) extends Injection {
    override def inject(extensions: Extensions): Unit =
      extensions.injectPostHocResolutionRule(new LastInOptimizer(_, rule))
  }

  /** Where Spark looks for a way to run a part of a query, before its own. */
  final private case class Planning(strategy: SparkStrategy) extends Injection {
    override def inject(extensions: Extensions): Unit = extensions.injectPlannerStrategy(_ => strategy)
  }

  /** All rules there are. */
  private[spark] val rules: Seq[Injection] = Seq(
    Resolution(FillColumns),
    Resolution(HeldStatement),
    Resolution(EvolvingMerge),
    Resolution(StatementWithOptions),
    AfterResolution(new RewriteReplaceWhere(_)),
    AfterResolution(_ => PaddedTargets),
    AfterResolution(_ => RowLevelPlans),
    AfterResolution(_ => UpdatesInOneRead),
    AfterResolution(_ => PartialOverwrites),
    AfterResolution(new SuggestTableNames(_)),
    Optimization(RangesOfColumns),
    Optimization(CachedTables),
    Optimization(CountedDeletes),
    Optimization(FilesByMetadata),
    Optimization(MergeJoins),
    Optimization(SteadyGroupFilters),
    BeforeScans(WholeFileQueries),
    Last(GroupedJoins),
    Last(CachesBeforeMerge),
    Last(BroadcastFilters),
    Planning(AnswerStrategy)
  )
}
