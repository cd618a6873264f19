package iceberglite.spark.table

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Attribute, MetadataAttributeWithLogicalName, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{
  DeleteFromTable,
  LogicalPlan,
  MergeIntoTable,
  OverwriteByExpression,
  Project,
  SubqueryAlias,
  UpdateTable
}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.iceberglite.Statements
import org.slf4j.LoggerFactory

import iceberglite.spark.error.Causes
import iceberglite.spark.write.StatementRerun
import iceberglite.spec.IcebergError.{ChangeScope, CommitStateUnknown, ConcurrentChange}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.MetadataColumns.{FilePath, Position}
import iceberglite.table.{Environment, RetryPolicy, Table}

/**
 * Runs the analyzed command of a statement again if its commit conflicts only with rewrites of files, such as
 * compactions. Each run has a new statement context, so that Spark plans the command with the current version of the
 * table. Its sources are read again as well, except cached ones.
 */
final private[iceberglite] class RerunAfterRewrite private (command: () => LogicalPlan) extends StatementRerun {

  override def run(table: Table, conflict: ConcurrentChange): Unit = {
    val policy = RetryPolicy.commits(table.properties, Environment.system)
    @tailrec
    def next(failedRuns: Int, last: ConcurrentChange): Unit =
      if (!policy.waitForNext()) throw RerunAfterRewrite.failure(table, failedRuns, last)
      else {
        RerunAfterRewrite.log.info(s"Running a statement on ${table.name} again: ${last.message}")
        // Another compaction may have been committed during the wait.
        table.refresh()
        runOnce() match {
          case Some(newConflict) => next(failedRuns + 1, newConflict)
          case None =>
        }
      }
    next(failedRuns = 1, conflict)
  }

  /** Runs the command. @return the conflict if only rewrites conflict with the commit; absent if the run succeeded */
  private def runOnce(): Option[ConcurrentChange] =
    try {
      Statements.run(SparkSession.active, command())
      None
    } catch {
      case NonFatal(error) => RerunAfterRewrite.rewriteConflict(error).orElse(throw error)
    }
}

private[iceberglite] object RerunAfterRewrite {
  private val log = LoggerFactory.getLogger("iceberglite.spark.table.RerunAfterRewrite")

  /**
   * Returns the rerun of an analyzed DELETE, UPDATE, MERGE or overwrite. Absent if the plan does not change an
   * iceberg-lite table, or if the statement uses positions of rows: after a compaction, the same position may belong to
   * another row, or its file may no longer exist.
   *
   * @param namedMetadata the names of the target's metadata columns that the statement uses. They cannot be found in
   *   the plan: the plan of an UPDATE contains all metadata columns, even if the statement uses only one of them
   */
  def of(command: LogicalPlan, namedMetadata: Seq[String]): Option[StatementRerun] =
    if (namedMetadata.exists(isPosition) || usesPositions(command)) None
    else Some(command).collect {
      case d: DeleteFromTable if changesTable(d.table) => () => d.copy(table = renewed(d.table))
      case u: UpdateTable if changesTable(u.table) => () => u.copy(table = renewed(u.table))
      case m: MergeIntoTable if changesTable(m.targetTable) => () => m.copy(targetTable = renewed(m.targetTable))
      case o: OverwriteByExpression if changesTable(o.table) => () => renewedOverwrite(o)
    }.map(new RerunAfterRewrite(_))

  /** Whether a metadata column is part of a row's position. Compaction changes positions. */
  private def isPosition(name: String): Boolean = name == FilePath.name || name == Position.name

  /** Whether a source, a subquery or the condition of an overwrite uses positions of rows. */
  private def usesPositions(command: LogicalPlan): Boolean = {
    val queries = command match {
      case merge: MergeIntoTable => Seq(merge.sourceTable)
      case overwrite: OverwriteByExpression => Seq(overwrite)
      case _ => Nil
    }
    val subqueries = command.expressions.flatMap(_.collect { case subquery: SubqueryExpression => subquery.plan })
    (queries ++ subqueries).exists { query =>
      query.collectWithSubqueries { case node if node.references.exists(isPosition) => node }.nonEmpty
    }
  }

  private def isPosition(attribute: Attribute): Boolean = attribute match {
    case MetadataAttributeWithLogicalName(_, name) => isPosition(name)
    case _ => false
  }

  private def changesTable(target: LogicalPlan): Boolean = target match {
    case alias: SubqueryAlias => changesTable(alias.child)
    // Spark pads CHAR columns with a projection over the table.
    case padding: Project => changesTable(padding.child)
    case DataSourceV2Relation(_: SparkTable, _, _, _, _) => true
    case _ => false
  }

  /** Replaces the table, because its statement context belongs to the failed run. */
  private def renewed(target: LogicalPlan): LogicalPlan = target match {
    case alias: SubqueryAlias => alias.copy(child = renewed(alias.child))
    case padding: Project => padding.copy(child = renewed(padding.child))
    case relation @ DataSourceV2Relation(table: SparkTable, _, _, _, _) => relation.copy(table = table.forRerun)
    case other => other
  }

  private def renewedOverwrite(overwrite: OverwriteByExpression): LogicalPlan = renewed(overwrite.table) match {
    case relation: DataSourceV2Relation => overwrite.copy(table = relation)
    case _ => overwrite
  }

  /** Returns the conflict with a rewrite; absent for other errors, and if the outcome of a commit is unknown. */
  private[iceberglite] def rewriteConflict(error: Throwable): Option[ConcurrentChange] = {
    val causes = Causes.of(error).toVector
    if (causes.exists(_.isInstanceOf[CommitStateUnknown])) None
    else causes.collectFirst { case conflict @ ConcurrentChange(_, ChangeScope.FilesOnly) => conflict }
  }

  private def failure(table: Table, runs: Int, last: ConcurrentChange): ConcurrentChange =
    if (runs == 1) last
    else ConcurrentChange(
      s"The statement on ${table.name} was run $runs times. Before each commit, a rewrite such as a compaction " +
        s"replaced files that the statement reads or changes. Compact the table less often, or increase its property " +
        s"${TableProperty.CommitRetries.key}. The last conflict: ${last.message}",
      ChangeScope.FilesOnly
    )
}
