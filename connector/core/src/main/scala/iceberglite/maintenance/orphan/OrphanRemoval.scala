package iceberglite.maintenance.orphan

import java.time.Instant
import java.util.concurrent.TimeUnit.{DAYS, HOURS}

import iceberglite.maintenance.ConcurrentExpiration
import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported, ValidationFailed}
import iceberglite.spec.property.TableProperty
import iceberglite.storage.{MetadataFiles, StoragePath}
import iceberglite.table.{DeletionReport, KeptReason, OwnedDeletion, OwnedPaths, ReachableFiles, Table, TableLocations}
import iceberglite.tree.{ManifestCache, MetadataPool, MetadataTree, SeenParts}

/**
 * Options of the search for orphan files.
 *
 * @param olderThanMs only files that were modified before this time are orphans, in milliseconds since the epoch.
 *   Younger files may belong to a commit in progress
 * @param prefixes schemes and authorities that refer to the same storage
 * @param mismatch what to do with a file if the metadata has its path with another scheme or authority
 * @param maxConcurrentDeletes the maximum number of requests that delete files at the same time
 */
final case class OrphanOptions(
    olderThanMs: Long,
    prefixes: EqualPrefixes = EqualPrefixes.Default,
    mismatch: PrefixMismatch = PrefixMismatch.Fail,
    maxConcurrentDeletes: Int = MetadataPool.Width
)

object OrphanOptions {

  /** The lowest age limit that a user can choose. Younger files may belong to a commit in progress. */
  val MinAgeMs: Long = HOURS.toMillis(24)

  /** The default age limit: only older files are orphans. */
  val DefaultAgeMs: Long = DAYS.toMillis(3)

  /**
   * Returns the time before which an orphan file must have been modified, in milliseconds since the epoch.
   *
   * @param requested the time that a user requests; absent for the default age
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the time is less than 24 hours ago
   */
  def olderThan(requested: Option[Long], nowMs: Long): Long = {
    val time = requested.getOrElse(nowMs - DefaultAgeMs)
    if (time > nowMs - MinAgeMs) throw InvalidArgument(
      "argument older_than",
      Instant.ofEpochMilli(time).toString,
      "It must be at least 24 hours ago: younger files may belong to a commit in progress, which would lose them"
    )
    time
  }
}

/**
 * An orphan file.
 *
 * @param kept the reason why the file was not deleted; absent if the file was deleted or, in a dry run, would be
 *   deleted
 */
final case class OrphanFile(path: String, kept: Option[KeptReason])

/**
 * Deletes files that the newest metadata of a table does not refer to, directly or through its snapshots. A writer that
 * fails before its commit leaves such files.
 *
 * The search starts from the newest metadata. Before each batch of files is deleted, the newest metadata is loaded
 * again, and files that commits have added since the search began are kept. Files that the table does not own are also
 * kept; see `OwnedPaths`.
 *
 * @param listing returns the files that may be orphan files, for the newest version of the table
 */
final class OrphanRemoval(table: Table, listing: Table => FileListing, search: OrphanSearch, options: OrphanOptions) {
  import OrphanRemoval._

  /**
   * Deletes the orphan files. A file that cannot be deleted is reported. It does not prevent the deletion of the other
   * files.
   *
   * @param found receives each orphan file
   * @throws iceberglite.spec.IcebergError.ValidationFailed if `gc.enabled` is false, because other tables may then use
   *   the table's files; or, with `PrefixMismatch.Fail`, if the metadata has the path of a listed file with another
   *   scheme or authority. Nothing has been deleted, except if the search lists the directory several times, which
   *   `LocalOrphanSearch` does for very many files, and such a path appears only in a later listing
   */
  def run(found: OrphanFile => Unit): DeletionReport = {
    val current = table.refresh()
    val deletion = new OwnedDeletion(current.io, ownedPaths(current), options.maxConcurrentDeletes)
    val report = process(current, found)(deletion.delete)
    report.copy(deleted = 0).warn(s"Removing orphan files of ${table.name}")
    report
  }

  /** Passes to `found` the orphan files that [[run]] would delete or keep, without changing anything. */
  def dryRun(found: OrphanFile => Unit): DeletionReport = {
    val current = table.refresh()
    val owned = ownedPaths(current)
    process(current, found)(owned.reasonsToKeep)
  }

  private def process(current: Table, found: OrphanFile => Unit)(
      delete: Vector[String] => Vector[(String, Option[KeptReason])]
  ): DeletionReport = {
    requireGcEnabled(current)
    val usedByOthers = directoriesOfOthers(current)
    val (recent, candidates) = ConcurrentExpiration.retry(current) { version =>
      val recent = new RecentFiles(version)
      recent -> search.find(version.io, listing(version), recent.needed, options.olderThanMs, options.prefixes)
    }
    try withoutConflicts(candidates).grouped(BatchFiles).foldLeft(DeletionReport.Empty) { (report, batch) =>
        val (used, unused) = recent.withoutNeeded(batch.toVector).partition(isBelowAny(_, usedByOthers, current))
        val results = delete(unused) ++ used.map(path => path -> Some(KeptReason.InDirectoryOfOther))
        results.foreach { case (path, kept) => found(OrphanFile(path, kept)) }
        report ++ DeletionReport.ofAll(results)
      }
    finally candidates.close()
  }

  /**
   * Returns the directories that other tables of the catalog refer to, except this table's location and its parent
   * directories. An orphan candidate in such a directory may belong to the other table.
   */
  private def directoriesOfOthers(current: Table): Vector[StoragePath] = {
    val own = StoragePath.of(current.location, current.io.defaultFileSystem)
    current.committer.ownership(current.id, current.version).usedDirectories().flatMap(_.directories)
      .filterNot(directory => own.exists(_ == directory) || own.exists(_.isBelow(directory))).distinct
  }

