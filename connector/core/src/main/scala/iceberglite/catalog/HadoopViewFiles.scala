package iceberglite.catalog

import scala.annotation.tailrec

import iceberglite.spec.IcebergError.{AlreadyExists, CommitConflict, UnreadableFile}
import iceberglite.spec.ObjectKind
import iceberglite.spec.property.MetadataCompression
import iceberglite.storage.{FileIO, MetadataFiles}
import iceberglite.table.{Cleanup, EmptyDirectories, Environment, TableLocations, ViewChange, ViewState}

/**
 * The metadata files of one view of a file-system catalog, `metadata/v<V>.view.json`. As for tables, a writer commits
 * version V by creating the file of version V, which only one writer can create. The names differ from those of tables,
 * so that no engine mistakes a view for a table. Other engines treat the view's directory as a namespace.
 *
 * @param view the name of the view, for messages
 * @param tableExists whether the directory is the directory of a table
 */
final private[catalog] class HadoopViewFiles(
    io: FileIO,
    location: String,
    view: String,
    environment: Environment,
    tableExists: () => Boolean
) {
  private val directory = TableLocations.inside(location, "metadata")
  private val creation = new ExclusiveCreation(io, view)

  def exists: Boolean = numbers.nonEmpty

  /** Returns the newest state; `None` if the view does not exist. */
  def newest(): Option[ViewState] = numbers.lastOption.flatMap { number =>
    val path = pathOf(number)
    try Some(read(path))
    catch {
      // A concurrent commit removed the file after a newer version was created, or the view was dropped.
      case failed: UnreadableFile => if (numbers.contains(number)) throw failed else newest()
    }
  }

  /** Commits a change; see [[ViewCatalog.commitView]]. */
  def commit(base: Option[ViewState], change: ViewChange): ViewState = {
    val next = PointerViews.apply(view, base, change, environment.nowMs())
    if (base.isEmpty) rejectExisting()
    val number = base.fold(1)(b => numberOf(b.metadataLocation) + 1)
    val path = pathOf(number)
    if (!creation.create(path, MetadataFiles.viewBytes(next, MetadataCompression.Uncompressed))) {
      if (base.isEmpty) rejectExisting()
      throw CommitConflict(view, s"version $number already exists ($path)")
    }
    base.fold(withdrawIfTable(path))(withdrawIfReplaced(_, path))
    Cleanup.quietly(s"remove old metadata files of $view")(
      numbers.filter(_ <= number - HadoopViewFiles.KeptFiles).map(pathOf).foreach(io.delete)
    )
    ViewState(next, path)
  }

  /** Drops the view. @return false if the view does not exist */
  def drop(): Boolean = {
    val existed = delete(Set.empty)
    if (existed) EmptyDirectories.removeAll(io, location)
    existed
  }

  /**
   * Deletes the metadata files. The newest file is deleted last, so that readers never see an older version. A file
   * that a concurrent commit creates in the meantime is deleted too. The writer of this file does not withdraw its
   * commit if it checks the base before this method deletes the base; see `withdrawIfReplaced`.
   *
   * @param deleted the numbers of the files that were already deleted
   * @return whether files were deleted
   */
  @tailrec
  private def delete(deleted: Set[Int]): Boolean = {
    val files = numbers.filterNot(deleted)
    files.map(pathOf).foreach(io.delete)
    if (files.isEmpty) deleted.nonEmpty else delete(deleted ++ files)
  }

  private def rejectExisting(): Unit = {
    if (tableExists()) throw tableWithSameName
    if (exists) {
      throw AlreadyExists(ObjectKind.View, view, "Replace the view, drop it first, or choose another name")
    }
  }

  private def tableWithSameName: AlreadyExists = AlreadyExists(
    ObjectKind.Table,
    view,
    "A table and a view cannot have the same name. Drop the table first, or choose another name"
  )

  /** Withdraws a new view, i.e. deletes its metadata file, if a table with the same name was created concurrently. */
  private def withdrawIfTable(path: String): Unit = if (creation.orUnknown(path)(tableExists())) {
    Cleanup.delete(io, Vector(path))
    throw tableWithSameName
  }

  /**
   * Withdraws a commit if its base no longer exists or belongs to another view. Either the view was dropped
   * concurrently, or the base is so old that later commits removed both the base and the next version. In the second
   * case, the file of the next version could be created again, although the base is not the newest version.
   */
  private def withdrawIfReplaced(base: ViewState, path: String): Unit = {
    val isSameView = creation.orUnknown(path) {
      VersionFiles.ifExists(io, base.metadataLocation)(read(base.metadataLocation))
        .exists(_.metadata.uuid == base.metadata.uuid)
    }
    if (!isSameView) {
      Cleanup.delete(io, Vector(path))
      throw CommitConflict(view, s"${base.metadataLocation} is no longer a version of the view")
    }
  }

  private def read(path: String): ViewState = ViewState(MetadataFiles.readView(io, path), path)

  private def pathOf(number: Int): String = TableLocations.inside(directory, s"v$number${HadoopViewFiles.Suffix}")

  private def numberOf(path: String): Int = HadoopViewFiles.numberIn(path).getOrElse(
    throw new IllegalArgumentException(s"$path is not a metadata file of a view of a file-system catalog")
  )

  /** Returns the numbers of the existing metadata files, in ascending order. */
  private def numbers: Vector[Int] = io.list(directory).flatMap(file => HadoopViewFiles.numberIn(file.path)).sorted
}

private[catalog] object HadoopViewFiles {
  private val Suffix = ".view.json"
  private val Name = """v(\d{1,9})\.view\.json""".r

  /** The number of metadata files that are kept. A view's metadata file contains the history of the view. */
  private val KeptFiles = 100

  private def numberIn(path: String): Option[Int] = path.substring(path.lastIndexOf('/') + 1) match {
    case Name(number) => Some(number.toInt)
    case _ => None
  }
}
