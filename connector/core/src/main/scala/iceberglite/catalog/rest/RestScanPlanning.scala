package iceberglite.catalog.rest

import scala.annotation.tailrec
import scala.util.control.NonFatal

import iceberglite.scan.{ServerPlan, ServerPlanner}
import iceberglite.spec.IcebergError.{InvalidMetadata, NotFound, StorageFailed}
import iceberglite.spec.{IcebergError, ObjectKind}
import iceberglite.spec.rest.{PlannedFiles, PlanState, ScanPlanJson, ScanPlanRequest}
import iceberglite.spec.rest.RestResponseJson.{Credential, ErrorResponse}
import iceberglite.storage.FileIO
import iceberglite.table.{Cleanup, Environment}
import iceberglite.tree.MetadataPool

/**
 * Plans the scans of a table on the server (REST OpenAPI description: `planTableScan`, `fetchPlanningResult`,
 * `fetchScanTasks` and `cancelPlanning`). If a plan that the server created is not used, because of an error or an
 * interrupt, it is cancelled.
 *
 * @param table the name of the table, for messages
 * @param path the path of the table on the server
 * @param token the token that the server issued with the table
 * @param access creates the `FileIO` for the files of a plan from the plan's id and credentials. Returns `None` if
 *   there are no credentials
 * @param maxParts the maximum number of plan tasks of one plan
 */