  private def isBelowAny(path: String, directories: Vector[StoragePath], of: Table): Boolean =
    directories.nonEmpty && StoragePath.of(path, of.io.defaultFileSystem).exists(file =>
      directories.exists(file.isBelow)
    )

  /** Returns the files to delete. If conflicts are errors, all files are compared before the first one is returned. */
  private def withoutConflicts(candidates: OrphanCandidates): Iterator[String] = options.mismatch match {
    case PrefixMismatch.Delete => candidates.iterator.map(_.path)
    case PrefixMismatch.Keep => candidates.iterator.filter(_.conflict.isEmpty).map(_.path)
    case PrefixMismatch.Fail =>
      candidates.conflict.foreach(requireNoConflict)
      // The iterator may compare the files again, and a conflict that has appeared since then must not be ignored.
      candidates.iterator.map { candidate =>
        requireNoConflict(candidate)
        candidate.path
      }
  }

  private def requireNoConflict(candidate: OrphanCandidate): Unit = candidate.conflict.foreach { inMetadata =>
    throw ValidationFailed(
      s"Cannot remove orphan files of ${table.name}: the file ${candidate.path} may be the same as $inMetadata in " +
        "the metadata, which has another scheme or authority. If they are the same file, set equal_schemes or " +
        "equal_authorities. Otherwise, set prefix_mismatch_mode to IGNORE (keep such files) or DELETE"
    )
  }

  /** The files that the table needs, including those of commits after the search began. */
  final private class RecentFiles(start: Table) {
    private var seen = new SeenParts
    private var newest = start

    /** The paths that commits after the start need, without scheme and authority. */
    private var addedPaths = Set.empty[String]

    val needed: NeededFiles = neededBy(start, seen)

    /** Returns those of the given paths that the newest version of the table does not need. */
    def withoutNeeded(paths: Vector[String]): Vector[String] = {
      val now = newest.refresh()
      if (now.metadataLocation != newest.metadataLocation) ConcurrentExpiration.retry(now) { version =>
        // A failed attempt may have seen parts that it did not read.
        val known = if (version eq now) seen else new SeenParts
        val added = neededBy(version, known)
        val ofParts = MetadataPool.map(added.parts)(_.entries(version.io).filter(_.isLive).map(_.file.path).toVector)
        addedPaths ++= (added.named.iterator ++ ofParts.iterator.flatten).map(FileUri.ofMetadata(_).path)
        newest = version
        seen = known
      }
      if (addedPaths.isEmpty) paths else paths.filterNot(path => addedPaths(FileUri.of(path).path))
    }

    private def neededBy(version: Table, seen: SeenParts): NeededFiles = {
      val tree = version.tree()
      val reachable = version.metadata.snapshots.map(MetadataTree.at(_, tree, ManifestCache.Disabled).reachable(seen))
      val hint = MetadataFiles.versionHint(version.metadataLocation)
      NeededFiles(
        (reachable.flatMap(_.metadata) ++ ReachableFiles.namedInMetadataFile(version.version) :+ hint).distinct,
        reachable.flatMap(_.parts)
      )
    }
  }
}

object OrphanRemoval {

  /** The number of files in a batch, which are deleted together. */
  private val BatchFiles = 10000

  /**
   * Returns the checks of the files that a table owns.
   *
   * @throws Unsupported if the table is opened by its path, but a catalog stores which metadata file is current: a file
   *   that is not the current one does not determine which files the table needs
   */
  private def ownedPaths(of: Table): OwnedPaths = {
    val ownership = of.committer.ownership(of.id, of.version)
    if (ownership.hasVersionNames && !MetadataFiles.isVersionName(of.metadataLocation)) throw Unsupported(
      s"removing orphan files of ${of.name} by its path",
      s"Only the table's catalog knows whether ${of.metadataLocation} is the current metadata file. Use the name of " +
        "the table in its catalog"
    )
    OwnedPaths.ofUnreferenced(of.io, of.version, ownership)
  }

  private def requireGcEnabled(table: Table): Unit =
    if (!TableProperty.of(TableProperty.Gc, table.properties)) throw ValidationFailed(
      s"Cannot remove orphan files of ${table.name}: ${TableProperty.Gc.key} is false, which means that other tables " +
        "may use its files. Set it to true if no other table does"
    )

  /**
   * Returns the listing of a directory of a table.
   *
   * @param path a directory that the table owns; by default its location
   * @param byPrefix whether all paths below the directory are listed by prefix, instead of each directory separately
   * @throws iceberglite.spec.IcebergError.InvalidArgument if the table does not own the directory
   */
  def directory(path: Option[String], byPrefix: Boolean = false)(table: Table): FileListing = {
    val directory = path.getOrElse(table.location)
    val owned = OwnedPaths.of(table.io, table.version, table.committer.ownership(table.id, table.version))
    // If the directory is the root of a bucket, the table owns only the directories `data` and `metadata` in it.
    val examples = Vector("file", "metadata/file").map(TableLocations.inside(directory, _))
    val reasons = examples.map(owned.reasonToKeep)
    if (reasons.forall(_.isDefined)) reasons.last.foreach { reason =>
      throw InvalidArgument("location", directory, s"No files in this directory would be deleted: ${reason.text}")
    }
    if (byPrefix) PrefixListing.of(table.io, directory, table.metadata)
    else DirectoryListing.of(table.io, directory, table.metadata)
  }
}
