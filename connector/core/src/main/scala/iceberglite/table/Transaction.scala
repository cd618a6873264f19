package iceberglite.table

import scala.annotation.tailrec
import scala.util.control.NonFatal

import iceberglite.io.{FileIO, MetadataFiles}
import iceberglite.spec.IcebergError.{CommitConflict, CommitStateUnknown, NotFound, UnreadableFile, ValidationFailed}
import iceberglite.spec.{IcebergError, MetadataUpdate, TableMetadata}
import iceberglite.table.action.Action

/** Where a transaction's changes go. */
final case class CommitTarget(id: TableIdentifier, name: String, io: FileIO, committer: Committer)

/**
 * A change to a table that happens as a whole or not at all: actions, described one after the other, each on what the
 * one before it makes of the table.
 *
 * This is the only place that tries again (spec: "Commit Conflict Resolution and Retry"): when another commit came
 * first it looks at the table anew, asks the actions again, waits a while and commits. After a definite failure it has
 * the actions remove what they wrote; when nobody knows whether the commit happened it looks and, where that does not
 * tell, leaves everything as it is. One instance commits once.
 */
final class Transaction private[table] (
    target: CommitTarget,
    start: TableStart,
    base: Option[TableVersion],
    summary: Map[String, String],
    environment: Environment
) {
  private val context =
    CommitContext(target.io, target.name, environment.uuid().toString, summary, environment)
  private var actions = Vector.empty[Action]

  /** @return this transaction */
  def add(action: Action): Transaction = {
    actions :+= action
    this
  }

  /**
   * Does all of it.
   *
   * @return the table as it was committed
   * @throws CommitConflict other commits came first for too long, or one that cannot be reconciled; nothing is left
   * @throws CommitStateUnknown nobody knows; every file is kept, the writer's data files too must be
   */
  def commit(): Table = target.committer match {
    case staged: StagedCommitter =>
      staged.keep(actions, summary)
      tableAt(staged.load(target.id))
    case committer => tableAt(new Attempts(committer).run())
  }

  private def tableAt(version: TableVersion): Table =
    new Table(target.id, target.name, version, target.io, target.committer)

  /** The loop, with the state it has between attempts. */
  final private class Attempts(committer: Committer) {
    private val patience =
      RetryPolicy.commits(base.fold(Map.empty[String, String])(_.metadata.properties), environment)

    private var interrupted = false

    /** Without the snapshots that no reference names, what others did would go unnoticed. */
    def run(): TableVersion =
      try attempt(if (base.forall(_.isWhole)) base else definitely(reload()))
      finally if (interrupted) Thread.currentThread.interrupt()

    @tailrec
    private def attempt(at: Option[TableVersion]): TableVersion = described(at) match {
      case Left(moved) => attempt(moved)
      case Right(change) if change.updates.isEmpty && at.isDefined => finished(at.get)
      case Right(change) => tryOnce(at, change) match {
          case Right(version) => finished(version)
          case Left(conflict) =>
            val again = waits(patience)
            val fresh = afterConflict(conflict)
            fresh.filter(holdsThisCommit) match {
              case Some(version) => finished(version)
              case None if again => attempt(fresh)
              case None => definitely(throw conflict)
            }
        }
    }

    /**
     * The change on a base. A base that is not the newest any more may have lost files to an expiry of snapshots: then
     * comes the newest to go on with.
     */
    private def described(at: Option[TableVersion]): Either[Option[TableVersion], Change] =
      definitely {
        try Right(describe(at.map(_.metadata)).change)
        catch {
          case lost: UnreadableFile =>
            val fresh = reload()
            if (fresh.map(_.metadataLocation) == at.map(_.metadataLocation)) throw lost
            Left(fresh)
        }
      }

    /** Asks start and actions in turn; a requirement that only an earlier action brought about is not the base's. */
    private def describe(at: Option[TableMetadata]): TableStart.Begun = {
      val now = at.fold(environment.nowMs())(NextVersion.timeAfter(_, environment.nowMs()))
      val begun = start.begin(target.name, at, now)
      actions.foldLeft(begun) { (sofar, action) =>
        val change = action.describe(sofar.metadata, context)
        val ofBase = change.requirements.filter { requirement =>
          requirement.check(Some(sofar.metadata), target.name)
          at.forall(metadata => holds(requirement.check(Some(metadata), target.name)))
        }
        TableStart.Begun(
          MetadataUpdate.applyAll(sofar.metadata, change.updates, now),
          sofar.change ++ Change(change.updates, if (at.isDefined) ofBase else Vector.empty)
        )
      }
    }

    private def holds(check: => Unit): Boolean =
      try {
        check
        true
      } catch { case _: CommitConflict => false }

    private def tryOnce(at: Option[TableVersion], change: Change): Either[CommitConflict, TableVersion] =
      try Right(committer.commit(target.id, at, change))
      catch {
        case conflict: CommitConflict => Left(conflict)
        case unknown: CommitStateUnknown => settle(unknown, at)
        case error: IcebergError => definitely(throw error)
        // Out of memory or interrupted in the middle: whatever it was, the swap may have been done by then.
        case other: Throwable =>
          settle(CommitStateUnknown(target.name, "the newest file", String.valueOf(other), Some(other)), at)
      }

    /**
     * Looks whether a commit of unknown outcome happened. Proof that it did is success, proof that others went on from
     * its base instead a conflict; all else is looked at again for as long as `commit.status-check.*` say, and then
     * stays unknown.
     */
    private def settle(
        unknown: CommitStateUnknown,
        at: Option[TableVersion]
    ): Either[CommitConflict, TableVersion] = {
      // Who is interrupted may not be let near the storage again (java.nio closes the channel), but has to look.
      if (Thread.interrupted() || isInterrupt(unknown)) interrupted = true
      val looks = RetryPolicy.statusChecks(base.fold(Map.empty[String, String])(_.metadata.properties), environment)
      @tailrec
      def look(): Either[CommitConflict, TableVersion] = {
        val seen =
          try Right(committer.load(target.id))
          catch { case NonFatal(e) => Left(e) }
        seen match {
          case Right(version) if holdsThisCommit(version) || Transaction.wasAt(version, unknown.metadataFile) =>
            Right(version)
          case Right(version) if Transaction.excludes(version, unknown.metadataFile, at) =>
            // The committer had to keep it, as it did not know.
            Cleanup.delete(target.io, Vector(unknown.metadataFile))
            Left(CommitConflict(target.name, s"others committed before ${unknown.metadataFile}"))
          // Not there yet: the request may still be on its way.
          case _ if waits(looks) => look()
          case Right(_) => throw unknown
          case Left(failure) =>
            unknown.addSuppressed(failure)
            throw unknown
        }
      }
      look()
    }

    private def isInterrupt(unknown: CommitStateUnknown): Boolean =
      unknown.cause.exists(_.isInstanceOf[InterruptedException])

    private def waits(patience: RetryPolicy): Boolean =
      try patience.waitForNext()
      catch {
        case _: InterruptedException =>
          interrupted = true
          false
      }

    /** Whether one of the table's snapshots is of this very commit: its success was not heard of. */
    private def holdsThisCommit(version: TableVersion): Boolean =
      version.metadata.snapshots.exists(_.summary.get(CommitContext.CommitIdKey).contains(context.commitId))

    /** The table now; as long as nobody has seen it, a conflict may still be a success whose answer was distorted. */
    private def afterConflict(conflict: CommitConflict): Option[TableVersion] =
      try reload()
      catch {
        case gone @ (_: NotFound | _: ValidationFailed) => definitely(throw gone)
        case failure: Throwable =>
          val reason = s"${conflict.getMessage}, and the table cannot be looked at (${failure.getMessage})"
          throw CommitStateUnknown(target.name, "a file that it wrote", reason, Some(failure))
      }

    private def reload(): Option[TableVersion] =
      try Some(committer.load(target.id))
      catch { case _: NotFound if start.mayCreate => None }

    private def finished(version: TableVersion): TableVersion = {
      actions.foreach(a => Cleanup.quietly("tidy up after a commit")(a.committed(version.metadata, context)))
      version
    }

    /** Runs a part whose failure means that the commit did not happen. */
    private def definitely[A](part: => A): A =
      try part
      catch {
        case failure: Throwable =>
          actions.foreach(a => Cleanup.quietly("tidy up after a failed commit")(a.abandoned(context)))
          throw failure
      }
  }
}

object Transaction {

  /** A change to a table that is there. */
  def on(table: Table, summary: Map[String, String], environment: Environment): Transaction = new Transaction(
    CommitTarget(table.id, table.name, table.io, table.committer),
    new TableStart.Existing(table.metadata.uuid),
    Some(table.version),
    summary,
    environment
  )

  /** Whether a metadata file was the table's; one that is named by its number alone may be another commit's. */
  private def wasAt(version: TableVersion, metadataFile: String): Boolean =
    isUnique(metadataFile) && filesOf(version).contains(metadataFile)

  /** Whether the history went on from a base without a metadata file: then its swap cannot happen any more. */
  private def excludes(version: TableVersion, metadataFile: String, base: Option[TableVersion]): Boolean =
    isUnique(metadataFile) && !filesOf(version).contains(metadataFile) &&
      base.exists(b => version.metadata.metadataLog.exists(_.metadataFile == b.metadataLocation))

  private def filesOf(version: TableVersion): Vector[String] =
    version.metadata.metadataLog.map(_.metadataFile) :+ version.metadataLocation

  private def isUnique(metadataFile: String): Boolean =
    MetadataFiles.version(metadataFile).isDefined && !metadataFile.split('/').last.startsWith("v")
}
