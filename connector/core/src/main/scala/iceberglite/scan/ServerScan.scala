package iceberglite.scan

import scala.collection.mutable

import iceberglite.scan.deletes.{DeleteFile, EqualityIdColumns}
import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.expr.{Bind, Expression, Predicate}
import iceberglite.spec.expr.Expression.{and, or, AlwaysFalse, AlwaysTrue, And, BoxDisjoint, BoxIntersects, NotNull, Or}
import iceberglite.spec.file.{Content, ContentFile}
import iceberglite.spec.rest.{PlannedFile, ScanPlanJson, ScanPlanRequest}
import iceberglite.storage.{FileIO, StoragePath}
import iceberglite.tree.TreeTable

/** Plans the scans of a table on a server. */
trait ServerPlanner {

  /**
   * Plans a scan.
   *
   * @param json reads the responses of the server
   * @throws iceberglite.spec.IcebergError if the server does not plan the scan, or if a response is invalid
   */
  def plan(request: ScanPlanRequest, json: ScanPlanJson): ServerPlan
}

/**
 * The plan of a server.
 *
 * @param io access to the files with the credentials of the plan; absent if the plan has no credentials
 */
final case class ServerPlan(files: Vector[PlannedFile], io: Option[FileIO])

/**
 * A scan of one snapshot of a table whose files a server plans. The server sends no data sequence numbers, so the tasks
 * have the sequence number 0.
 *
 * @param table the table, with the schema that the filter's columns refer to
 * @param filter a filter on the table's columns, bound to the table's schema or unbound
 * @param usesSnapshotSchema whether the schema is that of the snapshot, and not the current schema of the table
 * @param statsColumns the ids of the columns whose metrics are requested in addition to those of the filter
 */
final case class ServerScan(
    table: TreeTable,
    planner: ServerPlanner,
    snapshotId: Long,
    filter: Expression,
    caseSensitive: Boolean,
    usesSnapshotSchema: Boolean = false,
    statsColumns: Set[Int] = Set.empty
) {

  /**
   * Returns the data files that may contain matching rows. If the filter is false, no request is sent.
   *
   * @param untilRows the number of matching rows that the query needs (LIMIT): the server may end the plan when its
   *   files have so many rows; absent for the complete plan
   * @throws iceberglite.spec.IcebergError.InvalidMetadata if the plan contains a file twice, a delete file with invalid
   *   columns, a deletion vector of another data file, or a local file although the table is not in a local file system
   */
  def plan(untilRows: Option[Long]): ScanPlan = {
    val bound = Bind(filter, table.schema, caseSensitive)
    val stats = bound.fieldIds ++ statsColumns
    if (bound == AlwaysFalse) ScanPlan(Vector.empty, bound, report(Vector.empty), StatsToKeep.Of(stats))
    else planned(bound, stats, untilRows)
  }

  private def planned(bound: Expression, stats: Set[Int], untilRows: Option[Long]): ScanPlan = {
    val names = stats.toVector.sorted.flatMap(table.schema.names.get)
    val requested = ServerScan.expressible(bound)
    val isExact = requested == bound
    // With another filter, the rows that the server counts need not match.
    val minRows = untilRows.filter(_ => isExact)
    val request = ScanPlanRequest(snapshotId, requested, minRows, caseSensitive, usesSnapshotSchema, names)
    val json = new ScanPlanJson(table.specs.byId, table.specs.sources, table.schema, caseSensitive)
    val result = planner.plan(request, json)
    val files = if (isExact) result.files else ServerScan.matching(result.files, bound)
    val tasks = new PlannedFileTasks(table, bound, caseSensitive).of(files)
    ScanPlan(tasks, bound, report(tasks).withDeletesOf(tasks), StatsToKeep.Of(stats), result.io)
  }

  private def report(tasks: Vector[FileScanTask]): ScanReport = ScanReport(
    table = table.name,
    snapshotId = Some(snapshotId),
    totalManifests = 0,
    skippedManifests = 0,
    totalFiles = None,
    prunedFiles = 0,
    resultFiles = tasks.size.toLong,
    resultRecords = tasks.iterator.map(_.file.recordCountOrZero).sum,
    resultBytes = tasks.iterator.map(_.length).sum
  )
}

