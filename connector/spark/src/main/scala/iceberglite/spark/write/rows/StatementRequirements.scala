package iceberglite.spark.write.rows

import org.apache.spark.sql.connector.distributions.{Distribution, Distributions}
import org.apache.spark.sql.connector.expressions.{
  Expression,
  Expressions,
  NullOrdering,
  SortDirection,
  SortOrder => SparkSortOrder
}

import iceberglite.spark.write.{RowRequirements, WritePlan}
import iceberglite.spec.{DistributionMode, MetadataColumns}

/** What statements that change rows ask Spark to do with the rows before they are written. */
private[rows] object StatementRequirements {
  private val OfFile: Vector[Expression] =
    Vector(MetadataColumns.SpecId.name, MetadataColumns.PartitionName, MetadataColumns.FilePath.name)
      .map(Expressions.column)
  private val OfPartition: Vector[Expression] = OfFile.init

  /**
   * How the rows of copy-on-write are spread over tasks; absent: as those of any other write. The rows of a file that was
   * read come together, and so do those of its partition: where nothing has moved them, they need not move.
   */
  def replacing(statement: RowLevelStatement): Option[DistributionMode] =
    statement.distribution.orElse(if (statement.staysInTasks) Some(DistributionMode.NoDistribution) else None)

  /**
   * Of the new rows of merge-on-read, and of the positions of the old ones: those of one file should come to one task, or
   * its deletes are in several files, which the driver has to unite.
   *
   * @param rows absent for DELETE, which has no new ones
   */
  def changing(statement: RowLevelStatement, rows: Option[WritePlan]): RowRequirements = {
    val ordering = rows.fold(RowRequirements.Nothing)(_.requirements)
    val mode = statement.distribution.getOrElse(
      if (statement.staysInTasks) DistributionMode.NoDistribution else DistributionMode.Hash
    )
    ordering.copy(distribution = distributed(mode, ordering))
  }

  private def distributed(mode: DistributionMode, rows: RowRequirements): Distribution = mode match {
    case DistributionMode.NoDistribution => Distributions.unspecified()
    case DistributionMode.Hash if rows.partitions.isEmpty => Distributions.clustered(OfFile.toArray)
    case DistributionMode.Hash => Distributions.clustered((OfPartition ++ rows.partitions).toArray)
    case DistributionMode.Range =>
      val byFile = OfFile.map(Expressions.sort(_, SortDirection.ASCENDING, NullOrdering.NULLS_FIRST))
      Distributions.ordered((byFile ++ rows.ordering.toVector).toArray[SparkSortOrder])
  }
}
