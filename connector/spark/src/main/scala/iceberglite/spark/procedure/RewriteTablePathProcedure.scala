package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{IntegerType, StringType, StructType}

import iceberglite.maintenance.relocate.{PathPrefixes, PathRewriteOptions, TablePathRewrite}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.maintenance.SessionDeleteFileCopies

/** `CALL catalog.system.rewrite_table_path(table, source_prefix, target_prefix, ...)` */
object RewriteTablePathProcedure extends Procedure {
  private val sourcePrefix = Parameter.required(
    "source_prefix",
    ParameterType.Text,
    "Location with which all paths in the table's metadata begin, usually the location of the table"
  )
  private val targetPrefix = Parameter.required(
    "target_prefix",
    ParameterType.Text,
    "Location that replaces source_prefix"
  )
  private val startVersion = Parameter.optional(
    "start_version",
    ParameterType.Text,
    "Name of the metadata file up to which the table was copied before; only newer files are rewritten and listed. " +
      "By default, all files"
  )
  private val endVersion = Parameter.optional(
    "end_version",
    ParameterType.Text,
    "Name of the newest metadata file to rewrite; by default the current one"
  )
  private val stagingLocation = Parameter.optional(
    "staging_location",
    ParameterType.Text,
    "Empty directory for the rewritten files; by default a new directory in the table's metadata directory"
  )
  private val createFileList = Parameter.optional(
    "create_file_list",
    ParameterType.Flag,
    "Whether to write the list of files to copy; by default true"
  )

  /** The value of `file_list_location` if no file list was written. */
  private val NoFileList = "N/A"

  override val name = "rewrite_table_path"
  override val description =
    "Write copies of the table's metadata for another location, and list all files to copy to this location"
  override val parameters: Seq[Parameter[_]] =
    Seq(Parameter.table, sourcePrefix, targetPrefix, startVersion, endVersion, stagingLocation, createFileList)

  override val output: StructType = StructType(Seq(
    Procedure.column("latest_version", StringType, "Name of the newest metadata file that was rewritten"),
    Procedure.column(
      "file_list_location",
      StringType,
      "Path of a CSV file with the source and the target of each file to copy; N/A if it was not requested"
    ),
    Procedure.column("rewritten_manifest_file_paths_count", IntegerType, "Number of manifests that were rewritten"),
    Procedure.column(
      "rewritten_delete_file_paths_count",
      IntegerType,
      "Number of position delete files and deletion vectors that were rewritten"
    )
  ))

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val options = PathRewriteOptions(
      PathPrefixes.of(arguments(sourcePrefix), arguments(targetPrefix)),
      arguments.get(startVersion),
      arguments.get(endVersion),
      arguments.get(stagingLocation),
      arguments.get(createFileList).getOrElse(true)
    )
    val table = context.table(arguments(Parameter.table)).current
    val rewrite = new TablePathRewrite(table, options, new SessionDeleteFileCopies(context.session))
    val result =
      ClusterJob.withDriverWork(context.session.sparkContext, s"Rewriting the paths of ${table.name}")(rewrite.run())
    Seq(Row(result.latestVersion, result.fileList.getOrElse(NoFileList), result.manifests, result.deleteFiles))
  }
}
