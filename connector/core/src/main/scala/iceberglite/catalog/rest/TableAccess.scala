package iceberglite.catalog.rest

import scala.util.Try

import iceberglite.spec.rest.RestResponseJson.{Credential, LoadedTable}
import iceberglite.storage.{FileIO, S3Settings}

/**
 * The access to one table's files.
 *
 * @param io the access with the table's credentials; if absent, the catalog's access is used
 * @param expiresMs the expiration time of the credentials, in milliseconds since 1970
 */
final private[catalog] case class TableAccess(io: Option[FileIO], expiresMs: Option[Long])

private[catalog] object TableAccess {
  private val ExpiresAtMs = "s3.session-token-expires-at-ms"

  /**
   * Whether a setting from the server is passed to the file systems. Only known S3 settings are passed, because other
   * Hadoop settings could name classes to load.
   */
  private def isAccepted(key: String): Boolean = S3Settings.isVended(key)

  /**
   * Returns the access to a table's files. The settings that the server sent for the table are used in addition to the
   * settings of the catalog. If the server sent several credentials, the credential for the table's location is used.
   */
  def of(table: LoadedTable, io: FileIO): TableAccess = {
    val config = table.config ++
      credentialFor(table.credentials, table.metadata.location).fold(Map.empty[String, String])(_.config)
    val settings = config.filter { case (key, value) => isAccepted(key) && value.nonEmpty }
    if (settings.isEmpty) TableAccess(None, None)
    else
      TableAccess(
        Some(io.configured(settings)),
        config.get(ExpiresAtMs).flatMap(text => Try(text.trim.toLong).toOption)
      )
  }

  /** Selects the credential with the longest prefix (REST OpenAPI description: `StorageCredential`). */
  private[rest] def credentialFor(credentials: Vector[Credential], location: String): Option[Credential] = {
    val matching = credentials.filter(c => location.startsWith(c.prefix))
    if (matching.isEmpty) None else Some(matching.maxBy(_.prefix.length))
  }
}
