package iceberglite.catalog.rest

import scala.util.Try

import iceberglite.io.{FileIO, S3Settings}
import iceberglite.spec.json.RestAnswerJson.{Credential, LoadedTable}

/**
 * How one table's files are reached.
 *
 * @param io absent: as the catalog's
 * @param until when its credentials end, in milliseconds since 1970
 */
final private[catalog] case class TableAccess(io: Option[FileIO], until: Option[Long])

private[catalog] object TableAccess {
  private val ExpiresAtMs = "s3.session-token-expires-at-ms"

  /** Nothing else that a server says reaches the file systems: settings of Hadoop can name classes. */
  private def taken(key: String): Boolean = S3Settings.isVended(key)

  /** What the server gave with a table, over what the catalog has: of several credentials the one for the location. */
  def of(table: LoadedTable, io: FileIO): TableAccess = {
    val given = table.config ++
      best(table.credentials, table.metadata.location).fold(Map.empty[String, String])(_.config)
    val settings = given.filter { case (key, value) => taken(key) && value.nonEmpty }
    if (settings.isEmpty) TableAccess(None, None)
    else
      TableAccess(Some(io.configured(settings)), given.get(ExpiresAtMs).flatMap(text => Try(text.trim.toLong).toOption))
  }

  /** The most specific prefix counts (REST OpenAPI description: `StorageCredential`). */
  private[rest] def best(credentials: Vector[Credential], location: String): Option[Credential] = {
    val fitting = credentials.filter(c => location.startsWith(c.prefix))
    if (fitting.isEmpty) None else Some(fitting.maxBy(_.prefix.length))
  }
}
