package iceberglite.spark.rowlevel

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.expressions.{Expressions, NamedReference}
import org.apache.spark.sql.connector.write.RowLevelOperation
import org.apache.spark.sql.connector.write.RowLevelOperation.Command
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import iceberglite.spark.conf.{
  AutoCompactOptions,
  EngineSummary,
  Settings,
  StatementOptions,
  WriteAuditPublish,
  WriteOptions
}
import iceberglite.spark.convert.{VariantForm, VariantsAsJson}
import iceberglite.spark.error.ErrorBoundary
import iceberglite.spark.read.{IcebergScanBuilder, RewriteParts}
import iceberglite.spark.write.{CommitFollowUp, FollowUpRequest, PendingCommit, RowCounts, SchemaMerge, StatementRerun}
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.file.FileFormat
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.property.{DeleteGranularity, DistributionMode, RowLevelMode, RowLevelProperty, TableProperty}
import iceberglite.spec.schema.Schema
import iceberglite.table.{Action, Table}
import iceberglite.table.conflict.Isolation
import iceberglite.table.action.{RecordApplicationVersion, RequireConstraints}

/**
 * The columns of a statement's table.
 *
 * @param resolved the columns when the statement was resolved
 * @param merge the changes to the columns that are committed with the rows; absent if there are none
 */
final private[iceberglite] case class StatementColumns(resolved: Schema, merge: Option[SchemaMerge])

/**
 * A DELETE, UPDATE or MERGE, and the table for which it is planned.
 *
 * @param table the table at the time of planning
 * @param columns the columns of the table, and the statement's changes to them
 * @param target the branch that the statement reads and commits to, or a staged snapshot
 * @param context the state that the rules and operations of the statement share
 * @param options the options of the statement (`WITH`)
 * @param followUps the maintenance that may follow the commit
 */
