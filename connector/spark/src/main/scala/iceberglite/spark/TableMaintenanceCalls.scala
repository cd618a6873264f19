package iceberglite.spark

import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.{ComputePartitionStatistics, LiveEqualityDeletes}
import iceberglite.maintenance.compact.{
  DeleteRewriteResult,
  GroupOptions,
  ManifestCompaction,
  ManifestRewriteResult,
  RewriteOptions,
  RewriteResult
}
import iceberglite.maintenance.expire.{ExpireResult, SnapshotExpiry}
import iceberglite.maintenance.health.{MaintenanceOptions, StepReport, TableMaintenance}
import iceberglite.maintenance.orphan.{OrphanFile, OrphanOptions, OrphanRemoval}
import iceberglite.spark.cluster.ClusterJob
import iceberglite.spark.conf.EngineSummary
import iceberglite.spark.maintenance.{
  DataFileRewrite,
  FileCondition,
  PositionDeleteRewrite,
  RowOrdering,
  SessionOrphanSearch,
  SessionRunningReads,
  SessionSteps,
  SessionUnreachableFiles,
  TableStatistics
}
import iceberglite.spark.write.upsert.DeleteConversionJob
import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.spec.metadata.{PartitionStatisticsFile, StatisticsFile}
import iceberglite.table.{SnapshotTarget, Table}
import iceberglite.table.action.ExpireOptions
import iceberglite.tree.MetadataPool

/**
 * Maintains a table by method calls. The methods run the same actions as the procedures with similar names, and return
 * typed results. Actions on a single branch use the branch `main` by default. With `dryRun`, a method changes nothing,
 * and returns what it would do.
 */
trait TableMaintenanceCalls {
  def spark: SparkSession

  /**
   * Calls a function with the current version of the table, and refreshes cached queries afterwards.
   *
   * @param work returns the newest version of the table, and a result
   */
  protected def change[A](work: Table => (Table, A)): A

  /**
   * Runs the maintenance steps that the table needs, such as rewriting data files, rewriting manifests, and expiring
   * snapshots. The steps with the largest benefit per rewritten byte run first.
   *
   * @param options the options of the procedure `maintain`, such as `max-bytes`
   * @param dryRun whether to return the steps without running them
   * @return the steps that were run, and the steps that were not run
   */
  def maintain(options: Map[String, String] = Map.empty, dryRun: Boolean = false): Seq[StepReport] = change { table =>
    val parsed = MaintenanceOptions.of(options, table.metadata)
    val maintenance = new TableMaintenance(table, parsed, new SessionSteps(spark))
    if (dryRun) (table, maintenance.plan())
    else {
      val reports = maintenance.run()
      (table.refresh(), reports)
    }
  }

  /**
   * Expires snapshots, and deletes the files that only these snapshots refer to.
   *
   * @param options select the snapshots that expire; by default, the table properties `history.expire.*` select them
   * @param maxConcurrentDeletes the maximum number of requests that delete files at the same time, at least 1; by
   *   default 16; larger numbers have the same effect as 16
   * @return the result, with the running queries of this Spark application that read expired snapshots
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the maximum number is less than 1
   */
  def expireSnapshots(
      options: ExpireOptions = ExpireOptions(),
      dryRun: Boolean = false,
      maxConcurrentDeletes: Option[Int] = None
  ): ExpireResult = change { table =>
    val expiry = new SnapshotExpiry(
      table,
      options,
      new SessionUnreachableFiles(spark),
      EngineSummary.of(spark),
      maxConcurrentDeletes = concurrentDeletes(maxConcurrentDeletes),
      reads = new SessionRunningReads(spark)
    )
    described(s"Expiring snapshots of ${table.name}")(if (dryRun) (table, expiry.dryRun()) else expiry.run())
  }

