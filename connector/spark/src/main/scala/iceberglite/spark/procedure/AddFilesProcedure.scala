package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{LongType, StructType}

import iceberglite.maintenance.importing.FileImport
import iceberglite.spark.maintenance.importing.{ImportSource, SourceImport}
import iceberglite.spec.FormatVersion
import iceberglite.table.SnapshotTarget

/** `CALL catalog.system.add_files(table, source_table, ...)` */
object AddFilesProcedure extends Procedure {
  private val sourceTable = Parameter.required(
    "source_table",
    ParameterType.Text,
    "Parquet, ORC or Avro table of Spark's session catalog, or a path such as parquet.`/data/t`"
  )
  private val partitionFilter = Parameter.optional(
    "partition_filter",
    ParameterType.Options,
    "Values of partition columns; only the files of partitions with these values are added"
  )
  private val checkDuplicateFiles = Parameter.optional(
    "check_duplicate_files",
    ParameterType.Flag,
    "Whether to fail if a file is already in the branch; by default true"
  )

  private val branch =
    Parameter.optional("branch", ParameterType.Text, "Branch to which the files are added; by default main")

  override val name = "add_files"
  override val description = "Add the files of another table or of a directory, without copying them"
  override val parameters: Seq[Parameter[_]] =
    Seq(Parameter.table, sourceTable, partitionFilter, checkDuplicateFiles, ImportParameters.parallelism, branch)

  override val output: StructType = StructType(Seq(
    Procedure.column("added_files_count", LongType, "Number of added files"),
    Procedure.column(
      "changed_partition_count",
      LongType,
      "Number of partitions with added files; null for tables of format version 2 and above",
      nullable = true
    )
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    ImportParameters.check(arguments)
    val name = arguments(Parameter.table)
    val source = ImportSource.of(context.session, arguments(sourceTable))
    val table = context.table(name).current
    val to = SnapshotTarget.ofBranch(arguments.get(branch))
    val files = FileImport(arguments.get(checkDuplicateFiles).getOrElse(true), to = to)
    val result = new SourceImport(context.session, table)
      .run(source, arguments.get(partitionFilter).getOrElse(Map.empty), files)
    context.refreshCachedPlans(name, table, result.table)
    val partitions = if (table.metadata.formatVersion == FormatVersion.V1) Some(result.partitions) else None
    Seq(ResultRow(result.files, partitions))
  }
}

/** The parameters that procedures for importing files have in common. */
private[procedure] object ImportParameters {
  val parallelism: Parameter[Int] = Parameter.optional(
    "parallelism",
    ParameterType.Count,
    "Accepted for compatibility, without effect: footers are always read in parallel"
  )
  val ignoreMissingFiles: Parameter[Boolean] = Parameter.optional(
    "ignore_missing_files",
    ParameterType.Flag,
    "Whether to skip missing files and missing directories of partitions, instead of failing; by default false"
  )
  val properties: Parameter[Map[String, String]] =
    Parameter.optional("properties", ParameterType.Options, "Properties of the new table, in addition to the source's")

  /** @throws iceberglite.spec.IcebergError.InvalidArgument if the number of threads is not positive */
  def check(arguments: Arguments): Unit = arguments.get(parallelism).foreach(Parameter.requirePositive(parallelism, _))
}
