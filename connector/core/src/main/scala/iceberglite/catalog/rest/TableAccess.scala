package iceberglite.catalog.rest

import scala.util.Try

import iceberglite.spec.rest.RestAnswerJson.{Credential, LoadedTable}
import iceberglite.storage.{FileIO, S3Settings}

/**
 * The access to one table's files.
 *
 * @param io absent to use the catalog's
 * @param until the expiration of its credentials, in milliseconds since 1970
 */
final private[catalog] case class TableAccess(io: Option[FileIO], until: Option[Long])

private[catalog] object TableAccess {
  private val ExpiresAtMs = "s3.session-token-expires-at-ms"

  /**
   * Whether a setting of a server is used; no others are passed to the file systems, because Hadoop settings can name
   * classes.
   */
  private def taken(key: String): Boolean = S3Settings.isVended(key)

  /**
   * Merges the settings of a table from the server with those of the catalog: among several credentials, it uses the
   * one for the location.
   */
  def of(table: LoadedTable, io: FileIO): TableAccess = {
    val given = table.config ++
      best(table.credentials, table.metadata.location).fold(Map.empty[String, String])(_.config)
    val settings = given.filter { case (key, value) => taken(key) && value.nonEmpty }
    if (settings.isEmpty) TableAccess(None, None)
    else
      TableAccess(Some(io.configured(settings)), given.get(ExpiresAtMs).flatMap(text => Try(text.trim.toLong).toOption))
  }

  /** Selects the credential with the longest prefix (REST OpenAPI description: `StorageCredential`). */
  private[rest] def best(credentials: Vector[Credential], location: String): Option[Credential] = {
    val fitting = credentials.filter(c => location.startsWith(c.prefix))
    if (fitting.isEmpty) None else Some(fitting.maxBy(_.prefix.length))
  }
}
