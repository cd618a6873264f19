package iceberglite.spark.sql

import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.{Row, SparkSession}

import iceberglite.spark.{CatalogNames, LiteCatalog, SparkErrors}
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.transform.Identity
import iceberglite.spec.{SpecUpdate, TableMetadata}
import iceberglite.table.action.UpdateSpec

/** A statement that changes how new data of a table is partitioned, by one commit. */
trait PartitionFieldCommand extends LeafRunnableCommand {

  /** The table's name as written. */
  def table: Seq[String]

  protected def change(update: SpecUpdate, metadata: TableMetadata): SpecUpdate

  override def run(session: SparkSession): Seq[Row] = {
    val (catalog, ident) = CatalogNames.resolve(session, table)
    val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
    SparkErrors.in(table.mkString(".")) {
      val live = catalog match {
        case ours: LiteCatalog => ours.liveTable(ident)
        case _ => throw NotFound("table", table.mkString("."), "It is in no catalog of iceberg-lite")
      }
      val current = live.current
      current.transaction().add(new UpdateSpec(change(_, current.metadata), caseSensitive)).commit()
    }
    Seq.empty
  }

  /** A word alone is the name of a partition field, unless a column is partitioned by under this name. */
  protected def remove(update: SpecUpdate, metadata: TableMetadata, written: WrittenTerm): SpecUpdate = {
    val term = written.term
    val isColumn = metadata.spec.fields.exists { field =>
      field.transform == Identity && metadata.schema.paths.get(field.sourceId).contains(term.source)
    }
    if (written.arguments.isEmpty && written.name.size == 1 && !isColumn) update.removeField(written.name.head)
    else update.removeField(term.source, term.transform)
  }
}
