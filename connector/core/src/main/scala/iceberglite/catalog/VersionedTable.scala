package iceberglite.catalog

import iceberglite.spec.ObjectKind
import iceberglite.spec.IcebergError._
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.{MetadataCompression, TableProperty}
import iceberglite.storage.{FileIO, MetadataFiles}
import iceberglite.table._

/**
 * A file-system table (spec: "File System Tables"). A writer commits version V by creating the file of version V, which
 * only one writer can create. `version-hint.text` is written after the commit, and may be outdated, missing or invalid.
 *
 * @param table the name of the table, for messages
 * @param environment runs the deletion of metadata files that are no longer in the metadata log
 * @param viewExists whether the directory is the directory of a view
 */
final private[catalog] class VersionedTable(
    io: FileIO,
    location: String,
    table: String,
    environment: Environment = Environment.system,
    viewExists: () => Boolean = () => false
) {
  private val files = new VersionFiles(io, location)
  private val creation = new ExclusiveCreation(io, table)

  /** Whether the table exists; see [[VersionFiles.exists]]. */
  def exists: Boolean = files.exists

  def newest(): Option[TableVersion] = files.newest()

  /**
   * Returns the newest version. If `known` is still the newest, returns `known` and reads only the beginning of its
   * metadata file.
   */
  def reload(known: TableVersion): Option[TableVersion] =
    if (isNewest(known)) Some(known) else newest()

  /**
   * Whether a version is certainly the newest. The file is compared too, because its name can be used again: by a table
   * that was dropped and created again, or by another commit if the first commit withdrew its file.
   */
  private def isNewest(known: TableVersion): Boolean = files.numberIn(known.metadataLocation).exists { number =>
    val hasNewer =
      if (deletesOldVersions(known)) files.newestListedPath().flatMap(files.numberIn).forall(_ > number)
      else files.hint().forall(_ > number) || files.hasVersion(number + 1)
    !hasNewer && MetadataCompression.all.exists(files.pathOf(number, _) == known.metadataLocation) &&
    VersionFiles.ifExists(io, known.metadataLocation)(MetadataFiles.isSame(io, known.metadataLocation, known.metadata))
      .contains(true)
  }

  /** Commits `next` as the version after `base`. */
  def commit(base: Option[TableVersion], next: NextVersion): TableVersion = {
    val number = base.fold(1)(b => numberOf(b) + 1)
    // Concurrent commits on the same base must use the same file name, so that only one of them succeeds. The file name
    // depends on the codec. Therefore the codec of the base applies, even if the change sets another codec.
    val codec =
      TableProperty.of(TableProperty.MetadataCodec, base.fold(next.metadata.properties)(_.metadata.properties))
    val path = files.pathOf(number, codec)
    base.fold(rejectExisting())(rejectOutdatedBase(_, next.metadata))
    if (!creation.create(path, MetadataFiles.bytes(next.metadata, codec))) throw versionExists(number, path)
    val committed = TableVersion(next.metadata, path)
    base.fold(withdrawNew(number, path)) { b =>
      withdrawIfOvertaken(b, committed, number)
      withdrawIfReplaced(b, committed, number)
    }
    Cleanup.quietly(s"write the version hint of $table")(files.writeHint(number))
    if (number % VersionedTable.CleanupInterval == 0) {
      environment.cleanup.run(s"remove temporary files of $table")(files.removeStale(path))
    }
    if (next.expired.nonEmpty) {
      environment.cleanup.run(s"delete old metadata files of $table")(deleteExpired(next.expired, committed))
    }
    committed
  }

  private def deleteExpired(expired: Vector[String], committed: TableVersion): Unit = {
    val owned = OwnedPaths.of(io, committed, TableOwnership(Some(location), Vector.empty, hasVersionNames = true))
    new OwnedDeletion(io, owned, environment = environment)
      .deleteExpired(expired, committed, hasVersionNames = true).warn(s"A commit to $table")
  }

  private def numberOf(version: TableVersion): Int = files.numberIn(version.metadataLocation).getOrElse(
    throw Unsupported(
      s"committing to $table, whose metadata is ${version.metadataLocation}",
      "It belongs to a catalog that stores a pointer to the newest metadata file; commit through that catalog"
    )
  )

  private def versionExists(number: Int, path: String): CommitConflict =
    CommitConflict(table, s"version $number already exists ($path)")

  private def rejectExisting(): Unit = {
    if (viewExists()) throw viewWithSameName
    rejectExistingMetadata()
  }

  private def viewWithSameName: AlreadyExists = AlreadyExists(
    ObjectKind.View,
    table,
    "A table and a view cannot have the same name. Drop the view first, or choose another name"
  )

  /**
   * Withdraws a new table, i.e. deletes its metadata file, if another writer concurrently created the table with
   * another codec, or a view with the same name. That writer checks too, so that at most one of the two files remains.
   */
  private def withdrawNew(number: Int, path: String): Unit = {
    withdrawIfDuplicate(number, path)
    val isView = creation.orUnknown(path) {
      val found = viewExists()
      if (found) io.delete(path)
      found
    }
    if (isView) throw viewWithSameName
  }

  /**
   * Rejects a new table in a directory that already contains metadata files, even if these belong to another catalog.
   */
  private def rejectExistingMetadata(): Unit = files.names().sorted.headOption.foreach { name =>
    files.numberIn(name).foreach(number => throw versionExists(number, TableLocations.inside(files.directory, name)))
    throw AlreadyExists(
      ObjectKind.Table,
      s"$table in $location",
      s"Its metadata file $name belongs to a catalog that stores a pointer to the newest metadata file. Use the " +
        "table through that catalog, or choose another location"
    )
  }

  /**
   * Deletes the new file if a concurrent writer created the same version with another codec. Both writers check after
   * they have created their files, so that at most one file remains.
   */
  private def withdrawIfDuplicate(number: Int, path: String): Unit = {
    val duplicate = creation.orUnknown(path) {
      val found = MetadataCompression.all.map(files.pathOf(number, _)).filterNot(_ == path).find(io.exists)
      found.foreach(_ => io.delete(path))
      found
    }
    duplicate.foreach(otherPath => throw versionExists(number, otherPath))
  }

  /**
   * Rejects a base that is no longer the newest version of the table. The version number of the base is not sufficient
   * to detect this, because a table that was dropped and created again reuses the numbers, and because the numbers of
   * deleted versions can be used again. Therefore the metadata file of an old base is read again before the commit.
   */
  private def rejectOutdatedBase(base: TableVersion, next: TableMetadata): Unit = {
    val hasNewerVersion = deletesOldVersions(base) && highest(base).exists(_ > numberOf(base))
    if (hasNewerVersion || isOldBase(base, next) && !isSame(base, files.readIfExists(base.metadataLocation))) {
      throw CommitConflict(table, s"${base.metadataLocation} is no longer the newest version, or was changed")
    }
  }

  private def isSame(base: TableVersion, current: Option[TableVersion]): Boolean =
    current.exists(version => MetadataFiles.isSame(base.metadata, version.metadata))

  private def isOldBase(base: TableVersion, next: TableMetadata): Boolean =
    next.lastUpdatedMs - base.metadata.lastUpdatedMs > VersionedTable.OldBaseMs

  private def deletesOldVersions(base: TableVersion): Boolean =
    TableProperty.of(TableProperty.DeleteAfterCommit, base.metadata.properties)

  /**
   * Returns the highest known version number. If commits delete old metadata files, the directory is listed, because a
   * delayed writer can reset the hint to a deleted version. If not, the number in the hint is returned.
   */
  private def highest(base: TableVersion): Option[Int] =
    if (deletesOldVersions(base)) files.newestListedPath().flatMap(files.numberIn) else files.hint()

  /**
   * Withdraws a commit on an outdated base, i.e. deletes its metadata file. The creation of the file can succeed if
   * another writer committed the same version number earlier, and its metadata file has been deleted since. The commit
   * would then fork the history of the table. Therefore the commit is kept only if the newest version is based on it.
   */
  private def withdrawIfOvertaken(base: TableVersion, committed: TableVersion, number: Int): Unit = {
    val isOvertaken = creation.orUnknown(committed.metadataLocation) {
      (deletesOldVersions(base) || isOldBase(base, committed.metadata)) && highest(base).exists(_ > number) &&
      files.newestByListing().exists(newest =>
        !follows(newest, base, committed).getOrElse(throw logTooShort(newest, committed))
      )
    }
    if (isOvertaken) {
      Cleanup.delete(io, Vector(committed.metadataLocation))
      throw CommitConflict(table, s"version ${number - 1} is outdated, and later versions were already deleted")
    }
  }

  /**
   * Withdraws a commit, i.e. deletes its metadata file, if the table was dropped after the base was read. The commit
   * would restore the deleted table or, if the table was created again, overwrite the metadata of the new table. The
   * check compares the table's UUID with that in the base's metadata file. It does not depend on the age of the base,
   * because clocks differ and the timestamp of the base may be in the future.
   */
  private def withdrawIfReplaced(base: TableVersion, committed: TableVersion, number: Int): Unit = {
    val isReplaced = creation.orUnknown(committed.metadataLocation) {
      !isUnreplaced(base) && !files.newestByListing().exists(isLaterVersion(_, base, committed))
    }
    if (isReplaced) {
      Cleanup.delete(io, Vector(committed.metadataLocation))
      throw CommitConflict(
        table,
        s"version ${number - 1} no longer exists, or belongs to another table that was created in the same directory"
      )
    }
  }

  /**
   * Whether the newest version is based on this commit, directly or through other versions. If the newest version
   * belongs to the same table, but its metadata log no longer goes back to this commit, the outcome of this commit is
   * unknown.
   */
  private def isLaterVersion(newest: TableVersion, base: TableVersion, committed: TableVersion): Boolean = {
    val uuids = base.metadata.uuid ++ newest.metadata.uuid
    val isOtherTable = uuids.toSet.size > 1
    newest.metadataLocation != committed.metadataLocation && !isOtherTable &&
    follows(newest, base, committed).getOrElse(throw logTooShort(newest, committed))
  }

  /**
   * Whether the base's file still exists and belongs to the same table. If the table has no UUID, which is possible in
   * format version 1, the update time is compared.
   */
  private def isUnreplaced(base: TableVersion): Boolean = base.metadata.uuid match {
    case None => isSame(base, files.readIfExists(base.metadataLocation))
    case uuid =>
      VersionFiles.ifExists(io, base.metadataLocation)(MetadataFiles.uuid(io, base.metadataLocation)).contains(uuid)
  }

  private def logTooShort(newest: TableVersion, committed: TableVersion): CommitStateUnknown = creation.unknown(
    committed.metadataLocation,
    s"the log of ${newest.metadataLocation} does not go back that far (${TableProperty.PreviousVersionsMax.key})",
    None
  )

  /**
   * Whether `newest` is the version of this commit or is based on this version. If the commit added snapshots, `newest`
   * must contain one of them. If the commit added no snapshots, the metadata log of `newest` must list the file of this
   * commit. The result is `None` if the log does not go back that far.
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

  /** The interval, in versions, at which commits remove the temporary files of killed writers. */
  private val CleanupInterval = 10

  /**
   * The age of a base, in milliseconds, above which the base is checked before the commit in addition to the check
   * after the commit. The check before the commit prevents readers from seeing a version that is withdrawn later.
   */
  private val OldBaseMs = 5000L
}
