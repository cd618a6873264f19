package iceberglite.table

import scala.annotation.tailrec
import scala.util.control.NonFatal

import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{CommitConflict, CommitStateUnknown, NotFound, UnreadableFile, ValidationFailed}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.update.MetadataUpdate
import iceberglite.storage.{FileIO, MetadataFiles}

/** The table that a transaction changes, and the committer for its changes. */
final case class CommitTarget(id: TableIdentifier, name: String, io: FileIO, committer: Committer)

/**
 * A change to a table that is applied completely or not at all. It consists of actions; each is described on the result
 * of the previous one.
 *
 * This is the only place that retries (spec: "Commit Conflict Resolution and Retry"). When another commit came first,
 * the transaction refreshes the table, describes the actions again, waits and commits. After a definite failure, the
 * actions remove the files that they wrote. When the outcome is unknown, the transaction checks the table; if that does
 * not settle the outcome, all files are kept. An instance commits once.
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

  /** Adds an action. @return this transaction */
  def add(action: Action): Transaction = {
    actions :+= action
    this
  }

  /**
   * Commits all actions.
   *
   * @return the table as it was committed
   * @throws CommitConflict other commits came first until the retries ran out, or one cannot be reconciled; no files
   *   remain
   * @throws CommitStateUnknown the outcome is unknown; every file is kept, and the writer's data files must be kept too
   */
  def commit(): Table = target.committer match {
    case staged: StagedCommitter =>
      staged.stage(actions, summary)
      tableAt(staged.load(target.id))
    case committer => tableAt(new Attempts(committer).run())
  }

  private def tableAt(version: TableVersion): Table =
    new Table(target.id, target.name, version, target.io, target.committer)

  /** The retry loop, with its state between attempts. */
  final private class Attempts(committer: Committer) {
    private val policy =
      RetryPolicy.commits(base.fold(Map.empty[String, String])(_.metadata.properties), environment)

    private var interrupted = false

    /**
     * Runs the attempts. If snapshots without a reference are not loaded, the table is reloaded first; otherwise
     * concurrent changes could be missed.
     */
    def run(): TableVersion =
      try attempt(if (base.forall(_.isWhole)) base else abandonOnFailure(reload()))
      finally if (interrupted) Thread.currentThread.interrupt()

    @tailrec
    private def attempt(at: Option[TableVersion]): TableVersion = changeOrReload(at) match {
      case Left(newer) => attempt(newer)
      case Right(change) if change.updates.isEmpty && at.isDefined => finish(at.get)
      case Right(change) => tryOnce(at, change) match {
          case Right(version) => finish(version)
          case Left(conflict) =>
            val mayRetry = waitForRetry(policy)
            val reloaded = afterConflict(conflict)
            reloaded.filter(containsThisCommit) match {
              case Some(version) => finish(version)
              case None if mayRetry => attempt(reloaded)
              case None => abandonOnFailure(throw conflict)
            }
        }
    }

    /**
     * Returns the change on a base. If the base is outdated, the expiry of snapshots may have deleted its files; then
     * the newest version is returned to continue with.
     */
    private def changeOrReload(at: Option[TableVersion]): Either[Option[TableVersion], Change] =
      abandonOnFailure {
        try Right(applyActions(at.map(_.metadata)).change)
        catch {
          case lost: UnreadableFile =>
            val reloaded = reload()
            if (reloaded.map(_.metadataLocation) == at.map(_.metadataLocation)) throw lost
            Left(reloaded)
        }
      }

    /**
     * Describes the start and the actions in turn. A requirement that holds only because of an earlier action is not a
     * requirement on the base.
     */
    private def applyActions(at: Option[TableMetadata]): TableStart.InitialState = {
      val now = at.fold(environment.nowMs())(NextVersion.commitTime(_, environment.nowMs()))
      val initial = start.initialState(target.name, at, now)
      actions.foldLeft(initial) { (state, action) =>
        val change = action.changeFor(state.metadata, context)
        val baseRequirements = change.requirements.filter { requirement =>
          requirement.check(Some(state.metadata), target.name)
          at.forall(metadata => isMet(requirement.check(Some(metadata), target.name)))
        }
        TableStart.InitialState(
          MetadataUpdate.applyAll(state.metadata, change.updates, now),
          state.change ++ Change(change.updates, if (at.isDefined) baseRequirements else Vector.empty)
        )
      }
    }

    private def isMet(check: => Unit): Boolean =
      try {
        check
        true
      } catch { case _: CommitConflict => false }

    private def tryOnce(at: Option[TableVersion], change: Change): Either[CommitConflict, TableVersion] =
      try Right(committer.commit(target.id, at, change))
      catch {
        case conflict: CommitConflict => Left(conflict)
        case unknown: CommitStateUnknown => resolveUnknown(unknown, at)
        case error: IcebergError => abandonOnFailure(throw error)
        // Out of memory or interrupted: the swap may already have happened.
        case other: Throwable =>
          resolveUnknown(CommitStateUnknown(target.name, "the newest file", String.valueOf(other), Some(other)), at)
      }

    /**
     * Checks whether a commit with an unknown outcome happened. Proof that it did is success. Proof that other commits
     * were based on its base instead is a conflict. In all other cases the check is repeated within the limits of
     * `commit.status-check.*`; after that, the outcome stays unknown.
     */
    private def resolveUnknown(
        unknown: CommitStateUnknown,
        at: Option[TableVersion]
    ): Either[CommitConflict, TableVersion] = {
      // An interrupted thread must not use the storage (java.nio closes the channel), but the check is still needed.
      if (Thread.interrupted() || isInterrupt(unknown)) interrupted = true
      val checks = RetryPolicy.statusChecks(base.fold(Map.empty[String, String])(_.metadata.properties), environment)
      @tailrec
      def check(): Either[CommitConflict, TableVersion] = {
        val seen =
          try Right(committer.load(target.id))
          catch { case NonFatal(e) => Left(e) }
        seen match {
          case Right(version) if containsThisCommit(version) || Transaction.hadFile(version, unknown.metadataFile) =>
            Right(version)
          case Right(version) if Transaction.excludes(version, unknown.metadataFile, at) =>
            // The committer kept the file because it did not know the outcome.
            Cleanup.delete(target.io, Vector(unknown.metadataFile))
            Left(CommitConflict(target.name, s"others committed before ${unknown.metadataFile}"))
          // Not there yet: the request may still be in flight.
          case _ if waitForRetry(checks) => check()
          case Right(_) => throw unknown
          case Left(failure) =>
            unknown.addSuppressed(failure)
            throw unknown
        }
      }
      check()
    }

    private def isInterrupt(unknown: CommitStateUnknown): Boolean =
      unknown.cause.exists(_.isInstanceOf[InterruptedException])

    private def waitForRetry(policy: RetryPolicy): Boolean =
      try policy.waitForNext()
      catch {
        case _: InterruptedException =>
          interrupted = true
          false
      }

    /**
     * Returns whether a snapshot of the table belongs to this commit. Then the commit succeeded, but the
     * acknowledgement was lost.
     */
    private def containsThisCommit(version: TableVersion): Boolean =
      version.metadata.snapshots.exists(_.summary.get(CommitContext.CommitIdKey).contains(context.commitId))

    /**
     * Reloads the table after a conflict. The reported conflict may be wrong: the commit may have succeeded, and only
     * its response was distorted. Therefore the outcome is unknown if the reload fails.
     */
    private def afterConflict(conflict: CommitConflict): Option[TableVersion] =
      try reload()
      catch {
        case missing @ (_: NotFound | _: ValidationFailed) => abandonOnFailure(throw missing)
        case failure: Throwable =>
          val reason = s"${conflict.getMessage}, and the table cannot be looked at (${failure.getMessage})"
          throw CommitStateUnknown(target.name, "a file that it wrote", reason, Some(failure))
      }

    private def reload(): Option[TableVersion] =
      try Some(committer.load(target.id))
      catch { case _: NotFound if start.mayCreate => None }

    private def finish(version: TableVersion): TableVersion = {
      actions.foreach(a => Cleanup.quietly("tidy up after a commit")(a.committed(version.metadata, context)))
      version
    }

    /** Runs a step whose failure means that the commit did not happen. */
    private def abandonOnFailure[A](part: => A): A =
      try part
      catch {
        case failure: Throwable =>
          actions.foreach(a => Cleanup.quietly("tidy up after a failed commit")(a.abandoned(context)))
          throw failure
      }
  }
}

