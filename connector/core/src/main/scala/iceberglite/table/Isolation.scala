package iceberglite.table

import iceberglite.spec.IcebergError.{InvalidArgument, ValidationFailed}
import iceberglite.spec._
import iceberglite.tree.MetadataTree

/** How much of what others did in the meantime a write bears (spec: "Optimistic Concurrency"). */
sealed abstract class IsolationLevel(val name: String)
object IsolationLevel {

  /** Neither new rows nor lost ones among those that the write was about. */
  case object Serializable extends IsolationLevel("serializable")

  /** New rows are borne: the write is as of the snapshot it read. */
  case object Snapshot extends IsolationLevel("snapshot")

  val all: Seq[IsolationLevel] = Seq(Serializable, Snapshot)

  /** @throws InvalidArgument that lists the levels there are */
  def parse(name: String): IsolationLevel = all.find(_.name.equalsIgnoreCase(name)).getOrElse(
    throw InvalidArgument("isolation level", name, s"It must be one of ${all.map(_.name).mkString(", ")}")
  )
}

/** What a write is about: the files that it reads or replaces. */
trait Concern {
  def mightMatch(manifest: ManifestFile): Boolean

  /** Whether the file may hold a row that the write is about. */
  def mightMatch(entry: ManifestEntry): Boolean

  /** For messages: `where ...`. */
  def description: String
}

/**
 * A check that concurrent commits left alone what a write is about.
 *
 * @param since the snapshot that the write read; with none, every snapshot there is counts as concurrent
 */
final case class Isolation(level: IsolationLevel, since: Option[Long]) {

  /**
   * @param parent the head of the branch that the write is going to follow
   * @throws ValidationFailed that names the file in the way
   */
  def check(base: TableMetadata, parent: Option[Snapshot], context: CommitContext, concern: Concern): Unit = {
    val tree = MetadataTree.of(context.io, base)
    concurrent(base, parent, context).foreach { snapshot =>
      for {
        manifest <- tree.manifests(snapshot)
        if manifest.addedSnapshotId == snapshot.snapshotId && concern.mightMatch(manifest)
        entry <- tree.entries(manifest)
        if entry.snapshotId.contains(snapshot.snapshotId) && concern.mightMatch(entry)
        change <- conflict(snapshot, entry)
      } throw ValidationFailed(
        s"Cannot commit to ${context.table} with isolation level ${level.name}: snapshot ${snapshot.snapshotId} " +
          s"$change ${entry.file.path}, which may hold rows ${concern.description}. Run the statement again"
      )
    }
  }

  private def concurrent(base: TableMetadata, parent: Option[Snapshot], context: CommitContext): Vector[Snapshot] = {
    val history = parent.fold(Vector.empty[Snapshot])(base.ancestors(_).toVector)
    since.filterNot(id => history.exists(_.snapshotId == id)).foreach { id =>
      throw ValidationFailed(
        s"Cannot tell what happened to ${context.table} since snapshot $id: it is not in the branch's history. " +
          "Run the statement again"
      )
    }
    history.takeWhile(s => !since.contains(s.snapshotId))
  }

  /** What the snapshot did with the file that this level does not bear. Compaction adds no rows. */
  private def conflict(snapshot: Snapshot, entry: ManifestEntry): Option[String] = {
    val data = entry.file.content == Content.Data
    val rewrite = snapshot.operation.contains(Operation.Replace.name)
    entry.status match {
      case EntryStatus.Added if data && level == IsolationLevel.Serializable && !rewrite => Some("added")
      case EntryStatus.Added if !data => Some("added the delete file")
      case EntryStatus.Deleted if data => Some("removed")
      case _ => None
    }
  }
}
