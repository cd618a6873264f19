package iceberglite.table

import java.util.UUID

import iceberglite.spec.IcebergError.{AlreadyExists, NotFound}
import iceberglite.spec._

/**
 * A table to be made, as a user describes it.
 *
 * @param schema with any field ids: the table gets fresh ones
 * @param location absent: where the catalog puts it; a table that is replaced stays where it is
 * @param properties the user's, with `format-version` among them if it is given
 * @param caseSensitive whether `partitioning` and `order` name columns exactly
 */
final case class TableCreation(
    schema: Schema,
    partitioning: Vector[UnboundPartitionField] = Vector.empty,
    order: Vector[UnboundSortField] = Vector.empty,
    location: Option[String] = None,
    properties: Map[String, String] = Map.empty,
    caseSensitive: Boolean = true
) {
  private[table] def at(location: String): NewTable =
    NewTable(schema, partitioning, order, location, properties, caseSensitive)
}

/** What is to happen where a table of the name is, or is not, there. */
sealed trait StageMode
object StageMode {
  case object Create extends StageMode
  case object Replace extends StageMode
  case object CreateOrReplace extends StageMode
}

/** What a transaction begins with, before its actions: the table as it is, or one that it creates or replaces. */
trait TableStart {

  /** Whether the table need not be there. */
  def mayCreate: Boolean

  /**
   * The table that the actions find, and how it comes from `base`.
   *
   * @param table how messages call the table
   */
  def begin(table: String, base: Option[TableMetadata], nowMs: Long): TableStart.Begun
}

object TableStart {

  /** Metadata that a change leads to. */
  final case class Begun(metadata: TableMetadata, change: Change)

  /** A table that is there, and stays the same one: it is not to be confused with a later table of its name. */
  final class Existing(uuid: Option[UUID]) extends TableStart {
    override def mayCreate: Boolean = false

    override def begin(table: String, base: Option[TableMetadata], nowMs: Long): Begun = {
      val metadata = base.getOrElse(throw NotFound("table", table, "It was dropped in the meantime"))
      val same = uuid.map(Requirement.AssertTableUuid).toVector
      same.foreach(_.check(base, table))
      Begun(metadata, Change(Vector.empty, same))
    }
  }

  /**
   * @param defaultLocation where the table goes unless the creation says it, or it is there
   * @param uuid of the table, where one is created; a replaced table keeps its own
   */
  final class Creation(creation: TableCreation, mode: StageMode, defaultLocation: String, uuid: UUID)
      extends TableStart {
    override def mayCreate: Boolean = mode != StageMode.Replace

    override def begin(table: String, base: Option[TableMetadata], nowMs: Long): Begun = (base, mode) match {
      case (Some(_), StageMode.Create) =>
        throw AlreadyExists("table", table, "Drop it first, replace it, or choose another name")
      case (None, StageMode.Replace) =>
        throw NotFound("table", table, "CREATE OR REPLACE makes it where it is not there")
      case (None, _) =>
        val updates = creation.at(creation.location.getOrElse(defaultLocation)).creation(uuid)
        Begun(MetadataUpdate.create(updates, nowMs), Change(updates, Vector(Requirement.AssertCreate)))
      case (Some(existing), _) =>
        val updates = creation.at(creation.location.getOrElse(existing.location)).replacement(existing)
        Begun(
          MetadataUpdate.applyAll(existing, updates, NextVersion.timeAfter(existing, nowMs)),
          Change(updates, existing.uuid.map(Requirement.AssertTableUuid).toVector)
        )
    }
  }
}
