package iceberglite.spark.rowlevel

import org.apache.spark.sql.connector.distributions.{Distribution, Distributions}
import org.apache.spark.sql.connector.expressions.{
  Expression,
  Expressions,
  NullOrdering,
  SortDirection,
  SortOrder => SparkSortOrder
}
import org.apache.spark.sql.connector.write.RowLevelOperation.Command

import iceberglite.spark.write.{RowRequirements, WritePlan}
import iceberglite.spec.property.DistributionMode
import iceberglite.spec.schema.MetadataColumns

/** The requirements of row-level statements for the distribution and order of rows. */
private[rowlevel] object StatementRequirements {
  private val DataFileColumns: Vector[Expression] =
    Vector(MetadataColumns.SpecId.name, MetadataColumns.PartitionName, MetadataColumns.FilePath.name)
      .map(Expressions.column)
  private val PartitionColumns: Vector[Expression] = DataFileColumns.init
  private val PartitionStruct: Expression = PartitionColumns.last

  /**
   * Returns the distribution of the rows that copy-on-write writes. A distribution that the user requests takes
   * precedence. By default, rows that are written by the tasks that read them are not distributed, because
   * [[RewritePacking]] lets few tasks read each partition. Other rows are grouped by partition, or by file if a DELETE
   * or UPDATE changes an unpartitioned table. The rows of a MERGE into an unpartitioned table are distributed like the
   * rows of ordinary writes: the result is absent.
   *
   * @param writesInReadTasks whether the rows are written by the tasks that read them
   */
  def forCopyOnWrite(statement: RowLevelStatement, writesInReadTasks: Boolean): Option[DistributionMode] =
    if (statement.distribution.isDefined) statement.distribution
    else if (writesInReadTasks) Some(DistributionMode.NoDistribution)
    else if (statement.command != Command.MERGE || statement.table.spec.isPartitioned) Some(DistributionMode.Hash)
    else None

  /**
   * Returns the requirements of a copy-on-write statement. With hash distribution, a DELETE or UPDATE of an
   * unpartitioned table groups rows by the file that they come from; other statements keep the given requirements.
   */
  def byFile(statement: RowLevelStatement, mode: Option[DistributionMode], rows: RowRequirements): RowRequirements =
    if (
      statement.isDistributed && statement.command != Command.MERGE && !statement.table.spec.isPartitioned &&
      mode.contains(DistributionMode.Hash)
    ) rows.copy(distribution = Distributions.clustered(Array(Expressions.column(MetadataColumns.FilePath.name))))
    else rows

  /**
   * Returns the distribution of the new rows of merge-on-read, and of the positions of the deleted rows. By default,
   * new rows and positions are grouped by partition, because there are usually few, and each task that receives rows of
   * a partition writes its own files. If a single task reads all rows, nothing is distributed.
   *
   * @param rowPlan the plan for writing new rows; absent for DELETE, which has no new rows
   * @param isOneTask whether one task reads all the rows, and no shuffle precedes the write
   */
  def forMergeOnRead(statement: RowLevelStatement, rowPlan: Option[WritePlan], isOneTask: Boolean): RowRequirements =
    if (!statement.isDistributed) RowRequirements.Unspecified
    else {
      val requirements = rowPlan.fold(RowRequirements.Unspecified)(_.requirements)
      val mode = statement.distribution.getOrElse(
        if (isOneTask) DistributionMode.NoDistribution else DistributionMode.Hash
      )
      requirements.copy(distribution = distributionFor(mode, statement, requirements))
    }

  /**
   * Returns the columns by which rows are grouped. In a partitioned table, if rows may be inserted or may move to other
   * partitions, these are the columns of the new partition. Therefore, the inserted and updated rows of a MERGE are
   * written to the same files. Deleted rows have no new partition; they form one group, which adaptive query execution
   * divides. In an unpartitioned table, the positions of a DELETE are grouped by data file if each data file has its
   * own delete file. Otherwise, rows are grouped by the partition of their old versions; in an unpartitioned table,
   * they form one group.
   */
  private def grouping(statement: RowLevelStatement, rows: RowRequirements): Vector[Expression] =
    if (!statement.table.spec.isPartitioned)
      if (statement.command == Command.DELETE && statement.hasDeleteFileForEachDataFile) DataFileColumns
      else Vector(PartitionStruct)
    else if (rows.partitions.nonEmpty && (statement.analysis.changesPartitions || statement.analysis.inserts))
      rows.partitions
    else PartitionColumns

  private def distributionFor(
      mode: DistributionMode,
      statement: RowLevelStatement,
      rows: RowRequirements
  ): Distribution = mode match {
    case DistributionMode.NoDistribution => Distributions.unspecified()
    case DistributionMode.Hash => Distributions.clustered(grouping(statement, rows).toArray)
    case DistributionMode.Range =>
      val byFile = DataFileColumns.map(Expressions.sort(_, SortDirection.ASCENDING, NullOrdering.NULLS_FIRST))
      Distributions.ordered((byFile ++ rows.ordering.toVector).toArray[SparkSortOrder])
  }
}
