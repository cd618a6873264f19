package iceberglite.sim

import iceberglite.spec.json.TableMetadataJson
import iceberglite.spec.metadata.{Snapshot, TableMetadata}

/** A version of the table: its metadata, and the position of its file among all metadata files ever created. */
final case class Version(location: String, metadata: TableMetadata, order: Int)

/**
 * The step from one version to the next.
 *
 * @param added the new snapshots, in order
 */
final case class Step(before: Version, after: Version) {
  val added: Vector[Snapshot] =
    after.metadata.snapshots.filterNot(s => before.metadata.snapshotsById.contains(s.snapshotId))
}

/**
 * The versions of a table from the first to the newest. The metadata log of each version ends with the previous one.
 *
 * @param broken why the chain does not reach the first version
 */
final case class Chain(versions: Vector[Version], broken: Option[String]) {
  lazy val steps: Vector[Step] = versions.zip(versions.drop(1)).map { case (a, b) => Step(a, b) }
  lazy val indexOf: Map[String, Int] = versions.map(_.location).zipWithIndex.toMap
}

object Chain {

  /** Follows the log back from the newest version; deleted files are found among all files ever created. */
  def of(ended: FinishedHistory): Chain = {
    val files = ended.simulation.store.metadataFiles.zipWithIndex.groupBy(_._1.path)

    def find(location: String, before: Int, matches: TableMetadata => Boolean): Option[Version] =
      files.getOrElse(location, Vector.empty).reverseIterator.filter(_._2 < before).map { case (file, order) =>
        Version(location, TableMetadataJson.read(location, file.contents), order)
      }.find(v => matches(v.metadata))

    def back(from: Version, newer: List[Version]): Chain = from.metadata.metadataLog.lastOption match {
      case None => Chain((from :: newer).toVector, None)
      case Some(entry) => find(entry.metadataFile, from.order, _.lastUpdatedMs == entry.timestampMs) match {
          case Some(version) => back(version, from :: newer)
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
          case Some(newest) => back(newest, Nil)
          case None => Chain(Vector.empty, Some(s"the newest version, $location, was never written"))
        }
    }
  }
}
