package iceberglite.catalog.rest

import java.net.URI

import scala.util.Try

import iceberglite.catalog.rest.Outcome._
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError._
import iceberglite.spec.rest.RestAnswerJson
import iceberglite.table.Environment

/**
 * A request to a server.
 *
 * @param what the purpose of the request, for messages: `load table lite.db.t`
 * @param repeat whether the request may be retried; by default, all requests except POST may be retried
 */
final private[catalog] case class Ask(
    what: String,
    endpoint: Endpoint,
    path: String,
    query: Vector[(String, String)] = Vector.empty,
    headers: Vector[(String, String)] = Vector.empty,
    body: Option[Array[Byte]] = None,
    repeat: Option[Repeat] = None,
    tableToken: Option[String] = None
)

/** A response that reports a failure. @param kind the error type of the protocol; empty if the response has none */
final private[catalog] case class Refusal(status: Int, kind: String, message: String, inDoubt: Boolean) {

  /** Whether the catalog sent the response, and not a proxy. */
  def isOfCatalog: Boolean = kind.nonEmpty
}

/** Sends requests with authentication to a configured server, and converts rejections to errors. */
final private[catalog] class RestClient private (
    val settings: RestSettings,
    wire: Wire,
    environment: Environment,
    known: Option[Auth]
) {
  def this(settings: RestSettings, wire: Wire, environment: Environment) = this(settings, wire, environment, None)

  private val sender = new Sender(settings, wire, environment)
  private val configuredHeaders = RestProperty.Header.in(settings.properties).toVector.sortBy(_._1)
  private val auth: Auth = known.getOrElse(Auth.of(settings, this, environment))

  /** Returns a client with these properties and the same authentication. */
  def within(properties: Map[String, String]): RestClient =
    new RestClient(new RestSettings(settings.catalog, properties), wire, environment, Some(auth))

  /** The address of the server, for messages. */
  def shown: String = RestSettings.shown(settings.server)

  def exchange(ask: Ask): Outcome = {
    val uri = URI.create(s"${settings.server}${ask.path}${RestPaths.query(ask.query)}")
    val call = (ask.headers ++ configuredHeaders).foldLeft(Call(ask.endpoint.method, uri, body = ask.body)) {
      case (sofar, (name, value)) => sofar.set(name, value)
    }.default("Accept", "application/json").default("User-Agent", RestClient.Agent)
    val typed = if (ask.body.isDefined) call.set("Content-Type", "application/json") else call
    val repeat = ask.repeat.getOrElse(if (ask.endpoint.method == "POST") Repeat.Once else Repeat.Always)
    sender.send(typed, repeat, auth, ask.tableToken)
  }

  /**
   * Sends a request that must succeed.
   *
   * @param refused the errors for rejections that have a specific meaning for this request
   */
  def ask(ask: Ask)(refused: PartialFunction[Refusal, IcebergError] = PartialFunction.empty): Answer =
    exchange(ask) match {
      case Done(answer) => answer
      case Refused(answer, inDoubt) =>
        val read = refusalOf(answer, inDoubt)
        throw refused.applyOrElse(read, (r: Refusal) => error(ask.what, r))
      case Unsent(reason) => throw failed(ask.what, reason)
      case Unknown(reason) => throw failed(ask.what, reason)
    }

  /** Sends a request for a token, whose form contains secrets. */
  def tokens(call: Call, secrets: Vector[String]): Answer = {
    val what = "get a token"
    val where = s"from ${RestSettings.shown(call.uri)}"
    sender.send(call.default("User-Agent", RestClient.Agent), Repeat.Always, Auth.Nobody) match {
      case Done(answer) => answer
      case Refused(answer, _) =>
        val text =
          Try(RestAnswerJson.oauthRefusal(where, answer.body)).map(r => s": ${r.kind} ${r.message}").getOrElse("")
        val reason =
          s"The server returned ${answer.status}${redacted(text, secrets)}. Check credential, token, scope and " +
            "oauth2-server-uri"
        throw StorageFailed(what, where, reason)
      case Unsent(reason) => throw StorageFailed(what, where, redacted(reason, secrets))
      case Unknown(reason) => throw StorageFailed(what, where, redacted(reason, secrets))
    }
  }

  def refusalOf(answer: Answer, inDoubt: Boolean): Refusal = {
    val known = Try(RestAnswerJson.refusal("an error", answer.body)).toOption
    val message = known.map(_.message).getOrElse("")
    Refusal(answer.status, known.fold("")(_.kind), redacted(message + redirection(answer)), inDoubt)
  }

  /** Returns the error for a rejection without a specific meaning. */
  def error(what: String, refusal: Refusal): IcebergError = refusal.status match {
    case 400 | 409 | 422 =>
      ValidationFailed(s"Cannot $what: the REST catalog at $shown rejected it: ${textOf(refusal)}")
    case 404 if refusal.isOfCatalog =>
      NotFound(RestClient.kindOf(refusal.kind), what, s"$shown says: ${textOf(refusal)}")
    case 406 => Unsupported(s"to $what", s"The REST catalog at $shown does not support it: ${textOf(refusal)}")
    case _ => failed(what, s"it returned ${textOf(refusal)}.${RestClient.advice(refusal.status)}")
  }

  def failed(what: String, reason: String): StorageFailed =
    StorageFailed(what, s"at the REST catalog $shown", redacted(reason))

  def textOf(refusal: Refusal): String =
    s"${refusal.status}${if (refusal.isOfCatalog) s" ${refusal.kind}" else ""}" +
      (if (refusal.message.isEmpty) "" else s": ${refusal.message}")

  /** Returns a text of a server or a library in one line of limited length, without known secrets. */
  private def redacted(text: String, more: Vector[String] = Vector.empty): String = {
    val plain = text.replaceAll("\\p{Cntrl}+", " ").trim
    val clean = (settings.secrets ++ auth.secrets ++ more).filter(_.length >= RestClient.MinSecret).sortBy(-_.length)
      .foldLeft(plain)((sofar, secret) => sofar.replace(secret, "***"))
    if (clean.length > RestClient.Shown) clean.take(RestClient.Shown) + "..." else clean
  }

  private def redirection(answer: Answer): String =
    if (answer.status / 100 != 3) ""
    else {
      val target = answer.headers.get("location").flatMap(l => Try(settings.server.resolve(l)).toOption)
        .filter(u => Option(u.getHost).isDefined).map(u => s" to ${RestSettings.shown(u)}").getOrElse("")
      s" The server redirected$target; not followed, because credentials are sent only to the configured server"
    }

  /** Returns the name of a response for messages. */
  def named(ask: Ask): String = s"the answer of $shown to ${ask.endpoint.method} ${ask.path}"
}

private[catalog] object RestClient {
  private val Agent = "iceberg-lite"
  private val Shown = 1000

  /** The minimum length of secrets to hide: hiding shorter ones would make messages unreadable, and protect nothing. */
  private val MinSecret = 4

  private def kindOf(errorType: String): String = errorType match {
    case "NoSuchNamespaceException" => "namespace"
    case "NoSuchTableException" => "table"
    case "NoSuchViewException" => "view"
    case "NoSuchWarehouseException" => "warehouse"
    case _ => "resource"
  }

  private def advice(status: Int): String = status match {
    case 401 | 419 => " Check token, credential or rest.auth.* of the catalog"
    case 403 => " The user lacks the permission for this; ask the administrator of the server"
    case s if s / 100 == 3 => " Set uri to the location of the catalog"
    case 404 => " There is no REST catalog at this location; check uri"
    case 429 => " The server is overloaded; try again later"
    case _ => ""
  }
}
