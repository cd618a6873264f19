package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{NullOrder, SortDirection, UnboundSortField}
import iceberglite.spec.property.{DistributionMode, TableProperty}
import iceberglite.table.MetadataAction
import iceberglite.table.action.{UpdateProperties, UpdateSortOrder}

/**
 * `ALTER TABLE t WRITE { DISTRIBUTED BY PARTITION | [LOCALLY] ORDERED BY order | UNORDERED } ...`: sets how rows are
 * distributed over tasks and sorted before they are written. Existing files do not change.
 *
 * @param mode the distribution mode to set; absent to keep the table's mode
 * @param order the fields of the sort order; empty for an unsorted table
 */
final case class SetWriteOrder(table: Seq[String], mode: Option[DistributionMode], order: Vector[ParsedSortField])
    extends MetadataCommand {

  override private[iceberglite] def metadataActions(base: TableMetadata, caseSensitive: Boolean): Seq[MetadataAction] =
    new UpdateSortOrder(order.map(_.field), caseSensitive) +:
      mode.toSeq.map(m => new UpdateProperties(Map(TableProperty.Distribution.key -> m.name)))

  override protected def loadsNewestVersion: Boolean = false
}

/** A field of a sort order as parsed from the statement. */
final case class ParsedSortField(parsedTerm: ParsedTerm, direction: SortDirection, nulls: NullOrder) {

  /** Returns the sort field. @throws iceberglite.spec.IcebergError.InvalidArgument if the transform does not exist */
  def field: UnboundSortField = {
    val term = parsedTerm.term
    UnboundSortField(term.source, term.transform, direction, nulls)
  }
}

object SetWriteOrder extends AlterTableStatement {
  override val words: Seq[String] = Seq("WRITE")

  override def parse(table: Seq[String], reader: SqlReader): LogicalPlan = {
    val clauses = parseClauses(reader, Clauses(distributed = false, None))
    if (clauses == Clauses(distributed = false, None)) {
      reader.fail("expected DISTRIBUTED BY PARTITION, ORDERED BY, LOCALLY ORDERED BY or UNORDERED")
    }
    // With both clauses, rows are distributed by partition and sorted within each task.
    val mode = if (clauses.distributed) Some(DistributionMode.Hash) else clauses.ordering.flatMap(_.mode)
    SetWriteOrder(table, mode, clauses.ordering.fold(Vector.empty[ParsedSortField])(_.fields))
  }

  /** The clauses parsed so far: at most one of each kind, in any sequence. */
  final private case class Clauses(distributed: Boolean, ordering: Option[Ordering])

  /**
   * An order clause.
   *
   * @param mode the distribution mode that the clause sets; absent to keep the table's mode
   */
  final private case class Ordering(mode: Option[DistributionMode], fields: Vector[ParsedSortField])

  private def parseClauses(reader: SqlReader, parsed: Clauses): Clauses = {
    val start = reader.peek
    if (reader.skip("DISTRIBUTED", "BY", "PARTITION")) {
      if (parsed.distributed) reader.failAt(start, "only one distribution clause is allowed; remove the second one")
      parseClauses(reader, parsed.copy(distributed = true))
    } else ordering(reader).fold(parsed) { next =>
      if (parsed.ordering.isDefined) reader.failAt(start, "only one order clause is allowed; remove the second one")
      parseClauses(reader, parsed.copy(ordering = Some(next)))
    }
  }

  private def ordering(reader: SqlReader): Option[Ordering] =
    if (reader.skip("UNORDERED")) Some(Ordering(Some(DistributionMode.NoDistribution), Vector.empty))
    else if (reader.skip("LOCALLY", "ORDERED", "BY")) Some(Ordering(None, fields(reader)))
    else if (reader.skip("ORDERED", "BY")) Some(Ordering(Some(DistributionMode.Range), fields(reader)))
    else None

  /** Parses fields with or without parentheses around them. */
  private def fields(reader: SqlReader): Vector[ParsedSortField] = {
    val inParentheses = reader.skipSymbol("(")
    val all = Vector.newBuilder[ParsedSortField]
    all += field(reader)
    while (reader.skipSymbol(",")) all += field(reader)
    if (inParentheses) reader.expectSymbol(")")
    all.result()
  }

  /** Parses a field. By default, nulls are the smallest values, as in Spark. */
  private def field(reader: SqlReader): ParsedSortField = {
    val term = AlterTableStatement.partitionTerm(reader)
    val descending = !reader.skip("ASC") && reader.skip("DESC")
    val nullsFirst =
      if (reader.skip("NULLS", "FIRST")) true else if (reader.skip("NULLS", "LAST")) false else !descending
    ParsedSortField(
      term,
      if (descending) SortDirection.Descending else SortDirection.Ascending,
      if (nullsFirst) NullOrder.NullsFirst else NullOrder.NullsLast
    )
  }
}
