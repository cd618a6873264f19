package iceberglite.spark.write

import java.util.UUID

import scala.annotation.tailrec

import org.apache.spark.sql.connector.write.WriterCommitMessage
import org.slf4j.LoggerFactory

import iceberglite.spark.error.ErrorBoundary
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{AlreadyCommitted, ChangeScope, CommitStateUnknown, ConcurrentChange}
import iceberglite.table.{Action, DataLocations, Environment, InterruptedBeforeCommit, MetadataAction, Table}
import iceberglite.table.action.RecordStreamEpoch

/**
 * The content of the commit of a write.
 *
 * @param base the table at the start of the write
 * @param summary entries for the snapshot's summary
 * @param action the change to the table's files; absent for none
 * @param record records the version of an application's write, or the epoch of a stream, in the table, even if the
 *   write changes nothing; if the table already has the version, the commit fails with `AlreadyCommitted`
 * @param preceding the actions that precede `action` in the same commit. They check that the constraints are those that
 *   new rows were checked against, and add the columns of the rows
 * @param followUp the maintenance that follows the commit; absent for none
 * @param rerun runs the statement again if only rewrites of files, such as compactions, conflict with the commit;
 *   absent if the statement must not be repeated
 * @param form which of several forms of the same rows this commit has
 */
final private[iceberglite] case class PendingCommit(
    base: Table,
    summary: Map[String, String],
    action: Option[Action],
    record: Option[MetadataAction],
    preceding: Vector[Action] = Vector.empty,
    followUp: Option[FollowUpRequest] = None,
    rerun: Option[StatementRerun] = None,
    form: CommitForm = CommitForm.Only
) {
  def actions: Vector[Action] = record.toVector ++ action.toVector.flatMap(preceding :+ _)

  /** Returns this commit with the record of the epoch of a stream. A commit without an action records nothing. */
  def recording(epoch: RecordStreamEpoch): PendingCommit =
    if (action.isEmpty) this
    else copy(
      summary = summary ++ epoch.summary,
      record = Some(epoch),
      form = form.copy(otherwise = form.otherwise.map(other => () => other().recording(epoch)))
    )
}

/**
 * One of the forms in which the same rows can be committed.
 *
 * @param unused the paths of files of the write that this form does not add. They are removed after the commit
 * @param otherwise returns the form to commit instead if rows may have changed since a micro-batch of an upsert
 *   searched for the rows that it replaces; absent if the form does not depend on such a search
 */
final private[iceberglite] case class CommitForm(unused: Vector[String], otherwise: Option[() => PendingCommit])

private[iceberglite] object CommitForm {

  /** The form of a write that has no other form. */
  val Only: CommitForm = CommitForm(Vector.empty, None)
}

/**
 * Performs the single commit of a write. This class determines the names of the write's files, commits the files, and
 * removes them if they are certainly not committed. Spark calls `abort` after every failure, including a failed commit.
 *
 * @param environment the clock and the clean-up of the commit
 */