  /**
   * Deletes files in the table's directory to which the table's metadata does not refer.
   *
   * @param olderThanMs only files that were last modified before this time are deleted; in milliseconds since the
   *   epoch, at least 24 hours ago; by default 3 days ago
   * @param location a directory that the table owns; by default the table's location
   * @param maxConcurrentDeletes the maximum number of requests that delete files at the same time, at least 1; by
   *   default 16; larger numbers have the same effect as 16
   * @param prefixListing whether all paths below the directory are listed at once, which needs fewer requests to an
   *   object store if there are many directories; by default directories are listed in parallel
   * @return the files, with the reasons for those that were kept
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the time is too recent, the table does not own the
   *   directory, or the maximum number is less than 1
   */
  def removeOrphanFiles(
      olderThanMs: Option[Long] = None,
      location: Option[String] = None,
      dryRun: Boolean = false,
      maxConcurrentDeletes: Option[Int] = None,
      prefixListing: Boolean = false
  ): Seq[OrphanFile] = change { table =>
    val options = OrphanOptions(
      OrphanOptions.olderThan(olderThanMs, System.currentTimeMillis),
      maxConcurrentDeletes = concurrentDeletes(maxConcurrentDeletes)
    )
    val listing = OrphanRemoval.directory(location, prefixListing) _
    val removal = new OrphanRemoval(table, listing, new SessionOrphanSearch(spark), options)
    val files = Vector.newBuilder[OrphanFile]
    described(s"Removing orphan files of ${table.name}") {
      if (dryRun) removal.dryRun(files += _) else removal.run(files += _)
    }
    (table, files.result())
  }

  /**
   * Rewrites data files, to combine small files, split large files, remove deleted rows, or sort or cluster rows.
   *
   * @param options the options of the procedure `rewrite_data_files`
   * @param strategy `binpack` or `sort`. By default, `sort` is used if `sortOrder` is given. Otherwise, a table with
   *   clustering columns is clustered, and other tables are rewritten with `binpack`
   * @param sortOrder sort orders as in ORDER BY, `zorder(column, ...)` or `hilbert(column, ...)`; by default, `sort`
   *   uses the sort order of the table
   * @param where a condition in SQL. Only files that may have a row that satisfies the condition are rewritten, with
   *   all their rows
   * @param branch the branch whose files are rewritten; by default `main`
   */
  def rewriteDataFiles(
      options: Map[String, String] = Map.empty,
      strategy: Option[String] = None,
      sortOrder: Option[String] = None,
      where: Option[String] = None,
      dryRun: Boolean = false,
      branch: Option[String] = None
  ): RewriteResult = change { table =>
    val to = target(branch)
    val parsed = RewriteOptions.of(options, table.metadata, RowOrdering.optionNames)
    val ordering = RowOrdering.of(spark, table, strategy, sortOrder, options)
    val rewrite = new DataFileRewrite(spark, table, to, condition(table, to, where), parsed, ordering)
    if (dryRun) (table, rewrite.dryRun()) else rewrite.run()
  }

  /**
   * Combines position delete files, and removes deletes that apply to no live data file. From version 3, position
   * delete files are converted to deletion vectors.
   *
   * @param options the options of the procedure `rewrite_position_delete_files`
   * @param where a condition in SQL. Only delete files of partitions that may have a row that satisfies the condition
   *   are rewritten
   * @param branch the branch whose delete files are rewritten; by default `main`
   */
  def rewritePositionDeleteFiles(
      options: Map[String, String] = Map.empty,
      where: Option[String] = None,
      dryRun: Boolean = false,
      branch: Option[String] = None
  ): DeleteRewriteResult = change { table =>
    val to = target(branch)
    val parsed = GroupOptions.ofPositionDeletes(options, table.metadata)
    val rewrite = new PositionDeleteRewrite(spark, table, to, condition(table, to, where), parsed)
    if (dryRun) (table, rewrite.dryRun()) else rewrite.run()
  }

