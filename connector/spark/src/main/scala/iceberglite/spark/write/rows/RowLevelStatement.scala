package iceberglite.spark.write.rows

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.expressions.{Expressions, NamedReference}
import org.apache.spark.sql.connector.write.RowLevelOperation
import org.apache.spark.sql.connector.write.RowLevelOperation.Command
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.AuditFirst
import iceberglite.spark.read.IcebergScanBuilder
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.{
  DeleteGranularity,
  DistributionMode,
  FileFormat,
  FormatVersion,
  RowLevelMode,
  RowLevelProperty,
  Schema,
  Snapshot,
  TableProperty
}
import iceberglite.table.{Isolation, IsolationLevel, Table}

/**
 * A DELETE, UPDATE or MERGE on a table as it is when the statement is planned.
 *
 * @param schema the columns of the table that the statement was resolved with
 * @param target where the statement's snapshot goes
 * @param staysInTasks whether the rows that are written come in the tasks that read them, so that those of a file are in
 *   a few tasks; never said of MERGE
 * @param namedMetadata the metadata columns that the statement's conditions and values name
 */
final private[spark] class RowLevelStatement(
    val table: Table,
    val schema: Schema,
    val command: Command,
    val target: AuditFirst.Target,
    val session: SparkSession,
    val staysInTasks: Boolean,
    namedMetadata: Seq[String]
) {
  private val properties = RowLevelStatement.propertiesOf(command)

  private def setting[A](property: TableProperty[A]): A = TableProperty.of(property, table.properties)

  /** The state that the statement reads. */
  val snapshot: Option[Snapshot] = target.to.head(table.metadata)

  /** @throws Unsupported for what the version of the table does not have */
  val mode: RowLevelMode = setting(properties.Mode) match {
    case RowLevelMode.MergeOnRead if table.metadata.formatVersion == FormatVersion.V1 =>
      throw Unsupported(
        s"$command of ${table.name} by merge-on-read",
        s"Tables of version 1 have no delete files: set ${properties.Mode.key} to copy-on-write, or " +
          s"${TableProperty.Version.key} to 2"
      )
    case mode => mode
  }

  /** What other commits may not have done since the snapshot that is read. */
  val isolation: Isolation =
    Isolation(IsolationLevel.parse(setting(properties.Isolation)), snapshot.map(_.snapshotId))

  val distribution: Option[DistributionMode] = setting(properties.Distribution)

  val granularity: DeleteGranularity = setting(RowLevelProperty.Granularity)

  def deleteFormat: FileFormat =
    setting(RowLevelProperty.DeleteFormat).getOrElse(setting(TableProperty.WriteFormat))

  def deleteTargetSize: Long = setting(RowLevelProperty.DeleteTargetSize)

  /** Whether rows have ids that outlive their files (adopted version 3: "Row Lineage"). */
  val hasLineage: Boolean = table.metadata.formatVersion >= FormatVersion.V3

  /** Whether deletes are deletion vectors, one for each data file. */
  def hasVectors: Boolean = hasLineage

  /** Whether what becomes of a row depends on that row alone. */
  def isRowByRow: Boolean = staysInTasks

  /** The metadata columns to read: what an operation needs, and what the statement names. */
  def metadata(needed: String*): Array[NamedReference] =
    (needed ++ namedMetadata).distinct.map(Expressions.column(_): NamedReference).toArray

  /** The statement as Spark runs it. */
  def operation: RowLevelOperation = mode match {
    case RowLevelMode.CopyOnWrite => new CopyOnWrite(this)
    case RowLevelMode.MergeOnRead => new MergeOnRead(this)
  }

  /** Reads the rows that the statement is about, and maybe others. */
  def scanBuilder(options: CaseInsensitiveStringMap): IcebergScanBuilder =
    new IcebergScanBuilder(table, snapshot, schema, options, session)
}

private[spark] object RowLevelStatement {
  private def propertiesOf(command: Command): RowLevelProperty.OfCommand = command match {
    case Command.DELETE => RowLevelProperty.Delete
    case Command.UPDATE => RowLevelProperty.Update
    case Command.MERGE => RowLevelProperty.Merge
  }

  /** Whether Spark alone would lose the ids of rows that a statement copies. */
  def losesLineage(table: Table, command: Command): Boolean = table.metadata.formatVersion >= FormatVersion.V3 &&
    TableProperty.of(propertiesOf(command).Mode, table.properties) == RowLevelMode.CopyOnWrite
}
