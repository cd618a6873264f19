package iceberglite.catalog

import java.util.Arrays

import scala.util.control.NonFatal

import iceberglite.spec.{IcebergError, ObjectKind}
import iceberglite.spec.IcebergError._
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.TableProperty
import iceberglite.storage.{FileIO, MetadataCodec, MetadataFiles}
import iceberglite.table._

/**
 * A file-system table (spec: "File System Tables"). Creating the file of version V, which can succeed only once,
 * commits that version. `version-hint.text` is written later and may be outdated, missing or invalid.
 *
 * @param table the name of the table, for messages
 */
final private[catalog] class VersionedTable(io: FileIO, location: String, table: String) {
  private val files = new VersionFiles(io, location)

  /** Whether the table exists, see [[VersionFiles.exists]]. */
  def exists: Boolean = files.exists

  def newest(): Option[TableVersion] = files.newest()

  /** Commits `next` as the version after `base`. */
  def commit(base: Option[TableVersion], next: NextVersion): TableVersion = {
    val number = base.fold(1)(b => numberOf(b) + 1)
    // All commits on one base must compete for one name, so the codec of the base applies, not that of the change.
    val codec = MetadataCodec.of(
      TableProperty.of(TableProperty.MetadataCodec, base.fold(next.metadata.properties)(_.metadata.properties))
    )
    val path = files.pathOf(number, codec)
    base.fold(rejectExistingMetadata())(rejectOutdatedBase(_, next.metadata))
    if (!createFile(path, MetadataFiles.bytes(next.metadata, codec))) throw versionExists(number, path)
    val committed = TableVersion(next.metadata, path)
    base.fold(withdrawIfDuplicate(number, path)) { b =>
      withdrawIfOvertaken(b, committed, number)
      withdrawIfReplaced(b, committed, number)
    }
    Cleanup.quietly(s"write the version hint of $table")(files.writeHint(number))
    if (number % VersionedTable.CleanupInterval == 0) {
      Cleanup.quietly(s"remove temporary files of $table")(files.removeStale(path))
    }
    deleteExpired(next, committed)
    committed
  }

  private def deleteExpired(next: NextVersion, committed: TableVersion): Unit = if (next.expired.nonEmpty) {
    val owned = OwnedPaths.of(io, committed, TableOwnership(Some(location), Vector.empty, hasVersionNames = true))
    new OwnedDeletion(io, owned).deleteExpired(next.expired, committed, hasVersionNames = true).warn(
      s"A commit to $table"
    )
  }

  private def numberOf(version: TableVersion): Int = files.numberIn(version.metadataLocation).getOrElse(
    throw Unsupported(
      s"committing to $table, whose metadata is ${version.metadataLocation}",
      "It belongs to a catalog that stores a pointer to the newest metadata file; commit through that catalog"
    )
  )

  private def versionExists(number: Int, path: String): CommitConflict =
    CommitConflict(table, s"version $number already exists ($path)")

  /** Rejects a new table in a directory with metadata, including metadata of a table in another catalog. */
  private def rejectExistingMetadata(): Unit = files.names().sorted.headOption.foreach { name =>
    files.numberIn(name).foreach(number => throw versionExists(number, TableLocations.inside(files.directory, name)))
    throw AlreadyExists(
      ObjectKind.Table,
      s"$table in $location",
      s"$name there belongs to a catalog that stores a pointer to the newest metadata file; use it, or another location"
    )
  }

  /**
   * Deletes the new file if a concurrent writer created the same version with another codec. Both writers check after
   * they have created their files, so that at most one file remains.
   */
  private def withdrawIfDuplicate(number: Int, path: String): Unit = {
    val duplicate = orUnknown(path) {
      val found = MetadataCodec.all.map(files.pathOf(number, _)).filterNot(_ == path).find(io.exists)
      found.foreach(_ => io.delete(path))
      found
    }
    duplicate.foreach(otherPath => throw versionExists(number, otherPath))
  }

  /**
   * Creates the file. If the response is unclear, the content of the file shows which commit created it.
   *
   * @return false if another commit has the name
   */
  private def createFile(path: String, contents: Array[Byte]): Boolean = tryCreate(path, contents) match {
    case Right(true) => true
    // A storage with its own retries may report a conflict with its own first attempt.
    case Right(false) => isOwnFile(path, contents).getOrElse(false)
    case Left(failed: StorageFailed) => isOwnFile(path, contents).getOrElse(throw failed)
    case Left(unclear: CommitStateUnknown) => retryCreate(path, contents, unclear)
    case Left(definite: IcebergError) => throw definite
    case Left(NonFatal(e)) => retryCreate(path, contents, e)
    case Left(fatal) => throw unknown(path, fatal.toString, Some(fatal))
  }

  /**
   * Retries the creation with the same name and content. If the call succeeds, the file exists, and its content shows
   * which commit created it.
   */
  private def retryCreate(path: String, contents: Array[Byte], failure: Throwable): Boolean =
    isOwnFile(path, contents).getOrElse {
      tryCreate(path, contents).right.toOption.filter(identity).orElse(isOwnFile(path, contents))
        .getOrElse(throw unknown(path, String.valueOf(failure.getMessage), Some(failure)))
    }

  private def tryCreate(path: String, contents: Array[Byte]): Either[Throwable, Boolean] =
    try Right(io.createExclusively(path, contents))
    catch { case e: Throwable => Left(e) }

  /** Whether a file belongs to this commit; `None` if it does not exist. */
  private def isOwnFile(path: String, contents: Array[Byte]): Option[Boolean] =
    orUnknown(path)(files.ifExists(path)(io.read(path)).map(Arrays.equals(_, contents)))

  /** Runs a check after a commit that may have succeeded. If the check fails, the outcome of the commit is unknown. */
  private def orUnknown[A](path: String)(check: => A): A =
    try check
    catch {
      case known: CommitStateUnknown => throw known
      case e: Throwable => throw unknown(path, s"it cannot be read (${e.getMessage})", Some(e))
    }

  private def unknown(path: String, reason: String, cause: Option[Throwable]): CommitStateUnknown =
    CommitStateUnknown(table, path, reason, cause)

  /**
   * Rejects a base that is no longer the newest version of the table. Version numbers alone do not show this: a table
   * that was dropped and created again reuses them, and deleted versions leave them free. Therefore an old base is
   * checked before the commit.
   */
  private def rejectOutdatedBase(base: TableVersion, next: TableMetadata): Unit = {
    val hasNewerVersion = deletesOldVersions(base) && highest(base).exists(_ > numberOf(base))
    if (hasNewerVersion || isOldBase(base, next) && !isSame(base, files.readIfExists(base.metadataLocation))) {
      throw CommitConflict(table, s"${base.metadataLocation} is not the newest version, or was changed")
    }
  }

  private def isSame(base: TableVersion, current: Option[TableVersion]): Boolean = current.map(_.metadata).exists { m =>
    m.uuid == base.metadata.uuid && m.lastUpdatedMs == base.metadata.lastUpdatedMs
  }

  private def isOldBase(base: TableVersion, next: TableMetadata): Boolean =
    next.lastUpdatedMs - base.metadata.lastUpdatedMs > VersionedTable.OldBaseMs

  private def deletesOldVersions(base: TableVersion): Boolean =
    TableProperty.of(TableProperty.DeleteAfterCommit, base.metadata.properties)

  /**
   * Returns the highest version. If commits delete old versions, a delayed writer can reset the hint to a deleted
   * version, so the directory is listed. Otherwise, the hint is recent enough.
   */
  private def highest(base: TableVersion): Option[Int] =
    if (deletesOldVersions(base)) files.newestListedPath().flatMap(files.numberIn) else files.hint()

  /**
   * Withdraws a commit on an outdated base. The file name can be free because its version was deleted long ago; the
   * commit would then fork the history. Therefore it is kept only if the newest version follows it.
   */
  private def withdrawIfOvertaken(base: TableVersion, committed: TableVersion, number: Int): Unit = {
    val overtaken = orUnknown(committed.metadataLocation) {
      (deletesOldVersions(base) || isOldBase(base, committed.metadata)) && highest(base).exists(_ > number) &&
      files.newestByListing().exists(newest =>
        !follows(newest, base, committed).getOrElse(throw logTooShort(newest, committed))
      )
    }
    if (overtaken) {
      Cleanup.delete(io, Vector(committed.metadataLocation))
      throw CommitConflict(table, s"the table has long moved on from version ${number - 1}")
    }
  }

  /**
   * Withdraws a commit if the table was dropped, and possibly created again, after the base was read: the commit would
   * restore deleted metadata, or belong to another table. The check compares the UUID in the base's file, and not
   * timestamps, because clocks differ and the timestamp of the base may be in the future.
   */
  private def withdrawIfReplaced(base: TableVersion, committed: TableVersion, number: Int): Unit = {
    val replaced = orUnknown(committed.metadataLocation) {
      !isUnreplaced(base) && !files.newestByListing().exists(isLaterVersion(_, base, committed))
    }
    if (replaced) {
      Cleanup.delete(io, Vector(committed.metadataLocation))
      throw CommitConflict(
        table,
        s"version ${number - 1} no longer exists, or belongs to another table that was created in its place"
      )
    }
  }

  /**
   * Whether a version was committed on top of this one. Later commits may have deleted the base's file, and the log of
   * the newest version may no longer go back to this one: then the outcome is unknown, unless it is another table.
   */
  private def isLaterVersion(newest: TableVersion, base: TableVersion, committed: TableVersion): Boolean = {
    val uuids = base.metadata.uuid ++ newest.metadata.uuid
    val isOtherTable = uuids.toSet.size > 1
    newest.metadataLocation != committed.metadataLocation && !isOtherTable &&
    follows(newest, base, committed).getOrElse(throw logTooShort(newest, committed))
  }

  /**
   * Whether the base's file still exists and belongs to the table. Tables of format version 1 may have no UUID; then
   * the update time is compared.
   */
  private def isUnreplaced(base: TableVersion): Boolean = base.metadata.uuid match {
    case None => isSame(base, files.readIfExists(base.metadataLocation))
    case uuid => files.ifExists(base.metadataLocation)(MetadataFiles.uuid(io, base.metadataLocation)).contains(uuid)
  }

  private def logTooShort(newest: TableVersion, committed: TableVersion): CommitStateUnknown = unknown(
    committed.metadataLocation,
    s"the log of ${newest.metadataLocation} does not go back that far (${TableProperty.PreviousVersionsMax.key})",
    None
  )

  /**
   * Whether `newest` is, or is based on, the version of this commit. If the commit added snapshots, `newest` must
   * contain one of them; otherwise, its metadata log must list the commit. `None` if the log does not go back that far.
   */
  private def follows(newest: TableVersion, base: TableVersion, committed: TableVersion): Option[Boolean] = {
    val added = committed.metadata.snapshotsById.keySet -- base.metadata.snapshotsById.keySet
    val log = newest.metadata.metadataLog
    if (added.nonEmpty) Some(added.exists(newest.metadata.snapshotsById.contains))
    else if (newest.metadataLocation == committed.metadataLocation) Some(true)
    else if (log.flatMap(e => files.numberIn(e.metadataFile)).exists(_ <= numberOf(committed))) Some(
      log.exists(e => e.metadataFile == committed.metadataLocation && e.timestampMs == committed.metadata.lastUpdatedMs)
    )
    else None
  }
}

private[catalog] object VersionedTable {

  /** The number of commits after which the temporary files of killed writers are removed. */
  private val CleanupInterval = 10

  /**
   * The age from which a base is also checked before the commit, in milliseconds. This prevents readers from seeing a
   * version that would be withdrawn.
   */
  private val OldBaseMs = 5000L
}
