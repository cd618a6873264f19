package iceberglite.spark.rowlevel

import org.apache.spark.sql.connector.distributions.Distribution
import org.apache.spark.sql.connector.expressions.{Expressions, NamedReference, SortOrder}
import org.apache.spark.sql.connector.metric.CustomMetric
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.connector.write.RowLevelOperation.Command
import org.apache.spark.sql.connector.write.{
  DeltaBatchWrite,
  DeltaWrite,
  DeltaWriteBuilder,
  LogicalWriteInfo,
  RequiresDistributionAndOrdering,
  SupportsDelta
}
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.IcebergScanBuilder
import iceberglite.spark.read.planning.StatementFiles
import iceberglite.spark.write.{RowRequirements, WriteMetrics, WritePlan}
import iceberglite.spec.schema.MetadataColumns
import iceberglite.spec.types.NestedField

/** Changes rows by deleting their old versions with delete files, and appending their new versions. */
final private[iceberglite] class MergeOnReadOperation(val statement: RowLevelStatement)
    extends SupportsDelta
    with ErrorBoundary {
  override protected def errorName: String = statement.table.name

  override def command(): Command = statement.command

  override def rowId(): Array[NamedReference] =
    in(columns(MetadataColumns.FilePath, MetadataColumns.Position))

  private val otherMetadata: Seq[String] = Seq(MetadataColumns.SpecId.name, MetadataColumns.PartitionName) ++
    (if (statement.hasLineage) Some(MetadataColumns.RowId.name) else None)

  statement.requireMetadata(Seq(MetadataColumns.FilePath.name, MetadataColumns.Position.name) ++ otherMetadata)

  override def requiredMetadataAttributes(): Array[NamedReference] = in(statement.metadata(otherMetadata: _*))

  private def columns(fields: NestedField*): Array[NamedReference] =
    fields.map(f => Expressions.column(f.name): NamedReference).toArray

  /**
   * Returns false, so that an update stays one operation. If Spark split an update into a delete and an insert, the new
   * row would not receive the `_row_id` of the updated row.
   */
  override def representUpdateAsDeleteAndInsert(): Boolean = false

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = in {
    val builder = statement.scanBuilder(options, wholeFiles = false)
    statement.context.publishRead(readOf(builder))
    builder
  }

  /**
   * Returns the read of the scan that the given builder builds. The files of the read are known when Spark has planned
   * the scan.
   */
  private def readOf(builder: IcebergScanBuilder): StatementRead = new StatementRead {
    override def files: StatementFiles = in(builder.statementFiles)
    override def isOneTask: Boolean = in(builder.readsInOneTask)
  }

  private def readFiles: StatementFiles = statement.context.read.fold(StatementFiles.Empty)(_.files)

  override def newWriteBuilder(info: LogicalWriteInfo): DeltaWriteBuilder = new DeltaWriteBuilder {
    override def build(): DeltaWrite = in {
      val isDelete = statement.command == Command.DELETE
      if (!isDelete) statement.requireExactVariants()
      val writeInfo = if (statement.hasLineage) RowPlans.withLineage(info) else info
      val rowPlan = if (isDelete) None else Some(RowPlans.of(statement, writeInfo))
      val isOneTask = statement.writesInReadTasks && statement.context.read.forall(_.isOneTask)
      val requirements = StatementRequirements.forMergeOnRead(statement, rowPlan, isOneTask)
      new ChangeWrite(statement, rowPlan, requirements, new ChangedFiles(statement, () => readFiles), metadataOf(info))
    }
  }

  private def metadataOf(info: LogicalWriteInfo): ChangeMetadata = {
    val schema = info.metadataSchema.orElseThrow(() =>
      new IllegalStateException("Spark did not pass the requested metadata columns")
    )
    ChangeMetadata(
      partitionSize(schema(MetadataColumns.PartitionName).dataType),
      if (statement.hasLineage) Some(schema.fieldIndex(MetadataColumns.RowId.name)) else None
    )
  }

  private def partitionSize(partition: DataType): Int = partition match {
    case struct: StructType => struct.size
    case other => throw new IllegalStateException(s"Spark passed the partition as ${other.sql}")
  }

  override def toString: String = s"merge-on-read ${statement.command} of ${statement.table.name}"
}

/**
 * The write of a merge-on-read statement. It reports to Spark how rows must be distributed and sorted before they are
 * written.
 *
 * @param rowPlan the plan for writing new rows; absent for DELETE
 */
final private[iceberglite] class ChangeWrite(
    statement: RowLevelStatement,
    rowPlan: Option[WritePlan],
    requirements: RowRequirements,
    files: ChangedFiles,
    metadata: ChangeMetadata
) extends DeltaWrite
    with RequiresDistributionAndOrdering
    with ErrorBoundary {
  override protected def errorName: String = statement.table.name

  override def description: String = s"IcebergWrite(table=${statement.table.name}, mode=merge-on-read)"

  override def requiredDistribution: Distribution = requirements.distribution

  override def distributionStrictlyRequired: Boolean = false

  override def requiredOrdering: Array[SortOrder] = requirements.ordering

  override def advisoryPartitionSizeInBytes: Long = in {
    if (requirements.isDistributed) rowPlan.fold(statement.deleteAdvisorySize)(_.advisorySize) else 0L
  }

  override def toBatch: DeltaBatchWrite = in(new ChangeBatchWrite(statement, rowPlan, files, metadata))

  override def supportedCustomMetrics: Array[CustomMetric] = WriteMetrics.ofMergeOnRead

  override def toString: String = description
}
