package iceberglite.spark.error

import scala.collection.JavaConverters._

import org.apache.spark.{QueryContext, SparkException, SparkThrowable}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.{
  NamespaceAlreadyExistsException,
  NoSuchNamespaceException,
  NoSuchTableException,
  TableAlreadyExistsException
}
import org.apache.spark.sql.catalyst.trees.{CurrentOrigin, Origin}
import org.apache.spark.sql.execution.QueryExecutionException

import iceberglite.spec.{IcebergError, ObjectKind}
import iceberglite.spec.IcebergError._

/**
 * An error of the connector as an analysis error of Spark. Examples of causes: the statement is not valid for the
 * table, a row violates a constraint, a file of the table is invalid, or another commit has made a change that
 * conflicts with the statement.
 *
 * @param error the original error with its fields
 * @param at the position in the statement, if it is known
 */
final class StatementError private[iceberglite] (
    message: String,
    val error: IcebergError,
    private[iceberglite] val condition: ErrorCondition,
    private[iceberglite] val at: Origin = SparkErrors.position
) extends AnalysisException(
      condition.in(message),
      at.line,
      at.startPosition,
      Some(error),
      Some(condition.name),
      condition.parameters,
      at.getQueryContext
    ) {
  override def getSqlState: String = condition.sqlState
}

/**
 * An error of a statement that Spark has accepted: a commit or an access to storage has failed, and the same statement
 * may succeed later; or a task of a Spark job has failed with an error of the connector. The class extends Spark's
 * exception for failed queries and not `SparkException`, because PySpark converts only some classes to exceptions of
 * Python with a condition: this class is one of them, and `SparkException` is not.
 *
 * @param cause the original error, or the cause of the failed job
 */
final class OperationError private[iceberglite] (
    message: String,
    cause: Throwable,
    private[iceberglite] val condition: ErrorCondition
) extends QueryExecutionException(condition.in(message), cause)
    with SparkThrowable {
  private val context = SparkErrors.position.getQueryContext

  override def getQueryContext: Array[QueryContext] = context
  override def getErrorClass: String = condition.name
  override def getSqlState: String = condition.sqlState
  override def getMessageParameters: java.util.Map[String, String] = condition.parameters.asJava
}

/**
 * The failure of a Spark job, with a condition. The cause is not an error of the connector, but for example an error of
 * a user's function. This class extends the class of Spark's own error. Therefore, code that catches Spark's class also
 * catches this error, and PySpark finds the error of a Python function in the cause.
 *
 * @param cause the cause of the failed job
 */
final class JobError private[iceberglite] (
    message: String,
    cause: Throwable,
    condition: ErrorCondition
) extends SparkException(
      condition.in(message),
      cause,
      Some(condition.name),
      condition.parameters,
      SparkErrors.position.getQueryContext
    ) {
  override def getSqlState: String = condition.sqlState
}

/**
 * Converts the errors of the connector ([[iceberglite.spec.IcebergError]]) to Spark's errors. The message consists of
 * the condition in brackets, the name of the table or other object if the original message does not contain it, and the
 * original message. The original error is the cause. Each error has a condition (`getErrorClass`) and a SQL state, see
 * `ErrorCondition`.
 */
object SparkErrors {

  /**
   * Runs an operation on a table, view, namespace or catalog, and converts its errors.
   *
   * @param name the name of this object or of a procedure call, for messages
   */
  def in[A](name: String)(operation: => A): A =
    try operation
    catch { case error: IcebergError => throw of(name, error) }

  /**
   * Runs an operation on a part of a statement, and adds the position of this part to errors without a position.
   *
   * @param origin the position; errors stay as they are if it is empty
   */
  def at[A](origin: Origin)(operation: => A): A =
    try CurrentOrigin.withOrigin(origin)(operation)
    catch {
      case error: AnalysisException
          if error.getQueryContext.isEmpty && error.startPosition.isEmpty && origin.sqlText.isDefined =>
        throw error.withPosition(withoutWholeLine(origin))
    }