object Transaction {

  /** Begins a transaction on an existing table. */
  def on(table: Table, summary: Map[String, String], environment: Environment): Transaction = new Transaction(
    CommitTarget(table.id, table.name, table.io, table.committer),
    new TableStart.Existing(table.metadata.uuid),
    Some(table.version),
    summary,
    environment
  )

  /**
   * Returns whether a metadata file is, or was, the table's current one. A file named only by its version number may
   * belong to another commit.
   */
  private def hadFile(version: TableVersion, metadataFile: String): Boolean =
    isUnique(metadataFile) && filesOf(version).contains(metadataFile)

  /**
   * Returns whether other commits continued from the base without this metadata file. Then the file can no longer
   * become the current one.
   */
  private def excludes(version: TableVersion, metadataFile: String, base: Option[TableVersion]): Boolean =
    isUnique(metadataFile) && !filesOf(version).contains(metadataFile) &&
      base.exists(b => version.metadata.metadataLog.exists(_.metadataFile == b.metadataLocation))

  private def filesOf(version: TableVersion): Vector[String] =
    version.metadata.metadataLog.map(_.metadataFile) :+ version.metadataLocation

  private def isUnique(metadataFile: String): Boolean =
    MetadataFiles.version(metadataFile).isDefined && !metadataFile.split('/').last.startsWith("v")
}
