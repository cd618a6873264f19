package iceberglite.table.action

import iceberglite.spec.Requirement.{AssertCurrentSchemaId, AssertLastAssignedFieldId}
import iceberglite.spec.{Requirement, SchemaUpdate, TableMetadata}
import iceberglite.table.{Change, CommitContext}

/**
 * Changes the columns. It is not applied again to a table whose columns somebody else has changed (spec: "Commit
 * Conflict Resolution and Retry").
 *
 * @param edit what is to be done; it may be asked for several bases
 */
final class UpdateSchema(edit: SchemaUpdate => SchemaUpdate, caseSensitive: Boolean = true) extends MetadataAction {
  private val unmoved = new Unmoved(base =>
    Vector(AssertCurrentSchemaId(base.currentSchemaId), AssertLastAssignedFieldId(base.lastColumnId))
  )

  override def describe(base: TableMetadata, context: CommitContext): Change = {
    val requirements = unmoved.require(base, context)
    Change(edit(SchemaUpdate(base, caseSensitive)).updates, requirements)
  }
}

/** Requirements of the base that an action saw first, which every later base must meet: a conflict here is final. */
final private[action] class Unmoved(of: TableMetadata => Vector[Requirement]) {
  private var first: Option[Vector[Requirement]] = None

  def require(base: TableMetadata, context: CommitContext): Vector[Requirement] = {
    val requirements = first.getOrElse(of(base))
    requirements.foreach(_.check(Some(base), context.table))
    first = Some(requirements)
    requirements
  }
}