  def of(name: String, error: IcebergError): Exception = {
    val condition = ErrorCondition.of(error)
    val message = condition.in(messageOf(name, error))
    error match {
      case NotFound(ObjectKind.Table, _, _) => new MissingTableError(message, error, condition)
      case AlreadyExists(ObjectKind.Table, _, _) => new ExistingTableError(message, error, condition)
      case NotFound(ObjectKind.Namespace, _, _) => new MissingNamespaceError(message, error, condition)
      case AlreadyExists(ObjectKind.Namespace, _, _) => new ExistingNamespaceError(message, error, condition)
      // These errors do not become an AnalysisException, because the statement is valid and may succeed later.
      case _: CommitConflict | _: CommitStateUnknown | _: StorageFailed =>
        new OperationError(message, error, condition)
      case _: InvalidMetadata | _: UnreadableFile | _: Unsupported | _: NotFound | _: AlreadyExists |
          _: AlreadyCommitted | _: InvalidArgument | _: ValidationFailed | _: ConcurrentChange | _: ColumnWidened |
          _: CheckViolated | _: GeneratedColumnMismatch | _: NullInRequired | _: ColumnExists |
          _: ViewPropertyNotFound =>
        new StatementError(message, error, condition)
    }
  }

  /**
   * Returns the failure of a Spark job with the condition of its first cause that has a condition. Spark's own error
   * for a failed job has no condition.
   */
  def ofJob(error: SparkException): Exception with SparkThrowable = error.getCause match {
    // A thread that waited for the job adds an exception without information.
    case job: SparkException if job.getErrorClass == null && String.valueOf(error.getMessage).startsWith(Waited) =>
      ofJob(job)
    case _ => convertedJob(error)
  }

  private val Waited = "Exception thrown in awaitResult"

  private def convertedJob(error: SparkException): Exception with SparkThrowable = {
    val conditions = Causes.of(error).collect {
      case cause: IcebergError => ErrorCondition.of(cause)
      case cause: SparkThrowable if cause.getErrorClass != null =>
        val state = Option(cause.getSqlState).getOrElse(ErrorCondition.JobFailed.sqlState)
        ErrorCondition(cause.getErrorClass, state, cause.getMessageParameters.asScala.toMap)
    }
    val condition = if (conditions.hasNext) conditions.next() else ErrorCondition.JobFailed
    val ofConnector = Causes.of(error).collectFirst {
      case cause @ (_: StatementError | _: OperationError | _: IcebergError) => cause.getMessage
    }
    val converted = ofConnector match {
      case Some(message) => new OperationError(s"$message (${failureOf(error)})", error.getCause, condition)
      case None => new JobError(error.getMessage, error.getCause, condition)
    }
    converted.setStackTrace(error.getStackTrace)
    converted
  }

  /** What Spark says about a failed job, without the last failure of the task, which it repeats with its stack. */
  private def failureOf(error: SparkException): String =
    String.valueOf(error.getMessage).linesIterator.take(1).mkString.split(", most recent failure").head

  /**
   * The position of the part of the statement that Spark is handling. If this part is the whole statement, the position
   * has no line, so that messages do not end with the position of the first character. Without a statement, for example
   * in a DataFrame, the position is empty.
   */
  private[error] def position: Origin = withoutWholeLine(CurrentOrigin.get)

  private def withoutWholeLine(part: Origin): Origin = {
    val before = for (text <- part.sqlText; start <- part.startIndex) yield text.take(start)
    if (before.exists(Comments.replaceAllIn(_, "").trim.isEmpty)) part.copy(line = None, startPosition = None) else part
  }

  private val Comments = "(?s)/\\*.*?\\*/|--[^\n]*".r

  private def messageOf(name: String, error: IcebergError): String =
    if (error.getMessage.contains(name)) error.getMessage else s"$name: ${error.getMessage}"
}

/**
 * Adds the parameters of the condition and the position in the statement to an exception of Spark that can be created
 * only with a message.
 */
sealed private trait Described extends SparkThrowable {
  protected def condition: ErrorCondition
  private val context = SparkErrors.position.getQueryContext

  override def getQueryContext: Array[QueryContext] = context
  override def getMessageParameters: java.util.Map[String, String] = condition.parameters.asJava
}

/** Spark's exception for a missing table. */
final private class MissingTableError(message: String, error: IcebergError, val condition: ErrorCondition)
    extends NoSuchTableException(message, Some(error))
    with Described

/** Spark's exception for an existing table. */
final private class ExistingTableError(message: String, error: IcebergError, val condition: ErrorCondition)
    extends TableAlreadyExistsException(message, Some(error))
    with Described

/** Spark's exception for a missing namespace. */
final private class MissingNamespaceError(message: String, error: IcebergError, val condition: ErrorCondition)
    extends NoSuchNamespaceException(message, Some(error))
    with Described

/** Spark's exception for an existing namespace, with a cause. Spark's class has no parameter for a cause. */
final private class ExistingNamespaceError(message: String, error: IcebergError, val condition: ErrorCondition)
    extends NamespaceAlreadyExistsException(message)
    with Described {
  override def getCause: Throwable = error
}
