package iceberglite.table

import iceberglite.spec.IcebergError.{InvalidArgument, ValidationFailed}
import iceberglite.spec._
import iceberglite.tree.PartFilter

/** How much of what others did in the meantime a write bears (spec: "Optimistic Concurrency"). */
sealed abstract class IsolationLevel(val name: String)
object IsolationLevel {

  /** Neither new rows nor lost ones among those that the write was about. */
  case object Serializable extends IsolationLevel("serializable")

  /** New rows are borne: the write is as of the snapshot it read. */
  case object Snapshot extends IsolationLevel("snapshot")

  val all: Seq[IsolationLevel] = Seq(Serializable, Snapshot)

  /** @throws InvalidArgument that lists the levels there are */
  def parse(name: String): IsolationLevel = all.find(_.name.equalsIgnoreCase(name)).getOrElse(
    throw InvalidArgument("isolation level", name, s"It must be one of ${all.map(_.name).mkString(", ")}")
  )
}

/** The files that a write reads or replaces, to find the concurrent changes that conflict with it. */
trait ConflictFilter extends PartFilter {

  /** Whether the file may hold a row that the write is about or, of a delete file, delete one. */
  def mightMatch(entry: ManifestEntry): Boolean

  /** For messages: `where ...`. */
  def description: String
}

/** What another commit may have done to the rows that a write is about. Compaction does none of it. */
sealed abstract private[table] class Conflict
private[table] object Conflict {
  case object AddedRows extends Conflict
  case object AddedDeletes extends Conflict
  case object RemovedFiles extends Conflict
}

/**
 * A check that concurrent commits left alone what a write is about.
 *
 * @param since the snapshot that the write read; with none, every snapshot there is counts as concurrent
 */
final case class Isolation(level: IsolationLevel, since: Option[Long]) {
  import Conflict._

  /** What this level does not bear of a write that replaces the rows that it is about. */
  private[table] def refused: Set[Conflict] = level match {
    case IsolationLevel.Serializable => Set(AddedRows, AddedDeletes, RemovedFiles)
    case IsolationLevel.Snapshot => Set(AddedDeletes, RemovedFiles)
  }

  /**
   * @param parent the head of the branch that the write is going to follow
   * @throws ValidationFailed that names the file in the way
   */
  def check(base: TableMetadata, parent: Option[Snapshot], context: CommitContext, concern: ConflictFilter): Unit =
    check(new BranchHistory(base, parent, context), context, concern, refused)

  /** @param refused what is not borne */
  private[table] def check(
      history: BranchHistory,
      context: CommitContext,
      concern: ConflictFilter,
      refused: Set[Conflict]
  ): Unit = {
    val conflicts = for {
      change <- history.changes(history.concurrent(since), concern)
      if interference(change).exists(refused) && concern.mightMatch(change.entry)
    } yield change
    val touched = touchedFiles(conflicts, history, concern)
    conflicts.find(c => DeleteApplicability.dataFile(c.entry.file).forall(touched)).foreach { change =>
      val file = change.entry.file
      val done = if (change.removed) "removed" else if (change.isData) "added" else "added the delete file"
      throw ValidationFailed(
        s"Cannot commit to ${context.table} with isolation level ${level.name}: snapshot " +
          s"${change.snapshot.snapshotId} $done ${file.path}, which may hold rows ${concern.description}. " +
          "Run the statement again",
        byOthers = true
      )
    }
  }

  private def interference(change: FileChange): Option[Conflict] =
    if (change.isRewrite) None
    else if (change.removed) Some(RemovedFiles).filter(_ => change.isData)
    else Some(if (change.isData) AddedRows else AddedDeletes)

  /** Deletes of one data file concern a write only where the data file does. */
  private def touchedFiles(
      conflicts: Vector[FileChange],
      history: BranchHistory,
      concern: ConflictFilter
  ): Set[String] =
    conflicts.groupBy(_.snapshot).flatMap { case (snapshot, changes) =>
      val paths = changes.flatMap(c => DeleteApplicability.dataFile(c.entry.file)).toSet
      if (paths.isEmpty) Vector.empty
      else history.liveAt(Some(snapshot), ManifestContent.Data, concern) { data =>
        paths(data.file.path) && concern.mightMatch(data)
      }.map(_.file.path)
    }.toSet
}
