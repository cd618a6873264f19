package iceberglite.catalog

import scala.annotation.tailrec

import iceberglite.spec.IcebergError.{AlreadyExists, CommitConflict, NotFound}
import iceberglite.spec.ObjectKind
import iceberglite.spec.update.MetadataUpdate._
import iceberglite.spec.update.{ViewRequirement, ViewUpdate}
import iceberglite.spec.update.ViewUpdate._
import iceberglite.spec.view.ViewMetadata
import iceberglite.table.{Environment, RetryPolicy, TableIdentifier, ViewChange, ViewState}

/**
 * The changes to the views of a catalog. After a conflict, a change is applied again to the newest state of the view,
 * so that concurrent changes of a view do not overwrite each other.
 */
final class ViewOperations(catalog: ViewCatalog, environment: Environment = Environment.system) {

  /**
   * Creates a view.
   *
   * @param location the view's location; if absent, the catalog determines the location
   * @throws AlreadyExists if a table or view with the name exists
   */
  def create(
      id: TableIdentifier,
      definition: ViewDefinition,
      properties: Map[String, String],
      location: Option[String]
  ): ViewState = {
    val updates = AssignUuid(environment.uuid()) +:
      location.orElse(catalog.defaultViewLocation(id)).map(SetLocation).toVector
    val all = withCatalogProperties(properties)
    val propertyUpdates = if (all.isEmpty) Vector.empty else Vector(SetProperties(all))
    catalog.commitView(id, None, ViewChange(updates ++ propertyUpdates ++ define(definition, None), Vector.empty))
  }

  /**
   * Creates a view, unless a table or view with the name exists.
   *
   * @return the new view; `None` if a table or view exists, even if it was created concurrently
   */
  def createIfNotExists(
      id: TableIdentifier,
      definition: ViewDefinition,
      properties: Map[String, String],
      location: Option[String]
  ): Option[ViewState] =
    if (catalog.viewExists(id) || catalog.tableExists(id)) None
    else
      try Some(create(id, definition, properties, location))
      catch { case _: AlreadyExists if catalog.viewExists(id) || catalog.tableExists(id) => None }

  /** Creates a view, or replaces its definition. Existing properties are kept unless they are set to another value. */
  def createOrReplace(
      id: TableIdentifier,
      definition: ViewDefinition,
      properties: Map[String, String],
      location: Option[String]
  ): ViewState = {
    @tailrec def attempt(remaining: Int): ViewState = {
      val result =
        try Right(
            if (catalog.viewExists(id)) replace(id, definition, properties, location)
            else create(id, definition, properties, location)
          )
        catch {
          // The view was created or dropped concurrently.
          case created: AlreadyExists if catalog.viewExists(id) => Left(created)
          case dropped @ NotFound(ObjectKind.View, _, _) => Left(dropped)
        }
      result match {
        case Right(state) => state
        case Left(error) => if (remaining == 0) throw error else attempt(remaining - 1)
      }
    }
    attempt(ViewOperations.Retries)
  }

  /**
   * Replaces the definition of a view.
   *
   * @throws NotFound if the view does not exist
   */
  def replace(
      id: TableIdentifier,
      definition: ViewDefinition,
      properties: Map[String, String],
      location: Option[String] = None
  ): ViewState = {
    val overrides = CatalogProperty.ViewOverride.in(catalog.properties)
    change(id) { base =>
      val moved = location.filter(_ != base.location).map(SetLocation).toVector
      val set = if (properties.isEmpty) Vector.empty else Vector(SetProperties(properties ++ overrides))
      moved ++ set ++ define(definition, Some(base))
    }
  }

  /** Sets and removes properties of a view. */
  def alterProperties(id: TableIdentifier, set: Map[String, String], remove: Set[String]): ViewState =
    change(id)(_ => propertyUpdates(set, remove))

  private def propertyUpdates(set: Map[String, String], remove: Set[String]): Vector[ViewUpdate] =
    (if (set.isEmpty) Vector.empty else Vector(SetProperties(set))) ++
      (if (remove.isEmpty) Vector.empty else Vector(RemoveProperties(remove)))

  /**
   * Makes an earlier version current. The version log gets an entry; no version is added.
   *
   * @param ofVersion the names of the view properties whose values belong to a version. Each of these properties is set
   *   to the value in the version's summary, or removed if the summary does not contain the property
   * @throws NotFound if the view or the version does not exist
   */
  def rollback(id: TableIdentifier, versionId: Int, ofVersion: Set[String]): ViewState =
    change(id) { base =>
      val set = base.version(versionId).summary.filter(property => ofVersion(property._1))
      val remove = (ofVersion -- set.keySet).intersect(base.properties.keySet)
      propertyUpdates(set, remove) :+ SetCurrentViewVersion(versionId)
    }

  /**
   * Returns the updates that define the view. An existing schema or version is used by its id, because REST servers
   * reject the id `-1` if they already have the schema or the version.
   */
  private def define(definition: ViewDefinition, base: Option[ViewMetadata]): Vector[ViewUpdate] = {
    val schemaId = base.flatMap(_.schemas.find(_.sameColumns(definition.schema))).map(_.schemaId)
    val version = definition.version(base, schemaId.getOrElse(LastAdded), environment.nowMs())
    base.flatMap(_.versions.find(_.sameDefinition(version))) match {
      case Some(same) => Vector(SetCurrentViewVersion(same.versionId))
      case None =>
        val lastColumnId = definition.schema.names.keys.foldLeft(0)(_ max _)
        val schema = if (schemaId.isDefined) Vector.empty else Vector(AddSchema(definition.schema, lastColumnId))
        schema ++ Vector(AddViewVersion(version), SetCurrentViewVersion(LastAdded))
    }
  }

  private def withCatalogProperties(properties: Map[String, String]): Map[String, String] =
    CatalogProperty.ViewDefault.in(catalog.properties) ++ properties ++
      CatalogProperty.ViewOverride.in(catalog.properties)

  /** Returns the updates of a view. A view without a UUID also gets one, because other engines require it. */
  private def withUuid(base: ViewState, updates: ViewMetadata => Vector[ViewUpdate]): Vector[ViewUpdate] =
    (if (base.metadata.uuid.isEmpty) Vector(AssignUuid(environment.uuid())) else Vector.empty) ++ updates(base.metadata)

  private def change(id: TableIdentifier)(updates: ViewMetadata => Vector[ViewUpdate]): ViewState = {
    val first = catalog.loadView(id)
    val requirements = first.metadata.uuid.map(ViewRequirement.AssertViewUuid).toVector
    val policy = RetryPolicy.commits(first.metadata.properties, environment)

    @tailrec def attempt(base: ViewState): ViewState = {
      val committed =
        try Right(catalog.commitView(id, Some(base), ViewChange(withUuid(base, updates), requirements)))
        catch { case conflict: CommitConflict => Left(conflict) }
      committed match {
        case Right(state) => state
        case Left(conflict) => if (policy.waitForNext()) attempt(catalog.loadView(id)) else throw conflict
      }
    }
    attempt(first)
  }
}

private object ViewOperations {

  /** The number of times that a creation or replacement is repeated after a concurrent creation or drop. */
  private val Retries = 3
}
