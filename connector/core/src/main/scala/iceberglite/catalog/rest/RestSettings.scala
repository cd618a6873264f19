package iceberglite.catalog.rest

import java.net.URI
import java.util.Locale

import scala.util.Try

import iceberglite.catalog.CatalogProperty
import iceberglite.spec.IcebergError.InvalidArgument

/**
 * The parsed and checked configuration of a catalog.
 *
 * @param catalog the name of the catalog, for messages
 */
final private[catalog] class RestSettings(val catalog: String, val properties: Map[String, String]) {

  /** The address of the server, without a trailing slash. */
  val server: URI = RestSettings.server(catalog, CatalogProperty.Uri.require(catalog, properties, "https://host:8181"))

  def text(property: CatalogProperty): Option[String] = property.value(properties)

  def flag(property: CatalogProperty): Boolean = property.flag(catalog, properties)

  def optionalNumber(property: CatalogProperty, minimum: Long): Option[Long] =
    property.number(catalog, properties, minimum)

  /** Returns the number that a property contains. The property must have a default value. */
  def number(property: CatalogProperty, minimum: Long): Long = optionalNumber(property, minimum).getOrElse(minimum)

  val onlyRefs: Boolean = text(RestProperty.SnapshotLoading).map(_.toUpperCase) match {
    case Some("REFS") => true
    case Some("ALL") | None => false
    case Some(other) => throw invalid(RestProperty.SnapshotLoading, other, "It must be ALL or REFS")
  }

  /** Checks the properties of scan planning. @throws InvalidArgument if a value is invalid */
  def checkPlanning(): Unit = {
    plansByServer
    number(RestProperty.PlanningTimeoutMs, 1)
    number(RestProperty.PlanningRetries, 0)
    ()
  }

  /** Whether the server plans scans, unless a table has another setting. */
  def plansByServer: Boolean = text(RestProperty.ScanPlanning).exists(RestSettings.isServer(s"catalog $catalog", _))

  /** Returns the secrets that messages and logs must not show. */
  def secrets: Vector[String] = {
    val keys = Seq(
      RestProperty.Token,
      RestProperty.BasicPassword,
      RestProperty.SecretKey,
      RestProperty.SessionToken
    )
    val credential = RestProperty.Credential.in(properties).map(c => c.substring(c.indexOf(':') + 1).trim)
    val headers =
      RestProperty.Header.in(properties).collect { case (name, value) if RestSettings.isSecret(name) => value }
    (keys.flatMap(_.in(properties)) ++ credential ++ headers).toVector
  }

  private def invalid(property: CatalogProperty, value: String, reason: String): InvalidArgument =
    InvalidArgument(s"${property.key} of catalog $catalog", value, reason)

  override def toString: String = s"RestSettings($catalog, ${RestSettings.redacted(server)})"
}

private[catalog] object RestSettings {

  /**
   * Returns whether the server plans scans.
   *
   * @param owner the catalog or table with the setting, for messages
   * @param mode the value of `scan-planning-mode`
   * @throws InvalidArgument if the value is invalid
   */
  def isServer(owner: String, mode: String): Boolean = mode.trim.toLowerCase(Locale.ROOT) match {
    case "server" => true
    case "client" => false
    case _ => throw InvalidArgument(s"${RestProperty.ScanPlanning.key} of $owner", mode, "It must be client or server")
  }

  private def isSecret(header: String): Boolean =
    Seq("authorization", "token", "key", "secret", "cookie", "password").exists(header.toLowerCase.contains)

  /** Returns a server's address for messages, without parts that may contain a password. */
  def redacted(uri: URI): String = {
    val port = if (uri.getPort < 0) "" else s":${uri.getPort}"
    s"${uri.getScheme}://${uri.getHost}$port${Option(uri.getRawPath).getOrElse("")}"
  }

  private def server(catalog: String, text: String): URI = {
    def invalid(reason: String) = InvalidArgument(
      s"${CatalogProperty.Uri.key} of catalog $catalog",
      text.replaceAll("//[^/@]*@", "//***@").takeWhile(_ != '?'),
      reason
    )
    val uri = Try(new URI(text.reverse.dropWhile(_ == '/').reverse)).getOrElse(throw invalid("It must be a URI"))
    val scheme = Option(uri.getScheme).map(_.toLowerCase)
    if (!scheme.exists(Set("http", "https"))) throw invalid("It must begin with https:// (or http://)")
    if (Option(uri.getHost).isEmpty) throw invalid("It must contain a host")
    if (Option(uri.getRawUserInfo).isDefined) throw invalid("It must not contain a user; use rest.auth.basic.*")
    if (Option(uri.getRawQuery).orElse(Option(uri.getRawFragment)).isDefined)
      throw invalid("It must not contain a query or a fragment")
    uri
  }

  /** Whether two addresses have the same scheme, host and port. */
  def isSame(a: URI, b: URI): Boolean = origin(a) == origin(b)

  private def origin(uri: URI): (Option[String], Option[String], Int) = {
    val scheme = Option(uri.getScheme).map(_.toLowerCase)
    val port = if (uri.getPort >= 0) uri.getPort else if (scheme.contains("https")) 443 else 80
    (scheme, Option(uri.getHost).map(_.toLowerCase), port)
  }
}
