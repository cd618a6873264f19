package iceberglite.spec

import java.util.UUID

import iceberglite.spec.IcebergError.{AlreadyExists, CommitConflict, ValidationFailed}

/** What must still hold of a table for a change to be applied (spec: "Commit Conflict Resolution and Retry"). */
sealed trait Requirement {

  /**
   * @param base the table's metadata now; `None` where there is no such table
   * @param table how messages call the table
   * @throws CommitConflict where the change must be described anew
   */
  def check(base: Option[TableMetadata], table: String): Unit

  /** The same, with the table called by its location. */
  def check(base: Option[TableMetadata]): Unit = check(base, base.fold("a new table")(_.location))
}

object Requirement {

  /** There is no such table. Trying again cannot help, so the error is not a conflict. */
  case object AssertCreate extends Requirement {
    override def check(base: Option[TableMetadata], table: String): Unit = if (base.isDefined) {
      throw AlreadyExists("table", table, "It was created in the meantime; drop it first or choose another name")
    }
  }

  /** It is still the same table, and not one that took its name. Trying again cannot help here either. */
  final case class AssertTableUuid(uuid: UUID) extends Requirement {
    override def check(base: Option[TableMetadata], table: String): Unit = {
      val found = base.flatMap(_.uuid)
      if (!found.contains(uuid)) {
        throw ValidationFailed(
          s"Table $table is not the same any more: its UUID was $uuid and is now ${found.fold("none")(_.toString)}. " +
            "It was dropped or replaced in the meantime; load it again"
        )
      }
    }
  }

  /** A branch or tag stands at this snapshot, or does not exist. */
  final case class AssertRefSnapshotId(ref: String, snapshotId: Option[Long]) extends Requirement {
    override def check(base: Option[TableMetadata], table: String): Unit =
      unchanged(table, s"snapshot of $ref", snapshotId, base.flatMap(_.refs.get(ref)).map(_.snapshotId))
  }

  final case class AssertLastAssignedFieldId(fieldId: Int) extends Requirement {
    override def check(base: Option[TableMetadata], table: String): Unit =
      unchanged(table, "last assigned field id", Some(fieldId), base.map(_.lastColumnId))
  }

  final case class AssertCurrentSchemaId(schemaId: Int) extends Requirement {
    override def check(base: Option[TableMetadata], table: String): Unit =
      unchanged(table, "current schema", Some(schemaId), base.map(_.currentSchemaId))
  }

  final case class AssertLastAssignedPartitionId(fieldId: Int) extends Requirement {
    override def check(base: Option[TableMetadata], table: String): Unit =
      unchanged(table, "last assigned partition field id", Some(fieldId), base.map(_.lastPartitionId))
  }

  final case class AssertDefaultSpecId(specId: Int) extends Requirement {
    override def check(base: Option[TableMetadata], table: String): Unit =
      unchanged(table, "default partition spec", Some(specId), base.map(_.defaultSpecId))
  }

  final case class AssertDefaultSortOrderId(orderId: Int) extends Requirement {
    override def check(base: Option[TableMetadata], table: String): Unit =
      unchanged(table, "default sort order", Some(orderId), base.map(_.defaultSortOrderId))
  }

  private def unchanged[A](table: String, what: String, expected: Option[A], found: Option[A]): Unit =
    if (expected != found) {
      def show(value: Option[A]): String = value.fold("none")(_.toString)
      throw CommitConflict(table, s"the $what was ${show(expected)} and is now ${show(found)}")
    }
}

/** What must still hold of a view for a change to be applied. */
sealed trait ViewRequirement {

  /** @param base the view's metadata now; `None` where there is no such view */
  def check(base: Option[ViewMetadata], view: String): Unit
}

object ViewRequirement {

  /** It is still the same view, and not one that took its name. */
  final case class AssertViewUuid(uuid: UUID) extends ViewRequirement {
    override def check(base: Option[ViewMetadata], view: String): Unit = {
      val found = base.flatMap(_.uuid)
      if (!found.contains(uuid)) {
        throw ValidationFailed(
          s"View $view is not the same any more: its UUID was $uuid and is now ${found.fold("none")(_.toString)}. " +
            "It was dropped or replaced in the meantime; load it again"
        )
      }
    }
  }
}
