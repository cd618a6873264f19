package iceberglite.spark.sql

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import iceberglite.spark.conf.TimeTravel
import iceberglite.spec.IcebergError.{AlreadyExists, NotFound, ValidationFailed}
import iceberglite.spec.metadata.{SnapshotRef, TableMetadata}
import iceberglite.spec.update.MetadataUpdate.SetSnapshotRef
import iceberglite.spec.update.Requirement.AssertRefSnapshotId
import iceberglite.table.{Action, Change, CommitContext, MetadataAction, SnapshotTarget}
import iceberglite.table.action.{FastAppend, SetRef}

/**
 * `ALTER TABLE t CREATE BRANCH [IF NOT EXISTS] name`, `CREATE OR REPLACE BRANCH`, `REPLACE BRANCH`, with their options,
 * and the same statements for a TAG. Without `AS OF VERSION`, the branch or tag refers to the table's current snapshot.
 * If a table has no current snapshot, a new branch gets an empty snapshot, and a tag cannot be created.
 */
final case class CreateOrReplaceRef(
    table: Seq[String],
    kind: RefKind,
    mode: CreateOrReplaceRef.Mode,
    name: String,
    ifNotExists: Boolean,
    options: RefOptions
) extends TableCommand {

  override protected def loadsNewestVersion: Boolean = true

  override protected def actions(base: TableMetadata, caseSensitive: Boolean): Seq[Action] =
    base.refs.get(name) match {
      case Some(_) if ifNotExists => Nil
      case Some(existing) =>
        if (mode == CreateOrReplaceRef.Create) {
          throw AlreadyExists(
            RefKind.of(existing).objectKind,
            name,
            "Use CREATE OR REPLACE to move it, or IF NOT EXISTS to keep it"
          )
        }
        kind.check(name, existing)
        Seq(new SetRef(name, options.applyTo(movedTo(existing, snapshotOf(base)))))
      case None if mode == CreateOrReplaceRef.Replace =>
        throw NotFound(kind.objectKind, name, s"Use CREATE OR REPLACE to create it. ${TimeTravel.knownRefs(base)}")
      case None if kind == RefKind.Branch && options.snapshotId.isEmpty && base.currentSnapshot.isEmpty => newBranch
      case None => Seq(new SetRef(name, options.applyTo(kind.of(snapshotOf(base)))))
    }

  private def snapshotOf(base: TableMetadata): Long =
    options.snapshotId.orElse(base.currentSnapshotId).getOrElse(
      throw ValidationFailed(
        s"Cannot create the ${kind.name} $name of ${table.mkString(".")}: the table has no snapshot yet. " +
          "Write to it first"
      )
    )

  private def movedTo(ref: SnapshotRef, id: Long): SnapshotRef = ref match {
    case branch: SnapshotRef.Branch => branch.copy(snapshotId = id)
    case tag: SnapshotRef.Tag => tag.copy(snapshotId = id)
  }

  /** Creates a branch of a table without snapshots, by committing an empty snapshot to the branch. */
  private def newBranch: Seq[Action] =
    new FastAppend(Vector.empty, SnapshotTarget.Branch(name, create = true)) +:
      (if (options.hasRetention) Seq(new SetRetention(name, options)) else Nil)
}

object CreateOrReplaceRef {

  /** Determines the effect of the statement if the branch or tag exists, and if it does not exist. */
  sealed abstract class Mode(val words: String*)
  case object Create extends Mode("CREATE")
  case object CreateOrReplace extends Mode("CREATE", "OR", "REPLACE")
  case object Replace extends Mode("REPLACE")

  def statements(kind: RefKind): Seq[AlterTableStatement] =
    Seq(Create, CreateOrReplace, Replace).map(new Statement(kind, _))

  final private class Statement(kind: RefKind, mode: Mode) extends AlterTableStatement {
    override val words: Seq[String] = mode.words :+ kind.word

    override def parse(table: Seq[String], reader: SqlReader): LogicalPlan = {
      val ifNotExists = mode == Create && reader.skip("IF", "NOT", "EXISTS")
      val name = reader.identifier(s"the name of a ${kind.name}")
      CreateOrReplaceRef(table, kind, mode, name, ifNotExists, RefOptions.parse(kind, reader))
    }
  }
}

/** Sets the retention of a branch that an earlier action has created. */
final private class SetRetention(name: String, options: RefOptions) extends MetadataAction {
  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val ref = base.refs(name)
    Change(
      Vector(SetSnapshotRef(name, SnapshotRef.checked(name, options.applyTo(ref)))),
      Vector(AssertRefSnapshotId(name, Some(ref.snapshotId)))
    )
  }
}
