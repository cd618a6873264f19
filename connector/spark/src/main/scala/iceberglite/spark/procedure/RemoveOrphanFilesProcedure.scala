package iceberglite.spark.procedure

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.{StringType, StructType}

import iceberglite.maintenance.orphan._
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.maintenance.{SessionOrphanSearch, ViewListing}
import iceberglite.spec.Redaction
import iceberglite.table.Table

/** `CALL catalog.system.remove_orphan_files(table, ...)` */
object RemoveOrphanFilesProcedure extends Procedure {
  private val olderThan = Parameter.optional(
    "older_than",
    ParameterType.Time,
    "Time, at least 24 hours ago; only files that were last modified before it are removed. By default 3 days ago"
  )
  private val location = Parameter.optional(
    "location",
    ParameterType.Text,
    "Directory to search, which the table must own; by default the location of the table"
  )
  private val dryRun = Parameter.optional(
    "dry_run",
    ParameterType.Flag,
    "Whether to return the orphan files without deleting them; by default false"
  )
  private val maxConcurrentDeletes = Parameter.optional(
    "max_concurrent_deletes",
    ParameterType.Count,
    "Maximum number of requests that delete files at the same time; on S3, each request deletes up to 1,000 files. " +
      "By default 16; larger numbers have the same effect"
  )
  private val fileListView = Parameter.optional(
    "file_list_view",
    ParameterType.Text,
    "View with the columns file_path (string) and last_modified (timestamp) that lists the files, instead of a " +
      "search in the directory; if `location` is set, only the files in this directory are considered"
  )
  private val equalSchemes = Parameter.optional(
    "equal_schemes",
    ParameterType.Options,
    "Schemes that refer to the same storage: a key is a comma-separated list of schemes that are equal to its value. " +
      "By default, s3a and s3n are equal to s3"
  )
  private val equalAuthorities = Parameter.optional(
    "equal_authorities",
    ParameterType.Options,
    "Authorities that refer to the same storage: a key is a comma-separated list of authorities that are equal to " +
      "its value"
  )
  private val prefixMismatchMode = Parameter.optional(
    "prefix_mismatch_mode",
    ParameterType.Text,
    "What to do with a file if the metadata has its path with another scheme or authority: ERROR (the default) fails " +
      "before a file is deleted, IGNORE keeps the file, DELETE treats it as an orphan"
  )
  private val prefixListing = Parameter.optional(
    "prefix_listing",
    ParameterType.Flag,
    "Whether all paths with a prefix are listed at once, which needs fewer requests to an object store if there are " +
      "many directories; for large tables, at most 32 tasks list at most 256 prefixes. By default false: each " +
      "directory is listed"
  )
  private val streamResults = Parameter.optional(
    "stream_results",
    ParameterType.Flag,
    "Whether to return at most 20000 of the files, which bounds the memory for the result; by default false"
  )

  private val MaxStreamedRows = 20000

  override val name = "remove_orphan_files"
  override val description = "Delete files in the table's directory that the table's metadata does not refer to"
  override val parameters: Seq[Parameter[_]] = Seq(
    Parameter.table,
    olderThan,
    location,
    dryRun,
    maxConcurrentDeletes,
    fileListView,
    equalSchemes,
    equalAuthorities,
    prefixMismatchMode,
    prefixListing,
    streamResults
  )

  override val output: StructType = StructType(Seq(
    Procedure.column("orphan_file_location", StringType, "Path of an orphan file"),
    Procedure.column("kept_because", StringType, "Why the file was not deleted; null if it was", nullable = true)
  ))

  override val manyRows = true

  override def call(arguments: Arguments, context: ProcedureContext): Seq[Row] = {
    val table = context.table(arguments(Parameter.table)).current
    val options = optionsOf(arguments, System.currentTimeMillis)
    val removal =
      new OrphanRemoval(table, listing(arguments, context), new SessionOrphanSearch(context.session), options)
    val maxRows = if (arguments.get(streamResults).contains(true)) MaxStreamedRows else Int.MaxValue
    val rows = Vector.newBuilder[Row]
    var count = 0
    def report(file: OrphanFile): Unit = if (count < maxRows) {
      rows += ResultRow(file.path, file.kept.map(reason => Redaction(reason.text)))
      count += 1
    }
    ClusterJob.withDriverWork(context.session.sparkContext, s"Removing orphan files of ${table.name}") {
      if (arguments.get(dryRun).contains(true)) removal.dryRun(report) else removal.run(report)
    }
    rows.result()
  }

  private def optionsOf(arguments: Arguments, nowMs: Long): OrphanOptions = {
    val olderThanMs = OrphanOptions.olderThan(arguments.get(olderThan), nowMs)
    val prefixes = EqualPrefixes.of(
      arguments.get(equalSchemes).getOrElse(Map.empty),
      arguments.get(equalAuthorities).getOrElse(Map.empty)
    )
    val mismatch = arguments.get(prefixMismatchMode).fold[PrefixMismatch](PrefixMismatch.Fail)(PrefixMismatch.parse)
    OrphanOptions(olderThanMs, prefixes, mismatch, Parameter.concurrentDeletes(maxConcurrentDeletes, arguments))
  }

  private def listing(arguments: Arguments, context: ProcedureContext): Table => FileListing =
    arguments.get(fileListView) match {
      case Some(view) =>
        val files = ViewListing.of(context.session, view, arguments.get(location))
        _ => files
      case None => OrphanRemoval.directory(arguments.get(location), arguments.get(prefixListing).contains(true))
    }
}
