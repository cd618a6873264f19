package iceberglite.table

import iceberglite.spec.IcebergError.{InvalidArgument, NotFound}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.{Snapshot, SnapshotRef, TableMetadata}

/** Determines to which branch a new snapshot is committed, or that it is staged (spec: "Snapshot References"). */
sealed trait SnapshotTarget {

  /**
   * Returns the parent of the new snapshot.
   *
   * @throws NotFound if the branch does not exist and the commit does not create it; `main` always exists
   * @throws InvalidArgument if the reference is a tag
   */
  def head(base: TableMetadata): Option[Snapshot]
}

object SnapshotTarget {

  /**
   * A branch. The new snapshot becomes its head.
   *
   * @param create whether the commit creates a missing branch, from the head of `main`
   */
  final case class Branch(name: String, create: Boolean = false) extends SnapshotTarget {
    override def head(base: TableMetadata): Option[Snapshot] = base.refs.get(name) match {
      case Some(branch: SnapshotRef.Branch) => Some(base.snapshot(branch.snapshotId))
      case Some(tag: SnapshotRef.Tag) =>
        throw InvalidArgument("branch", name, s"It is a ${tag.kind}, and only branches can be written to")
      case None if name == SnapshotRef.Main => None
      case None if create => base.currentSnapshot
      case None =>
        throw NotFound(ObjectKind.Branch, name, s"The branches are ${base.refs.keys.toVector.sorted.mkString(", ")}")
    }
  }

  /**
   * The new snapshot is staged and belongs to no branch. It is based on the head of `main` and added to the table, but
   * readers do not see it until it is cherry-picked (write-audit-publish).
   */
  case object Staged extends SnapshotTarget {
    override def head(base: TableMetadata): Option[Snapshot] = base.currentSnapshot
  }

  val Main: Branch = Branch(SnapshotRef.Main)

  /** Returns the target for a branch that the user has named; `main` if there is no name. */
  def ofBranch(name: Option[String]): Branch = name.fold(Main)(Branch(_))
}
