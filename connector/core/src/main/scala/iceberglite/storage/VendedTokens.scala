package iceberglite.storage

/**
 * Settings that a REST server vends for Google Cloud Storage and Azure Data Lake Storage, with the names of Apache
 * Iceberg. They are translated to settings of Hadoop's file systems, which ask [[GcsTokenProvider]] and
 * [[AdlsSasTokenProvider]] for the tokens. Only a server sets these settings; users configure the stores with Hadoop's
 * settings.
 *
 * The keys of Hadoop's configuration for tokens end with `secret`, because Hadoop hides the values of such keys.
 */
private[iceberglite] object VendedTokens {
  val GcsToken = "gcs.oauth2.token"
  private val GcsExpiresAt = "gcs.oauth2.token-expires-at"

  /** Prefixes of the keys for one storage account. The name or the host of the account follows the prefix. */
  private val SasToken = "adls.sas-token."
  private val SasExpiresAt = "adls.sas-token-expires-at-ms."

  private[storage] val HadoopGcsToken = "iceberglite.gcs.token.secret"
  private[storage] val HadoopGcsExpiresAt = "iceberglite.gcs.token-expires-at-ms"

  /** Returns the key of the token of an account in Hadoop's configuration. */
  private[storage] def hadoopSasToken(host: String): String = s"iceberglite.adls.sas-token.$host.secret"

  /** Whether a server may set a key for its tables. */
  def isVended(key: String): Boolean = key == GcsToken || key.startsWith(SasToken)

  /** Whether the value of a key is the time at which a token expires, in milliseconds since 1970. */
  def isExpiry(key: String): Boolean = key == GcsExpiresAt || key.startsWith(SasExpiresAt)

  /** Whether a key belongs to the token of an Azure storage account. */
  def isSas(key: String): Boolean = key.startsWith(SasToken) || key.startsWith(SasExpiresAt)

  private def isToken(key: String): Boolean = key == GcsToken || isSas(key)

  /** Returns settings in which each Azure account is named by its host. Tokens without a value are omitted. */
  def normalized(config: Map[String, String]): Map[String, String] =
    config.toVector.sortBy(_._1).filterNot { case (key, value) => isToken(key) && value.trim.isEmpty }.map {
      case (key, value) =>
        Seq(SasToken, SasExpiresAt).find(key.startsWith(_)).fold(key)(p => p + hostOf(key.stripPrefix(p))) -> value
    }.toMap

  /** Returns the times at which the tokens of normalized settings expire. Times without a token are ignored. */
  def expirations(config: Map[String, String]): Vector[String] = {
    val ofGcs = if (config.get(GcsToken).exists(_.nonEmpty)) config.get(GcsExpiresAt) else None
    ofGcs.toVector ++ config.keys.filter(_.startsWith(SasToken)).flatMap { key =>
      config.get(SasExpiresAt + key.stripPrefix(SasToken))
    }
  }

  /**
   * Returns those of `keys` that belong to tokens which the tokens in `config` replace: the keys of these tokens and of
   * the times at which they expire.
   */
  def replacedBy(config: Map[String, String], keys: Iterable[String]): Set[String] = {
    val accounts = config.keys.filter(_.startsWith(SasToken)).map(key => hostOf(key.stripPrefix(SasToken))).toSet
    def isOfAccount(key: String, prefix: String) = key.startsWith(prefix) && accounts(hostOf(key.stripPrefix(prefix)))
    keys.filter { key =>
      config.contains(GcsToken) && (key == GcsToken || key == GcsExpiresAt) || isOfAccount(key, SasToken) ||
      isOfAccount(key, SasExpiresAt)
    }.toSet
  }

  /** Returns the settings of Hadoop that correspond to vended tokens. Other keys are ignored. */
  private[storage] def hadoop(properties: Map[String, String]): Map[String, String] =
    gcs(properties) ++ properties.collect {
      case (key, token) if key.startsWith(SasToken) && token.nonEmpty =>
        adls(hostOf(key.stripPrefix(SasToken)), token)
    }.flatten

  /**
   * Returns the settings for Google Cloud Storage. The key of the provider's class depends on the version of the file
   * system, so the class is set under both keys.
   */
  private def gcs(properties: Map[String, String]): Map[String, String] =
    properties.get(GcsToken).filter(_.nonEmpty).fold(Map.empty[String, String]) { token =>
      Map(
        "fs.gs.auth.type" -> "ACCESS_TOKEN_PROVIDER",
        "fs.gs.auth.access.token.provider" -> "iceberglite.storage.GcsTokenProvider",
        "fs.gs.auth.access.token.provider.impl" -> "iceberglite.storage.GcsTokenProvider",
        HadoopGcsToken -> token,
        // If the token has no expiration, the expiration of an older token is replaced too.
        HadoopGcsExpiresAt -> properties.get(GcsExpiresAt).fold("")(_.trim)
      )
    }

  private def adls(host: String, token: String): Map[String, String] = Map(
    s"fs.azure.account.auth.type.$host" -> "SAS",
    s"fs.azure.sas.token.provider.type.$host" -> "iceberglite.storage.AdlsSasTokenProvider",
    hadoopSasToken(host) -> token.stripPrefix("?")
  )

  /** Returns the host of an account. The server's text is the host, or only the name of the account. */
  private def hostOf(account: String): String = if (account.contains('.')) account else s"$account.dfs.core.windows.net"
}
