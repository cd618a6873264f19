package iceberglite.catalog.rest

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.table.Environment

/** The authentication with a server. An object also holds the state that it acquires, such as a token. */
private[catalog] trait Auth {

  /**
   * Returns the request with authentication.
   *
   * @param tableToken a token that the server issued for a table; a token that the user configured takes precedence
   */
  def prove(call: Call, tableToken: Option[String]): Call

  /**
   * Discards rejected credentials, after the server rejected a request. @return whether a retry may use other
   * credentials
   */
  def renew(): Boolean = false

  /** Secrets that messages must not show, besides those in the configuration. */
  def secrets: Vector[String] = Vector.empty
}

private[catalog] object Auth {
  val Authorization = "Authorization"

  object Nobody extends Auth {
    override def prove(call: Call, tableToken: Option[String]): Call = tableToken.fold(call)(bearer(call, _))
  }

  final class Basic(user: String, password: String) extends Auth {
    private val encoded = basic(s"$user:$password")

    override def prove(call: Call, tableToken: Option[String]): Call = call.set(Authorization, encoded)
    override def secrets: Vector[String] = Vector(encoded.stripPrefix("Basic "))
  }

  def bearer(call: Call, token: String): Call = call.set(Authorization, s"Bearer $token")

  def basic(userAndPassword: String): String =
    s"Basic ${Base64.getEncoder.encodeToString(userAndPassword.getBytes(UTF_8))}"

  /** Returns the configured authentication. */
  def of(settings: RestSettings, client: RestClient, environment: Environment): Auth =
    kind(settings) match {
      case "sigv4" =>
        val delegate = settings.text(RestProperty.SigV4Delegate).getOrElse("none").toLowerCase
        SigV4(settings, named(delegate, RestProperty.SigV4Delegate.key, settings, client, environment), environment)
      case other => named(other, RestProperty.AuthType.key, settings, client, environment)
    }

  private def kind(settings: RestSettings): String = {
    val oauth2 = Seq(RestProperty.Token, RestProperty.Credential).exists(settings.text(_).isDefined)
    val old = settings.properties.get(RestProperty.OldSigV4).exists(_.trim.equalsIgnoreCase("true"))
    settings.text(RestProperty.AuthType).map(_.toLowerCase)
      .getOrElse(if (old) "sigv4" else if (oauth2) "oauth2" else "none")
  }

  private def named(
      kind: String,
      key: String,
      settings: RestSettings,
      client: RestClient,
      environment: Environment
  ): Auth = kind match {
    case "none" => Nobody
    case "basic" =>
      new Basic(required(settings, RestProperty.BasicUser), required(settings, RestProperty.BasicPassword))
    case "oauth2" => new OAuth2(settings, client, environment)
    case other =>
      throw InvalidArgument(
        s"$key of catalog ${settings.catalog}",
        other,
        "It must be one of none, basic, oauth2, sigv4"
      )
  }

  private def required(settings: RestSettings, property: iceberglite.catalog.CatalogProperty): String =
    settings.text(property).getOrElse(
      throw InvalidArgument(
        s"${property.key} of catalog ${settings.catalog}",
        "none",
        "Basic authentication requires it"
      )
    )
}