final private[rest] class RestScanPlanning(
    table: String,
    path: String,
    server: RestServer,
    environment: Environment,
    token: Option[String],
    access: (Option[String], Vector[Credential]) => Option[FileIO],
    maxParts: Int = RestScanPlanning.MaxParts
) extends ServerPlanner {
  import RestScanPlanning._

  private val timeoutMs = server.settings.number(RestProperty.PlanningTimeoutMs, 1)
  private val maxRetries = server.settings.number(RestProperty.PlanningRetries, 0)

  /** Returns a planner with another maximum number of plan tasks of one plan. */
  private[rest] def limitedTo(parts: Int): RestScanPlanning =
    new RestScanPlanning(table, path, server, environment, token, access, parts)

  override def plan(request: ScanPlanRequest, json: ScanPlanJson): ServerPlan = {
    val (file, submitted) = send(Endpoint.PlanScan, s"$path/plan", Some(ScanPlanJson.request(request)))
    cancellingOnError(ScanPlanJson.planId(file, submitted.body))(json.state(file, submitted.body)) match {
      case PlanState.Submitted(Some(id)) =>
        finish(cancellingOnError(Some(id))(await(id, json, environment.nowMs(), 0)), Some(id), json)
      case PlanState.Submitted(None) => throw InvalidMetadata(file, "$.plan-id", "The key is missing")
      case state => finish(state, None, json)
    }
  }

  /** Returns the files of a plan whose creation has ended. */
  private def finish(state: PlanState, knownId: Option[String], json: ScanPlanJson): ServerPlan = state match {
    case PlanState.Completed(id, first, credentials) =>
      val planId = id.orElse(knownId)
      cancellingOnError(planId) {
        ServerPlan(fetchAll(first, json).flatMap(_.files), access(planId, credentials))
      }
    case PlanState.Failed(error) => throw failed(s"the server could not plan the scan: ${describe(error)}")
    case PlanState.Cancelled | PlanState.Submitted(_) =>
      throw failed(s"the server cancelled the plan${knownId.fold("")(id => s" $id")}. Run the query again")
  }

  /** Asks for a plan until the server has created it. The waits double, from 1 s up to 1 min. */
  @tailrec private def await(planId: String, json: ScanPlanJson, startMs: Long, attempt: Int): PlanState = {
    val (file, response) = send(Endpoint.LoadPlan, planPath(planId), None)
    json.state(file, response.body) match {
      case PlanState.Submitted(_) =>
        val waitMs = math.min(MaxWaitMs, MinWaitMs << math.min(attempt, MaxDoublings))
        if (attempt >= maxRetries || environment.nowMs() + waitMs - startMs > timeoutMs) throw failed(
          s"the server did not create the plan $planId in time. Increase ${RestProperty.PlanningTimeoutMs.key} " +
            s"($timeoutMs) and ${RestProperty.PlanningRetries.key} ($maxRetries), or set " +
            s"${RestProperty.ScanPlanning.key} to client"
        )
        environment.sleep(waitMs)
        await(planId, json, startMs, attempt + 1)
      case state => state
    }
  }

  /** Fetches the files of all plan tasks. The response for a plan task may contain further plan tasks. */
  private def fetchAll(first: PlannedFiles, json: ScanPlanJson): Vector[PlannedFiles] = {
    @tailrec def next(parts: Vector[PlannedFiles], pending: Vector[String], known: Set[String]): Vector[PlannedFiles] =
      if (pending.isEmpty) parts
      else {
        val all = known ++ pending
        if (all.size < known.size + pending.size) throw invalidParts("The server returned a plan task twice")
        if (all.size > maxParts) throw invalidParts(s"The plan has more than $maxParts plan tasks")
        val fetched = MetadataPool.map(pending)(fetch(_, json))
        next(parts ++ fetched, fetched.flatMap(_.planTasks), all)
      }
    next(Vector(first), first.planTasks, Set.empty)
  }

  private def fetch(planTask: String, json: ScanPlanJson): PlannedFiles = {
    val (file, response) = send(Endpoint.FetchTasks, s"$path/tasks", Some(ScanPlanJson.fetchTasks(planTask)))
    json.tasks(file, response.body)
  }

  /** Sends a request. @return the name of the response, for messages, and the response */
  private def send(endpoint: Endpoint, at: String, body: Option[Array[Byte]]): (String, RestResponse) = {
    val request = RestRequest(what, endpoint, at, headers = RestTables.Delegation, body = body, tableToken = token)
    val response = server.send(request) {
      case r if r.status == 404 && r.errorType == "NoSuchPlanIdException" => expired(r)
      case r if r.status == 404 && r.errorType == "NoSuchPlanTaskException" => expired(r)
    }
    (server.client.responseName(request), response)
  }

  private def expired(response: RestFailure): IcebergError = NotFound(
    ObjectKind.Resource,
    s"the plan of a scan of table $table",
    response.withMessage("The REST server has removed it. Run the query again")
  )

  /** Cancels a plan if `body` fails. An interrupt takes effect after the plan is cancelled. */
  private def cancellingOnError[A](planId: => Option[String])(body: => A): A =
    try body
    catch {
      case e @ (NonFatal(_) | _: InterruptedException) =>
        val wasInterrupted = Thread.interrupted()
        try planId.filter(_ => server.has(Endpoint.CancelPlan)).foreach { id =>
            Cleanup.quietly(s"cancel the plan $id of table $table")(cancel(id))
          }
        finally if (wasInterrupted) Thread.currentThread.interrupt()
        throw e
    }

  private def cancel(planId: String): Unit = {
    send(Endpoint.CancelPlan, planPath(planId), None)
    ()
  }

  private def planPath(planId: String): String = s"$path/plan/${RestPaths.segment(planId)}"

  private def what: String = s"plan a scan of table $table"

  private def failed(reason: String): StorageFailed = server.client.storageFailed(what, reason)

  private def invalidParts(reason: String): StorageFailed = failed(s"the plan of the server is invalid. $reason")
}

private[rest] object RestScanPlanning {
  private val MinWaitMs = 1000L
  private val MaxWaitMs = 60000L
  private val MaxDoublings = 6

  /** A plan with more plan tasks is regarded as endless. Servers return a hundred or more files for each plan task. */
  private val MaxParts = 100000

  private def describe(error: ErrorResponse): String =
    Seq(error.errorType, error.message).filter(_.nonEmpty).mkString(": ")
}
