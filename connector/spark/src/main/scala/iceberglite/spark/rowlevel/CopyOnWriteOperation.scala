package iceberglite.spark.rowlevel

import org.apache.spark.sql.connector.expressions.NamedReference
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, RowLevelOperation, Write, WriteBuilder}
import org.apache.spark.sql.connector.write.RowLevelOperation.Command
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.planning.StatementFiles
import iceberglite.spark.write.{IcebergWrite, RowCounting, WriteMode, WritePlan}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.metadata.SummaryKey
import iceberglite.spec.schema.MetadataColumns.{FilePath, RowId}

/**
 * Changes rows by rewriting the data files that contain them.
 *
 * @param overwrites whether the statement is an overwrite with a condition; changed rows are not counted for such a
 *   statement
 */
final private[iceberglite] class CopyOnWriteOperation(val statement: RowLevelStatement, overwrites: Boolean = false)
    extends RowLevelOperation
    with ErrorBoundary {
  private val context = statement.context

  override protected def errorName: String = statement.table.name

  override def command(): Command = statement.command

  statement.requireMetadata(FilePath.name +: (if (statement.hasLineage) CarryOverColumns.Lineage.map(_.name) else Nil))

  override def requiredMetadataAttributes(): Array[NamedReference] = in(statement.metadata(FilePath.name))

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = in(scanOfWholeFiles(options))

  private def scanOfWholeFiles(options: CaseInsensitiveStringMap): CopyOnWriteScanBuilder =
    new CopyOnWriteScanBuilder(statement.scanBuilder(options, wholeFiles = true), context)

  /**
   * Returns the files that the statement has read. Spark does not read the table if Spark's optimizer finds that no row
   * is needed. In this case, a DELETE, UPDATE or MERGE changes nothing, and an overwrite replaces all files.
   */
  private def readFiles: StatementFiles = context.read match {
    case Some(read) => read.files
    case None if overwrites => scanOfWholeFiles(CaseInsensitiveStringMap.empty).build().files
    case None => StatementFiles.Empty
  }

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = new WriteBuilder {
    override def build(): Write = in {
      statement.requireExactVariants()
      if (statement.hasLineage && !info.schema.fieldNames.contains(RowId.name)) throw lineageUnsupported
      val plan = planOf(info)
      // All rows that a DELETE writes are unchanged copies. For other statements, the change column determines how a
      // row is counted.
      val countsRows = !overwrites && (command() == Command.DELETE || plan.rows.changeColumnIndex.isDefined)
      val counting = if (countsRows) Some(RowCounting(command(), statement.analysis.marksDeletes)) else None
      new IcebergWrite(plan, WriteMode.ReplaceRead(() => readFiles, counting))
    }
  }

  /**
   * Returns the plan of a write. The new rows of an overwrite do not come from files of the table, so they are
   * distributed like the rows of other writes.
   */
  private def planOf(info: LogicalWriteInfo): WritePlan = if (overwrites)
    RowPlans.of(statement, info, statement.distribution, replacesFiles = true)
  else {
    val placement = new RewritePlacement(statement, context.read.fold(StatementFiles.Empty)(_.files).tasks)
    context.publishPacking(placement.packing)
    val mode = StatementRequirements.forCopyOnWrite(statement, placement.writesInReadTasks)
    val plan = RowPlans.of(statement, info, mode)
    plan.copy(requirements = StatementRequirements.byFile(statement, mode, plan.requirements))
  }

  /**
   * Returns the maximum number of tasks that write rows of an unpartitioned table, if the tasks that read rows also
   * write them. The number is absent if other tasks write the rows, for a partitioned table, or if the size of the
   * table is unknown. It can be computed before Spark plans the scan.
   */
  def maxTasks: Option[Int] = if (statement.table.spec.isPartitioned) None
  else for {
    packing <- new RewritePlacement(statement, Vector.empty).packing
    size <- statement.snapshot.flatMap(_.count(SummaryKey.TotalFilesSize))
  } yield packing.taskCount(size)

  private def lineageUnsupported: Unsupported = Unsupported(
    s"${statement.command} of ${statement.table.name} by copy-on-write without the extensions",
    "Rows of version 3 tables keep their ids, but Spark alone would lose them: add " +
      "iceberglite.spark.SparkSessionExtensions to " +
      s"spark.sql.extensions, or set write.${statement.command.toString.toLowerCase}.mode to merge-on-read"
  )

  override def toString: String = s"copy-on-write ${statement.command} of ${statement.table.name}"
}
