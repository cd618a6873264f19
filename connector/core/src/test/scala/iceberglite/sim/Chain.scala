package iceberglite.sim

import iceberglite.spec.json.TableMetadataJson
import iceberglite.spec.metadata.{Snapshot, TableMetadata}

/**
 * A version of the table.
 *
 * @param order index of the version's metadata file among all metadata files that were ever created
 */
final case class Version(location: String, metadata: TableMetadata, order: Int)

/** The step from one version of the table to the next. */
final case class Step(before: Version, after: Version) {

  /** The snapshots that only the later version contains, in the order in which they were added. */
  val added: Vector[Snapshot] =
    after.metadata.snapshots.filterNot(s => before.metadata.snapshotsById.contains(s.snapshotId))
}

/**
 * The versions of a table from the first to the newest. The last entry of each version's metadata log is the previous
 * version.
 *
 * @param broken the reason why the metadata logs do not lead back to the first version, or `None` if they do
 */
final case class Chain(versions: Vector[Version], broken: Option[String]) {
  lazy val steps: Vector[Step] = versions.zip(versions.drop(1)).map { case (a, b) => Step(a, b) }
  lazy val indexOf: Map[String, Int] = versions.map(_.location).zipWithIndex.toMap
}

object Chain {

  /**
   * Follows the metadata logs from the newest version back to the first. Deleted metadata files are read too, because
   * the store keeps every file that was ever created.
   */
  def of(ended: FinishedHistory): Chain = {
    val files = ended.simulation.store.metadataFiles.zipWithIndex.groupBy(_._1.path)

    def find(location: String, before: Int, matches: TableMetadata => Boolean): Option[Version] =
      files.getOrElse(location, Vector.empty).reverseIterator.filter(_._2 < before).map { case (file, order) =>
        Version(location, TableMetadataJson.read(location, file.contents), order)
      }.find(v => matches(v.metadata))

    def followLog(from: Version, newer: List[Version]): Chain = from.metadata.metadataLog.lastOption match {
      case None => Chain((from :: newer).toVector, None)
      case Some(entry) => find(entry.metadataFile, from.order, _.lastUpdatedMs == entry.timestampMs) match {
          case Some(version) => followLog(version, from :: newer)
          case None =>
            Chain(
              (from :: newer).toVector,
              Some(s"${from.location} follows ${entry.metadataFile}, which never existed")
            )
        }
    }

    ended.newest.fold(e => Left(e.getMessage), v => Right(v.metadataLocation)) match {
      case Left(reason) => Chain(Vector.empty, Some(s"the table is lost: $reason"))
      case Right(location) => find(location, Int.MaxValue, _ => true) match {
          case Some(newest) => followLog(newest, Nil)
          case None => Chain(Vector.empty, Some(s"the newest version, $location, was never written"))
        }
    }
  }
}
