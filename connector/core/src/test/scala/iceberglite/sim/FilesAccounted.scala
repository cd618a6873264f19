package iceberglite.sim

import iceberglite.spec.metadata.TableMetadata
import iceberglite.tree.SeenParts

/**
 * Every file that the table refers to exists; any other file belongs to a writer that died or had an unknown outcome,
 * or to a faulty storage.
 */
object FilesAccounted extends Check {
  override def name: String = "every file is there that should be, and no other"

  override def violations(history: CheckedHistory): Vector[String] = {
    val newest = history.chain.versions.last
    val store = history.ended.simulation.store
    val needed = referenced(history, newest.metadata) + newest.location
    val missing = needed.filterNot(store.exists).map(path => s"$path is missing")
    // Old metadata files are kept, unless the table property deletes them.
    val known = needed ++ history.chain.versions.map(_.location) + s"${History.Location}/metadata/version-hint.text"
    val litter = (store.paths -- known).toVector.sorted.flatMap(path => unexplained(history, path))
    missing.toVector ++ litter
  }

  /** Metadata is written before the pointer, so its log may name files that were deleted since. */
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
      case Some(_) => Some(s"$path is of $operation, and nobody needs it")
      case None => Some(s"$path is nobody's, and nobody needs it")
    }
  }
}
