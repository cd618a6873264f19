package iceberglite.maintenance.health

import java.util.concurrent.TimeUnit.SECONDS

import scala.util.control.NonFatal

import org.slf4j.LoggerFactory

import iceberglite.maintenance.Deadline
import iceberglite.maintenance.orphan.OrphanSearch
import iceberglite.spec.Redaction
import iceberglite.table.{Environment, Table}

/**
 * What a step changed. See [[StepReport]] for the other fields.
 *
 * @param failure the message of the error that ended the step after some of its commits; absent if the step succeeded
 */
final case class StepResult(
    filesBefore: Long,
    filesAfter: Long,
    bytesRewritten: Long,
    message: Option[String] = None,
    failure: Option[String] = None
)

/**
 * The limits of a step.
 *
 * @param maxBytes the maximum number of bytes to rewrite, if the step would rewrite more; absent for no limit
 * @param deadline the time after which the step does not start the work for a further commit; absent for no limit
 */
final case class StepLimits(maxBytes: Option[Long], deadline: Option[Deadline])

/** Runs maintenance actions with a compute engine. */
trait StepRunner {

  /**
   * Runs an action.
   *
   * @param table the newest version of the table
   */
  def run(action: MaintenanceAction, table: Table, options: MaintenanceOptions, limits: StepLimits): StepResult

  /** The search for orphan files. */
  def orphanSearch: OrphanSearch

  /** Returns whether an error means that a user stopped the maintenance, so that no further step begins. */
  def isCancellation(error: Throwable): Boolean
}

/**
 * The maintenance of a table: the actions that its health requires, within a budget. Each step commits on its own. A
 * step that fails is reported, and the other steps are still run.
 */
final class TableMaintenance(
    table: Table,
    options: MaintenanceOptions,
    runner: StepRunner,
    environment: Environment = Environment.system
) {
  import TableMaintenance._

  /**
   * Returns a report of each step, which shows whether [[run]] would run the step, without changing anything. If
   * `gc.enabled` is true, the table's directory is listed, to count the orphan files.
   */
  def plan(): Vector[StepReport] = {
    fold(stepsOf(Some(runner.orphanSearch))) { (step, limit) =>
      val files = if (limit.isDefined) (None, None) else (step.filesBefore, step.filesAfter)
      val bytes = limit.fold(step.bytesToRewrite)(math.min(_, step.bytesToRewrite))
      StepReport(step, StepStatus.Planned, files._1, files._2, bytes, 0, limit.map(limited))
    }
  }

  /**
   * Runs the steps.
   *
   * @throws Throwable if the health of the table cannot be read, if a user stopped the maintenance, or if the JVM
   *   failed. The earlier steps remain committed
   */
  def run(): Vector[StepReport] = {
    val start = environment.nowMs()
    val deadline = options.maxSeconds.map { seconds =>
      new Deadline(start + math.min(SECONDS.toMillis(seconds), Long.MaxValue - start), environment)
    }
    fold(stepsOf(None)) { (step, limit) =>
      if (deadline.forall(!_.hasPassed)) runStep(step, StepLimits(limit, deadline))
      else skipped(step, Some(s"The ${options.maxSeconds.mkString} seconds of the option max-seconds have passed"))
    }
  }

  private def stepsOf(orphanSearch: Option[OrphanSearch]): Vector[MaintenanceStep] = {
    val current = table.refresh()
    val health =
      TableHealth.of(current, options.rewrite(current.metadata), environment.nowMs(), orphanSearch)
    MaintenancePlan.of(current, health, options)
  }

  /**
   * Processes the steps within the budget of bytes.
   *
   * @param process processes a step that is due. The second argument is the remaining budget in bytes if the step would
   *   rewrite more bytes than that; otherwise it is absent
   */
  private def fold(steps: Vector[MaintenanceStep])(
      process: (MaintenanceStep, Option[Long]) => StepReport
  ): Vector[StepReport] = {
    val start = (options.maxBytes, Vector.empty[StepReport])
    val (_, reports) = steps.foldLeft(start) { case ((left, done), step) =>
      val report = left.filter(_ < step.bytesToRewrite) match {
        case _ if !step.isDue => skipped(step, None)
        case None => process(step, None)
        // Only data files can be rewritten in part.
        case Some(bytes) if bytes > 0 && step.action == MaintenanceAction.RewriteDataFiles => process(step, Some(bytes))
        case Some(bytes) =>
          val message =
            s"It would rewrite ${step.bytesToRewrite} bytes, and $bytes bytes of the option max-bytes are left"
          skipped(step, Some(message))
      }
      (left.map(bytes => math.max(0L, bytes - report.bytesRewritten)), done :+ report)
    }
    reports
  }

  private def runStep(step: MaintenanceStep, limits: StepLimits): StepReport = {
    val start = environment.nowMs()
    def seconds = (environment.nowMs() - start) / 1000.0
    try {
      val result = runner.run(step.action, table.refresh(), options, limits)
      val failure = result.failure.map(Redaction(_))
      failure.foreach(logFailure(step, _))
      limits.maxBytes.filter(_ => result.filesBefore == 0 && failure.isEmpty) match {
        case Some(bytes) =>
          val none = s"No group of files fits into the $bytes bytes of the option max-bytes that are left"
          skipped(step, result.message.orElse(Some(none)))
        case None => reportOf(step, limits, result, failure, seconds)
      }
    } catch {
      case NonFatal(e) if !runner.isCancellation(e) =>
        val message = Redaction(String.valueOf(e.getMessage))
        logFailure(step, message)
        StepReport(step, StepStatus.Failed, None, None, 0, seconds, Some(message))
    }
  }

  private def reportOf(
      step: MaintenanceStep,
      limits: StepLimits,
      result: StepResult,
      failure: Option[String],
      seconds: Double
  ): StepReport = {
    val left = limits.maxBytes.map { bytes =>
      step.filesBefore.fold(limited(bytes))(files => s"${limited(bytes)}: ${result.filesBefore} of $files files")
    }
    val partly = failure.map(message => s"Failed after some commits, which remain: $message")
    val messages = left.toVector ++ result.message ++ partly
    StepReport(
      step,
      if (failure.isDefined) StepStatus.Failed else StepStatus.Done,
      Some(result.filesBefore),
      Some(result.filesAfter),
      result.bytesRewritten,
      seconds,
      messages.reduceOption(_ + "; " + _)
    )
  }

  private def logFailure(step: MaintenanceStep, message: String): Unit =
    log.warn(s"The step ${step.action.name} of the maintenance of ${table.name} failed: $message")

  private def skipped(step: MaintenanceStep, message: Option[String]): StepReport =
    StepReport(step, StepStatus.Skipped, step.filesBefore, step.filesAfter, 0, 0, message)

  private def limited(bytes: Long): String = s"Limited to $bytes bytes by the option max-bytes"
}

object TableMaintenance {
  private val log = LoggerFactory.getLogger("iceberglite.maintenance.health.TableMaintenance")
}
