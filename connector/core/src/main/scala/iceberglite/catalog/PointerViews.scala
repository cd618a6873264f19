package iceberglite.catalog

import iceberglite.spec.IcebergError.{AlreadyExists, CommitConflict}
import iceberglite.spec.ObjectKind
import iceberglite.spec.property.{MetadataCompression, TableProperty}
import iceberglite.spec.update.ViewUpdate
import iceberglite.spec.view.ViewMetadata
import iceberglite.storage.{FileIO, MetadataFiles}
import iceberglite.table.{Environment, TableLocations, ViewChange, ViewState}

/**
 * Loads and commits the views of a catalog that stores a pointer to the current metadata file of each view (view spec:
 * "Metadata Location").
 *
 * @param warehouse the location of views, for messages
 */
final private[catalog] class PointerViews(io: FileIO, environment: Environment, warehouse: String) {

  /** Returns the newest state; `None` if the view does not exist. */
  def load(pointer: Pointer[ViewState]): Option[ViewState] =
    pointer.read().map(path => ViewState(MetadataFiles.readView(io, path), path))

  /**
   * Commits a change to a view; see [[ViewCatalog.commitView]].
   *
   * @param name the name of the view, for messages
   */
  def commit(name: String, pointer: Pointer[ViewState], base: Option[ViewState], change: ViewChange): ViewState = {
    val next = PointerViews.apply(name, base, change, environment.nowMs())
    val state = ViewState(next, nextFile(base, next))
    val swap = new PointerSwap(name, pointer, PointerViews.Views, io, environment, warehouse)
    try swap.commit(base, state)
    catch {
      case _: CommitConflict if base.isEmpty && pointer.read().isDefined =>
        throw AlreadyExists(ObjectKind.View, name, "Replace the view, drop it first, or choose another name")
    }
    state
  }

  /** Creates a pointer to an existing metadata file; see [[ViewCatalog.registerView]]. */
  def register(name: String, pointer: Pointer[ViewState], metadataFile: String): ViewState = {
    val state = ViewState(MetadataFiles.readView(io, metadataFile), metadataFile)
    PointerRegistration(ObjectKind.View, name, pointer, state, metadataFile)
    state
  }

  private def nextFile(base: Option[ViewState], next: ViewMetadata): String = {
    val directory = TableProperty.of(TableProperty.MetadataPath, next.properties)
      .getOrElse(TableLocations.inside(next.location, "metadata"))
    val name = PointerTables.fileName(base.map(_.metadataLocation), environment, PointerViews.codecOf(next))
    TableLocations.inside(directory, name)
  }
}

private[catalog] object PointerViews {

  /** Checks the requirements of a change to a view, and returns the metadata after the change. */
  def apply(name: String, base: Option[ViewState], change: ViewChange, nowMs: Long): ViewMetadata = {
    change.requirements.foreach(_.check(base.map(_.metadata), name))
    base match {
      case None => ViewUpdate.create(change.updates, nowMs)
      case Some(current) => ViewUpdate.applyAll(current.metadata, change.updates, nowMs)
    }
  }

  /**
   * Returns the compression codec of a view's metadata files. Unlike table metadata, view metadata is compressed by
   * default, as in Apache Iceberg.
   */
  private def codecOf(view: ViewMetadata): MetadataCompression =
    view.properties.get(TableProperty.MetadataCodec.key)
      .fold[MetadataCompression](MetadataCompression.Gzip)(MetadataCompression.of)

  private object Views extends PointerTarget[ViewState] {
    override def location(state: ViewState): String = state.metadataLocation

    override def contents(state: ViewState): Array[Byte] =
      MetadataFiles.viewBytes(state.metadata, codecOf(state.metadata))

    override def properties(state: ViewState): Map[String, String] = state.metadata.properties

    /** Returns no files, because the metadata of a view has no metadata log. */
    override def log(io: FileIO, path: String): Vector[String] = Vector.empty
  }
}
