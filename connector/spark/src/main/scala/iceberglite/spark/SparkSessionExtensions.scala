package iceberglite.spark

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.{SparkSessionExtensions => Extensions}

import iceberglite.spark.sql.{FillColumns, SqlParser, SuggestTableNames}

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

  /** All rules there are. */
  private[spark] val rules: Seq[Injection] = Seq(Resolution(FillColumns), AfterResolution(new SuggestTableNames(_)))
}
