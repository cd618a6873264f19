package iceberglite.catalog.rest

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.table.Environment

/** A method of authentication with a server. An instance also stores acquired credentials, such as a token. */
private[catalog] trait Auth {

  /**
   * Returns the request with authentication headers.
   *
   * @param tableToken a token that the server issued for a table. It is used instead of the token of the catalog; basic
   *   authentication ignores it
   */
  def authenticate(call: HttpCall, tableToken: Option[String]): HttpCall

  /**
   * Discards the credentials of a request that the server rejected, unless they have been replaced since.
   *
   * @param rejected the request, with its authentication headers
   * @return whether a retry of the request would use other credentials
   */
  def renew(rejected: HttpCall): Boolean

  /** Returns secrets that messages must not show, in addition to the secrets in the configuration. */
  def secrets: Vector[String] = Vector.empty
}

private[catalog] object Auth {
  val Authorization = "Authorization"

  object NoAuth extends Auth {
    override def authenticate(call: HttpCall, tableToken: Option[String]): HttpCall =
      tableToken.fold(call)(bearer(call, _))
    override def renew(rejected: HttpCall): Boolean = false
  }

  final class Basic(user: String, password: String) extends Auth {
    private val encoded = basic(s"$user:$password")

    override def authenticate(call: HttpCall, tableToken: Option[String]): HttpCall = call.set(Authorization, encoded)
    override def renew(rejected: HttpCall): Boolean = false
    override def secrets: Vector[String] = Vector(encoded.stripPrefix("Basic "))
  }

  def bearer(call: HttpCall, token: String): HttpCall = call.set(Authorization, bearer(token))

  /** Returns the value of the header [[Authorization]] for a token. */
  def bearer(token: String): String = s"Bearer $token"

  def basic(userAndPassword: String): String =
    s"Basic ${Base64.getEncoder.encodeToString(userAndPassword.getBytes(UTF_8))}"

  /** Returns the authentication that the user configured. */
  def of(settings: RestSettings, client: RestClient, environment: Environment): Auth =
    authType(settings) match {
      case "sigv4" =>
        val delegate = settings.text(RestProperty.SigV4Delegate).getOrElse("none").toLowerCase
        SigV4(settings, ofType(delegate, RestProperty.SigV4Delegate.key, settings, client, environment), environment)
      case other => ofType(other, RestProperty.AuthType.key, settings, client, environment)
    }

  private def authType(settings: RestSettings): String = {
    val oauth2 = Seq(RestProperty.Token, RestProperty.Credential).exists(settings.text(_).isDefined)
    val sigV4Enabled = settings.properties.get(RestProperty.OldSigV4).exists(_.trim.equalsIgnoreCase("true"))
    settings.text(RestProperty.AuthType).map(_.toLowerCase)
      .getOrElse(if (sigV4Enabled) "sigv4" else if (oauth2) "oauth2" else "none")
  }

  private def ofType(
      authType: String,
      key: String,
      settings: RestSettings,
      client: RestClient,
      environment: Environment
  ): Auth = authType match {
    case "none" => NoAuth
    case "basic" =>
      new Basic(
        requiredProperty(settings, RestProperty.BasicUser),
        requiredProperty(settings, RestProperty.BasicPassword)
      )
    case "oauth2" => new OAuth2(settings, client, environment)
    case other =>
      val allowed = Seq("none", "basic", "oauth2") ++ Seq("sigv4").filter(_ => key == RestProperty.AuthType.key)
      val reason = s"It must be one of ${allowed.mkString(", ")}"
      throw InvalidArgument(s"$key of catalog ${settings.catalog}", other, reason)
  }

  private def requiredProperty(settings: RestSettings, property: iceberglite.catalog.CatalogProperty): String =
    settings.text(property).getOrElse(
      throw InvalidArgument(
        s"${property.key} of catalog ${settings.catalog}",
        "(not set)",
        "Basic authentication requires this property"
      )
    )
}
