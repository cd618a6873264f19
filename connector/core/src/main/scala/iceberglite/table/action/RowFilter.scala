package iceberglite.table.action

import java.util.concurrent.ConcurrentHashMap

import iceberglite.scan.{FileFilter, PartitionFilter}
import iceberglite.spec.expr.{Bind, Expression}
import iceberglite.spec.file.{Content, ContentFile, ManifestEntry, PartSummary}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.PartitionTuple
import iceberglite.table.conflict.ConflictFilter
import iceberglite.tree.PartitionSpecs

/**
 * States whether none, some or all rows of a file match a filter, according to the file's partition and metrics. If
 * these do not suffice to decide, the value is `SomeRows`.
 */
sealed trait RowMatch
object RowMatch {
  case object NoRows extends RowMatch
  case object SomeRows extends RowMatch
  case object AllRows extends RowMatch
}

/**
 * A filter on the rows of a table, evaluated for whole files. Thread-safe.
 *
 * @param filter the filter, unbound or bound to the table's current schema
 */
final class RowFilter(filter: Expression, caseSensitive: Boolean, base: TableMetadata) extends ConflictFilter {
  private val specs = PartitionSpecs.of(base, base.schema)
  private val files = new FileFilter(Bind(filter, base.schema, caseSensitive), specs)
  private val partitions = new ConcurrentHashMap[(Int, PartitionTuple), PartitionFilter]

  /**
   * Returns whether the part of the metadata tree (a manifest in format versions 1 to 3) may list matching files,
   * including removed files, because removed files can also conflict. Only the partitions of the part are checked,
   * because the part's metrics cover only live files.
   */
  override def mightMatch(part: PartSummary): Boolean = files.of(part).mightHavePartition(part)

  override def mightMatch(entry: ManifestEntry): Boolean = matches(entry) != RowMatch.NoRows

  /**
   * Returns whether none, some or all rows of a data file match. For a delete file, returns this for the rows that it
   * may delete.
   */
  def matches(entry: ManifestEntry): RowMatch = {
    val file = entry.file
    val rows = partitions.computeIfAbsent((file.specId, file.partition), _ => filterOf(file))
    if (rows.isAll) RowMatch.AllRows
    else if (rows.isEmpty) RowMatch.NoRows
    else file.content match {
      case Content.Data => byMetrics(rows, file)
      case Content.PositionDeletes => RowMatch.SomeRows
      // Only the metrics of the compared columns are used. A deleted row can have any values in the other columns.
      case Content.EqualityDeletes => byMetrics(rows, file.copy(metrics = file.metrics.only(file.equalityIds.toSet)))
    }
  }

  private def filterOf(file: ContentFile): PartitionFilter =
    files.of(specs.byId(file.specId)).forPartition(file.partition)

  private def byMetrics(rows: PartitionFilter, file: ContentFile): RowMatch =
    if (rows.allMatch(file)) RowMatch.AllRows
    else if (rows.mightMatch(file)) RowMatch.SomeRows
    else RowMatch.NoRows

  override def description: String = s"where $filter"
}
