package iceberglite.catalog.rest

import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.json.{JsonFormat, JsonValue}
import iceberglite.spec.rest.RestResponseJson
import iceberglite.storage.{CredentialSource, VendedSettings}
import iceberglite.table.Environment

/**
 * A request for new credentials of a table (REST OpenAPI description: `loadCredentials`). It contains everything that a
 * process without the catalog, such as an executor, needs to send the request.
 *
 * @param catalog the name of the catalog, for messages
 * @param properties the properties of the catalog, including those that the server sent, and the user's secrets
 * @param table the name of the table, for messages
 * @param path the path of the table on the server
 * @param token the token that the server issued with the table
 * @param planId the id of a scan plan, if the credentials give access to the files of this plan; absent if they give
 *   access to the files of the table
 * @param vended the old credentials. The new credentials replace the access keys and tokens; other settings are kept
 */
final private[rest] case class CredentialRequest(
    catalog: String,
    properties: Map[String, String],
    table: String,
    path: String,
    token: Option[String],
    planId: Option[String],
    vended: VendedCredentials
) {

  /** Returns the request as text. The result contains secrets. */
  def json: String = JsonFormat.text { out =>
    out.writeStartObject()
    Seq("catalog" -> catalog, "table" -> table, "path" -> path, "location" -> vended.location)
      .foreach { case (key, value) => out.writeStringField(key, value) }
    (token.map("token" -> _) ++ planId.map("plan-id" -> _)).foreach { case (k, v) => out.writeStringField(k, v) }
    JsonFormat.writeArray(out, "directories", vended.directories)(out.writeString)
    JsonFormat.writeStrings(out, "properties", properties)
    JsonFormat.writeStrings(out, "config", vended.config)
    out.writeEndObject()
  }

  override def toString: String = s"CredentialRequest($table)"
}

private[rest] object CredentialRequest {
  def parse(text: String): CredentialRequest = {
    val json = JsonValue.parse("the request for credentials", text)
    CredentialRequest(
      json.string("catalog"),
      json.stringsOf("properties"),
      json.string("table"),
      json.string("path"),
      json.optionalString("token"),
      json.optionalString("plan-id"),
      VendedCredentials(json.string("location"), json.mapOf("directories")(_.string), json.stringsOf("config"))
    )
  }
}

/** Requests new credentials for a table from a REST server. */
final class RestCredentials extends CredentialSource {

  override def renew(request: String): VendedSettings = {
    val parsed = CredentialRequest.parse(request)
    val settings = new RestSettings(parsed.catalog, parsed.properties)
    val client = new RestClient(settings, new JdkTransport(settings), Environment.system)
    val call = RestRequest(
      s"renew the credentials of table ${parsed.table}",
      Endpoint.LoadCredentials,
      s"${parsed.path}/credentials",
      parsed.planId.map("planId" -> _).toVector,
      tableToken = parsed.token
    )
    val response = client.send(call)()
    val name = client.responseName(call)
    val credentials = RestResponseJson.credentials(name, response.body)
    if (credentials.isEmpty) throw InvalidMetadata(name, "$.storage-credentials", "The server returned no credentials")
    // Credentials that the server does not renew are kept, but do not cause further renewals when they have expired.
    val renewed = parsed.vended.replacedBy(credentials)
    renewed.copy(config = renewed.config.filterNot { case (key, _) => VendedCredentials.isExpiry(key) }).settings
  }
}
