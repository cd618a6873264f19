package iceberglite.catalog.rest

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.rest.RestResponseJson.LoadedTable
import iceberglite.storage.S3Settings

/**
 * Rejects tables for which the server requires abilities that this client lacks: remote signing of requests to the
 * storage, and read restrictions (REST OpenAPI description: `LoadTableResult`).
 *
 * @param userProperties the properties that the user set for the catalog, without those of the server
 */
final private[catalog] class TableRequirements(userProperties: Map[String, String]) {
  import TableRequirements._

  private val disabledByUser = userProperties.get(RemoteSigning).exists(_.trim.equalsIgnoreCase("false"))

  /**
   * Checks a table.
   *
   * @param name the name of the table, for messages
   * @param server the settings of the catalog, including those of the server
   * @throws Unsupported if the table requires an unsupported ability
   */
  def check(name: String, table: LoadedTable, server: RestSettings): Unit = {
    if (requiresSigning(table, server)) throw Unsupported(
      s"$RemoteSigning=true, which the REST catalog at ${RestSettings.redacted(server.server)} sent for table $name",
      "Requests are not signed by a REST server. Let the server vend credentials, or set the catalog's properties " +
        s"$RemoteSigning=false and s3.access-key-id and s3.secret-access-key"
    )
    if (table.hasReadRestrictions) throw Unsupported(
      s"the read restrictions that the REST catalog at ${RestSettings.redacted(server.server)} sent for table $name",
      "Row filters and column masks of a server are not applied; read the table with an engine that applies them"
    )
  }

  private def requiresSigning(table: LoadedTable, server: RestSettings): Boolean = {
    val isEnabled = (server.properties ++ table.config).get(RemoteSigning).exists(_.trim.equalsIgnoreCase("true"))
    val hasKeys = (table.config +: table.credentials.map(_.config)).exists(_.contains(S3Settings.AccessKey))
    isEnabled && !disabledByUser && !hasKeys && S3Settings.bucketOf(table.metadata.location).isDefined
  }
}

private[catalog] object TableRequirements {
  private val RemoteSigning = "s3.remote-signing-enabled"
}
