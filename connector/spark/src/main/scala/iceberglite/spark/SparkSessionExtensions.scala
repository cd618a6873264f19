package iceberglite.spark

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.{SparkSessionExtensions => Extensions}

import iceberglite.spark.sql.{SqlParser, SuggestTableNames}

/**
 * What we add to a session: `spark.sql.extensions=iceberglite.spark.SparkSessionExtensions`. Beside others it should
 * stand last, for the last parser sees a statement first, and ours passes on what concerns no table of ours.
 *
 * Without them everything works but our own statements, such as `ALTER TABLE ... ADD PARTITION FIELD`, which Spark
 * takes for syntax errors.
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

  /** After names are resolved, once. */
  final private case class AfterResolution(rule: SparkSession => Rule[LogicalPlan]) extends Injection {
    override def inject(extensions: Extensions): Unit = extensions.injectPostHocResolutionRule(rule)
  }

  /** All rules there are. */
  private[spark] val rules: Seq[Injection] = Seq(AfterResolution(new SuggestTableNames(_)))
}
