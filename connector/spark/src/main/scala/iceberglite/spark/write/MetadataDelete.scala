package iceberglite.spark.write

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.expressions.filter.Predicate

import iceberglite.spark.conf.{EngineSummary, StatementOptions, WriteAuditPublish, WriteOptions}
import iceberglite.spark.convert.SparkFilters
import iceberglite.spec.IcebergError.{ConcurrentChange, ValidationFailed}
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.{AlwaysFalse, AlwaysTrue}
import iceberglite.spec.file.Content
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.schema.Schema
import iceberglite.table.Table
import iceberglite.table.action.{DeleteFiles, RowMatch, RowFilter}
import iceberglite.tree.MetadataTree

/** Deletes whole files for DELETE, TRUNCATE and ALTER TABLE ... DROP PARTITION, without reading rows. */
object MetadataDelete {

  /**
   * Whether the statement can delete whole files. This is possible if the metadata shows for each file that either all
   * rows or no rows satisfy the conditions.
   */
  def canDelete(table: Table, branch: Option[String], predicates: Array[Predicate], session: SparkSession): Boolean =
    condition(table.schema, predicates, session).exists {
      case AlwaysTrue | AlwaysFalse => true
      case filter =>
        val target = WriteAuditPublish.target(table, branch, session).snapshotTarget
        matchesWholeFiles(table, target.head(table.metadata), filter)
    }

  /**
   * Deletes the files whose rows satisfy the conditions. This method may be called only after [[canDelete]] has
   * returned true for the conditions. Matching files of concurrent commits are deleted too, as if the statement had run
   * after these commits. This order is serializable, so no conflict detection is needed. The statement fails if only
   * some rows of a concurrently added file satisfy the conditions.
   *
   * @param options the options of the statement
   */
  def delete(
      table: Table,
      branch: Option[String],
      predicates: Array[Predicate],
      options: StatementOptions,
      session: SparkSession
  ): Unit = {
    val filter = condition(table.schema, predicates, session).getOrElse(
      throw new IllegalArgumentException(
        s"Spark requested a delete by conditions that were rejected: ${predicates.mkString(" AND ")}"
      )
    )
    delete(table, branch, filter, options, session)
  }

  /**
   * Deletes the files whose rows satisfy a condition. Concurrent commits have the same effect as in the method that
   * takes Spark's predicates.
   *
   * @param filter the condition, unbound or bound to the table's current schema
   */
  def delete(
      table: Table,
      branch: Option[String],
      filter: Expression,
      options: StatementOptions,
      session: SparkSession
  ): Unit = {
    val target = WriteAuditPublish.target(table, branch, session)
    val snapshotProperties = WriteOptions.snapshotProperties(options.asOptions, session)
    val summary = EngineSummary.of(session) ++ snapshotProperties ++ target.summary
    try {
      val action = new DeleteFiles(filter, to = target.snapshotTarget)
      new WriteCommit(table).submit(PendingCommit(table, summary, Some(action), options.application))
      ()
    } catch { case failed: ValidationFailed => throw ConcurrentChange(failed.message) }
  }

  /** Returns the condition bound to the columns of the schema; absent if it cannot be evaluated. */
  private def condition(schema: Schema, predicates: Array[Predicate], session: SparkSession): Option[Expression] = {
    val filters = new SparkFilters(schema, session.sessionState.conf.caseSensitiveAnalysis)
    predicates.foldLeft[Option[Expression]](Some(AlwaysTrue)) { (all, predicate) =>
      for (a <- all; b <- filters.exact(predicate)) yield Expression.and(a, b)
    }
  }

  private def matchesWholeFiles(table: Table, head: Option[Snapshot], filter: Expression): Boolean = {
    val metadata = table.metadata
    val rowFilter = new RowFilter(filter, caseSensitive = true, metadata)
    head.forall { snapshot =>
      val files = MetadataTree.at(snapshot, table.tree())
      files.parts.filter(rowFilter.mightMatch).forall { part =>
        files.entries(part).forall { entry =>
          !entry.isLive || entry.file.content != Content.Data || rowFilter.matches(entry) != RowMatch.SomeRows
        }
      }
    }
  }
}
