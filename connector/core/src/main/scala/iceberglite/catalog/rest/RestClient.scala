package iceberglite.catalog.rest

import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Try

import iceberglite.catalog.rest.Outcome._
import iceberglite.spec.{IcebergError, ObjectKind, Place}
import iceberglite.spec.IcebergError._
import iceberglite.spec.rest.RestResponseJson
import iceberglite.table.Environment

/**
 * A request to a server.
 *
 * @param what the purpose of the request, for messages, such as `load table lite.db.t`
 * @param retryMode determines in which cases the request may be retried; by default `IfNotProcessed` for
 *   requests that may change a table, a view or a namespace, otherwise `Always`. A DELETE is not idempotent: if its
 *   response is lost, a retry would drop an object that was created in the meantime
 */
final private[catalog] case class RestRequest(
    what: String,
    endpoint: Endpoint,
    path: String,
    query: Vector[(String, String)] = Vector.empty,
    headers: Vector[(String, String)] = Vector.empty,
    body: Option[Array[Byte]] = None,
    retryMode: Option[RetryMode] = None,
    tableToken: Option[String] = None
)

/**
 * A response that reports a failure.
 *
 * @param errorType the error type of the protocol; empty if the response has none
 * @param earlierOutcomeUnknown whether an earlier attempt of the same request may have succeeded
 */
final private[catalog] case class RestFailure(
    status: Int,
    errorType: String,
    message: String,
    earlierOutcomeUnknown: Boolean
) {

  /** Whether the catalog sent the response, and not a proxy. */
  def isFromCatalog: Boolean = errorType.nonEmpty

  /** Returns the advice, followed by the server's message if there is one. */
  def withMessage(advice: String): String =
    if (message.isEmpty) advice else s"$advice (the server responded: $message)"
}

