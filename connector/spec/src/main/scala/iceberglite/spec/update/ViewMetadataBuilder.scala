package iceberglite.spec.update

import java.util.UUID

import scala.util.Try

import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, Unsupported, ValidationFailed}
import iceberglite.spec.ObjectKind
import iceberglite.spec.schema.Schema
import iceberglite.spec.update.MetadataUpdate._
import iceberglite.spec.update.ViewUpdate._
import iceberglite.spec.view.{ViewLogEntry, ViewMetadata, ViewVersion}

/**
 * A view's metadata while the updates of a change are applied.
 *
 * @param lastAddedSchemaId the id of the schema that the change added last, or of the existing schema with the same
 *   columns
 * @param lastAddedVersionId the id of the version that the change added last, or of the existing version with the same
 *   definition
 * @param added the ids of the versions that the change added
 * @param logged the log entry for the version that the change made current
 */
final private[spec] case class ViewMetadataBuilder(
    metadata: ViewMetadata,
    nowMs: Long,
    lastAddedSchemaId: Option[Int] = None,
    lastAddedVersionId: Option[Int] = None,
    added: Set[Int] = Set.empty,
    logged: Option[ViewLogEntry] = None
) {
  private def updateMetadata(f: ViewMetadata => ViewMetadata): ViewMetadataBuilder = copy(metadata = f(metadata))

  private def applyUpdate(update: ViewUpdate): ViewMetadataBuilder = update match {
    case AssignUuid(uuid) => updateMetadata(ViewMetadataBuilder.assignUuid(_, uuid))
    case UpgradeFormatVersion(version) =>
      if (version.number > ViewMetadata.FormatNumber) {
        throw Unsupported(
          s"view format version $version",
          s"The only supported version is ${ViewMetadata.FormatNumber}"
        )
      }
      this
    case AddSchema(schema, _) => addSchema(schema)
    case SetLocation(location) => updateMetadata(_.copy(location = location))
    case SetProperties(properties) => updateMetadata(m => m.copy(properties = m.properties ++ properties))
    case RemoveProperties(keys) => updateMetadata(m => m.copy(properties = m.properties -- keys))
    case AddViewVersion(version) => addVersion(version)
    case SetCurrentViewVersion(id) => setCurrent(id)
  }

  private def addSchema(schema: Schema): ViewMetadataBuilder = metadata.schemas.find(_.sameColumns(schema)) match {
    case Some(same) => copy(lastAddedSchemaId = Some(same.schemaId))
    case None =>
      val id = ViewMetadataBuilder.next(metadata.schemas.map(_.schemaId).foldLeft(-1)(_ max _), "schema")
      copy(
        metadata = metadata.copy(schemas = metadata.schemas :+ schema.copy(schemaId = id)),
        lastAddedSchemaId = Some(id)
      )
  }

  /**
   * Adds a version, unless the view has an equal version. The id of the new version is higher than all existing ids.
   */
  private def addVersion(version: ViewVersion): ViewMetadataBuilder = {
    val schemaId =
      if (version.schemaId != LastAdded) version.schemaId
      else {
        lastAddedSchemaId.getOrElse(
          throw ValidationFailed("Cannot use the last added schema: the change adds no schema")
        )
      }
    if (!metadata.schemasById.contains(schemaId)) {
      throw NotFound(ObjectKind.Schema, schemaId.toString, "Add the schema before the version that uses it")
    }
    version.dialects.diff(version.dialects.distinct).headOption.foreach { dialect =>
      throw ValidationFailed(
        s"A version of a view has one query for each dialect, but the new version has two for $dialect"
      )
    }
    val bound = version.copy(schemaId = schemaId)
    metadata.versions.find(_.sameDefinition(bound)) match {
      case Some(same) => copy(lastAddedVersionId = Some(same.versionId))
      case None =>
        val highest = metadata.versions.map(_.versionId).foldLeft(0)(_ max _)
        val id = math.max(version.versionId, ViewMetadataBuilder.next(highest, "version"))
        copy(
          metadata = metadata.copy(versions = metadata.versions :+ withOrigin(bound.copy(versionId = id))),
          lastAddedVersionId = Some(id),
          added = added + id
        )
    }
  }

  /**
   * Adds the parent of a new version and the key `operation` of its summary, which belong to the early form of view
   * metadata (view spec: "Appendix A"). The specification requires the key.
   */
  private def withOrigin(version: ViewVersion): ViewVersion = {
    val (operation, parent) =
      if (metadata.versions.isEmpty) (ViewVersion.Create, ViewVersion.NoParent)
      else (ViewVersion.Replace, metadata.currentVersionId)
    version.copy(
      summary = Map(ViewVersion.OperationKey -> operation) ++ version.summary,
      parentVersionId = version.parentVersionId.orElse(Some(parent))
    )
  }

  private def setCurrent(id: Int): ViewMetadataBuilder = {
    val versionId =
      if (id != LastAdded) id
      else {
        lastAddedVersionId.getOrElse(
          throw ValidationFailed("Cannot use the last added version: the change adds no version")
        )
      }
    val version = metadata.versionsById.getOrElse(
      versionId,
      throw NotFound(ObjectKind.ViewVersion, versionId.toString, "Add the version before it becomes current")
    )
    if (versionId == metadata.currentVersionId) this
    else {
      // Other versions can lack their schema. A view whose current version lacks its schema would be unreadable.
      metadata.schemaOf(version)
      // If the change adds the version, the version became current at its own timestamp. An existing version becomes
      // current at the time of the change.
      val entry = ViewLogEntry(if (added(versionId)) version.timestampMs else nowMs, versionId)
      copy(metadata = metadata.copy(currentVersionId = versionId), logged = Some(entry))
    }
  }

  private def result(base: Option[ViewMetadata]): ViewMetadata = {
    if (metadata.location.isEmpty) throw InvalidArgument("location", "''", "A view must have a location")
    if (!metadata.versionsById.contains(metadata.currentVersionId)) {
      throw NotFound(
        ObjectKind.ViewVersion,
        metadata.currentVersionId.toString,
        "The change must add a version and make it the current version"
      )
    }
    base.foreach(before => ViewMetadataBuilder.checkDialects(before.currentVersion, metadata))
    ViewMetadataBuilder.expireVersions(metadata.copy(versionLog = metadata.versionLog ++ logged), added)
  }
}

