package iceberglite.catalog.rest

import java.net.URI

import iceberglite.catalog.CatalogProperty
import iceberglite.spec.{IcebergError, ObjectKind}
import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, Unsupported}
import iceberglite.spec.rest.RestResponseJson
import iceberglite.table.Environment

/**
 * A server whose configuration has been loaded.
 *
 * @param supportsIdempotencyKeys whether the server supports the header `Idempotency-Key`
 */
final private[catalog] class RestServer private (
    val client: RestClient,
    val paths: RestPaths,
    endpoints: Set[Endpoint],
    supportsIdempotencyKeys: Boolean,
    environment: Environment
) {
  def settings: RestSettings = client.settings

  def has(endpoint: Endpoint): Boolean = endpoints(endpoint)

  /**
   * Checks that the server has the endpoint of a request. If the server supports idempotency keys, adds such a key to
   * each request that may change a table, a view or a namespace, so that the request may be retried.
   */
  def prepare(request: RestRequest): RestRequest = {
    if (!has(request.endpoint)) {
      throw Unsupported(
        s"to ${request.what}",
        s"The REST catalog at ${client.address} does not support ${request.endpoint}"
      )
    }
    if (supportsIdempotencyKeys && request.endpoint.isChange) {
      request.copy(
        headers = request.headers :+ (RestServer.IdempotencyKey -> newUuid7()),
        retryMode = Some(RetryMode.Always)
      )
    } else request
  }

  /**
   * Sends a request that must succeed; see [[RestClient.send]].
   *
   * @throws Unsupported if the server does not have the endpoint
   */
  def send(request: RestRequest)(errors: PartialFunction[RestFailure, IcebergError] = PartialFunction.empty)
      : RestResponse =
    client.send(prepare(request))(errors)

  /** Returns a UUID of version 7 (RFC 9562), which begins with the current time. The protocol requires this version. */
  private def newUuid7(): String = {
    val random = environment.uuid()
    val high = (environment.nowMs() << 16) | 0x7000L | (random.getMostSignificantBits & 0x0fffL)
    new java.util.UUID(high, random.getLeastSignificantBits).toString
  }
}

private[catalog] object RestServer {
  private val IdempotencyKey = "Idempotency-Key"

  /** Returns the properties on which authentication depends. */
  private def authProperties(properties: Map[String, String]): Map[String, String] =
    properties.filter { case (key, _) => key.startsWith("rest.") || authKeys(key) }

  private val authKeys: Set[String] = Seq(
    RestProperty.Token,
    RestProperty.Credential,
    RestProperty.TokenServer,
    RestProperty.TokenExpiresInMs,
    RestProperty.TokenRefresh,
    RestProperty.TokenExchange,
    RestProperty.Scope,
    RestProperty.Audience,
    RestProperty.Resource,
    CatalogProperty.Uri
  ).map(_.key).toSet

  /**
   * Loads the server's configuration. The user's properties take precedence over the defaults in this configuration,
   * but not over its overrides.
   */
  def connect(initialClient: RestClient, transport: RestSettings => Transport, environment: Environment): RestServer = {
    val settings = initialClient.settings
    val config = configOf(initialClient)
    val merged = config.defaults ++ settings.properties ++ config.overrides
    rejectOtherServer(settings, merged)
    val client =
      if (
        authProperties(merged) == authProperties(settings.properties) && headers(merged) == headers(settings.properties)
      )
        initialClient.withProperties(merged)
      else {
        val changed = new RestSettings(settings.catalog, merged)
        new RestClient(changed, transport(changed), environment)
      }
    of(client, config, environment)
  }

  private def configOf(client: RestClient): RestResponseJson.Config = {
    val warehouse = client.settings.text(CatalogProperty.Warehouse)
    val request = RestRequest(
      s"read the configuration of catalog ${client.settings.catalog}",
      Endpoint.GetConfig,
      Endpoint.GetConfig.path,
      warehouse.map(CatalogProperty.Warehouse.key -> _).toVector
    )
    val response = client.send(request) {
      case r if r.status == 404 && r.isFromCatalog =>
        NotFound(
          ObjectKind.Warehouse,
          warehouse.getOrElse(""),
          s"The REST catalog at ${client.address} responded: ${client.textOf(r)}. Set the property " +
            "warehouse to an existing warehouse"
        )
    }
    RestResponseJson.config(client.responseName(request), response.body)
  }

  private def of(client: RestClient, config: RestResponseJson.Config, environment: Environment): RestServer = {
    val settings = client.settings
    val separator = settings.text(RestProperty.NamespaceSeparator).getOrElse("")
    new RestServer(
      client,
      new RestPaths(settings.properties.get("prefix").map(_.trim), separator),
      Endpoint.of(config.endpoints, settings.flag(RestProperty.ViewEndpoints)),
      config.supportsIdempotencyKeys,
      environment
    )
  }

  private def headers(properties: Map[String, String]): Map[String, String] = RestProperty.Header.in(properties)

  /** Rejects a configuration of the server that would send the user's credentials to another server. */
  private def rejectOtherServer(settings: RestSettings, merged: Map[String, String]): Unit =
    for {
      key <- Seq(CatalogProperty.Uri.key, RestProperty.TokenServer.key)
      value <- merged.get(key)
      if !settings.properties.get(key).contains(value) && value.contains("://")
      if !scala.util.Try(RestSettings.isSame(new URI(value), settings.server)).getOrElse(false)
    } throw InvalidArgument(
      s"$key of catalog ${settings.catalog}",
      value.takeWhile(_ != '?'),
      s"The configuration of the server at ${RestSettings.redacted(settings.server)} contains this address of " +
        s"another server. If you trust the other server, set $key in the properties of the catalog"
    )
}
