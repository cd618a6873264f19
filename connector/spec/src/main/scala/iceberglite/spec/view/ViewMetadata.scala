package iceberglite.spec.view

import java.util.{Locale, UUID}

import iceberglite.spec.IcebergError.NotFound
import iceberglite.spec.ObjectKind
import iceberglite.spec.schema.Schema

/** A representation of a view's definition, such as a SQL query (view spec: "Representations"). */
sealed trait ViewRepresentation extends Product with Serializable
object ViewRepresentation {

  /** A query in one SQL dialect. Unqualified names refer to the default catalog and namespace of the view version. */
  final case class Sql(sql: String, dialect: String) extends ViewRepresentation

  /** A representation of an unknown type, which is preserved and ignored. @param json the complete representation */
  final case class Unknown(kind: String, json: String) extends ViewRepresentation
}

/**
 * An immutable version of a view (view spec: "Versions").
 *
 * @param schemaId the id of the schema of the query's result. This schema contains the column names and comments of the
 *   view
 * @param defaultCatalog the default catalog for names in the query; if absent, the view's own catalog
 * @param parentVersionId the id of the version that this version replaced, or `-1` for the first version; absent in
 *   versions of engines that do not record it
 * @param properties the properties of the version, which engines of the early form can set (view spec: "Appendix A")
 */
final case class ViewVersion(
    versionId: Int,
    schemaId: Int,
    timestampMs: Long,
    summary: Map[String, String],
    representations: Vector[ViewRepresentation],
    defaultCatalog: Option[String],
    defaultNamespace: Vector[String],
    parentVersionId: Option[Int] = None,
    properties: Map[String, String] = Map.empty
) {

  /** Returns the query in a SQL dialect. The case of the dialect's name is ignored. */
  def sql(dialect: String): Option[String] = representations.collectFirst {
    case ViewRepresentation.Sql(sql, d) if d.equalsIgnoreCase(dialect) => sql
  }

  /** Returns the dialects of the queries, in lower case. */
  def dialects: Vector[String] = representations.collect {
    case ViewRepresentation.Sql(_, dialect) => dialect.toLowerCase(Locale.ROOT)
  }

  /** Returns the operation that created the version: `create` or `replace`. */
  def operation: Option[String] = summary.get(ViewVersion.OperationKey)

  /** Whether two versions define the same view, regardless of their ids, parents, timestamps and operations. */
  def sameDefinition(that: ViewVersion): Boolean = definition == that.definition

  private def definition: ViewVersion =
    copy(versionId = 0, timestampMs = 0, summary = summary - ViewVersion.OperationKey, parentVersionId = None)
}

object ViewVersion {
  val OperationKey = "operation"
  val Create = "create"
  val Replace = "replace"

  /** The parent of the first version of a view (view spec: "Appendix A"). */
  val NoParent: Int = -1
}

/** An entry of the version log, which contains the time at which a version became the current version. */
final case class ViewLogEntry(timestampMs: Long, versionId: Int)

/**
 * The metadata of a view (view spec: "View Metadata"). The object is immutable: [[ViewUpdate]]s return a new object.
 *
 * @param uuid the view's UUID; absent only in views of the early form (view spec: "Appendix A")
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

  /** Returns a version. @throws NotFound if there is no such version; the message lists the versions */
  def version(id: Int): ViewVersion = versionsById.getOrElse(
    id,
    throw NotFound(ObjectKind.ViewVersion, id.toString, s"The versions are ${versions.map(_.versionId).mkString(", ")}")
  )

  def schema: Schema = schemaOf(currentVersion)

  /** Returns the schema of a version. @throws NotFound if the view does not have the schema */
  def schemaOf(version: ViewVersion): Schema = schemasById.getOrElse(
    version.schemaId,
    throw NotFound(
      ObjectKind.Schema,
      version.schemaId.toString,
      s"Version ${version.versionId} of the view at $location refers to this schema"
    )
  )
}

object ViewMetadata {

  /** The only format version of views. */
  val FormatNumber = 1

  /** The property that sets the number of versions to keep. The current version is always kept. */
  val HistorySizeProperty = "version.history.num-entries"
  val HistorySizeDefault = 10

  /** The property that states whether a new version of a view may lack a query in a dialect of the previous version. */
  val DropDialectProperty = "replace.drop-dialect.allowed"
}