private[spec] object ViewMetadataBuilder {

  def apply(base: ViewMetadata, updates: Seq[ViewUpdate], nowMs: Long): ViewMetadata =
    updates.foldLeft(new ViewMetadataBuilder(base, nowMs))(_.applyUpdate(_)).result(Some(base))

  def create(updates: Seq[ViewUpdate], nowMs: Long): ViewMetadata =
    updates.foldLeft(new ViewMetadataBuilder(Empty, nowMs))(_.applyUpdate(_)).result(None)

  /** The initial state of a new view, which is not a valid view itself. */
  private val Empty =
    ViewMetadata(None, "", Vector.empty, LastAdded, Vector.empty, Vector.empty, Map.empty)

  /** Returns the id after the highest id of the view's schemas or versions. */
  private def next(highest: Int, what: String): Int =
    if (highest < Int.MaxValue) highest + 1
    else throw ValidationFailed(
      s"Cannot add a $what to the view: it has a $what with the id $highest, the highest possible id. Drop the view, " +
        "and create it again"
    )

  private def assignUuid(m: ViewMetadata, uuid: UUID): ViewMetadata = m.uuid match {
    case Some(existing) if existing != uuid =>
      throw ValidationFailed(
        s"Cannot set the UUID of view ${m.location} to $uuid: it is $existing, and a UUID never changes"
      )
    case _ => m.copy(uuid = Some(uuid))
  }

  /**
   * Checks, as Apache Iceberg does, that the new version keeps the dialects of the replaced version, unless the view
   * property `replace.drop-dialect.allowed` is true. An engine that replaces a view must not remove queries in the SQL
   * dialects of other engines.
   */
  private def checkDialects(before: ViewVersion, m: ViewMetadata): Unit = {
    val lost = before.dialects.diff(m.currentVersion.dialects)
    if (lost.nonEmpty && !m.properties.get(ViewMetadata.DropDialectProperty).exists(_.equalsIgnoreCase("true"))) {
      throw ValidationFailed(
        s"The view at ${m.location} would lose its query in ${lost.mkString(", ")}. Add a query, or set the property " +
          s"${ViewMetadata.DropDialectProperty} to true"
      )
    }
  }

  /**
   * Expires old versions. The current version, the versions that this change added, and the versions with the highest
   * ids are kept. The log entries up to the last entry of an expired version are removed.
   */
  private def expireVersions(m: ViewMetadata, added: Set[Int]): ViewMetadata = {
    val versionsToKeep = math.max(historySize(m.properties), (added + m.currentVersionId).size)
    if (m.versions.size <= versionsToKeep) m
    else {
      val others = m.versions.map(_.versionId).filter(_ != m.currentVersionId).sorted(Ordering[Int].reverse)
      val kept = others.take(versionsToKeep - 1).toSet + m.currentVersionId
      m.copy(
        versions = m.versions.filter(v => kept(v.versionId)),
        versionLog = m.versionLog.drop(m.versionLog.lastIndexWhere(e => !kept(e.versionId)) + 1)
      )
    }
  }

  private def historySize(properties: Map[String, String]): Int =
    properties.get(ViewMetadata.HistorySizeProperty).fold(ViewMetadata.HistorySizeDefault) { text =>
      Try(text.trim.toInt).toOption.filter(_ > 0).getOrElse(throw InvalidArgument(
        s"view property ${ViewMetadata.HistorySizeProperty}",
        text,
        "It must be a positive number"
      ))
    }
}
