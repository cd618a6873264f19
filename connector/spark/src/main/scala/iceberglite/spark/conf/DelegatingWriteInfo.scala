package iceberglite.spark.conf

import java.util.Optional

import scala.collection.JavaConverters._

import org.apache.spark.sql.connector.write.LogicalWriteInfo
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spec.IcebergError.InvalidArgument

/** Spark's description of a write, with some parts replaced by the connector. */
sealed abstract private[iceberglite] class DelegatingWriteInfo(info: LogicalWriteInfo) extends LogicalWriteInfo {
  override def options: CaseInsensitiveStringMap = info.options
  override def queryId: String = info.queryId
  override def schema: StructType = info.schema
  override def rowIdSchema: Optional[StructType] = info.rowIdSchema
  override def metadataSchema: Optional[StructType] = info.metadataSchema
}

/** The description of a write to `t.branch_b`, which is equivalent to a write to `t` with the option `branch`. */
final private[iceberglite] class BranchWriteInfo(info: LogicalWriteInfo, branch: String)
    extends DelegatingWriteInfo(info) {
  private val key = WriteOptions.Branch.key

  Option(info.options.get(key)).filter(_ != branch).foreach { other =>
    throw InvalidArgument(
      s"write option $key",
      other,
      s"The table name selects the branch $branch; remove one of the two"
    )
  }

  override def options: CaseInsensitiveStringMap = {
    val others = info.options.asCaseSensitiveMap.asScala.toMap.filterNot(_._1.equalsIgnoreCase(key))
    new CaseInsensitiveStringMap((others + (key -> branch)).asJava)
  }
}

/** The description of a write for a statement with options, which take precedence over the options of `info`. */
final private[iceberglite] class StatementWriteInfo(info: LogicalWriteInfo, statementOptions: StatementOptions)
    extends DelegatingWriteInfo(info) {
  override def options: CaseInsensitiveStringMap =
    new CaseInsensitiveStringMap((info.options.asCaseSensitiveMap.asScala ++ statementOptions.values).asJava)
}

/** Describes the same write as `info`, but with other columns. */
final private[iceberglite] class ColumnsWriteInfo(info: LogicalWriteInfo, columns: StructType)
    extends DelegatingWriteInfo(info) {
  override def schema: StructType = columns
}
