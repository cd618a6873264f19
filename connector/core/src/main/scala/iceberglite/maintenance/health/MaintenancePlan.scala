package iceberglite.maintenance.health

import iceberglite.maintenance.compact.ClusterDegree
import iceberglite.maintenance.health.MaintenanceAction._
import iceberglite.spec.property.TableProperty
import iceberglite.table.Table

/** Decides which maintenance actions are due, and in which order, according to the [[TableHealth]]. */
object MaintenancePlan {

  /** The minimum number by which a rewrite of manifests must reduce the number of manifests. */
  private val MinAvoidedManifests = 10

  /**
   * Returns a step for each action. The steps that are due come first, in descending order of their gain for each
   * rewritten byte. The gain is the number of saved bytes plus `read.split.open-file-cost` for each file by which the
   * number of files decreases. The other steps follow in the order of [[MaintenanceAction.all]]. There is a step for
   * the removal of orphan files only if the options request it, or if orphan files were searched for.
   *
   * @param health the health of the table
   */
  def of(table: Table, health: TableHealth, options: MaintenanceOptions): Vector[MaintenanceStep] = {
    val steps = new Steps(health, TableProperty.of(TableProperty.SplitOpenFileCost, table.properties))
    val ofFiles = Vector(
      steps.removeDanglingDeletes,
      steps.convertEqualityDeletes,
      steps.rewriteDataFiles(options.rewrite(table.metadata).group.minInputFiles),
      steps.rewritePositionDeleteFiles,
      steps.rewriteManifests
    )
    val others = Vector(
      steps.expireSnapshots,
      steps.computePartitionStats(ofFiles.exists(_.isDue)),
      steps.computeTableStats(ofFiles.exists(_.isDue))
    )
    val orphans = if (options.removesOrphans || health.orphans != OrphanHealth.NotSearched)
      Some(steps.removeOrphanFiles(options.removesOrphans))
    else None
    val all = ofFiles ++ others ++ orphans
    val (due, notDue) = all.partition(_.isDue)
    // The sort is stable, so that steps with the same gain keep their order.
    due.sortBy(-_.gainPerByte) ++ notDue
  }

  final private class Steps(health: TableHealth, fileCost: Long) {
    import health._

    def removeDanglingDeletes: MaintenanceStep = step(
      RemoveDanglingDeletes,
      deletes.danglingFiles > 0,
      s"${deletes.danglingFiles} of ${deletes.positionDeleteFiles + deletes.equalityDeleteFiles} delete files apply " +
        "to no data file",
      FileReplacement(deletes.danglingFiles, 0, 0),
      savedBytes = deletes.danglingBytes
    )(
      "delete_files" -> (deletes.positionDeleteFiles + deletes.equalityDeleteFiles),
      "delete_bytes" -> deletes.bytes,
      "deleted_positions" -> deletes.deletedPositions,
      "dangling_delete_files" -> deletes.danglingFiles,
      "dangling_delete_bytes" -> deletes.danglingBytes
    )

    def convertEqualityDeletes: MaintenanceStep = step(
      ConvertEqualityDeletes,
      deletes.equalityDeleteFiles > 0,
      s"${deletes.equalityDeleteFiles} equality delete files with ${deletes.equalityDeleteRecords} rows are compared " +
        "with the rows of data files by every scan",
      FileReplacement(deletes.equalityDeleteFiles, deletes.equalityDeleteBytes, 0),
      savedBytes = 0
    )(
      "equality_delete_files" -> deletes.equalityDeleteFiles,
      "equality_delete_records" -> deletes.equalityDeleteRecords,
      "equality_delete_bytes" -> deletes.equalityDeleteBytes
    ).copy(filesAfter = None)

