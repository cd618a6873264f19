package iceberglite.spark.sql

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.SnapshotRef

/** The kind of snapshot reference in a statement: branch or tag. */
sealed abstract class RefKind(val word: String, val objectKind: ObjectKind) extends Serializable {

  /** The name for messages: `branch`. */
  def name: String = objectKind.noun

  /** The plural of `word`: `BRANCHES`. */
  def plural: String

  def of(snapshotId: Long): SnapshotRef

  /**
   * Checks the kind of an existing reference.
   *
   * @throws InvalidArgument if the reference is a tag instead of a branch, or a branch instead of a tag
   */
  def check(refName: String, ref: SnapshotRef): Unit =
    if (ref.kind != name) throw InvalidArgument(name, refName, s"It is a ${ref.kind}, and not a $name")
}

object RefKind {
  case object Branch extends RefKind("BRANCH", ObjectKind.Branch) {
    override val plural: String = "BRANCHES"
    override def of(snapshotId: Long): SnapshotRef = SnapshotRef.Branch(snapshotId)
  }
  case object Tag extends RefKind("TAG", ObjectKind.Tag) {
    override val plural: String = "TAGS"
    override def of(snapshotId: Long): SnapshotRef = SnapshotRef.Tag(snapshotId)
  }
  val all: Seq[RefKind] = Seq(Branch, Tag)

  def of(ref: SnapshotRef): RefKind = ref match {
    case _: SnapshotRef.Branch => Branch
    case _: SnapshotRef.Tag => Tag
  }
}
