package iceberglite.spec.json

import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.{TableMetadata, ViewMetadata}

/**
 * What a REST catalog answers, by its OpenAPI description. The first argument of each is what the answer is called in
 * messages.
 */
object RestAnswerJson {

  /**
   * @param endpoints those the server has; absent: the default ones
   * @param idempotent whether it knows idempotency keys
   */
  final case class Config(
      defaults: Map[String, String],
      overrides: Map[String, String],
      endpoints: Option[Vector[String]],
      idempotent: Boolean
  )

  /** One page of a listing. @param next what asks for the next page; absent at the end */
  final case class Page[A](items: Vector[A], next: Option[String])

  /** Credentials for the places that begin with `prefix`. */
  final case class Credential(prefix: String, config: Map[String, String]) {
    override def toString: String = s"Credential($prefix)"
  }

  /** @param metadataLocation absent for a table that is staged only */
  final case class LoadedTable(
      metadataLocation: Option[String],
      metadata: TableMetadata,
      config: Map[String, String],
      credentials: Vector[Credential]
  ) {
    override def toString: String = s"LoadedTable($metadataLocation)"
  }

  final case class LoadedView(metadataLocation: String, metadata: ViewMetadata)

  /** @param status as the body has it, which may differ from the answer's own */
  final case class Refusal(kind: String, message: String, status: Option[Int])

  /** @param expiresInSeconds absent where the server does not say */
  final case class Token(value: String, expiresInSeconds: Option[Long]) {
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

  /** The names of a listing of tables or views. */
  def names(file: String, json: Array[Byte]): Page[RestRequestJson.Name] =
    page(file, json, "identifiers")(n => RestRequestJson.Name(n("namespace").map(_.string), n.string("name")))

  private def page[A](file: String, json: Array[Byte], key: String)(item: JsonValue => A): Page[A] = {
    val root = JsonValue.parse(file, json)
    Page(root(key).map(item), root.optionalString("next-page-token").filter(_.nonEmpty))
  }

  /** A namespace's properties; servers without such say null. */
  def properties(file: String, json: Array[Byte]): Map[String, String] =
    JsonValue.parse(file, json).stringsOf("properties")

  def table(file: String, json: Array[Byte]): LoadedTable = {
    val root = JsonValue.parse(file, json)
    LoadedTable(
      root.optionalString("metadata-location"),
      TableMetadataJson.read(root("metadata")),
      secret(file, "$.config")(root.stringsOf("config")),
      credentials(file, root)
    )
  }

  private def credentials(file: String, root: JsonValue): Vector[Credential] =
    secret(file, "$.storage-credentials") {
      root.mapOf("storage-credentials")(c => Credential(c.string("prefix"), c.stringsOf("config")))
    }

  def view(file: String, json: Array[Byte]): LoadedView = {
    val root = JsonValue.parse(file, json)
    LoadedView(root.string("metadata-location"), ViewMetadataJson.read(root("metadata")))
  }

  /** @throws InvalidMetadata where it is no error by the protocol */
  def refusal(file: String, json: Array[Byte]): Refusal = {
    val error = JsonValue.parse(file, json)("error")
    Refusal(
      error.optionalString("type").getOrElse(""),
      error.optionalString("message").getOrElse(""),
      error.optionalInt("code")
    )
  }

  /** The refusal of an OAuth2 server. */
  def oauthRefusal(file: String, json: Array[Byte]): Refusal = {
    val root = JsonValue.parse(file, json)
    Refusal(root.string("error"), root.optionalString("error_description").getOrElse(""), None)
  }

  def token(file: String, json: Array[Byte]): Token = secret(file, "$") {
    val root = JsonValue.parse(file, json)
    Token(root.string("access_token"), root.optional("expires_in").map(_.long))
  }

  /** The expiry in a JSON web token's claims, in seconds since 1970. */
  def expiry(claims: Array[Byte]): Option[Long] =
    try JsonValue.parse("a token", claims).optional("exp").filter(_.isWhole).map(_.long)
    catch { case _: InvalidMetadata => None }

  /** Messages about what may hold a secret show nothing of it. */
  private def secret[A](file: String, path: String)(read: => A): A =
    try read
    catch { case _: InvalidMetadata => throw InvalidMetadata(file, path, "It does not follow the protocol") }
}