    def rewriteDataFiles(minInputFiles: Int): MaintenanceStep = step(
      RewriteDataFiles,
      data.rewrite.files > 0,
      data.clustering.fold(
        s"${data.smallFiles} of ${data.files} data files are small, in partitions with at least $minInputFiles small " +
          "files"
      )(c => s"${c.degree.unclusteredFiles} of ${data.files} data files are not yet clustered by ${c.columns}") +
        s", and ${data.filesWithManyDeletes} have many deleted rows",
      data.rewrite,
      savedBytes = data.deletedBytes
    )(
      Seq(
        "data_files" -> data.files,
        "data_bytes" -> data.bytes,
        "records" -> data.records,
        "small_files" -> data.smallFiles,
        "small_bytes" -> data.smallBytes,
        "files_with_many_deletes" -> data.filesWithManyDeletes,
        "deleted_bytes" -> data.deletedBytes
      ) ++ data.clustering.toSeq.flatMap(clustering => measures(clustering.degree)): _*
    )

    private def measures(degree: ClusterDegree): Seq[(String, Long)] = Seq(
      "unclustered_files" -> degree.unclusteredFiles,
      "unclustered_bytes" -> degree.unclusteredBytes,
      "overlap_percent" -> math.round(degree.overlap * 100)
    )

    def rewritePositionDeleteFiles: MaintenanceStep = step(
      RewritePositionDeleteFiles,
      deletes.rewrite.files > 0,
      s"${deletes.rewrite.files} of ${deletes.positionDeleteFiles} position delete files and deletion vectors can be " +
        s"replaced by about ${deletes.rewrite.newFiles}",
      deletes.rewrite,
      savedBytes = 0
    )(
      "position_delete_files" -> deletes.positionDeleteFiles,
      "deleted_positions" -> deletes.deletedPositions
    )

    def rewriteManifests: MaintenanceStep = {
      val avoided = manifests.rewrite.files - manifests.rewrite.newFiles
      val isDue = avoided >= MinAvoidedManifests && avoided * 4 >= manifests.rewrite.files
      val rule =
        s"; a rewrite is due if it reduces their number by at least $MinAvoidedManifests and at least a quarter"
      step(
        RewriteManifests,
        isDue,
        s"${manifests.rewrite.files} manifests of the current partition spec fit into ${manifests.rewrite.newFiles}" +
          (if (isDue) "" else rule),
        manifests.rewrite,
        savedBytes = 0
      )(
        "manifests" -> manifests.count,
        "manifest_bytes" -> manifests.bytes,
        "small_manifests" -> manifests.smallCount
      )
    }

    def expireSnapshots: MaintenanceStep = {
      val remaining = snapshots.count - snapshots.expirable
      val size = metadataBytes.getOrElse(0L)
      step(
        ExpireSnapshots,
        snapshots.deletesAllowed && (snapshots.expirable > 0 || snapshots.expirableRefs > 0),
        if (snapshots.deletesAllowed)
          s"${snapshots.expirable} of ${snapshots.count} snapshots and ${snapshots.expirableRefs} branches and tags " +
            "have expired"
        else "The table property gc.enabled is false",
        FileReplacement(snapshots.count, size, remaining),
        savedBytes = if (snapshots.count > 0) size / snapshots.count * snapshots.expirable else 0
      )(
        Seq(
          Some("snapshots" -> snapshots.count),
          Some("expired_snapshots" -> snapshots.expirable),
          Some("expired_refs" -> snapshots.expirableRefs),
          metadataBytes.map("metadata_bytes" -> _)
        ).flatten: _*
      )
    }

    /** @param changesFiles whether another step is due that adds a snapshot */
    def computePartitionStats(changesFiles: Boolean): MaintenanceStep = step(
      ComputePartitionStats,
      statistics.partitionStatistics.exists(!_.isCurrent || changesFiles),
      statistics.partitionStatistics.fold("The table has no partition statistics")(age =>
        s"The partition statistics describe ${snapshotOf(age)}" +
          (if (changesFiles) ", and other steps add snapshots" else "")
      ),
      FileReplacement.Empty,
      savedBytes = 0
    )(
      statistics.partitionStatistics.flatMap(_.ageMs).map("partition_statistics_age_ms" -> _).toSeq: _*
    ).copy(filesBefore = None, filesAfter = None)

