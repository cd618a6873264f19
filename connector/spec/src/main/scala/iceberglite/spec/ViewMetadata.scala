package iceberglite.spec

import java.util.{Locale, UUID}

import iceberglite.spec.IcebergError.NotFound

/** How a view is defined (view spec: "Representations"). */
sealed trait ViewRepresentation extends Product with Serializable
object ViewRepresentation {

  /** A query in one dialect of SQL; names in it that lack a catalog or a namespace take those of the version. */
  final case class Sql(sql: String, dialect: String) extends ViewRepresentation

  /** One of a type that this release does not know: kept, and ignored. @param json all of it, as it was read */
  final case class Unknown(kind: String, json: String) extends ViewRepresentation
}

/**
 * A view at one time, which never changes (view spec: "Versions", with the places of the fields as adopted).
 *
 * @param schemaId of the schema that the query gives; its fields bear the view's column names and comments
 * @param defaultCatalog absent means the view's own
 */
final case class ViewVersion(
    versionId: Int,
    schemaId: Int,
    timestampMs: Long,
    summary: Map[String, String],
    representations: Vector[ViewRepresentation],
    defaultCatalog: Option[String],
    defaultNamespace: Vector[String]
) {

  /** The query in a dialect; case does not count. */
  def sql(dialect: String): Option[String] = representations.collectFirst {
    case ViewRepresentation.Sql(sql, d) if d.equalsIgnoreCase(dialect) => sql
  }

  /** The dialects there are queries in, in lower case. */
  def dialects: Vector[String] = representations.collect {
    case ViewRepresentation.Sql(_, dialect) => dialect.toLowerCase(Locale.ROOT)
  }

  /** `create` or `replace`. */
  def operation: Option[String] = summary.get(ViewVersion.OperationKey)

  /** Whether the two define the same view, whenever they were made. */
  def sameDefinition(that: ViewVersion): Boolean =
    copy(versionId = that.versionId, timestampMs = that.timestampMs, summary = rest) ==
      that.copy(summary = that.rest)

  private def rest: Map[String, String] = summary - ViewVersion.OperationKey
}

object ViewVersion {
  val OperationKey = "operation"
  val Create = "create"
  val Replace = "replace"
}

/** When a version became current. */
final case class ViewLogEntry(timestampMs: Long, versionId: Int)

/**
 * All that is known of a view (view spec: "View Metadata"): a value. It changes only by a fold of [[ViewUpdate]]s.
 *
 * @param uuid absent only in views of the early form
 */
final case class ViewMetadata(
    uuid: Option[UUID],
    location: String,
    schemas: Vector[Schema],
    currentVersionId: Int,
    versions: Vector[ViewVersion],
    versionLog: Vector[ViewLogEntry],
    properties: Map[String, String]
) {
  lazy val versionsById: Map[Int, ViewVersion] = versions.map(v => v.versionId -> v).toMap
  lazy val schemasById: Map[Int, Schema] = schemas.map(s => s.schemaId -> s).toMap

  def currentVersion: ViewVersion = version(currentVersionId)

  /** @throws NotFound that lists the versions there are */
  def version(id: Int): ViewVersion = versionsById.getOrElse(
    id,
    throw NotFound("view version", id.toString, s"The versions are ${versions.map(_.versionId).mkString(", ")}")
  )

  def schema: Schema = schemaOf(currentVersion)

  /** @throws NotFound for a schema that the view does not have */
  def schemaOf(version: ViewVersion): Schema = schemasById.getOrElse(
    version.schemaId,
    throw NotFound("schema", version.schemaId.toString, s"Version ${version.versionId} of view $location needs it")
  )
}

object ViewMetadata {

  /** The only version of the format. */
  val FormatNumber = 1

  /** How many versions are kept; the current one always is. */
  val HistorySizeProperty = "version.history.num-entries"
  val HistorySizeDefault = 10

  /** Whether a view may be replaced by one that has no query in a dialect of before. */
  val DropDialectProperty = "replace.drop-dialect.allowed"
}
