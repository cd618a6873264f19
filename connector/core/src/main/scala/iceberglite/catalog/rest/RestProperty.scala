package iceberglite.catalog.rest

import iceberglite.catalog.{CatalogProperty, PropertyPrefix}

/** The keys of a REST catalog's configuration, under the names that Apache Iceberg's users know. */
object RestProperty {
  val PurgeByServer: CatalogProperty = CatalogProperty(
    "rest-catalog-purge",
    Some("false"),
    "Whether DROP TABLE ... PURGE leaves it to the REST server to delete the table's files"
  )
  val SnapshotLoading: CatalogProperty = CatalogProperty(
    "snapshot-loading-mode",
    Some("ALL"),
    "REFS loads a table of a REST catalog with the snapshots of its branches and tags only, and the rest when needed"
  )
  val PageSize: CatalogProperty =
    CatalogProperty("rest-page-size", None, "How many names a REST server is asked for at a time; absent: all")
  val NamespaceSeparator: CatalogProperty = CatalogProperty(
    "namespace-separator",
    Some("%1F"),
    "What stands between the levels of a namespace in a REST server's paths, percent-encoded"
  )
  val ViewEndpoints: CatalogProperty = CatalogProperty(
    "view-endpoints-supported",
    Some("false"),
    "Whether a REST server that does not list its endpoints has views"
  )
  val ScanPlanning: CatalogProperty = CatalogProperty(
    "scan-planning-mode",
    Some("client"),
    "Who plans the scans of a REST catalog's tables: only client can be"
  )
  val CacheExpirationMs: CatalogProperty = CatalogProperty(
    "rest-table-cache.expire-after-write-ms",
    Some("300000"),
    "How long a table that a REST server gave is kept, to be taken again where the server says it is unchanged"
  )
  val CacheEntries: CatalogProperty =
    CatalogProperty("rest-table-cache.max-entries", Some("100"), "How many such tables are kept; 0 keeps none")
  val MaxRetries: CatalogProperty = CatalogProperty(
    "rest.client.max-retries",
    Some("5"),
    "How often a request to a REST server is sent again that was turned away or failed on the way"
  )
  val ConnectTimeoutMs: CatalogProperty =
    CatalogProperty("rest.client.connection-timeout-ms", Some("30000"), "How long connecting to a REST server may take")
  val TimeoutMs: CatalogProperty = CatalogProperty(
    "rest.client.socket-timeout-ms",
    Some("300000"),
    "How long a request to a REST server may take until the last byte of the answer is there"
  )
  val ProxyHost: CatalogProperty =
    CatalogProperty("rest.client.proxy.hostname", None, "The proxy on the way to a REST server")
  val ProxyPort: CatalogProperty = CatalogProperty("rest.client.proxy.port", None, "The port of that proxy")
  val AuthType: CatalogProperty = CatalogProperty(
    "rest.auth.type",
    None,
    "How a REST server knows us: none, basic, oauth2 or sigv4; absent: oauth2 where token or credential is set"
  )
  val BasicUser: CatalogProperty = CatalogProperty("rest.auth.basic.username", None, "The user for basic")
  val BasicPassword: CatalogProperty = CatalogProperty("rest.auth.basic.password", None, "The password for basic")
  val Token: CatalogProperty = CatalogProperty("token", None, "oauth2: a bearer token to begin with")
  val Credential: CatalogProperty =
    CatalogProperty("credential", None, "oauth2: id:secret, or a secret alone, that tokens are given for")
  val TokenServer: CatalogProperty =
    CatalogProperty("oauth2-server-uri", None, "oauth2: where tokens come from; absent: the catalog's v1/oauth/tokens")
  val TokenExpiresInMs: CatalogProperty = CatalogProperty(
    "token-expires-in-ms",
    Some("3600000"),
    "oauth2: how long a token is taken to be good that does not say so itself"
  )
  val TokenRefresh: CatalogProperty = CatalogProperty(
    "token-refresh-enabled",
    Some("true"),
    "oauth2: whether a token is replaced before it expires"
  )
  val TokenExchange: CatalogProperty = CatalogProperty(
    "token-exchange-enabled",
    Some("true"),
    "oauth2: whether the old token is exchanged for the new one; otherwise the credential gets it"
  )
  val Scope: CatalogProperty = CatalogProperty("scope", Some("catalog"), "oauth2: the scope of tokens")
  val Audience: CatalogProperty = CatalogProperty("audience", None, "oauth2: the audience of tokens")
  val Resource: CatalogProperty = CatalogProperty("resource", None, "oauth2: the resource of tokens")
  val SigV4Delegate: CatalogProperty = CatalogProperty(
    "rest.auth.sigv4.delegate-auth-type",
    Some("oauth2"),
    "sigv4: what a request proves besides its signature: none, basic or oauth2"
  )
  val SigningRegion: CatalogProperty =
    CatalogProperty("rest.signing-region", None, "sigv4: the region; absent: the one of the AWS environment")
  val SigningName: CatalogProperty = CatalogProperty("rest.signing-name", Some("execute-api"), "sigv4: the service")
  val AccessKey: CatalogProperty =
    CatalogProperty("rest.access-key-id", None, "sigv4: the access key; absent: that of the AWS environment")
  val SecretKey: CatalogProperty = CatalogProperty("rest.secret-access-key", None, "sigv4: its secret")
  val SessionToken: CatalogProperty = CatalogProperty("rest.session-token", None, "sigv4: the token of a session")

  val Header: PropertyPrefix = PropertyPrefix("header.", "A header of every request to a REST server")

  /** What releases of Apache Iceberg before `rest.auth.type` said for sigv4, and some servers still say. */
  private[catalog] val OldSigV4 = "rest.sigv4-enabled"

  /** In the order of the documentation. */
  val all: Seq[CatalogProperty] = Seq(
    AuthType,
    Token,
    Credential,
    TokenServer,
    Scope,
    Audience,
    Resource,
    TokenExpiresInMs,
    TokenRefresh,
    TokenExchange,
    BasicUser,
    BasicPassword,
    SigV4Delegate,
    SigningRegion,
    SigningName,
    AccessKey,
    SecretKey,
    SessionToken,
    SnapshotLoading,
    PageSize,
    PurgeByServer,
    CacheExpirationMs,
    CacheEntries,
    NamespaceSeparator,
    ViewEndpoints,
    ScanPlanning,
    MaxRetries,
    ConnectTimeoutMs,
    TimeoutMs,
    ProxyHost,
    ProxyPort
  )
}
