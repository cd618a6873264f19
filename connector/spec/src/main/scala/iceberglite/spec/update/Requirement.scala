package iceberglite.spec.update

import java.util.UUID

import iceberglite.spec.IcebergError.{AlreadyExists, CommitConflict, ValidationFailed}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.view.ViewMetadata

/**
 * A condition that a table must meet so that a change can be applied (spec: "Commit Conflict Resolution and Retry").
 */
sealed trait Requirement {

  /**
   * Checks the requirement.
   *
   * @param base the table's current metadata; `None` if the table does not exist
   * @param table the name of the table, for messages
   * @throws CommitConflict if the requirement is not met, and the change must therefore be planned again; some
   *   requirements throw another error, because planning again would not help
   */
  def check(base: Option[TableMetadata], table: String): Unit
}

object Requirement {

  /** Requires that the table does not exist. The error is not a [[CommitConflict]], because a retry would also fail. */
  case object AssertCreate extends Requirement {
    override def check(base: Option[TableMetadata], table: String): Unit = if (base.isDefined) {
      throw AlreadyExists(
        ObjectKind.Table,
        table,
        "The table was created in the meantime; drop the table first or choose another name"
      )
    }
  }

  /**
   * Requires that the table has the given UUID, and is therefore not another table with the same name. The error is not
   * a [[CommitConflict]], because a retry would also fail.
   */
  final case class AssertTableUuid(uuid: UUID) extends Requirement {
    override def check(base: Option[TableMetadata], table: String): Unit = {
      val current = base.flatMap(_.uuid)
      if (!current.contains(uuid)) {
        throw ValidationFailed(
          s"Table $table was dropped or replaced in the meantime: its UUID was $uuid and is now " +
            s"${current.fold("none")(_.toString)}. Load the table again"
        )
      }
    }
  }

  /**
   * Requires that a branch or tag refers to the given snapshot. If `snapshotId` is absent, requires that the branch or
   * tag does not exist.
   */
  final case class AssertRefSnapshotId(ref: String, snapshotId: Option[Long]) extends Requirement {
    override def check(base: Option[TableMetadata], table: String): Unit =
      requireUnchanged(table, s"snapshot of $ref", snapshotId, base.flatMap(_.refs.get(ref)).map(_.snapshotId))
  }

  final case class AssertLastAssignedFieldId(fieldId: Int) extends Requirement {
    override def check(base: Option[TableMetadata], table: String): Unit =
      requireUnchanged(table, "last assigned field id", Some(fieldId), base.map(_.lastColumnId))
  }

  final case class AssertCurrentSchemaId(schemaId: Int) extends Requirement {
    override def check(base: Option[TableMetadata], table: String): Unit =
      requireUnchanged(table, "current schema", Some(schemaId), base.map(_.currentSchemaId))
  }

  final case class AssertLastAssignedPartitionId(fieldId: Int) extends Requirement {
    override def check(base: Option[TableMetadata], table: String): Unit =
      requireUnchanged(table, "last assigned partition field id", Some(fieldId), base.map(_.lastPartitionId))
  }

  final case class AssertDefaultSpecId(specId: Int) extends Requirement {
    override def check(base: Option[TableMetadata], table: String): Unit =
      requireUnchanged(table, "default partition spec", Some(specId), base.map(_.defaultSpecId))
  }

  final case class AssertDefaultSortOrderId(orderId: Int) extends Requirement {
    override def check(base: Option[TableMetadata], table: String): Unit =
      requireUnchanged(table, "default sort order", Some(orderId), base.map(_.defaultSortOrderId))
  }

  private def requireUnchanged[A](table: String, property: String, expected: Option[A], current: Option[A]): Unit =
    if (expected != current) {
      def show(value: Option[A]): String = value.fold("none")(_.toString)
      throw CommitConflict(table, s"the $property was ${show(expected)} and is now ${show(current)}")
    }
}

/** A condition that a view must meet so that a change can be applied. */
sealed trait ViewRequirement {

  /** Checks the requirement. @param base the view's current metadata; `None` if the view does not exist */
  def check(base: Option[ViewMetadata], view: String): Unit
}

object ViewRequirement {

  /** Requires that the view has the given UUID, and is therefore not another view with the same name. */
  final case class AssertViewUuid(uuid: UUID) extends ViewRequirement {
    override def check(base: Option[ViewMetadata], view: String): Unit = {
      val current = base.flatMap(_.uuid)
      if (!current.contains(uuid)) {
        throw ValidationFailed(
          s"View $view was dropped or replaced in the meantime: its UUID was $uuid and is now " +
            s"${current.fold("none")(_.toString)}. Load the view again"
        )
      }
    }
  }
}
