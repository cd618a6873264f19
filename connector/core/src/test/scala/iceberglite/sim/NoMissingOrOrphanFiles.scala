package iceberglite.sim

import iceberglite.spec.metadata.TableMetadata
import iceberglite.tree.SeenParts

/**
 * Checks that every file that the table references exists, and that every unreferenced file was left by a writer that
 * died, possibly after its commit and before the clean-up, by a commit with an unknown outcome, or by a storage fault.
 */
object NoMissingOrOrphanFiles extends Check {
  override def name: String = "every referenced file exists, and every other file was left by a fault"

  override def violations(history: CheckedHistory): Vector[String] = {
    val newest = history.chain.versions.last
    val store = history.finished.simulation.store
    val needed = referenced(history, newest.metadata) + newest.location
    val missing = needed.filterNot(store.exists).map(path => s"$path is missing")
    // Old metadata files may exist, because a commit deletes them only if
    // `write.metadata.delete-after-commit.enabled` is set.
    val allowed = needed ++ history.chain.versions.map(_.location) + s"${History.Location}/metadata/version-hint.text"
    val unreferenced = (store.paths -- allowed).toVector.sorted.flatMap(path => unexplained(history, path))
    missing.toVector ++ unreferenced
  }

  /** Returns the paths of all files of the metadata's snapshots, and of the metadata files in the metadata log. */
  private def referenced(history: CheckedHistory, metadata: TableMetadata): Set[String] = {
    val trees = metadata.snapshots.map { snapshot =>
      val tree = history.reader.files(metadata, snapshot).reachable(new SeenParts).metadata
      tree.toSet ++ history.reader.live(metadata, snapshot).map(_.file.path)
    }
    trees.flatten.toSet ++ metadata.metadataLog.map(_.metadataFile)
  }

  private def unexplained(history: CheckedHistory, path: String): Option[String] = {
    val store = history.finished.simulation.store
    val operation = store.find(path).flatMap(file => history.operations.get(file.operation))
    val isLost = operation.exists(o => history.finished.lostCleanup(o.writer))
    operation.map(_.outcome) match {
      case _ if store.excuseOf(path).isDefined => None
      case Some(Outcome.Unknown(_) | Outcome.Died) => None
      case Some(Outcome.Acknowledged(_)) if isLost => None
      case Some(_) => Some(s"$path was written by $operation and is not referenced")
      case None => Some(s"$path belongs to no operation and is not referenced")
    }
  }
}
