package iceberglite.spark.sql

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{
  ResolveRowLevelCommandAssignments,
  RewriteDeleteFromTable,
  RewriteMergeIntoTable,
  RewriteUpdateTable,
  UnresolvedRelation
}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{
  DeleteFromTable,
  LogicalPlan,
  MergeIntoTable,
  UnaryNode,
  UpdateTable
}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.command.ExplainCommand

import iceberglite.spark.session.{CatalogNames, LiteCatalog}

/**
 * Spark 3.5.0 and 3.5.1 rewrite DELETE, UPDATE and MERGE during resolution, before the rules of extensions that run
 * after resolution. Later releases rewrite them afterwards, so that the rules of this connector see the commands. In
 * the two old releases, [[HoldRowLevelCommands]] hides the tables of parsed commands from Spark's rules,
 * [[ReleaseRowLevelCommands]] is the first rule after resolution, and [[RewriteRowLevelCommands]] runs after all rules
 * of this connector that change commands.
 */
private[sql] object RewritesDuringResolution {

  /** Vendors append their own versions, such as `3.5.1-amzn-1`. */
  private val Releases = """3\.5\.[01](\D.*)?""".r

  def in(version: String): Boolean = Releases.pattern.matcher(version).matches

  val isActive: Boolean = in(SPARK_VERSION)
}

/** The table of a command, as long as Spark must not rewrite the command. */
final private[sql] case class HeldTarget(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override def metadataOutput: Seq[Attribute] = child.metadataOutput
  override protected def withNewChildInternal(newChild: LogicalPlan): LogicalPlan = copy(child = newChild)
}

/** Hides the tables of row-level commands in iceberg-lite catalogs. It is called before a command is analyzed. */
final private[iceberglite] class HoldRowLevelCommands(
    session: SparkSession,
    isActive: Boolean = RewritesDuringResolution.isActive
) {

  def apply(plan: LogicalPlan): LogicalPlan = if (!isActive) plan
  else plan.transform {
    case explain: ExplainCommand => explain.copy(logicalPlan = apply(explain.logicalPlan))
    case delete: DeleteFromTable => delete.copy(table = held(delete.table))
    case update: UpdateTable => update.copy(table = held(update.table))
    case merge: MergeIntoTable => merge.copy(targetTable = held(merge.targetTable))
  }

  /** Hides a table with its alias, because Spark finds metadata columns only directly below an alias. */
  private def held(target: LogicalPlan): LogicalPlan = target.collectFirst {
    case _: HeldTarget => target
    case relation: UnresolvedRelation if isOurs(relation) => HeldTarget(target)
  }.getOrElse(target)

  private def isOurs(relation: UnresolvedRelation): Boolean =
    CatalogNames.resolve(session, relation.multipartIdentifier)._1.isInstanceOf[LiteCatalog]
}

/** Shows the tables of row-level commands again, and aligns the assignments of the commands, as Spark does. */
private[iceberglite] object ReleaseRowLevelCommands extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val released = plan.resolveOperators {
      case delete: DeleteFromTable => delete.copy(table = shown(delete.table))
      case update: UpdateTable => update.copy(table = shown(update.table))
      case merge: MergeIntoTable => merge.copy(targetTable = shown(merge.targetTable))
    }
    if (released.fastEquals(plan)) plan else ResolveRowLevelCommandAssignments(released)
  }

  private def shown(target: LogicalPlan): LogicalPlan = target.transformUp { case HeldTarget(child) => child }
}

/** Rewrites row-level commands with Spark's rules, which have not seen the commands during resolution. */
final private[iceberglite] class RewriteRowLevelCommands(isActive: Boolean = RewritesDuringResolution.isActive)
    extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (isActive) RewriteMergeIntoTable(RewriteUpdateTable(RewriteDeleteFromTable(plan))) else plan
}