final private[iceberglite] class WriteCommit(table: Table, environment: Environment = Environment.system)
    extends ErrorBoundary {
  import WriteCommit._

  /** The unique id of this write. The names of the write's files contain this id. */
  val operationId: String = UUID.randomUUID().toString

  /** The locations of the files of this write. */
  val locations: DataLocations = in(DataLocations.of(table.location, table.properties))

  // If the key management service of an encrypted table fails, the write fails before its tasks run.
  in(table.tree().keys.foreach(_.prepareWrite()))

  /** Whether the table's metadata may refer to the files of this write. */
  @volatile private var maybeCommitted = false
  @volatile private var driverFiles = Vector.empty[String]

  /**
   * Records a file of the write, so that it can be removed. For a file that the driver creates, this method is called
   * before the file is created. Rewrites also record the files of their finished tasks. Several threads may call it.
   */
  def registerFile(path: String): Unit = synchronized(driverFiles :+= path)

  /**
   * Commits the results of the tasks, and then runs the maintenance that the write requests. If only rewrites of files
   * conflict with the commit, removes the files of this write, and runs the statement again.
   *
   * @return the content that is committed; absent if this write is not committed. In this case, its files are removed,
   *   and the table contains the result of another run of the statement, or already contained this version of the
   *   application's write
   */
  def commit(messages: Array[WriterCommitMessage])(pending: => PendingCommit): Option[PendingCommit] =
    in {
      outcomeOf(pending) match {
        case Outcome.Committed(after, content) =>
          environment.cleanup.deleteUnused(table.io, table.name, content.form.unused)
          if (content.action.isDefined && !after.isStaged) content.followUp.foreach(_.run(after))
          Some(content)
        case Outcome.AlreadyCommitted =>
          abort(messages)
          None
        case Outcome.Rewritten(conflict, rerun) =>
          abort(messages)
          rerun.run(table, conflict)
          None
      }
    }

  @tailrec private def outcomeOf(pending: PendingCommit): Outcome = attempted(pending) match {
    case Right(outcome) => outcome
    case Left(otherwise) => outcomeOf(otherwise())
  }

  /**
   * Commits changes. If a conflict shows that the result of a search for rows may be outdated, the other form is
   * committed instead. That form has the intended effect without a search. Other conflicts fail the write, because the
   * other form does not resolve them.
   *
   * @return the outcome, or what to commit instead
   */
  private def attempted(pending: PendingCommit): Either[() => PendingCommit, Outcome] =
    try Right(submitted(pending).fold[Outcome](Outcome.AlreadyCommitted)(Outcome.Committed(_, pending)))
    catch {
      case conflict @ ConcurrentChange(_, ChangeScope.SearchedRows) if pending.form.otherwise.isDefined =>
        log.info(s"Committing to ${table.name} in another form, after a conflict: ${conflict.getMessage}")
        pending.form.otherwise.toLeft(Outcome.AlreadyCommitted)
      case conflict @ ConcurrentChange(_, ChangeScope.FilesOnly) =>
        Right(pending.rerun.fold[Outcome](throw conflict)(Outcome.Rewritten(conflict, _)))
    }

  override protected def errorName: String = table.name

  /**
   * Commits changes for which no task has written files.
   *
   * @return false if the table already contained this version of the application's write, so that nothing was committed
   */
  def submit(pending: PendingCommit): Boolean = submitted(pending).isDefined

  /**
   * Commits changes.
   *
   * @return the table after the commit; absent if the table already contained this version of the application's write
   */
  private def submitted(pending: PendingCommit): Option[Table] =
    if (pending.actions.isEmpty) Some(pending.base)
    else {
      val transaction = pending.base.transaction(pending.summary, environment)
      pending.actions.foreach(transaction.add)
      try Some(attempt(transaction.commit()))
      catch {
        case done: AlreadyCommitted =>
          log.warn(done.getMessage)
          None
      }
    }

  /** Runs a commit that adds files of this write. Unless it has certainly failed, the files are not removed later. */
  def attempt[A](commit: => A): A = {
    maybeCommitted = true
    try commit
    catch {
      case unknown: CommitStateUnknown => throw unknown
      // The commit has certainly failed. After any other exception, such as another interrupt, the commit may have
      // succeeded.
      case failure @ (_: IcebergError | _: InterruptedBeforeCommit) =>
        maybeCommitted = false
        throw failure
    }
  }

  /** Records that the table certainly does not refer to the files of this write. */
  def recordNotCommitted(): Unit = maybeCommitted = false

  /**
   * Removes the files of a failed write. The messages do not contain the files of tasks that did not finish; these
   * files are found by their names.
   */
  def abort(messages: Array[WriterCommitMessage]): Unit =
    remove(TaskResult.of(messages).flatMap(_.paths))

  /**
   * Removes the files of a write, unless the table's metadata may refer to them.
   *
   * @param known the paths that tasks have reported
   */
  def remove(known: Vector[String]): Unit =
    if (!maybeCommitted) UncommittedFiles.remove(table.io, locations, operationId, (known ++ driverFiles).distinct)
}

private[iceberglite] object WriteCommit {
  sealed private trait Outcome

  private object Outcome {
    final case class Committed(after: Table, content: PendingCommit) extends Outcome

    /** The table already contained this version of the application's write. */
    case object AlreadyCommitted extends Outcome

    /** Nothing was committed, because rewrites replaced files of the statement, which can run again. */
    final case class Rewritten(conflict: ConcurrentChange, rerun: StatementRerun) extends Outcome
  }

  private val log = LoggerFactory.getLogger("iceberglite.spark.write.WriteCommit")
}
