package iceberglite.spec.rest

import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.json.{JsonValue, TableMetadataJson, ViewMetadataJson}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.view.ViewMetadata

/**
 * Reads the responses of a REST catalog, as the OpenAPI description of the REST catalog defines them. The parameter
 * `file` of the methods is the name of the response, for messages.
 */
object RestResponseJson {

  /**
   * The configuration that the server sends to clients.
   *
   * @param endpoints the endpoints that the server supports; if absent, the default endpoints
   * @param supportsIdempotencyKeys whether the server supports idempotency keys
   */
  final case class Config(
      defaults: Map[String, String],
      overrides: Map[String, String],
      endpoints: Option[Vector[String]],
      supportsIdempotencyKeys: Boolean
  )

  /** One page of a listing. @param next the token for the next page; absent on the last page */
  final case class Page[A](items: Vector[A], next: Option[String])

  /** Credentials for the locations that begin with `prefix`. */
  final case class Credential(prefix: String, config: Map[String, String]) {
    override def toString: String = s"Credential($prefix)"
  }

  /**
   * A table and its configuration.
   *
   * @param metadataLocation the location of the metadata file; absent for a table that is only staged
   * @param hasReadRestrictions whether readers must filter rows or mask columns
   */
  final case class LoadedTable(
      metadataLocation: Option[String],
      metadata: TableMetadata,
      config: Map[String, String],
      credentials: Vector[Credential],
      hasReadRestrictions: Boolean
  ) {
    override def toString: String = s"LoadedTable($metadataLocation)"
  }

  final case class LoadedView(metadataLocation: String, metadata: ViewMetadata)

  /** An error response. @param status the status in the body, which may differ from the HTTP status */
  final case class ErrorResponse(errorType: String, message: String, status: Option[Int])

  /**
   * An access token.
   *
   * @param tokenType how the token is used, such as `bearer`; absent if the server does not state it
   * @param expiresInSeconds the validity period; absent if the server does not state it
   */
  final case class Token(value: String, tokenType: Option[String], expiresInSeconds: Option[Long]) {
    override def toString: String = "Token"
  }

  def config(file: String, json: Array[Byte]): Config = {
    val root = JsonValue.parse(file, json)
    Config(
      root.stringsOf("defaults"),
      root.stringsOf("overrides"),
      root.optional("endpoints").map(_.map(_.string)),
      root.has("idempotency-key-lifetime")
    )
  }

  def namespaces(file: String, json: Array[Byte]): Page[Vector[String]] =
    page(file, json, "namespaces")(_.map(_.string))

  /** Reads the names of a listing of tables or views. */
  def names(file: String, json: Array[Byte]): Page[RestRequestJson.Name] =
    page(file, json, "identifiers")(n => RestRequestJson.Name(n("namespace").map(_.string), n.string("name")))

  private def page[A](file: String, json: Array[Byte], key: String)(item: JsonValue => A): Page[A] = {
    val root = JsonValue.parse(file, json)
    Page(
      root.optional(key).fold(Vector.empty[A])(_.map(item)),
      root.optionalString("next-page-token").filter(_.nonEmpty)
    )
  }

  /** Reads the properties of a namespace. Servers that do not support namespace properties send null. */
  def properties(file: String, json: Array[Byte]): Map[String, String] =
    JsonValue.parse(file, json).stringsOf("properties")

  def table(file: String, json: Array[Byte]): LoadedTable = {
    val root = JsonValue.parse(file, json)
    LoadedTable(
      root.optionalString("metadata-location"),
      TableMetadataJson.read(root("metadata")),
      secret(file, "$.config")(root.stringsOf("config")),
      credentials(file, root),
      root.optional("read-restrictions").exists(_.entries.exists { case (_, value) => isRestriction(value) })
    )
  }

  /** Whether a member of the read restrictions restricts anything. An empty list of columns does not. */
  private def isRestriction(value: JsonValue): Boolean = !value.isNull && !(value.isArray && value.elements.isEmpty)

  /** Reads the response to a request for credentials of a table. */
  def credentials(file: String, json: Array[Byte]): Vector[Credential] = credentials(file, JsonValue.parse(file, json))

  private[rest] def credentials(file: String, root: JsonValue): Vector[Credential] =
    secret(file, "$.storage-credentials") {
      root.mapOf("storage-credentials")(c => Credential(c.string("prefix"), c.stringsOf("config")))
    }

  def view(file: String, json: Array[Byte]): LoadedView = {
    val root = JsonValue.parse(file, json)
    LoadedView(root.string("metadata-location"), ViewMetadataJson.read(root("metadata")))
  }

  /** Reads an error response. @throws InvalidMetadata if the JSON does not have the form of an error response */
  def errorResponse(file: String, json: Array[Byte]): ErrorResponse = errorOf(JsonValue.parse(file, json))

  private[rest] def errorOf(root: JsonValue): ErrorResponse = {
    val error = root("error")
    ErrorResponse(
      error.optionalString("type").getOrElse(""),
      error.optionalString("message").getOrElse(""),
      error.optionalInt("code")
    )
  }

  /** Reads the error response of an OAuth2 server. */
  def oauthErrorResponse(file: String, json: Array[Byte]): ErrorResponse = {
    val root = JsonValue.parse(file, json)
    ErrorResponse(root.string("error"), root.optionalString("error_description").getOrElse(""), None)
  }

  def token(file: String, json: Array[Byte]): Token = secret(file, "$") {
    val root = JsonValue.parse(file, json)
    Token(
      root.string("access_token"),
      root.optionalString("token_type"),
      root.optional("expires_in").map(_.long)
    )
  }

  /** Returns the expiration time from the claims of a JSON web token, in seconds since 1970. */
  def expiry(claims: Array[Byte]): Option[Long] =
    try JsonValue.parse("a token", claims).optional("exp").filter(_.isInteger).map(_.long)
    catch { case _: InvalidMetadata => None }

  /** Reads a value that may contain secrets. Error messages do not show any part of the value. */
  private def secret[A](file: String, path: String)(read: => A): A =
    try read
    catch { case _: InvalidMetadata => throw InvalidMetadata(file, path, "The value is missing or has a wrong type") }
}
