package iceberglite.catalog

import java.util.Arrays

import scala.util.control.NonFatal

import iceberglite.io.{FileIO, MetadataCodec, MetadataFiles}
import iceberglite.spec.IcebergError._
import iceberglite.spec.{IcebergError, TableMetadata, TableProperty}
import iceberglite.table._

/**
 * A file-system table (spec: "File System Tables"). The commit of version V is that its file appears, which happens
 * once; `version-hint.text` is written later and may lag behind, be missing or hold nonsense.
 *
 * @param table how messages call the table
 */
final private[catalog] class VersionedTable(io: FileIO, location: String, table: String) {
  private val files = new VersionFiles(io, location)

  /** Whether anything of a table is here, whatever the names of its metadata files. */
  def isThere: Boolean = files.isThere

  def newest(): Option[TableVersion] = files.newest()

  /** Publishes the version after `base`. */
  def commit(base: Option[TableVersion], next: NextVersion): TableVersion = {
    val number = base.fold(1)(b => numberOf(b) + 1)
    // All who commit on one base must compete for one name, so its codec counts, not that of the change.
    val codec = MetadataCodec.of(
      TableProperty.of(TableProperty.MetadataCodec, base.fold(next.metadata.properties)(_.metadata.properties))
    )
    val path = files.pathOf(number, codec)
    base.fold(refuseTaken())(refuseReplaced(_, next.metadata))
    if (!claim(path, MetadataFiles.bytes(next.metadata, codec))) throw taken(number, path)
    val committed = TableVersion(next.metadata, path)
    base.fold(withdrawIfTaken(number, path)) { b =>
      withdrawIfOvertaken(b, committed, number)
      withdrawIfReplaced(b, committed, number)
    }
    Cleanup.quietly(s"write the version hint of $table")(files.writeHint(number))
    if (number % VersionedTable.TidyEach == 0) {
      Cleanup.quietly(s"remove temporary files of $table")(files.removeStale(path))
    }
    deleteExpired(next, committed)
    committed
  }

  private def deleteExpired(next: NextVersion, committed: TableVersion): Unit = if (next.expired.nonEmpty) {
    val owned = OwnedPaths.of(io, committed, TableOwnership(Some(location), Vector.empty, hasVersionNames = true))
    new OwnedDeletion(io, owned).expired(next.expired, committed, hasVersionNames = true).warn(s"A commit to $table")
  }

  private def numberOf(version: TableVersion): Int = files.numberIn(version.metadataLocation).getOrElse(
    throw Unsupported(
      s"committing to $table, whose metadata is ${version.metadataLocation}",
      "It belongs to a catalog that stores a pointer to the newest metadata file; commit through that catalog"
    )
  )

  private def taken(number: Int, path: String): CommitConflict =
    CommitConflict(table, s"version $number already exists ($path)")

  /** A new table needs a directory without metadata, also without that of a table that another catalog keeps. */
  private def refuseTaken(): Unit = files.names().sorted.headOption.foreach { name =>
    files.numberIn(name).foreach(number => throw taken(number, TableLocations.inside(files.directory, name)))
    throw AlreadyExists(
      "table",
      s"$table in $location",
      s"$name there belongs to a catalog that stores a pointer to the newest metadata file; use it, or another location"
    )
  }

  /** Two who create a table with different codecs: both look after they created, so that at most one stays. */
  private def withdrawIfTaken(number: Int, path: String): Unit = {
    val other = orUnknown(path) {
      val found = MetadataCodec.all.map(files.pathOf(number, _)).filterNot(_ == path).find(io.exists)
      found.foreach(_ => io.delete(path))
      found
    }
    other.foreach(theirs => throw taken(number, theirs))
  }

  /**
   * Makes the file appear, and settles right here what an unclear answer means: the file's contents tell whose it is.
   *
   * @return false where another commit has the name
   */
  private def claim(path: String, contents: Array[Byte]): Boolean = created(path, contents) match {
    case Right(true) => true
    // A storage that tried again by itself found the name taken by its own first try.
    case Right(false) => isOurs(path, contents).getOrElse(false)
    case Left(refused: StorageFailed) => isOurs(path, contents).getOrElse(throw refused)
    case Left(unclear: CommitStateUnknown) => again(path, contents, unclear)
    case Left(definite: IcebergError) => throw definite
    case Left(NonFatal(e)) => again(path, contents, e)
    case Left(fatal) => throw unknown(path, fatal.toString, Some(fatal))
  }

  /** The same name and contents once more: whichever call gets through, it is this commit, or another has the name. */
  private def again(path: String, contents: Array[Byte], failure: Throwable): Boolean =
    isOurs(path, contents).getOrElse {
      created(path, contents).right.toOption.filter(identity).orElse(isOurs(path, contents))
        .getOrElse(throw unknown(path, String.valueOf(failure.getMessage), Some(failure)))
    }

  private def created(path: String, contents: Array[Byte]): Either[Throwable, Boolean] =
    try Right(io.createExclusively(path, contents))
    catch { case e: Throwable => Left(e) }

  /** Whether a file is this commit's; `None` where there is none. */
  private def isOurs(path: String, contents: Array[Byte]): Option[Boolean] =
    orUnknown(path)(files.ifThere(path)(io.read(path)).map(Arrays.equals(_, contents)))

  /** Runs what comes when the commit may have happened: its failure says nothing. */
  private def orUnknown[A](path: String)(look: => A): A =
    try look
    catch {
      case known: CommitStateUnknown => throw known
      case e: Throwable => throw unknown(path, s"it cannot be read (${e.getMessage})", Some(e))
    }

  private def unknown(path: String, reason: String, cause: Option[Throwable]): CommitStateUnknown =
    CommitStateUnknown(table, path, reason, cause)

  /**
   * A table that was dropped and made again has versions of the same numbers, and one whose old versions are deleted
   * has free numbers among the old ones: a base that may be old is looked at before anything is built on it.
   */
  private def refuseReplaced(base: TableVersion, next: TableMetadata): Unit = {
    val moved = deletes(base) && highest(base).exists(_ > numberOf(base))
    if (moved || isHeldOn(base, next) && !isSame(base, files.readIfThere(base.metadataLocation))) {
      throw CommitConflict(table, s"${base.metadataLocation} is not the newest version, or was changed")
    }
  }

  private def isSame(base: TableVersion, there: Option[TableVersion]): Boolean = there.map(_.metadata).exists { m =>
    m.uuid == base.metadata.uuid && m.lastUpdatedMs == base.metadata.lastUpdatedMs
  }

  private def isHeldOn(base: TableVersion, next: TableMetadata): Boolean =
    next.lastUpdatedMs - base.metadata.lastUpdatedMs > VersionedTable.FreshMs

  private def deletes(base: TableVersion): Boolean =
    TableProperty.of(TableProperty.DeleteAfterCommit, base.metadata.properties)

  /**
   * How far the table is. Where versions are deleted at once, a late writer can set the hint back to one that is gone,
   * so that only a listing tells; elsewhere the hint is never that far behind.
   */
  private def highest(base: TableVersion): Option[Int] =
    if (deletes(base)) files.newestListed().flatMap(files.numberIn) else files.hint()

  /**
   * A name can be free because its file was deleted long ago: whoever commits on a version that old would fork the
   * history. Where that may be, the newest version tells.
   */
  private def withdrawIfOvertaken(base: TableVersion, ours: TableVersion, number: Int): Unit = {
    val overtaken = orUnknown(ours.metadataLocation) {
      (deletes(base) || isHeldOn(base, ours.metadata)) && highest(base).exists(_ > number) &&
      files.listed().exists(newest => !follows(newest, base, ours).getOrElse(throw forgotten(newest, ours)))
    }
    if (overtaken) {
      Cleanup.delete(io, Vector(ours.metadataLocation))
      throw CommitConflict(table, s"the table has long moved on from version ${number - 1}")
    }
  }

  /**
   * The table may have been dropped, and created again, since the base was read: then a commit would bring back what is
   * gone, or belong to another table. The UUID in the base's file tells; times do not, because clocks differ and the
   * base's own may lie in the future.
   */
  private def withdrawIfReplaced(base: TableVersion, ours: TableVersion, number: Int): Unit = {
    val replaced = orUnknown(ours.metadataLocation) {
      !isStill(base) &&
      !files.listed().exists(newest =>
        newest.metadataLocation != ours.metadataLocation && follows(newest, base, ours).contains(true)
      )
    }
    if (replaced) {
      Cleanup.delete(io, Vector(ours.metadataLocation))
      throw CommitConflict(
        table,
        s"version ${number - 1} no longer exists, or belongs to another table that was created in its place"
      )
    }
  }

  /** Whether the base's file is there and the table's. Old tables of version 1 have no UUID, so the whole file tells. */
  private def isStill(base: TableVersion): Boolean = base.metadata.uuid match {
    case None => isSame(base, files.readIfThere(base.metadataLocation))
    case uuid => files.ifThere(base.metadataLocation)(MetadataFiles.uuid(io, base.metadataLocation)).contains(uuid)
  }

  private def forgotten(newest: TableVersion, ours: TableVersion): CommitStateUnknown = unknown(
    ours.metadataLocation,
    s"the log of ${newest.metadataLocation} does not go back that far (${TableProperty.PreviousVersionsMax.key})",
    None
  )

  /**
   * Whether a version came after ours: by the snapshots that the commit added or, where it added none, by the log;
   * `None` where the log does not go back that far.
   */
  private def follows(newest: TableVersion, base: TableVersion, ours: TableVersion): Option[Boolean] = {
    val added = ours.metadata.snapshotsById.keySet -- base.metadata.snapshotsById.keySet
    val log = newest.metadata.metadataLog
    if (added.nonEmpty) Some(added.exists(newest.metadata.snapshotsById.contains))
    else if (newest.metadataLocation == ours.metadataLocation) Some(true)
    else if (log.flatMap(e => files.numberIn(e.metadataFile)).exists(_ <= numberOf(ours))) Some(
      log.exists(e => e.metadataFile == ours.metadataLocation && e.timestampMs == ours.metadata.lastUpdatedMs)
    )
    else None
  }
}

private[catalog] object VersionedTable {

  /** After every so many versions, what killed writers left is looked for. */
  private val TidyEach = 10

  /**
   * A base older than this is looked at before anything is published on it. This saves readers from seeing a version that
   * would be withdrawn; whether it is withdrawn does not depend on it.
   */
  private val FreshMs = 5000L
}
