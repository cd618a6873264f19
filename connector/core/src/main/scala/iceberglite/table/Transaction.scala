package iceberglite.table

import scala.annotation.tailrec
import scala.util.Try

import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{
  AlreadyCommitted,
  CommitConflict,
  CommitStateUnknown,
  NotFound,
  UnreadableFile,
  ValidationFailed
}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.update.MetadataUpdate
import iceberglite.storage.{FileIO, MetadataFiles}

/** The table that a transaction changes, and the committer for its changes. */
final case class CommitTarget(id: TableIdentifier, name: String, io: FileIO, committer: Committer)

/**
 * A change to a table that is applied completely or not at all. The change consists of actions. Each action is applied
 * to the result of the previous action.
 *
 * Only this class retries commits (spec: "Commit Conflict Resolution and Retry"). If another commit came first, the
 * transaction waits, reloads the table, applies the actions again and commits. If the commit has definitely failed, the
 * actions delete the files that they wrote. If the outcome is unknown, the transaction checks whether the table
 * contains the commit. If the outcome is still unknown after these checks, no file is deleted. An instance commits only
 * once.
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
   * @throws CommitConflict if other commits came first in all attempts, or if a concurrent change to the metadata
   *   conflicts with an action. In these cases, the files of the actions are deleted
   * @throws iceberglite.spec.IcebergError.ConcurrentChange if a concurrent change to files or rows conflicts with an
   *   action. In this case, the files of the actions are deleted
   * @throws iceberglite.spec.IcebergError if the commit is rejected for another reason. In this case, the files of the
   *   actions are deleted
   * @throws InterruptedBeforeCommit if the thread was interrupted while an action was applied. In this case, the files
   *   of the actions are deleted
   * @throws iceberglite.spec.IcebergError.AlreadyCommitted if the table already contains what an action records, and no
   *   attempt of this commit has recorded it. In this case, the files of the actions are deleted
   * @throws CommitStateUnknown if the outcome is unknown. In this case, no file is deleted, and the caller must not
   *   delete its data files
   */
  def commit(): Table = target.committer match {
    case staged: StagedCommitter =>
      staged.stage(actions, summary)
      tableAt(staged.load(target.id))
    case committer =>
      val attempts = new Attempts(committer)
      val started = System.nanoTime()
      val version = attempts.run()
      report(committer, version, attempts.count, System.nanoTime() - started)
      tableAt(version)
  }

  /** Reports the metrics of the last snapshot of this commit, if it has one. */
  private def report(committer: Committer, version: TableVersion, attempts: Int, nanos: Long): Unit =
    version.metadata.snapshots.filter(_.summary.get(CommitContext.CommitIdKey).contains(context.commitId)).lastOption
      .foreach(snapshot => committer.report(target.id, CommitMetrics.of(target.name, snapshot, attempts, nanos)))

  private def tableAt(version: TableVersion): Table =
    new Table(target.id, target.name, version, target.io, target.committer)

  /** The retry loop, with its state between attempts. */
  final private class Attempts(committer: Committer) {
    private val policy =
      RetryPolicy.commits(base.fold(Map.empty[String, String])(_.metadata.properties), environment)

    private var interrupted = false

    /** Whether an attempt that was reported as a conflict may have succeeded, and its snapshot has expired since. */
    private var mayBeCommitted = false

    /** The number of attempts to commit. */
    var count = 0

    /**
     * Runs the attempts. If the base version was loaded with only the snapshots of branches and tags, the table is
     * reloaded first, because the actions must find concurrent changes in all snapshots.
     */
    def run(): TableVersion =
      try attempt(if (base.forall(_.hasAllSnapshots)) base else abandonOnFailure(reload()))
      finally if (interrupted) Thread.currentThread.interrupt()

    @tailrec
    private def attempt(attemptBase: Option[TableVersion]): TableVersion = changeOrReload(attemptBase) match {
      case Left(newer) => attempt(newer)
      case Right(change) if change.updates.isEmpty && attemptBase.isDefined => finish(attemptBase.get)
      case Right(change) => tryOnce(attemptBase, change) match {
          case Right(version) => finish(version)
          case Left(conflict) =>
            val isCounted = !actions.exists(_.madeProgress)
            val mayRetry = waitForRetry(if (isCounted) policy.waitForNext() else policy.waitUncounted())
            val reloaded = afterConflict(conflict)
            mayBeCommitted ||= reloaded.exists(Transaction.mayLackSnapshot(_, attemptBase))
            reloaded.filter(v => containsThisCommit(v) || isExpiredIn(v)) match {
              case Some(version) => finish(version)
              case None if mayRetry => attempt(reloaded)
              case None => abandonOnFailure(throw conflict)
            }
        }
    }

    /** Whether a version of the table shows that a snapshot of this commit has already expired. */
    private def isExpiredIn(version: TableVersion): Boolean = actions.exists(_.hasExpiredIn(version.metadata))

    /**
     * Returns the change to a base version. If a file of an outdated base cannot be read, snapshot expiration may have
     * deleted the file. In this case, returns the newest version, which the caller must use as the base instead.
     */
    private def changeOrReload(attemptBase: Option[TableVersion]): Either[Option[TableVersion], Change] =
      abandonOnFailure {
        try Right(applyActions(attemptBase.map(_.metadata)).change)
        catch {
          case lost: UnreadableFile =>
            val reloaded = reload()
            if (reloaded.map(_.metadataLocation) == attemptBase.map(_.metadataLocation)) throw lost
            Left(reloaded)
        }
      }

    /**
     * Computes the initial state and applies each action to it. Requirements that are met only as a result of an
     * earlier action are dropped, because the committer checks requirements only against the base version, which does
     * not meet them yet.
     */
    private def applyActions(attemptBase: Option[TableMetadata]): TableStart.InitialState = {
      val now = attemptBase.fold(environment.nowMs())(NextVersion.commitTime(_, environment.nowMs()))
      val initial = start.initialState(target.name, attemptBase, now)
      actions.foldLeft(initial) { (state, action) =>
        val change = action.changeFor(state.metadata, context)
        val baseRequirements = change.requirements.filter { requirement =>
          requirement.check(Some(state.metadata), target.name)
          attemptBase.forall(metadata => isMet(requirement.check(Some(metadata), target.name)))
        }
        TableStart.InitialState(
          MetadataUpdate.applyAll(state.metadata, change.updates, now),
          state.change ++ Change(change.updates, if (attemptBase.isDefined) baseRequirements else Vector.empty)
        )
      }
    }

    private def isMet(check: => Unit): Boolean =
      try {
        check
        true
      } catch { case _: CommitConflict => false }

    private def tryOnce(attemptBase: Option[TableVersion], change: Change): Either[CommitConflict, TableVersion] = {
      count += 1
      submit(attemptBase, change)
    }

    private def submit(attemptBase: Option[TableVersion], change: Change): Either[CommitConflict, TableVersion] =
      try Right(committer.commit(target.id, attemptBase, change))
      catch {
        case conflict: CommitConflict => Left(conflict)
        case unknown: CommitStateUnknown => resolveUnknown(unknown, attemptBase)
        case error: IcebergError => abandonOnFailure(throw error)
        // On other failures, such as an interrupt, the commit may already have succeeded.
        case other: Throwable =>
          val unknown = CommitStateUnknown(target.name, None, String.valueOf(other), Some(other))
          resolveUnknown(unknown, attemptBase)
      }

    /**
     * Checks whether a commit with an unknown outcome succeeded. If the table contains the commit, the commit
     * succeeded. If the metadata file of this commit has a unique name, and another commit replaced the same base, the
     * result is a conflict. In all other cases, the check is repeated within the limits of `commit.status-check.*`.
     * After the last check, the outcome is reported as unknown.
     */
    private def resolveUnknown(
        unknown: CommitStateUnknown,
        attemptBase: Option[TableVersion]
    ): Either[CommitConflict, TableVersion] = {
      // The interrupt flag is cleared during the check, because java.nio closes the channels of an interrupted thread.
      // The flag is set again at the end of the commit.
      if (Thread.interrupted() || isInterrupt(unknown)) interrupted = true
      val checks = RetryPolicy.statusChecks(base.fold(Map.empty[String, String])(_.metadata.properties), environment)
      val uniqueFile = unknown.metadataFile.filter(Transaction.isUnique)
      @tailrec
      def check(): Either[CommitConflict, TableVersion] = {
        Try(committer.load(target.id)).toEither match {
          case Right(version) if containsThisCommit(version) || uniqueFile.exists(Transaction.hadFile(version, _)) =>
            Right(version)
          case Right(version) if uniqueFile.exists(Transaction.isRuledOut(version, _, attemptBase)) =>
            // The committer did not delete its metadata file, because it did not know the outcome of the commit.
            Cleanup.delete(target.io, uniqueFile.toVector)
            Left(CommitConflict(target.name, s"other writers committed before ${uniqueFile.mkString}"))
          // The commit is not visible yet, but the request may still be in progress.
          case _ if waitForRetry(checks.waitForNext()) => check()
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

    private def waitForRetry(wait: => Boolean): Boolean =
      try wait
      catch {
        case _: InterruptedException =>
          interrupted = true
          false
      }

    /**
     * Returns whether a snapshot of the table belongs to this commit. If so, the commit succeeded, although its
     * response was lost or reported a failure.
     */
    private def containsThisCommit(version: TableVersion): Boolean =
      version.metadata.snapshots.exists(_.summary.get(CommitContext.CommitIdKey).contains(context.commitId))

    /**
     * Reloads the table after a conflict. The commit may have succeeded in spite of the reported conflict, for example
     * if the request was repeated after a lost response. Therefore the outcome is unknown if the reload fails.
     */
    private def afterConflict(conflict: CommitConflict): Option[TableVersion] =
      try reload()
      catch {
        case missing @ (_: NotFound | _: ValidationFailed) => abandonOnFailure(throw missing)
        case failure: Throwable =>
          val reason = s"another commit came first (${conflict.reason}), and the table cannot be loaded " +
            s"(${failure.getMessage})"
          throw CommitStateUnknown(target.name, None, reason, Some(failure))
      }

    private def reload(): Option[TableVersion] =
      try Some(committer.load(target.id))
      catch { case _: NotFound if start.mayCreate => None }

    private def finish(version: TableVersion): TableVersion = {
      actions.foreach(a => Cleanup.quietly("tidy up after a commit")(a.committed(version.metadata, context)))
      version
    }

    /**
     * Runs a step that ends the transaction if it fails. On failure, the files of all actions are deleted. The
     * exception is a failure with `AlreadyCommitted` or `CommitConflict` after an attempt that may have succeeded. Then
     * the table may refer to the files of this attempt, so no file is deleted, and the outcome is reported as unknown.
     */
    private def abandonOnFailure[A](step: => A): A =
      try step
      catch {
        // Other errors have callers that commit in another way, such as a stream whose search for keys is outdated.
        case failure @ (_: AlreadyCommitted | _: CommitConflict) if mayBeCommitted =>
          throw Transaction.unknownAfterExpiration(target.name, failure)
        case failure: Throwable =>
          actions.foreach(a => Cleanup.quietly("tidy up after a failed commit")(a.abandoned(context)))
          failure match {
            case interrupt: InterruptedException => throw new InterruptedBeforeCommit(interrupt)
            case other => throw other
          }
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

  /** Returns whether a metadata file with a unique name is or was the current metadata file of the table. */
  private def hadFile(version: TableVersion, metadataFile: String): Boolean =
    filesOf(version).contains(metadataFile)

  /**
   * Returns whether another commit replaced the base, so that the given metadata file with a unique name can no longer
   * become the table's current metadata file.
   */
  private def isRuledOut(version: TableVersion, metadataFile: String, base: Option[TableVersion]): Boolean =
    !filesOf(version).contains(metadataFile) &&
      base.exists(b => version.metadata.metadataLog.exists(_.metadataFile == b.metadataLocation))

  /**
   * Returns whether a snapshot that followed the base may have expired: a later snapshot has a parent that is in
   * neither of the two versions.
   */
  private def mayLackSnapshot(version: TableVersion, base: Option[TableVersion]): Boolean = base.exists { b =>
    def isKnown(id: Long) = b.metadata.hasSnapshot(id) || version.metadata.hasSnapshot(id)
    version.metadata.snapshots.exists { s =>
      !b.metadata.hasSnapshot(s.snapshotId) && s.parentSnapshotId.exists(!isKnown(_))
    }
  }

  private def unknownAfterExpiration(table: String, failure: Throwable): CommitStateUnknown = CommitStateUnknown(
    table,
    None,
    "an attempt was reported as a conflict, but it may have succeeded, because snapshots have expired since; a later " +
      s"attempt failed (${String.valueOf(failure.getMessage)})",
    Some(failure)
  )

  private def filesOf(version: TableVersion): Vector[String] =
    version.metadata.metadataLog.map(_.metadataFile) :+ version.metadataLocation

  /**
   * Returns whether no other commit can have written a file with this name. A name that consists only of the version
   * number is not unique.
   */
  private def isUnique(metadataFile: String): Boolean =
    MetadataFiles.version(metadataFile).isDefined && !metadataFile.split('/').last.startsWith("v")
}
