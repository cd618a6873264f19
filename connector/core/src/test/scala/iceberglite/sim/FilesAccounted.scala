package iceberglite.sim

import iceberglite.spec.metadata.TableMetadata
import iceberglite.tree.SeenParts

/**
 * Every file that the table refers to exists; any other file belongs to a writer that died or had an unknown outcome,
 * or to a faulty storage.
 */
object FilesAccounted extends Check {
  override def name: String = "every referenced file exists, and every other file has an explanation"

  override def violations(history: CheckedHistory): Vector[String] = {
    val newest = history.chain.versions.last
    val store = history.ended.simulation.store
    val needed = referenced(history, newest.metadata) + newest.location
    val missing = needed.filterNot(store.exists).map(path => s"$path is missing")
    // Old metadata files are kept, unless the table property deletes them.
    val known = needed ++ history.chain.versions.map(_.location) + s"${History.Location}/metadata/version-hint.text"
    val unreferenced = (store.paths -- known).toVector.sorted.flatMap(path => unexplained(history, path))
    missing.toVector ++ unreferenced
  }

  /** Returns the paths that metadata refers to: snapshots with their files, and earlier metadata files. */
  private def referenced(history: CheckedHistory, metadata: TableMetadata): Set[String] = {
    val trees = metadata.snapshots.map { snapshot =>
      val tree = history.reader.files(metadata, snapshot).reachable(new SeenParts).metadata
      tree.toSet ++ history.reader.live(metadata, snapshot).map(_.file.path)
    }
    trees.flatten.toSet ++ metadata.metadataLog.map(_.metadataFile)
  }

  private def unexplained(history: CheckedHistory, path: String): Option[String] = {
    val store = history.ended.simulation.store
    val operation = store.find(path).flatMap(file => history.operations.get(file.operation))
    operation.map(_.outcome) match {
      case _ if store.excuseOf(path).isDefined => None
      case Some(Outcome.Unknown(_) | Outcome.Died) => None
      case Some(_) => Some(s"$path was written by $operation and is not referenced")
      case None => Some(s"$path belongs to no operation and is not referenced")
    }
  }
}