final private[iceberglite] class RowLevelStatement(
    val table: Table,
    columns: StatementColumns,
    val command: Command,
    val target: WriteAuditPublish.Target,
    val session: SparkSession,
    val context: StatementContext,
    val options: StatementOptions,
    val followUps: Seq[CommitFollowUp]
) extends ErrorBoundary {

  override protected def errorName: String = table.name

  /** The columns of the table when the statement was resolved. */
  val schema: Schema = columns.resolved

  /** The changes to the columns that are committed with the rows. `table` already has these changes. */
  val merge: Option[SchemaMerge] = columns.merge

  /** The properties of the statement that are determined from its plan. */
  val analysis: StatementAnalysis = context.analysis

  /** Runs the statement again if only rewrites of files, such as compactions, conflict with its commit. */
  val rerun: Option[StatementRerun] = context.rerun

  /** Whether rows are written by the tasks that read them. */
  def writesInReadTasks: Boolean = context.writesInReadTasks

  private val properties = RowLevelStatement.propertiesOf(command)

  /** The options and the session's settings, without the table's properties. */
  private val writeOptions: Settings = Settings.of(options.asOptions, session, Map.empty)

  private val settings: Settings = Settings.of(options.asOptions, session, table.properties)

  private def setting[A](property: TableProperty[A]): A = TableProperty.of(property, table.properties)

  /** The snapshot that the statement reads. */
  val snapshot: Option[Snapshot] = target.snapshotTarget.head(table.metadata)

  /**
   * The mode in which the statement changes rows: copy-on-write or merge-on-read.
   *
   * @throws Unsupported if the format version of the table does not support the mode
   */
  lazy val mode: RowLevelMode = setting(properties.Mode) match {
    case RowLevelMode.MergeOnRead if table.metadata.formatVersion == FormatVersion.V1 =>
      throw Unsupported(
        s"$command of ${table.name} by merge-on-read",
        s"Tables of version 1 have no delete files: set ${properties.Mode.key} to copy-on-write, or " +
          s"${TableProperty.Version.key} to 2"
      )
    case mode => mode
  }

  /** The isolation level, and the snapshot after which commits of other writers count as concurrent. */
  val isolation: Isolation =
    Isolation(
      options.isolation.getOrElse(setting(properties.Isolation)),
      options.validateFromSnapshot.orElse(snapshot.map(_.snapshotId))
    )

  /**
   * The distribution that the user requests: by an option of the statement, by a configuration of the session, or by
   * the property of the table for this command.
   */
  val distribution: Option[DistributionMode] =
    WriteOptions.Distribution.requested(writeOptions).orElse(setting(properties.Distribution))

  /**
   * Returns the advisory partition size, in bytes, of the shuffle of row positions to tasks that write only delete
   * files.
   */
  def deleteAdvisorySize: Long = WriteOptions.AdvisoryPartitionSize
    .get(settings)
    .getOrElse(math.max(
      WriteOptions.DeleteAdvisorySize,
      session.sessionState.conf.getConf(SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES)
    ))

  /** Whether Spark distributes and sorts rows before they are written. */
  def isDistributed: Boolean = writeOptions(WriteOptions.UseTableDistribution)

  /** Returns the table without the statement's changes to its columns. */
  def base: Table = merge.fold(table)(_.base)

  /** The application and version that the commit records, so that the statement can safely be run again. */
  val application: Option[RecordApplicationVersion] = options.application

  /** Returns the entries that the statement adds to the summary of its snapshot. */
  def summary: Map[String, String] = EngineSummary.of(session) ++
    WriteOptions.snapshotProperties(options.asOptions, session) ++ target.summary

  /** Returns the commit of the statement, which is performed after all tasks have written their files. */
  def pending(action: Option[Action], counts: RowCounts): PendingCommit = PendingCommit(
    base,
    summary ++ counts.summary(command, deletedAreKnown = true),
    action,
    application,
    (if (addsRows) Vector(RequireConstraints.of(table.properties)) else Vector.empty) ++ merge.map(_.action),
    AutoCompactOptions.of(settings).map(FollowUpRequest(followUps, target.snapshotTarget, _)),
    rerun
  )

  /** Whether the statement writes new or changed rows. A DELETE only writes unchanged rows again. */
  val addsRows: Boolean = command != Command.DELETE

  val granularity: DeleteGranularity = settings(WriteOptions.Granularity)

  def deleteFormat: FileFormat =
    WriteOptions.DeleteFormat.get(settings).getOrElse(RowLevelProperty.deleteFormat(table.properties))

  def deleteTargetSize: Long = settings(WriteOptions.DeleteTargetSize)

  /** Whether rows have persistent ids (spec, version 3: "Row Lineage"). */
  val hasLineage: Boolean = table.metadata.formatVersion >= FormatVersion.V3

  /** Whether deletes are deletion vectors, one for each data file. */
  def hasVectors: Boolean = hasLineage

  /** Whether each data file has its own position delete file. */
  def hasDeleteFileForEachDataFile: Boolean = !hasVectors && granularity == DeleteGranularity.OfFile

  /** Whether the change of a row depends on that row only. */
  def isRowByRow: Boolean = analysis.isRowByRow

  /** Returns the metadata columns to read: those that the operation needs, and those that the statement names. */
  def metadata(needed: String*): Array[NamedReference] =
    (needed ++ analysis.namedMetadata).distinct.map(Expressions.column(_): NamedReference).toArray

  /**
   * Checks that the table has no columns with the names of the given metadata columns.
   *
   * @throws Unsupported if a column of the table hides one of the metadata columns
   */
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

  /** Returns the implementation of Spark's row-level operation for the mode of the statement. */
  def operation: RowLevelOperation = mode match {
    case RowLevelMode.CopyOnWrite => new CopyOnWriteOperation(this)
    case RowLevelMode.MergeOnRead => new MergeOnReadOperation(this)
  }

  /**
   * Builds a scan of the rows that the statement may change.
   *
   * @param wholeFiles whether to read all rows of each file that may contain such a row
   */
  def scanBuilder(options: CaseInsensitiveStringMap, wholeFiles: Boolean): IcebergScanBuilder =
    new IcebergScanBuilder(
      table,
      snapshot,
      schema,
      options,
      session,
      rewrite = RewriteParts(wholeFiles, if (context.readsExactVariants) VariantForm.Exact else VariantForm.Json)
    )

  /**
   * Checks that rows can be rewritten without a change of their variants.
   *
   * @throws Unsupported if the table has variants, and the plan of the statement was not prepared for them
   */
  def requireExactVariants(): Unit =
    if (!context.readsExactVariants && schema.fields.exists(f => VariantsAsJson.isNeeded(f.fieldType))) {
      throw Unsupported(
        s"$command of ${table.name}, which has variants, without the extensions",
        "Spark alone would write the variants of other rows again from JSON text, which lacks some of their types: " +
          "add iceberglite.spark.SparkSessionExtensions to spark.sql.extensions"
      )
    }
}

private[iceberglite] object RowLevelStatement {
  def propertiesOf(command: Command): RowLevelProperty.PerCommand = command match {
    case Command.DELETE => RowLevelProperty.Delete
    case Command.UPDATE => RowLevelProperty.Update
    case Command.MERGE => RowLevelProperty.Merge
  }
}
