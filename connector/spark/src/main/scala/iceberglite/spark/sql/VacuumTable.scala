package iceberglite.spark.sql

import java.util.concurrent.TimeUnit.HOURS

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import iceberglite.maintenance.expire.FileKind
import iceberglite.maintenance.vacuum.{Vacuum, VacuumResult}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.conf.EngineSummary
import iceberglite.spark.maintenance.{SessionOrphanSearch, SessionRunningReads, SessionUnreachableFiles}
import iceberglite.spark.procedure.{Procedure, ProcedureContext}
import iceberglite.spec.Redaction
import iceberglite.table.SnapshotTarget

/**
 * `VACUUM t [RETAIN n HOURS] [DRY RUN]`: expires snapshots and then removes orphan files, like the procedures
 * `expire_snapshots` and `remove_orphan_files`.
 *
 * @param retainHours age in hours after which snapshots expire and orphan files are removed; if absent, the table
 *   property `history.expire.max-snapshot-age-ms` determines the age of snapshots. See
 *   [[iceberglite.maintenance.vacuum.Vacuum]] for the age of orphan files
 * @param dryRun whether the statement only returns the snapshots, branches, tags and files that it would remove, and
 *   changes nothing
 */
final case class VacuumTable(child: LogicalPlan, retainHours: Option[Int], dryRun: Boolean)
    extends ExistingTableCommand
    with UnaryLike[LogicalPlan] {

  override val output: Seq[Attribute] =
    ExistingTableCommand.attributes(if (dryRun) VacuumTable.dryRunColumns else VacuumTable.columns)

  override protected def table: LogicalPlan = child
  override protected def statement: String = VacuumTable.name

  override protected def run(name: String, branch: SnapshotTarget.Branch, context: ProcedureContext): Seq[Row] = {
    val table = context.table(name).current
    val vacuum = new Vacuum(
      table,
      retainHours.map(hours => HOURS.toMillis(hours.toLong)),
      new SessionUnreachableFiles(context.session),
      new SessionOrphanSearch(context.session),
      EngineSummary.of(context.session),
      reads = new SessionRunningReads(context.session)
    )
    ClusterJob.withDescription(context.session.sparkContext, s"Vacuuming ${table.name}") {
      if (dryRun) VacuumTable.plannedRows(vacuum)
      else {
        val (after, result) = vacuum.run()
        context.refreshCachedPlans(name, table, after)
        VacuumTable.rows(result)
      }
    }
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): VacuumTable = copy(child = newChild)
}

object VacuumTable extends TableStatement {
  private val Snapshot = "snapshot"
  private val Ref = "branch or tag"

  /** The kind of the row with the warning about running queries that read expired snapshots. */
  private val Warning = "warning"

  private val columns: StructType = StructType(Seq(
    Procedure.column("kind", StringType, "Kind of the removed objects, or warning"),
    Procedure.column("count", LongType, "Number of objects; for a warning, the number of running queries"),
    Procedure.column(
      "kept_because",
      StringType,
      "Why the files were not deleted, or the text of the warning; null if the objects were removed",
      nullable = true
    )
  ))

  private val dryRunColumns: StructType = StructType(Seq(
    Procedure.column("kind", StringType, "Kind of the object that would be removed, or warning"),
    Procedure.column(
      "name",
      StringType,
      "Id of the snapshot, name of the branch or tag, path of the file, or text of the warning"
    )
  ))

  override val name = "VACUUM"

  override def begin(reader: SqlReader): Boolean = reader.skip("VACUUM")

  override def parse(table: LogicalPlan, reader: SqlReader, expressions: SqlExpressions): LogicalPlan = {
    val hours = if (reader.skip("RETAIN")) {
      val number = reader.number("a number of hours")
      reader.expectWord("HOURS")
      Some(number)
    } else None
    val dryRun = reader.skip("DRY")
    if (dryRun) reader.expectWord("RUN")
    VacuumTable(table, hours, dryRun)
  }

  /**
   * Returns one row for each kind of removed object, one row for each reason why files were not deleted, and a row with
   * the warning if running queries read expired snapshots.
   */
  private def rows(result: VacuumResult): Seq[Row] = {
    val (expired, files) = (result.expired, result.expired.deleted)
    val counts = Seq(
      Snapshot -> expired.snapshotIds.size.toLong,
      Ref -> expired.refs.size.toLong,
      FileKind.DataFile.name -> files.dataFiles,
      FileKind.PositionDeleteFile.name -> files.positionDeleteFiles,
      FileKind.EqualityDeleteFile.name -> files.equalityDeleteFiles,
      FileKind.Manifest.name -> files.manifests,
      FileKind.ManifestList.name -> files.manifestLists,
      FileKind.StatisticsFile.name -> files.statisticsFiles,
      FileKind.OrphanFile.name -> result.orphans.deleted
    )
    val kept = expired.kept.map("unreferenced file" -> _) ++ result.orphans.kept.map(FileKind.OrphanFile.name -> _)
    counts.map { case (kind, count) => Row(kind, count, null) } ++
      kept.map { case (kind, group) => Row(kind, group.count, Redaction(group.reason.text)) } ++
      expired.reads.warning.map(Row(Warning, expired.reads.queries.toLong, _))
  }

  private def plannedRows(vacuum: Vacuum): Seq[Row] = {
    val files = Vector.newBuilder[Row]
    val result = vacuum.dryRun((kind, path) => files += Row(kind.name, path))
    result.expired.snapshotIds.toSeq.sorted.map(id => Row(Snapshot, id.toString)) ++
      result.expired.refs.toSeq.sorted.map(Row(Ref, _)) ++ files.result() ++
      result.expired.reads.warning.map(Row(Warning, _))
  }
}
