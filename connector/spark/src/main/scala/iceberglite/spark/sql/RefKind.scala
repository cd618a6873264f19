package iceberglite.spark.sql

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.SnapshotRef

/** What a statement about named snapshots is about. */
sealed abstract class RefKind(val word: String) {

  /** As in messages: `branch`. */
  def name: String = word.toLowerCase

  def of(snapshotId: Long): SnapshotRef

  /** @throws InvalidArgument the name is of the other kind */
  def check(refName: String, ref: SnapshotRef): Unit =
    if (ref.kind != name) throw InvalidArgument(name, refName, s"It is a ${ref.kind}")
}

object RefKind {
  case object Branch extends RefKind("BRANCH") {
    override def of(snapshotId: Long): SnapshotRef = SnapshotRef.Branch(snapshotId)
  }
  case object Tag extends RefKind("TAG") {
    override def of(snapshotId: Long): SnapshotRef = SnapshotRef.Tag(snapshotId)
  }
  val all: Seq[RefKind] = Seq(Branch, Tag)
}
