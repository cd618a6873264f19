package iceberglite.table.action

import iceberglite.spec.IcebergError.{AlreadyExists, CommitConflict, NotFound}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.{SnapshotRef, TableMetadata}
import iceberglite.spec.property.CheckConstraint
import iceberglite.spec.schema.GeneratedColumn
import iceberglite.spec.update.MetadataUpdate.{RemoveProperties, SetProperties}
import iceberglite.spec.update.Requirement.{AssertCurrentSchemaId, AssertRefSnapshotId}
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Adds a CHECK constraint to a table whose rows satisfy it. The commit fails without a retry if the columns, the set of
 * branches, or the head of a branch have changed since the rows were checked.
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
 * Requires that the table has only the CHECK constraints and generated columns that the rows of a write were checked
 * against. Otherwise, one was added concurrently, and the commit fails without a retry.
 *
 * @param checked the properties of the table that define the constraints and generated columns
 */
final class RequireConstraints private (checked: Map[String, String]) extends MetadataAction {

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    def isUnchecked(key: String): Boolean = checked.get(key) != base.properties.get(key)
    val constraints =
      CheckConstraint.of(base.properties).filter(c => isUnchecked(c.key)).map(c => s"CHECK constraint $c")
    val columns = GeneratedColumn.of(base.schema, base.properties)
      .filter(g => isUnchecked(GeneratedColumn.key(g.field.id))).map(g => s"generated column $g")
    (constraints ++ columns).headOption.foreach { added =>
      throw CommitConflict(
        context.table,
        s"the $added was added, and the rows to be written were not checked against it"
      )
    }
    Change(Vector.empty, Vector.empty)
  }
}

object RequireConstraints {

  /** Returns the requirement for rows that were checked against the constraints and columns in a table's properties. */
  def of(properties: Map[String, String]): RequireConstraints =
    new RequireConstraints(properties.filter { case (key, _) =>
      CheckConstraint.isKey(key) || GeneratedColumn.isKey(key)
    })
}

/** Makes a generated column an ordinary column. Its values do not change. */
final class DropGenerationExpression(column: String, caseSensitive: Boolean) extends MetadataAction {

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val generated = GeneratedColumn.of(base.schema, base.properties)
    val found = generated.find { g =>
      if (caseSensitive) g.field.name == column else g.field.name.equalsIgnoreCase(column)
    }
    val dropped = found.getOrElse {
      val names = generated.map(_.field.name).mkString(", ")
      val advice = if (names.isEmpty) "has no generated columns" else s"has the generated columns $names"
      throw NotFound(ObjectKind.Column, column, s"${context.table} $advice")
    }
    Change(Vector(RemoveProperties(Set(GeneratedColumn.key(dropped.field.id)))), Vector.empty)
  }
}
