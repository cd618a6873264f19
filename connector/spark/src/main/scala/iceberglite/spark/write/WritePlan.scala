package iceberglite.spark.write

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.write.LogicalWriteInfo
import org.apache.spark.sql.types.{StructType => SparkStruct}

import iceberglite.spark.conf.{
  ApplicationOptions,
  AutoCompactOptions,
  EngineSummary,
  Settings,
  WriteAuditPublish,
  WriteOptions
}
import iceberglite.spark.constraint.RowCheck
import iceberglite.spark.write.files.{DataFileFormat, InputColumns, InputField, InputSource}
import iceberglite.spark.write.partition.Partitioner
import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple, SortOrder}
import iceberglite.spec.property.DistributionMode
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedField, PrimitiveType, SingleValue}
import iceberglite.spec.types.Type.StructType
import iceberglite.table.{Action, DataLocations, SnapshotTarget, Table}
import iceberglite.table.conflict.Isolation
import iceberglite.table.action.{RecordApplicationVersion, RequireConstraints}

/**
 * The request of a statement for a write.
 *
 * @param info Spark's description of the rows, and the options of the write
 * @param settings the options of the write, the settings of the session, and the properties of the table
 * @param target the branch that the write commits to, or a staged snapshot
 * @param followUps the maintenance that may follow the commit
 */
final private[iceberglite] case class WriteRequest(
    info: LogicalWriteInfo,
    settings: Settings,
    target: WriteAuditPublish.Target,
    session: SparkSession,
    followUps: Seq[CommitFollowUp]
) {

  /** Returns the maintenance that follows the commit; absent for none. */
  def followUp: Option[FollowUpRequest] =
    AutoCompactOptions.of(settings).map(FollowUpRequest(followUps, target.snapshotTarget, _))
}

/**
 * The columns of the rows that a write receives.
 *
 * @param schema the columns of the rows, with their Spark types
 * @param input the columns to store, and the sources of their values
 * @param changeColumnIndex the index of the column with the [[RowChangeCode]] of each row; absent if there is no such
 *   column
 * @param check the CHECK constraints and generated columns of the table; absent if there are none, and for rows that
 *   are already in the table
 * @param isChecked whether the rows must satisfy the constraints of the table, so that the commit fails if a constraint
 *   was added after the check
 */
final private[iceberglite] case class RowsToWrite(
    schema: SparkStruct,
    input: Vector[InputField],
    changeColumnIndex: Option[Int] = None,
    check: Option[RowCheck] = None,
    isChecked: Boolean = false
)

/**
 * The properties of the data files that a write creates.
 *
 * @param partitionType the partition type of the partition spec in the table; partition values of the rows may have
 *   narrower types
 * @param sortOrder the order of the rows in each file, if they are sorted
 * @param targetSize the target size of a file, in bytes
 */
final private[iceberglite] case class FilesToWrite(
    spec: PartitionSpec,
    partitionType: StructType,
    sortOrder: SortOrder,
    format: DataFileFormat,
    locations: DataLocations,
    targetSize: Long
) {

  /** Promotes the values of a partition tuple to the partition type (spec: "Schema Evolution"). */
  def promoted(tuple: PartitionTuple): PartitionTuple =
    PartitionTuple(tuple.values.zip(partitionType.fields).map { case (value, field) =>
      value.map { v =>
        field.fieldType match {
          case t: PrimitiveType if t != v.dataType => SingleValue.decode(t, SingleValue.encode(v))
          case _ => v
        }
      }
    })
}

/**
 * How the files of a write are committed.
 *
 * @param isolation how an overwrite is validated against concurrent commits
 * @param to the branch to commit to, or a staged snapshot
 * @param summary entries for the snapshot's summary
 * @param application records the version of an application's write, so that a repeated write is ignored
 * @param followUp the maintenance that follows the commit; absent for none
 * @param merge the changes to the table's columns; `WritePlan.table` already has these changes
 * @param rerun runs the statement again if only rewrites of files, such as compactions, conflict with the commit;
 *   absent if the statement must not be repeated
 */
final private[iceberglite] case class CommitSettings(
    isolation: Option[Isolation],
    to: SnapshotTarget,
    summary: Map[String, String],
    application: Option[RecordApplicationVersion],
    followUp: Option[FollowUpRequest],
    merge: Option[SchemaMerge] = None,
    rerun: Option[StatementRerun] = None
)

/**
 * The plan of a write. The driver creates the plan before tasks process rows.
 *
 * @param advisorySize the number of bytes of shuffled rows for one task
 */
final private[iceberglite] case class WritePlan(
    table: Table,
    rows: RowsToWrite,
    files: FilesToWrite,
    requirements: RowRequirements,
    advisorySize: Long,
    settings: CommitSettings
) {

  /**
   * Returns the plan for new or changed rows. These rows must satisfy the constraints of the table, and have the values
   * of its generated columns.
   */
  def withConstraints: WritePlan =
    copy(rows = rows.copy(check = WriteConstraints.of(table, rows.input), isChecked = true))

  /**
   * Returns the commit of the write.
   *
   * @param counts further entries for the snapshot's summary, in addition to the entries of the settings
   */
  def pending(action: Option[Action], counts: Map[String, String] = Map.empty): PendingCommit = {
    val base = settings.merge.fold(table)(_.base)
    PendingCommit(
      base,
      settings.summary ++ counts,
      action,
      settings.application,
      (if (rows.isChecked) Vector(RequireConstraints.of(table.properties)) else Vector.empty) ++ settings.merge.map(
        _.action
      ),
      settings.followUp,
      settings.rerun
    )
  }
}

