package iceberglite.catalog.rest

import java.net.URI
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

import scala.util.Try

import org.slf4j.LoggerFactory

import iceberglite.spec.{IcebergError, Place, Redaction}
import iceberglite.spec.IcebergError.{InvalidArgument, InvalidMetadata, StorageFailed}
import iceberglite.spec.rest.RestResponseJson
import iceberglite.table.Environment

/**
 * Authentication with bearer tokens: a configured token, or tokens that a token server issues for a credential (RFC
 * 6749, section 4.4). A token is refreshed before it expires, by token exchange (RFC 8693) or with the credential.
 */
final private[catalog] class OAuth2(settings: RestSettings, client: RestClient, environment: Environment) extends Auth {
  import OAuth2._

  private val credential = settings.text(RestProperty.Credential)
  private val refreshEnabled = settings.flag(RestProperty.TokenRefresh)
  private val exchangeEnabled = settings.flag(RestProperty.TokenExchange)
  private val server = settings.text(RestProperty.TokenServer).fold(tokenEndpoint(settings.server))(tokenServer)
  private var current: Option[CurrentToken] =
    settings.text(RestProperty.Token).map(t => CurrentToken(t, expiryOf(t)))

  override def authenticate(call: HttpCall, tableToken: Option[String]): HttpCall =
    tableToken.orElse(token()).fold(call)(Auth.bearer(call, _))

  override def secrets: Vector[String] = synchronized(current.map(_.token).toVector)

  /**
   * Discards a rejected token, so that the next request gets a new token. Has no effect if no credential is configured,
   * or if another thread has already replaced the token.
   */
  override def renew(rejected: HttpCall): Boolean = synchronized {
    if (credential.isDefined) current = current.filterNot { existing =>
      rejected.header(Auth.Authorization).contains(Auth.bearer(existing.token))
    }
    credential.isDefined
  }

  private def token(): Option[String] = synchronized {
    current match {
      case None => current = credential.map(fetchToken)
      case Some(existing) if needsRefresh(existing) => current = Some(refresh(existing))
      case Some(_) => ()
    }
    current.map(_.token)
  }

  /** Whether the token must be refreshed, because it has expired or expires soon. */
  private def needsRefresh(existing: CurrentToken): Boolean =
    refreshEnabled && existing.nextRefreshMs <= environment.nowMs() && existing.expiry.exists { e =>
      e.atMs - environment.nowMs() <= math.min(MaxEarlyMs, e.lifetimeMs / 10)
    }

  private def refresh(old: CurrentToken): CurrentToken = {
    val isValid = old.expiry.exists(_.atMs > environment.nowMs())
    try {
      if (exchangeEnabled && isValid) exchangeOrFetch(old)
      else credential.map(fetchToken)
        .getOrElse(if (exchangeEnabled) exchangeToken(old) else old.copy(nextRefreshMs = Long.MaxValue))
    } catch {
      // The old token is still sent. The expiration of a token without an expiration time is only assumed.
      case failure: IcebergError if isValid || credential.isEmpty =>
        log.warn(Redaction(s"Could not refresh the token of catalog ${settings.catalog}: ${failure.getMessage}"))
        old.copy(nextRefreshMs = environment.nowMs() + RetryMs)
    }
  }

  /** Gets a new token for a valid one. If the server does not support token exchange, the credential is used. */
  private def exchangeOrFetch(old: CurrentToken): CurrentToken =
    try exchangeToken(old)
    catch { case _: IcebergError if credential.isDefined => fetchToken(credential.get) }

  private def exchangeToken(old: CurrentToken): CurrentToken = {
    val form = Vector(
      "grant_type" -> "urn:ietf:params:oauth:grant-type:token-exchange",
      "subject_token" -> old.token,
      "subject_token_type" -> AccessTokenType
    )
    val isValid = old.expiry.exists(_.atMs > environment.nowMs())
    val authorization =
      if (isValid) Some(s"Bearer ${old.token}") else credential.filter(_.contains(":")).map(Auth.basic)
    requestToken(form, authorization)
  }

  private def fetchToken(secret: String): CurrentToken = {
    val (id, password) = secret.split(":", 2) match {
      case Array(id, password) => (Some(id.trim), password.trim)
      case _ => (None, secret.trim)
    }
    val clientId = id.map("client_id" -> _).toVector
    requestToken(("grant_type" -> "client_credentials") +: (clientId :+ ("client_secret" -> password)), None)
  }

  private def requestToken(form: Vector[(String, String)], authorization: Option[String]): CurrentToken = {
    val options = Seq(
      "scope" -> RestProperty.Scope,
      "audience" -> RestProperty.Audience,
      "resource" -> RestProperty.Resource
    ).flatMap { case (name, property) => settings.text(property).map(name -> _) }
    val call = HttpCall(
      "POST",
      server,
      authorization.map(Auth.Authorization -> _).toVector,
      Some(RestPaths.formEncode(form ++ options).getBytes(UTF_8))
    )
      .set("Content-Type", "application/x-www-form-urlencoded")
    val secrets = form.collect { case ("client_secret" | "subject_token", value) => value }
    val token = tokenIn(client.requestToken(call, secrets))
    val expiry = token.expiresInSeconds.map(s => expiryIn(math.min(s, MaxSeconds) * 1000)).orElse(expiryOf(token.value))
    CurrentToken(token.value, expiry)
  }

  /** Reads a response of the token server. @throws StorageFailed if it contains no bearer token */
  private def tokenIn(response: RestResponse): RestResponseJson.Token = {
    val place = RestSettings.redacted(server)
    def failed(reason: String) = StorageFailed("get a token from", Place.Server(place), reason)
    val token =
      try RestResponseJson.token(s"the response of $place", response.body)
      catch { case _: InvalidMetadata => throw failed(NoToken) }
    token.tokenType.filterNot(kind => BearerTypes(kind.toLowerCase)).foreach { kind =>
      throw failed(
        s"The response contains a token of type $kind. Only bearer tokens are supported; check oauth2-server-uri"
      )
    }
    token
  }

  private def expiryOf(token: String): Option[Expiry] = Some(
    expiryOfJwt(token).fold(expiryIn(settings.number(RestProperty.TokenExpiresInMs, 1)))(atMs =>
      Expiry(atMs, math.max(0, atMs - environment.nowMs()))
    )
  )

  private def expiryIn(ms: Long): Expiry = Expiry(environment.nowMs() + ms, ms)

  private def tokenServer(text: String): URI = {
    val uri = Try(settings.server.resolve(text)).toOption
      .map(u => if (text.contains("://")) u else URI.create(s"${settings.server}/${text.dropWhile(_ == '/')}"))
    uri.filter(u => Set("http", "https")(String.valueOf(u.getScheme)) && Option(u.getHost).isDefined).getOrElse(
      throw InvalidArgument(
        s"${RestProperty.TokenServer.key} of catalog ${settings.catalog}",
        text,
        "It must be an HTTP URI, or a path on the REST server"
      )
    )
  }

  override def toString: String = "OAuth2"
}

