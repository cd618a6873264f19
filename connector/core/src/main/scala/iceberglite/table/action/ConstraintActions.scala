package iceberglite.table.action

import iceberglite.spec.IcebergError.{AlreadyExists, CommitConflict}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.{SnapshotRef, TableMetadata}
import iceberglite.spec.property.CheckConstraint
import iceberglite.spec.update.MetadataUpdate.SetProperties
import iceberglite.spec.update.Requirement.{AssertCurrentSchemaId, AssertRefSnapshotId}
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Adds a CHECK constraint to a table whose rows satisfy it. The commit fails without a retry if the columns, or the
 * head of a branch, have changed since the rows were checked.
 *
 * @param checked the version of the table whose rows were checked, in all branches
 */
final class AddCheckConstraint(constraint: CheckConstraint, checked: TableMetadata) extends MetadataAction {

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    AddCheckConstraint.requireNew(constraint, base, context.table)
    val requirements = AssertCurrentSchemaId(checked.currentSchemaId) +: AddCheckConstraint.heads(checked).map {
      case (branch, snapshot) => AssertRefSnapshotId(branch, snapshot)
    }
    val newBranches = AddCheckConstraint.heads(base).map(_._1).diff(AddCheckConstraint.heads(checked).map(_._1))
    newBranches.foreach(branch => throw CommitConflict(context.table, s"the branch $branch was created"))
    requirements.foreach(_.check(Some(base), context.table))
    Change(Vector(SetProperties(Map(constraint.key -> constraint.expression))), requirements)
  }
}

object AddCheckConstraint {

  /** @throws AlreadyExists if the table has a constraint with this name */
  def requireNew(constraint: CheckConstraint, base: TableMetadata, table: String): Unit =
    CheckConstraint.find(base.properties, constraint.name).foreach { existing =>
      throw AlreadyExists(
        ObjectKind.Constraint,
        existing.name,
        s"$table has the constraint $existing; drop it first or choose another name"
      )
    }

  /** Returns all branches with the ids of their heads. An empty table has the branch `main` without a snapshot. */
  def heads(metadata: TableMetadata): Vector[(String, Option[Long])] = {
    val branches = metadata.refs.collect { case (name, ref: SnapshotRef.Branch) => name -> Option(ref.snapshotId) }
    (Map(SnapshotRef.Main -> Option.empty[Long]) ++ branches).toVector.sortBy(_._1)
  }
}

/**
 * Requires that the table has only the CHECK constraints that the rows of a write were checked against. Otherwise, a
 * constraint was added concurrently, and the commit fails without a retry.
 */
final class RequireConstraints(checked: Seq[CheckConstraint]) extends MetadataAction {

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    CheckConstraint.of(base.properties).find(!checked.contains(_)).foreach { constraint =>
      throw CommitConflict(
        context.table,
        s"the CHECK constraint $constraint was added, and the rows to be written were not checked against it"
      )
    }
    Change(Vector.empty, Vector.empty)
  }
}
