package iceberglite.table

import java.util.UUID

import iceberglite.spec.IcebergError.{AlreadyExists, NotFound}
import iceberglite.spec.ObjectKind
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{UnboundPartitionField, UnboundSortField}
import iceberglite.spec.schema.Schema
import iceberglite.spec.table.{NewTable, TableClone}
import iceberglite.spec.update.{MetadataUpdate, Requirement}

/**
 * A table to be created, as a user describes it.
 *
 * @param schema the columns; their field ids are replaced by newly assigned ids
 * @param location the location; if absent, a new table has the catalog's default location, and a replaced table keeps
 *   its location
 * @param properties the user's properties, which may include `format-version`
 * @param caseSensitive whether `partitioning` and `order` match column names exactly
 * @param cloneOf the contents of the table if it is a clone. The schemas, partition specs and sort orders of the clone
 *   are then used instead of `schema`, `partitioning` and `order`
 */
final case class TableCreation(
    schema: Schema,
    partitioning: Vector[UnboundPartitionField] = Vector.empty,
    order: Vector[UnboundSortField] = Vector.empty,
    location: Option[String] = None,
    properties: Map[String, String] = Map.empty,
    caseSensitive: Boolean = true,
    cloneOf: Option[TableClone] = None
) {

  /** Returns the updates that create the table. */
  private[table] def creation(location: String, uuid: UUID): Vector[MetadataUpdate] =
    cloneOf.fold(at(location).creation(uuid))(_.creation(uuid, location, properties))

  private[table] def at(location: String): NewTable =
    NewTable(schema, partitioning, order, location, properties, caseSensitive)
}

/**
 * Determines whether the table must not exist (`Create`), must exist (`Replace`), or may exist (`CreateOrReplace`).
 */
sealed trait StageMode
object StageMode {
  case object Create extends StageMode
  case object Replace extends StageMode
  case object CreateOrReplace extends StageMode
}

/**
 * The initial state of a transaction, to which its actions are applied: an existing table, or a table that the
 * transaction creates or replaces.
 */
trait TableStart {

  /** Returns whether the table may be missing. */
  def mayCreate: Boolean

  /**
   * Returns the metadata that the first action is applied to, and the change from `base` to this metadata.
   *
   * @param table the table's name in messages
   */
  def initialState(table: String, base: Option[TableMetadata], nowMs: Long): TableStart.InitialState
}

object TableStart {

  /** Metadata, and the change that produced it. */
  final case class InitialState(metadata: TableMetadata, change: Change)

  /** An existing table. If the name now belongs to a table with another UUID, the commit fails. */
  final class Existing(uuid: Option[UUID]) extends TableStart {
    override def mayCreate: Boolean = false

    override def initialState(table: String, base: Option[TableMetadata], nowMs: Long): InitialState = {
      val metadata =
        base.getOrElse(throw NotFound(ObjectKind.Table, table, "The table was dropped after it was loaded"))
      val requirements = uuid.map(Requirement.AssertTableUuid).toVector
      requirements.foreach(_.check(base, table))
      InitialState(metadata, Change(Vector.empty, requirements))
    }
  }

  /**
   * A table that is created or replaced.
   *
   * @param defaultLocation the location of a new table if the creation does not set a location
   * @param uuid the UUID of a new table; a replaced table keeps its UUID
   */
  final class Creation(creation: TableCreation, mode: StageMode, defaultLocation: String, uuid: UUID)
      extends TableStart {
    override def mayCreate: Boolean = mode != StageMode.Replace

    override def initialState(table: String, base: Option[TableMetadata], nowMs: Long): InitialState =
      (base, mode) match {
        case (Some(_), StageMode.Create) =>
          throw AlreadyExists(ObjectKind.Table, table, "Drop the table first, replace it, or choose another name")
        case (None, StageMode.Replace) =>
          throw NotFound(ObjectKind.Table, table, "Use CREATE OR REPLACE, which creates a missing table")
        case (None, _) =>
          val updates = creation.creation(creation.location.getOrElse(defaultLocation), uuid)
          InitialState(MetadataUpdate.create(updates, nowMs), Change(updates, Vector(Requirement.AssertCreate)))
        case (Some(existing), _) =>
          val updates = creation.at(creation.location.getOrElse(existing.location)).replacement(existing)
          InitialState(
            MetadataUpdate.applyAll(existing, updates, NextVersion.commitTime(existing, nowMs)),
            Change(updates, existing.uuid.map(Requirement.AssertTableUuid).toVector)
          )
      }
  }
}