private[catalog] object OAuth2 {
  private val log = LoggerFactory.getLogger("iceberglite.catalog.rest.OAuth2")
  private val AccessTokenType = "urn:ietf:params:oauth:token-type:access_token"

  /**
   * The types of tokens that are sent as bearer tokens. An exchanged token can have the type `N_A` (RFC 8693, 2.2.1).
   */
  private val BearerTypes = Set("bearer", "n_a")

  /** The maximum time, in milliseconds, by which a token is refreshed before its expiration. */
  private val MaxEarlyMs = 300000L

  /** The time after which a failed refresh of a valid token is repeated, in milliseconds. */
  private val RetryMs = 30000L

  /** A hundred years. Some servers send larger numbers for tokens that do not expire. */
  private val MaxSeconds = 100L * 365 * 86400
  private val NoToken = "The response contains no OAuth2 token. Check oauth2-server-uri"

  /**
   * The expiration of a token.
   *
   * @param atMs the time of the expiration, in milliseconds since 1970
   * @param lifetimeMs the remaining lifetime, in milliseconds, when this process received the token
   */
  final private case class Expiry(atMs: Long, lifetimeMs: Long)

  /**
   * The current token.
   *
   * @param nextRefreshMs the time before which the token is not refreshed, because a refresh has failed
   */
  final private case class CurrentToken(token: String, expiry: Option[Expiry], nextRefreshMs: Long = 0) {
    override def toString: String = "CurrentToken"
  }

  private def tokenEndpoint(server: URI): URI = URI.create(s"$server/v1/oauth/tokens")

  /** Returns the expiration of a JSON web token (claim `exp`); absent for other tokens. */
  private def expiryOfJwt(token: String): Option[Long] = token.split('.') match {
    case Array(_, claims, _) =>
      Try(Base64.getUrlDecoder.decode(claims)).toOption.flatMap(RestResponseJson.expiry)
        .map(seconds => math.min(seconds, 2 * MaxSeconds) * 1000)
    case _ => None
  }
}