object ServerScan {

  /**
   * Returns a filter that is true for all rows for which the given bound filter is true. Conditions on bounding boxes
   * are replaced with NOT NULL, and conditions on parts of variants with TRUE, because the requests to a server have no
   * form for them.
   */
  private[iceberglite] def expressible(bound: Expression): Expression = bound match {
    case And(left, right) => and(expressible(left), expressible(right))
    case Or(left, right) => or(expressible(left), expressible(right))
    case BoxIntersects(term, _) => NotNull(term)
    case BoxDisjoint(term, _) => NotNull(term)
    case p: Predicate if p.testsVariants => AlwaysTrue
    case other => other
  }

  /**
   * Returns those of the files that may contain rows that match a filter. The server has planned the files for another
   * filter. Therefore the residuals from the server, which refer to the other filter, are dropped.
   */
  private def matching(files: Vector[PlannedFile], bound: Expression): Vector[PlannedFile] = {
    val filter = new PartitionFilter(bound)
    files.filter(f => filter.mightMatch(f.dataFile)).map(_.copy(residual = None))
  }
}

/**
 * Converts the files of a server's plan to tasks.
 *
 * @param bound the filter of the scan, bound to the schema of the table
 */
final private class PlannedFileTasks(table: TreeTable, bound: Expression, caseSensitive: Boolean) {
  private val keys = new EqualityIdColumns(table.schema, table.metadata.schemas)
  private val deletes = mutable.Map.empty[(String, Option[Long]), DeleteFile]
  private val paths = mutable.Set.empty[String]
  private val tableIsLocal = isLocal(table.metadata.location)

  def of(files: Vector[PlannedFile]): Vector[FileScanTask] = files.map { planned =>
    val file = planned.dataFile
    requireAccepted(file)
    if (!paths.add(file.path)) throw InvalidMetadata(
      file.path,
      "$.file-path",
      s"The plan of the REST server for ${table.name} contains this file twice, so its rows would be read twice"
    )
    val residual = planned.residual.fold(bound)(Bind(_, table.schema, caseSensitive))
    FileScanTask.whole(file, 0L, table.specs.byId(file.specId), residual)
      .copy(deletes = planned.deletes.map(deleteFile(_, file)))
  }

  /** Returns a delete file. Tasks share it, because executors read a shared delete file only once. */
  private def deleteFile(file: ContentFile, data: ContentFile): DeleteFile = {
    val shared = deletes.getOrElseUpdate(
      (file.path, file.contentOffset), {
        requireAccepted(file)
        val columns = if (file.content == Content.EqualityDeletes) keys.of(file).columns else Vector.empty
        val vectorOf = if (file.isDeletionVector) file.referencedDataFile.orElse(Some(data.path)) else None
        DeleteFile(file.copy(referencedDataFile = vectorOf.orElse(file.referencedDataFile)), 0L, columns)
      }
    )
    if (shared.file.isDeletionVector && !shared.file.referencedDataFile.contains(data.path)) throw InvalidMetadata(
      file.path,
      "$.referenced-data-file",
      s"The plan of the REST server for ${table.name} applies this deletion vector to ${data.path}, but it belongs " +
        s"to ${shared.file.referencedDataFile.getOrElse("another data file")}"
    )
    shared
  }

  /**
   * Rejects local files in the plan of a table that is not on a local file system. Otherwise a server could make
   * executors read files of their own machines.
   */
  private def requireAccepted(file: ContentFile): Unit = if (!tableIsLocal && isLocal(file.path)) throw InvalidMetadata(
    file.path,
    "$.file-path",
    s"The plan of the REST server for ${table.name} contains a file of the local file system, but the table is in " +
      table.metadata.location
  )

  private def isLocal(path: String): Boolean =
    StoragePath.of(path, table.io.defaultFileSystem).exists(_.store == StoragePath.LocalStore)
}
