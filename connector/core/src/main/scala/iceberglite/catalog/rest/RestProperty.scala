package iceberglite.catalog.rest

import iceberglite.catalog.{CatalogProperty, PropertyPrefix}
import iceberglite.spec.property.Declarations

/** The properties of a REST catalog, under the names of Apache Iceberg. */
object RestProperty {
  private val declared = new Declarations[CatalogProperty]

  val PurgeByServer: CatalogProperty = declared(CatalogProperty(
    "rest-catalog-purge",
    Some("false"),
    "Whether DROP TABLE ... PURGE leaves the deletion of the table's files to the REST server"
  ))
  val SnapshotLoading: CatalogProperty = declared(CatalogProperty(
    "snapshot-loading-mode",
    Some("ALL"),
    "Snapshots that a REST catalog loads with a table: ALL, or REFS for only the snapshots of branches and tags; the " +
      "other snapshots are then loaded when needed"
  ))
  val PageSize: CatalogProperty = declared(CatalogProperty(
    "rest-page-size",
    None,
    "Maximum number of names in one listing request to a REST server; by default all names"
  ))
  val NamespaceSeparator: CatalogProperty = declared(CatalogProperty(
    "namespace-separator",
    Some("%1F"),
    "Separator of namespace levels in the paths of a REST server, percent-encoded"
  ))
  val ViewEndpoints: CatalogProperty = declared(CatalogProperty(
    "view-endpoints-supported",
    Some("false"),
    "Whether a REST server that does not list its endpoints supports views"
  ))
  val ScanPlanning: CatalogProperty = declared(CatalogProperty(
    "scan-planning-mode",
    Some("client"),
    "Where queries of a REST catalog's tables are planned: client, or server. The setting that the server sends with " +
      "a table takes precedence"
  ))
  val PlanningTimeoutMs: CatalogProperty = declared(CatalogProperty(
    "rest-scan-planning.poll-timeout-ms",
    Some("300000"),
    "Time after which a REST server that plans a scan in the background is no longer asked for the plan"
  ))
  val PlanningRetries: CatalogProperty = declared(CatalogProperty(
    "rest-scan-planning.poll-num-retries",
    Some("10"),
    "Number of times that a REST server is asked again for a plan that it creates in the background"
  ))
  val MetricsReporting: CatalogProperty = declared(CatalogProperty(
    "rest-metrics-reporting-enabled",
    Some("true"),
    "Whether metrics of scans and commits are sent to a REST server that has an endpoint for them"
  ))
  val CacheExpirationMs: CatalogProperty = declared(CatalogProperty(
    "rest-table-cache.expire-after-write-ms",
    Some("300000"),
    "Time for which a table of a REST catalog is cached and reused if the server reports it as unchanged"
  ))
  val CacheEntries: CatalogProperty = declared(CatalogProperty(
    "rest-table-cache.max-entries",
    Some("100"),
    "Maximum number of cached tables of a REST catalog; 0 disables the cache"
  ))
  val MaxRetries: CatalogProperty = declared(CatalogProperty(
    "rest.client.max-retries",
    Some("5"),
    "Maximum number of retries of a request that a REST server rejected temporarily or that failed on the network"
  ))
  val ConnectTimeoutMs: CatalogProperty = declared(CatalogProperty(
    "rest.client.connection-timeout-ms",
    Some("30000"),
    "Timeout for connecting to a REST server"
  ))
  val TimeoutMs: CatalogProperty = declared(CatalogProperty(
    "rest.client.socket-timeout-ms",
    Some("300000"),
    "Timeout for a request to a REST server, up to the last byte of the response"
  ))
  val ProxyHost: CatalogProperty =
    declared(CatalogProperty("rest.client.proxy.hostname", None, "Host of the proxy for requests to a REST server"))
  val ProxyPort: CatalogProperty = declared(CatalogProperty(
    "rest.client.proxy.port",
    None,
    "Port of the proxy for requests to a REST server"
  ))
  val AuthType: CatalogProperty = declared(CatalogProperty(
    "rest.auth.type",
    None,
    "Authentication with the REST server: none, basic, oauth2 or sigv4; by default oauth2 if token or credential is " +
      "set, else none"
  ))
  val BasicUser: CatalogProperty = declared(CatalogProperty("rest.auth.basic.username", None, "basic: user name"))
  val BasicPassword: CatalogProperty = declared(CatalogProperty("rest.auth.basic.password", None, "basic: password"))
  val Token: CatalogProperty = declared(CatalogProperty("token", None, "oauth2: initial bearer token"))
  val Credential: CatalogProperty = declared(CatalogProperty(
    "credential",
    None,
    "oauth2: client credential to request tokens with, as id:secret or as a secret alone"
  ))
  val TokenServer: CatalogProperty = declared(CatalogProperty(
    "oauth2-server-uri",
    None,
    "oauth2: token endpoint; by default v1/oauth/tokens of the catalog"
  ))
  val TokenExpiresInMs: CatalogProperty = declared(CatalogProperty(
    "token-expires-in-ms",
    Some("3600000"),
    "oauth2: assumed lifetime of a token that does not state its lifetime"
  ))
  val TokenRefresh: CatalogProperty = declared(CatalogProperty(
    "token-refresh-enabled",
    Some("true"),
    "oauth2: whether a token is refreshed before it expires"
  ))
  val TokenExchange: CatalogProperty = declared(CatalogProperty(
    "token-exchange-enabled",
    Some("true"),
    "oauth2: whether a refresh exchanges the old token for a new token; if not, it requests a token with the credential"
  ))
  val Scope: CatalogProperty = declared(CatalogProperty("scope", Some("catalog"), "oauth2: scope of tokens"))
  val Audience: CatalogProperty = declared(CatalogProperty("audience", None, "oauth2: audience of tokens"))
  val Resource: CatalogProperty = declared(CatalogProperty("resource", None, "oauth2: resource of tokens"))
  val SigV4Delegate: CatalogProperty = declared(CatalogProperty(
    "rest.auth.sigv4.delegate-auth-type",
    Some("oauth2"),
    "sigv4: authentication in addition to the signature: none, basic or oauth2"
  ))
  val SigningRegion: CatalogProperty = declared(CatalogProperty(
    "rest.signing-region",
    None,
    "sigv4: signing region; by default the region of the AWS environment"
  ))
  val SigningName: CatalogProperty = declared(CatalogProperty(
    "rest.signing-name",
    Some("execute-api"),
    "sigv4: signing name of the service"
  ))
  val AccessKey: CatalogProperty = declared(CatalogProperty(
    "rest.access-key-id",
    None,
    "sigv4: access key id; by default the key of the AWS environment"
  ))
  val SecretKey: CatalogProperty = declared(CatalogProperty("rest.secret-access-key", None, "sigv4: secret access key"))
  val SessionToken: CatalogProperty = declared(CatalogProperty("rest.session-token", None, "sigv4: session token"))

  val Header: PropertyPrefix = PropertyPrefix("header.", "Header of every request to a REST server")

  /**
   * The key that enables sigv4 in releases of Apache Iceberg without `rest.auth.type`. Some servers still send this key
   * in their configuration.
   */
  private[catalog] val OldSigV4 = "rest.sigv4-enabled"

  /** All properties, in the order of the documentation. */
  val all: Seq[CatalogProperty] = declared.all
}