  /**
   * Converts equality deletes to deletion vectors or, before version 3, to position delete files.
   *
   * @param branch the branch whose equality deletes are converted; by default `main`
   * @return the number of equality delete files that were removed
   */
  def convertEqualityDeletes(branch: Option[String] = None): Int = change { table =>
    LiveEqualityDeletes.of(table, target(branch)).fold((table, 0)) { deletes =>
      new DeleteConversionJob(spark, table).run(deletes) { deleteFiles =>
        (table.transaction(EngineSummary.of(spark)).add(deletes.action(deleteFiles)).commit(), deletes.files.size)
      }
    }
  }

  /**
   * Rewrites manifests, with their entries sorted by partition, so that scans with a filter on the partition skip most
   * manifests.
   *
   * @param specId the id of the partition spec whose manifests are rewritten; by default the current partition spec
   * @param sortBy names of partition fields by which entries are sorted first
   * @param branch the branch whose manifests are rewritten; by default `main`
   */
  def rewriteManifests(
      specId: Option[Int] = None,
      sortBy: Seq[String] = Nil,
      dryRun: Boolean = false,
      branch: Option[String] = None
  ): ManifestRewriteResult = change { table =>
    val compaction = new ManifestCompaction(table, specId, sortBy.toVector, EngineSummary.of(spark), target(branch))
    described(s"Rewriting manifests of ${table.name}") {
      if (dryRun) (table, compaction.dryRun()) else compaction.run()
    }
  }

  /**
   * Computes the approximate number of distinct values of each column, and the Bloom index if the table has one.
   * Registers the statistics file in the table's metadata.
   *
   * @param columns names of columns; by default all top-level columns with primitive types
   * @param snapshotId the id of the snapshot; by default the current snapshot
   * @param bloomIndexOnly whether to compute only the Bloom index, and to copy the existing numbers of distinct values.
   *   In this case, only data files that have no Bloom filters yet are read
   * @return the statistics file; absent for a table without snapshots
   */
  def computeTableStats(
      columns: Seq[String] = Nil,
      snapshotId: Option[Long] = None,
      bloomIndexOnly: Boolean = false
  ): Option[StatisticsFile] = change { table =>
    val snapshot = snapshotId.map(table.metadata.snapshot).orElse(table.currentSnapshot)
    snapshot.map(TableStatistics.compute(spark, table, _, columns, bloomIndexOnly))
      .fold((table, Option.empty[StatisticsFile])) { case (after, file) => (after, Some(file)) }
  }

  /**
   * Counts the rows, files and deletes of each partition, and registers the partition statistics file with these counts
   * in the table's metadata.
   *
   * @param snapshotId the id of the snapshot; by default the current snapshot
   * @return the partition statistics file; absent for a table without snapshots, and for a snapshot whose manifests
   *   have no entries
   * @throws iceberglite.spec.IcebergError.ValidationFailed if the table has never been partitioned
   */
  def computePartitionStats(snapshotId: Option[Long] = None): Option[PartitionStatisticsFile] = change { table =>
    described(s"Computing partition statistics of ${table.name}") {
      ComputePartitionStatistics(table, snapshotId, EngineSummary.of(spark))
        .fold((table, Option.empty[PartitionStatisticsFile])) { case (after, file) => (after, Some(file)) }
    }
  }

  private def concurrentDeletes(requested: Option[Int]): Int = {
    requested.filter(_ < 1).foreach { number =>
      throw InvalidArgument("maxConcurrentDeletes", number.toString, "It must be 1 or more")
    }
    requested.getOrElse(MetadataPool.Width)
  }

  private def target(branch: Option[String]): SnapshotTarget.Branch = SnapshotTarget.ofBranch(branch)

  private def condition(table: Table, to: SnapshotTarget, where: Option[String]): Expression =
    where.fold[Expression](AlwaysTrue)(FileCondition.parse(spark, table, to, _))

  private def described[A](description: String)(work: => A): A =
    ClusterJob.withDriverWork(spark.sparkContext, description)(work)
}