private[iceberglite] object WritePlan {

  /**
   * Creates a plan.
   *
   * @param lineage the row lineage fields that the rows contain in addition to the table's columns
   * @param distribution the distribution of the rows; if absent, the settings determine the distribution
   * @param unstoredColumn the index of a column of the rows that is not stored
   * @param copiesRows whether some of the rows come from existing files
   * @throws iceberglite.spec.IcebergError if a setting or a column is not valid for the table
   */
  def of(
      table: Table,
      request: WriteRequest,
      lineage: Vector[NestedField] = Vector.empty,
      distribution: Option[DistributionMode] = None,
      unstoredColumn: Option[Int] = None,
      copiesRows: Boolean = false
  ): WritePlan = {
    val settings = request.settings
    val columns = table.schema.copy(fields = table.schema.fields ++ lineage)
    val checked = inputOf(table.name, columns, request, unstoredColumn)
    val input = if (copiesRows) checked.map(_.withoutGeometryChecks) else checked
    val spec = specOf(table, settings)
    // Reject unsupported partitioning before tasks are started.
    Partitioner.of(spec, input)
    val order = sortOrderOf(table, settings)
    WritePlan(
      table,
      RowsToWrite(request.info.schema, input),
      filesOf(table, input, spec, order, settings),
      requirementsOf(schemaOf(table, input), spec, order, settings, distribution),
      math.max(settings(WriteOptions.AdvisoryPartitionSize), sessionAdvisorySize(settings, request.session)),
      commitOf(table, request)
    )
  }

  private def commitOf(table: Table, request: WriteRequest): CommitSettings = {
    val WriteRequest(info, settings, target, session, _) = request
    CommitSettings(
      isolationOf(settings, target.snapshotTarget.head(table.metadata)),
      target.snapshotTarget,
      EngineSummary.of(session) ++ WriteOptions.snapshotProperties(info.options, session) ++ target.summary,
      ApplicationOptions.of(settings),
      request.followUp
    )
  }

  private def filesOf(
      table: Table,
      input: Vector[InputField],
      spec: PartitionSpec,
      order: SortOrder,
      settings: Settings
  ): FilesToWrite = FilesToWrite(
    spec,
    spec.partitionType(table.schema),
    order,
    DataFileFormats.of(table, input, order, settings),
    DataLocations.of(table.location, table.properties),
    settings(WriteOptions.TargetFileSize)
  )

  private def inputOf(
      name: String,
      columns: Schema,
      request: WriteRequest,
      unstoredColumn: Option[Int]
  ): Vector[InputField] = {
    val caseSensitive = request.session.sessionState.conf.caseSensitiveAnalysis
    new InputColumns(name, columns, caseSensitive, request.settings(WriteOptions.CheckNullability)).of(
      request.info.schema,
      unstoredColumn
    )
  }

  /**
   * Returns how an overwrite is validated against concurrent commits.
   *
   * @param startSnapshot the snapshot at which the write begins
   */
  private def isolationOf(settings: Settings, startSnapshot: Option[Snapshot]): Option[Isolation] =
    WriteOptions.Isolation.get(settings).map { level =>
      Isolation(level, WriteOptions.ValidateFromSnapshot.get(settings).orElse(startSnapshot.map(_.snapshotId)))
    }

  private def specOf(table: Table, settings: Settings): PartitionSpec =
    WriteOptions.OutputSpecId.get(settings).fold(table.spec) { id =>
      table.metadata.specsById.getOrElse(
        id,
        throw NotFound(ObjectKind.PartitionSpec, id.toString, knownIds(table, table.metadata.specs.map(_.specId)))
      )
    }

  private def knownIds(table: Table, ids: Vector[Int]): String = s"The ids in ${table.name} are ${ids.mkString(", ")}"

  private def sortOrderOf(table: Table, settings: Settings): SortOrder =
    WriteOptions.OutputSortOrderId.get(settings).fold(table.sortOrder) { id =>
      val orders = table.metadata.sortOrders
      orders.find(_.orderId == id).getOrElse(
        throw NotFound(ObjectKind.SortOrder, id.toString, knownIds(table, orders.map(_.orderId)))
      )
    }

  /**
   * Returns the columns of the table that the rows contain. Spark can distribute and sort the rows only by these
   * columns.
   */
  private def schemaOf(table: Table, input: Vector[InputField]): Schema = {
    val writtenIds = input.collect { case InputField(field, InputSource.Rows(_), _, _, _, _, _) => field.id }.toSet
    table.schema.copy(fields = table.schema.fields.filter(f => writtenIds(f.id)))
  }

  private def requirementsOf(
      schema: Schema,
      spec: PartitionSpec,
      order: SortOrder,
      settings: Settings,
      distribution: Option[DistributionMode]
  ): RowRequirements =
    if (!settings(WriteOptions.UseTableDistribution)) RowRequirements.Unspecified
    else RowRequirements.of(
      schema,
      spec,
      order,
      distribution.orElse(WriteOptions.Distribution.get(settings)),
      WriteOptions.Fanout.get(settings).getOrElse(true)
    )

  /**
   * Returns the advisory partition size of the session's shuffles; 0 if an advisory size for writes is set, which takes
   * precedence.
   */
  private def sessionAdvisorySize(settings: Settings, session: SparkSession): Long =
    if (WriteOptions.AdvisoryPartitionSize.get(settings).isDefined) 0L
    else session.sessionState.conf.getConf(org.apache.spark.sql.internal.SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES)
}