/** Sends requests with authentication to a configured server, and converts rejections to errors. */
final private[catalog] class RestClient private (
    val settings: RestSettings,
    transport: Transport,
    environment: Environment,
    existingAuth: Option[Auth]
) {
  def this(settings: RestSettings, transport: Transport, environment: Environment) =
    this(settings, transport, environment, None)

  private val sender = new RequestSender(settings, transport, environment)
  private val configuredHeaders = RestProperty.Header.in(settings.properties).toVector.sortBy(_._1)
  private val auth: Auth = existingAuth.getOrElse(Auth.of(settings, this, environment))

  /** Returns a client with the given properties and the authentication of this client. */
  def withProperties(properties: Map[String, String]): RestClient =
    new RestClient(new RestSettings(settings.catalog, properties), transport, environment, Some(auth))

  /** The address of the server, for messages. */
  def address: String = RestSettings.redacted(settings.server)

  /** Sends a request and returns its outcome, without converting a rejection to an error. */
  def exchange(request: RestRequest): Outcome = {
    val uri = URI.create(s"${settings.server}${request.path}${RestPaths.query(request.query)}")
    val call =
      (request.headers ++ configuredHeaders).foldLeft(HttpCall(request.endpoint.method, uri, body = request.body)) {
        case (result, (name, value)) => result.set(name, value)
      }.setIfAbsent("Accept", "application/json").setIfAbsent("User-Agent", RestClient.Agent)
    val typed = if (request.body.isDefined) call.set("Content-Type", "application/json") else call
    val retryMode =
      request.retryMode.getOrElse(if (request.endpoint.isChange) RetryMode.IfNotProcessed else RetryMode.Always)
    sender.send(typed, retryMode, auth, request.tableToken) match {
      case Rejected(response, unknown) => Rejected(withoutToken(response, request.tableToken), unknown)
      case other => other
    }
  }

  /** Removes the token of a table from an error that a server or proxy returned, because messages contain the error. */
  private def withoutToken(response: RestResponse, token: Option[String]): RestResponse =
    token.filter(_.length >= RestClient.MinSecretLength).fold(response) { secret =>
      response.copy(body = new String(response.body, UTF_8).replace(secret, RestClient.Hidden).getBytes(UTF_8))
    }

  /**
   * Sends a request that must succeed.
   *
   * @param errors the errors for rejections that have a specific meaning for this request
   */
  def send(request: RestRequest)(errors: PartialFunction[RestFailure, IcebergError] = PartialFunction.empty)
      : RestResponse =
    exchange(request) match {
      case Succeeded(response) => response
      case Rejected(response, earlierOutcomeUnknown) =>
        throw rejection(request, failureOf(response, earlierOutcomeUnknown))(errors)
      case Unsent(reason) => throw storageFailed(request.what, reason)
      case Unknown(reason) => throw unanswered(request, reason)
    }

  /** Returns the error for a rejection. @param errors the errors for rejections that have a specific meaning */
  def rejection(request: RestRequest, failure: RestFailure)(
      errors: PartialFunction[RestFailure, IcebergError]
  ): IcebergError =
    if (isUncertain(request, failure)) earlierUnknown(request, failure)
    else errors.applyOrElse(failure, toIcebergError(request.what, _: RestFailure))

  /**
   * Whether a rejection does not show whether a change was applied: an earlier attempt may have succeeded and be the
   * reason for the rejection. A request with `RetryMode.Always` is never uncertain, because it is idempotent.
   */
  def isUncertain(request: RestRequest, failure: RestFailure): Boolean = failure.earlierOutcomeUnknown &&
    request.endpoint.isChange && !request.retryMode.contains(RetryMode.Always)

  private def isThisServer(uri: URI): Boolean =
    uri.getScheme == settings.server.getScheme && uri.getRawAuthority == settings.server.getRawAuthority

  /** Sends a request for a token. The form in the request contains secrets. */
  def requestToken(call: HttpCall, secrets: Vector[String]): RestResponse = {
    val server = RestSettings.redacted(call.uri)
    def failed(reason: String) = StorageFailed("get a token from", Place.Server(server), reason)
    // A server with several realms chooses the realm by a header. Other servers must not get these headers.
    val headers = if (isThisServer(call.uri)) configuredHeaders else Vector.empty
    val complete = headers.foldLeft(call) { case (result, (name, value)) => result.setIfAbsent(name, value) }
    sender.send(complete.setIfAbsent("User-Agent", RestClient.Agent), RetryMode.Always, Auth.NoAuth) match {
      case Succeeded(response) => response
      case Rejected(response, _) =>
        val text =
          Try(RestResponseJson.oauthErrorResponse(server, response.body)).map(r => s": ${r.errorType} ${r.message}")
            .getOrElse("")
        val reason =
          s"The server returned ${response.status}${redacted(text, secrets)}. Check credential, token, scope and " +
            "oauth2-server-uri"
        throw failed(reason)
      case Unsent(reason) => throw failed(redacted(reason, secrets))
      case Unknown(reason) => throw failed(redacted(reason, secrets))
    }
  }

  def failureOf(response: RestResponse, earlierOutcomeUnknown: Boolean): RestFailure = {
    val parsed = Try(RestResponseJson.errorResponse("an error", response.body)).toOption
    val message = parsed.map(_.message).getOrElse("")
    RestFailure(
      response.status,
      parsed.fold("")(_.errorType),
      redacted(message + redirection(response)),
      earlierOutcomeUnknown
    )
  }

  /** Returns the error for a rejection that has no specific meaning for the request. */
  def toIcebergError(what: String, failure: RestFailure): IcebergError = failure.status match {
    case 400 | 409 | 422 =>
      ValidationFailed(s"Cannot $what: the REST catalog at $address rejected the request: ${textOf(failure)}")
    case 404 if failure.isFromCatalog =>
      NotFound(RestClient.resourceKind(failure.errorType), what, s"$address responded: ${textOf(failure)}")
    case 406 =>
      Unsupported(s"request to $what", s"The REST catalog at $address does not support it: ${textOf(failure)}")
    case _ =>
      storageFailed(what, s"the server returned ${textOf(failure)}.${RestClient.advice(failure.status)}")
  }

  def storageFailed(what: String, reason: String): StorageFailed =
    StorageFailed(s"$what at", Place.RestCatalog(address), redacted(reason))

  /** Returns the error for a request whose last attempt got no answer. A change may have been applied. */
  def unanswered(request: RestRequest, reason: String): StorageFailed =
    storageFailed(request.what, if (request.endpoint.isChange) s"$reason. ${RestClient.MayBeApplied}" else reason)

  /**
   * Returns the error for a change whose last attempt was rejected after an earlier attempt that may have succeeded.
   */
  private def earlierUnknown(request: RestRequest, failure: RestFailure): StorageFailed =
    storageFailed(
      request.what,
      s"the server returned ${textOf(failure)} to the last of several attempts. ${RestClient.MayBeApplied}"
    )

  def textOf(failure: RestFailure): String =
    s"${failure.status}${if (failure.isFromCatalog) s" ${failure.errorType}" else ""}" +
      (if (failure.message.isEmpty) "" else s": ${failure.message}")

  /** Returns a text from a server or a library as a single line of limited length, without known secrets. */
  private def redacted(text: String, moreSecrets: Vector[String] = Vector.empty): String = {
    val plain = text.replaceAll("\\p{Cntrl}+", " ").trim
    val clean =
      (settings.secrets ++ auth.secrets ++ moreSecrets).filter(_.length >= RestClient.MinSecretLength).sortBy(-_.length)
        .foldLeft(plain)((result, secret) => result.replace(secret, RestClient.Hidden))
    if (clean.length > RestClient.MaxMessageLength) clean.take(RestClient.MaxMessageLength) + "..." else clean
  }

  private def redirection(response: RestResponse): String =
    if (response.status / 100 != 3) ""
    else {
      val target = response.headers.get("location").flatMap(l => Try(settings.server.resolve(l)).toOption)
        .filter(u => Option(u.getHost).isDefined).map(u => s" to ${RestSettings.redacted(u)}").getOrElse("")
      s" The server redirected the request$target. The redirect was not followed, because credentials are sent only " +
        "to the configured server"
    }

  /** Returns the description of a response for messages. */
  def responseName(request: RestRequest): String =
    s"the response of $address to ${request.endpoint.method} ${request.path}"
}

private[catalog] object RestClient {
  private val Agent = "iceberg-lite"
  private val MaxMessageLength = 1000

  /** The text that replaces secrets in messages. */
  private val Hidden = "***"
  private val MayBeApplied =
    "The server may have applied the change; check whether it did before you run the statement again"

  /**
   * The minimum length of secrets that messages hide. Shorter secrets are not hidden, because they also occur by chance
   * in other text.
   */
  private val MinSecretLength = 4

  private def resourceKind(errorType: String): ObjectKind = errorType match {
    case "NoSuchNamespaceException" => ObjectKind.Namespace
    case "NoSuchTableException" => ObjectKind.Table
    case "NoSuchViewException" => ObjectKind.View
    case "NoSuchWarehouseException" => ObjectKind.Warehouse
    case _ => ObjectKind.Resource
  }

  private def advice(status: Int): String = status match {
    case 401 | 419 => " Check token, credential or rest.auth.* of the catalog"
    case 403 => " The user lacks the permission for this request; ask the administrator of the server"
    case 304 => " The request has no ETag, so this status is not an answer to it"
    case s if s / 100 == 3 => " Set uri to the location of the catalog"
    case 404 => " There is no REST catalog at this location; check uri"
    case 429 => " The server is overloaded; try again later"
    case _ => ""
  }
}
