package iceberglite.spark.write.rows

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.expressions.{Expressions, NamedReference}
import org.apache.spark.sql.connector.write.RowLevelOperation
import org.apache.spark.sql.connector.write.RowLevelOperation.Command
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.AuditFirst
import iceberglite.spark.conf.{Settings, StatementOptions, WriteOptions}
import iceberglite.spark.read.IcebergScanBuilder
import iceberglite.spark.write.{EngineSummary, SchemaMerge}
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
import iceberglite.table.action.RecordApplication
import iceberglite.table.{Isolation, IsolationLevel, Table}

/**
 * A DELETE, UPDATE or MERGE on a table as it is when the statement is planned.
 *
 * @param schema the columns of the table that the statement was resolved with
 * @param target where the statement's snapshot goes
 * @param facts what the plan shows
 * @param options what the statement asks for by WITH
 * @param merge what makes the table, which has it already, of the one that there is
 */
final private[spark] class RowLevelStatement(
    val table: Table,
    val schema: Schema,
    val command: Command,
    val target: AuditFirst.Target,
    val session: SparkSession,
    val facts: StatementFacts,
    val options: StatementOptions = StatementOptions.Empty,
    val merge: Option[SchemaMerge] = None
) {
  @volatile private var stay = facts.isRowByRow

  /**
   * Whether the rows that are written come in the tasks that read them, so that those of a file are in a few tasks: where
   * each row counts alone, and in a MERGE by Spark's choice of a join.
   */
  def staysInTasks: Boolean = stay

  /** Of a MERGE: when Spark's plan is that far. */
  def noteRowsStay(): Unit = stay = true

  private val properties = RowLevelStatement.propertiesOf(command)

  /** The options and the session's settings, without the table's properties. */
  private val given: Settings = Settings.of(options.asOptions, session, Map.empty)

  private val settings: Settings = Settings.of(options.asOptions, session, table.properties)

  private def setting[A](property: TableProperty[A]): A = TableProperty.of(property, table.properties)

  /** The state that the statement reads. */
  val snapshot: Option[Snapshot] = target.to.head(table.metadata)

  /** @throws Unsupported for what the version of the table does not have */
  lazy val mode: RowLevelMode = setting(properties.Mode) match {
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
    Isolation(
      options.isolation.getOrElse(IsolationLevel.parse(setting(properties.Isolation))),
      options.validatedFrom.orElse(snapshot.map(_.snapshotId))
    )

  /** The distribution that the user asks for: by an option, in the session or by the table's property of the command. */
  val distribution: Option[DistributionMode] =
    WriteOptions.Distribution.asked(given).orElse(setting(properties.Distribution))

  /** How many bytes of shuffled positions Spark should give to one task that writes delete files alone. */
  def deleteAdvisorySize: Long = WriteOptions.AdvisoryPartitionSize
    .given(settings)
    .getOrElse(math.max(
      WriteOptions.DeleteAdvisorySize,
      session.sessionState.conf.getConf(SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES)
    ))

  /** Whether rows are distributed and sorted at all. */
  def isDistributed: Boolean = given(WriteOptions.UseTableDistribution)

  /** The table as it was when the statement began. */
  def base: Table = merge.fold(table)(_.base)

  /** Notes that the table has what the statement does, for an application that may run it again. */
  val once: Option[RecordApplication] = options.application

  /** Entries for the snapshot's summary. */
  def summary: Map[String, String] = EngineSummary.of(session) ++
    WriteOptions.snapshotProperties(options.asOptions, session) ++ target.summary

  val granularity: DeleteGranularity = settings(WriteOptions.Granularity)

  def deleteFormat: FileFormat =
    WriteOptions.DeleteFormat.given(settings).getOrElse(RowLevelProperty.deleteFormat(table.properties))

  def deleteTargetSize: Long = settings(WriteOptions.DeleteTargetSize)

  /** Whether rows have ids that outlive their files (adopted version 3: "Row Lineage"). */
  val hasLineage: Boolean = table.metadata.formatVersion >= FormatVersion.V3

  /** Whether deletes are deletion vectors, one for each data file. */
  def hasVectors: Boolean = hasLineage

  /** Whether the deletes of each data file are in a position delete file of their own. */
  def hasDeleteFileForEachDataFile: Boolean = !hasVectors && granularity == DeleteGranularity.OfFile

  /** Whether what becomes of a row depends on that row alone. */
  def isRowByRow: Boolean = facts.isRowByRow

  /** The metadata columns to read: what an operation needs, and what the statement names. */
  def metadata(needed: String*): Array[NamedReference] =
    (needed ++ facts.namedMetadata).distinct.map(Expressions.column(_): NamedReference).toArray

  /** @throws Unsupported a column of the table hides one of the metadata columns */
  def requireMetadata(names: Seq[String]): Unit = {
    val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
    val hidden = schema.fields.map(_.name).find { column =>
      names.exists(name => if (caseSensitive) name == column else name.equalsIgnoreCase(column))
    }
    hidden.foreach { column =>
      throw Unsupported(
        s"$command of ${table.name}, whose column $column hides the metadata column of that name",
        s"Rename the column: ALTER TABLE ${table.name} RENAME COLUMN `$column` TO ..."
      )
    }
  }

  /** The statement as Spark runs it. */
  def operation: RowLevelOperation = mode match {
    case RowLevelMode.CopyOnWrite => new CopyOnWrite(this)
    case RowLevelMode.MergeOnRead => new MergeOnRead(this)
  }

  /** Reads the rows that the statement is about, and maybe others. @param wholeFiles all of their files' rows */
  def scanBuilder(options: CaseInsensitiveStringMap, wholeFiles: Boolean): IcebergScanBuilder =
    new IcebergScanBuilder(table, snapshot, schema, options, session, wholeFiles = wholeFiles)
}

private[spark] object RowLevelStatement {
  def propertiesOf(command: Command): RowLevelProperty.OfCommand = command match {
    case Command.DELETE => RowLevelProperty.Delete
    case Command.UPDATE => RowLevelProperty.Update
    case Command.MERGE => RowLevelProperty.Merge
  }
}