    private def snapshotOf(age: StatisticsAge): String =
      if (age.isCurrent) "the current snapshot"
      else age.ageMs.fold("a snapshot that is not an ancestor of the current snapshot")(ms =>
        s"a snapshot that is $ms ms older than the current snapshot"
      )

    /** @param changesFiles whether another step is due that adds a snapshot */
    def computeTableStats(changesFiles: Boolean): MaintenanceStep = step(
      ComputeTableStats,
      statistics.sketches.exists(_.isStale) || statistics.isBloomIndexOld || changesFiles && statistics.isIndexed,
      statistics.sketches.fold("The table has no statistics of distinct values") { sketches =>
        val changed = sketches.changedRows.fold("An unknown number of")(n => s"$n")
        val copied =
          if (sketches.copiedRows == 0) ""
          else s", and copy-on-write statements have written ${sketches.copiedRows} rows again,"
        s"$changed rows have changed$copied since the statistics of ${sketches.fieldIds.size} columns, " +
          s"which describe ${sketches.rows} rows"
      } + (if (statistics.isBloomIndexOld) "; files of the current snapshot may lack Bloom filters" else ""),
      FileReplacement.Empty,
      savedBytes = 0
    )(
      Seq(
        statistics.tableStatistics.flatMap(_.ageMs).map("table_statistics_age_ms" -> _),
        statistics.sketches.flatMap(_.changedRows).map("changed_rows" -> _)
      ).flatten: _*
    ).copy(filesBefore = None, filesAfter = None)

    /** @param isRequested whether the options request the removal */
    def removeOrphanFiles(isRequested: Boolean): MaintenanceStep = {
      val (isNeeded, reason, removable, found) = orphans match {
        case _ if !snapshots.deletesAllowed => (false, "The table property gc.enabled is false", None, Seq.empty)
        case OrphanHealth.NotSearched => (true, "The removal of orphan files was requested", None, Seq.empty)
        case OrphanHealth.Unknown(reason) => (false, s"The orphan files are unknown: $reason", None, Seq.empty)
        case found: OrphanHealth.Found =>
          val text = s"The table's directory has ${found.removable} orphan files older than 3 days with " +
            s"${found.removableBytes} bytes, ${found.old} of them older than 30 days, and ${found.recent} younger ones"
          (found.removable > 0, text, Some(found.removable), measures(found))
      }
      val request = if (isNeeded && !isRequested) ". Set the option remove-orphan-files to remove them" else ""
      step(RemoveOrphanFiles, isNeeded && isRequested, reason + request, FileReplacement.Empty, savedBytes = 0)(
        found: _*
      ).copy(filesBefore = removable, filesAfter = removable.map(_ => 0L))
    }

    private def measures(found: OrphanHealth.Found): Seq[(String, Long)] = Seq(
      "orphan_files" -> found.removable,
      "orphan_bytes" -> found.removableBytes,
      "orphan_files_over_30_days" -> found.old,
      "orphan_files_of_1_to_3_days" -> found.recent
    )

    private def step(
        action: MaintenanceAction,
        isDue: Boolean,
        reason: String,
        files: FileReplacement,
        savedBytes: Long
    )(measures: (String, Long)*): MaintenanceStep = {
      val saved = (files.files - files.newFiles) * fileCost.toDouble + savedBytes
      val gain = if (isDue) math.max(0.0, saved) / math.max(1L, files.bytes) else 0.0
      MaintenanceStep(
        action,
        isDue,
        reason,
        Some(files.files),
        Some(files.newFiles),
        files.bytes,
        gain,
        measures.toMap
      )
    }
  }
}
