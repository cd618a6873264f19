package iceberglite.table

import iceberglite.spec.IcebergError.{InvalidArgument, NotFound}
import iceberglite.spec.{Snapshot, SnapshotRef, TableMetadata}

/** Where a new snapshot goes (spec: "Snapshot References"). */
sealed trait SnapshotTarget {

  /**
   * The snapshot that the new one follows.
   *
   * @throws NotFound there is no such branch, but `main` is always there
   * @throws InvalidArgument it is a tag
   */
  def head(base: TableMetadata): Option[Snapshot]
}

object SnapshotTarget {

  /**
   * The head of a branch.
   *
   * @param create where the branch is not there, the commit makes it, from the head of `main`
   */
  final case class Branch(name: String, create: Boolean = false) extends SnapshotTarget {
    override def head(base: TableMetadata): Option[Snapshot] = base.refs.get(name) match {
      case Some(branch: SnapshotRef.Branch) => Some(base.snapshot(branch.snapshotId))
      case Some(tag: SnapshotRef.Tag) =>
        throw InvalidArgument("branch", name, s"It is a ${tag.kind}, which nothing is written to")
      case None if name == SnapshotRef.Main => None
      case None if create => base.currentSnapshot
      case None => throw NotFound("branch", name, s"The branches are ${base.refs.keys.toVector.sorted.mkString(", ")}")
    }
  }

  /**
   * No branch: the snapshot is built on the head of `main` and kept in the table, where nobody sees it until it is
   * picked (write-audit-publish).
   */
  case object Staged extends SnapshotTarget {
    override def head(base: TableMetadata): Option[Snapshot] = base.currentSnapshot
  }

  val Main: Branch = Branch(SnapshotRef.Main)
}
