package iceberglite.spark.write.rows

import org.apache.spark.sql.connector.expressions.NamedReference
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, RowLevelOperation, Write, WriteBuilder}
import org.apache.spark.sql.connector.write.RowLevelOperation.Command
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.SparkErrors
import iceberglite.spark.read.rows.{GroupScanBuilder, StatementFiles}
import iceberglite.spark.write.{IcebergWrite, WriteMode}
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.MetadataColumns.{FilePath, RowId}

/** Changes rows by writing the files that hold them anew. */
final private[spark] class CopyOnWrite(val statement: RowLevelStatement) extends RowLevelOperation {
  private var scan: Option[GroupScanBuilder] = None

  override def command(): Command = statement.command

  override def requiredMetadataAttributes(): Array[NamedReference] = statement.metadata(FilePath.name)

  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = SparkErrors.in(statement.table.name) {
    val builder = new GroupScanBuilder(statement.scanBuilder(options))
    scan = Some(builder)
    builder
  }

  private def read: StatementFiles = scan.fold(StatementFiles.None)(_.files)

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = new WriteBuilder {
    override def build(): Write = SparkErrors.in(statement.table.name) {
      if (statement.hasLineage && !info.schema.fieldNames.contains(RowId.name)) throw withoutLineage
      new IcebergWrite(RowPlans.of(statement, info), WriteMode.ReplaceRead(() => read))
    }
  }

  private def withoutLineage: Unsupported = Unsupported(
    s"${statement.command} of ${statement.table.name} by copy-on-write without the extensions",
    "Rows of version 3 keep their ids, which Spark alone would lose: add iceberglite.spark.SparkSessionExtensions to " +
      s"spark.sql.extensions, or set write.${statement.command.toString.toLowerCase}.mode to merge-on-read"
  )

  override def toString: String = s"copy-on-write ${statement.command} of ${statement.table.name}"
}
