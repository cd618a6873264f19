package iceberglite.table.action

import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.json.NameMappingJson
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.property.{BloomIndexProperty, TableProperty}
import iceberglite.spec.property.TableProperty.NameMappingDefault
import iceberglite.spec.schema.Schema
import iceberglite.spec.update.{MetadataUpdate, Requirement, SchemaChanges}
import iceberglite.spec.update.MetadataUpdate.{RemoveProperties, SetProperties}
import iceberglite.spec.update.Requirement.{AssertCurrentSchemaId, AssertLastAssignedFieldId}
import iceberglite.table.{Change, CommitContext, MetadataAction}

/**
 * Changes the columns, and the table properties that refer to columns. If a concurrent commit changed the columns, the
 * commit fails without a retry (spec: "Commit Conflict Resolution and Retry").
 *
 * @param edit applies the changes to a schema; called for each commit attempt, with the schema of the metadata that the
 *   attempt is based on
 */
final class UpdateSchema(edit: SchemaChanges => SchemaChanges, caseSensitive: Boolean = true) extends MetadataAction {
  private val baseRequirements = new BaseRequirements(base =>
    Vector(AssertCurrentSchemaId(base.currentSchemaId), AssertLastAssignedFieldId(base.lastColumnId))
  )

  override def changeFor(base: TableMetadata, context: CommitContext): Change = {
    val requirements = baseRequirements.require(base, context)
    val updated = edit(SchemaChanges(base, caseSensitive))
    val columns = new ColumnProperties(base.schema, updated.schema)
    Change(updated.updates ++ columns.updates(base.properties) ++ declaredTypeUpdates(updated, base), requirements)
  }

  private def declaredTypeUpdates(updated: SchemaChanges, base: TableMetadata): Vector[MetadataUpdate] = {
    val (set, removed) = updated.declaredTypes
    Vector(SetProperties(set)).filter(_.properties.nonEmpty) ++
      Vector(RemoveProperties(removed.filter(base.properties.contains))).filter(_.keys.nonEmpty)
  }
}

/**
 * Updates the table properties that refer to columns by name: the name mapping, the columns of the Bloom index, and the
 * properties with the prefixes of [[TableProperty.ColumnPrefixes]].
 */
final private[action] class ColumnProperties(from: Schema, to: Schema) {

  /**
   * Returns the property updates. An invalid name mapping is not changed, as in Apache Iceberg. The error in the
   * mapping is reported when a file is read with it.
   */
  def updates(properties: Map[String, String]): Vector[MetadataUpdate] = {
    val mapping = properties.get(NameMappingDefault.key).flatMap { json =>
      try {
        val old = NameMappingJson.parse(NameMappingDefault.key, json)
        Some(old.evolve(from, to)).filter(_ != old).map(m => NameMappingDefault.key -> NameMappingJson.toJson(m))
      } catch { case _: InvalidMetadata => None }
    }
    val stale = for {
      (key, value) <- properties.toVector
      prefix <- TableProperty.ColumnPrefixes.find(key.startsWith)
      id <- from.ids.get(key.stripPrefix(prefix))
      newKey = to.names.get(id).map(prefix + _)
      if !newKey.contains(key)
    } yield (key, newKey.map(_ -> value))
    val (indexed, notIndexed) = bloomIndex(properties)
    val set = stale.flatMap(_._2).toMap ++ mapping ++ indexed
    Vector(SetProperties(set)).filter(_.properties.nonEmpty) ++
      Vector(RemoveProperties(stale.map(_._1).toSet -- set.keySet ++ notIndexed)).filter(_.keys.nonEmpty)
  }

  /**
   * Returns the new value of the property that lists the columns of the Bloom index, or its key if the property is
   * removed. A list cannot contain a name with a comma, so a column with such a new name is no longer indexed.
   */
  private def bloomIndex(properties: Map[String, String]): (Option[(String, String)], Option[String]) = {
    val key = BloomIndexProperty.Columns.key
    properties.get(key).fold((Option.empty[(String, String)], Option.empty[String])) { text =>
      val names = text.split(",", -1).toVector.map(_.trim)
      val renamed =
        names.flatMap(name => from.ids.get(name).fold(Option(name))(to.names.get)).filterNot(_.contains(","))
      if (renamed == names) (None, None)
      else if (renamed.isEmpty) (None, Some(key))
      else (Some(key -> renamed.mkString(",")), None)
    }
  }
}

/**
 * Determines the requirements of an action from its first base. If a later base does not meet these requirements, the
 * commit fails without a retry.
 */
final private[action] class BaseRequirements(requirementsOf: TableMetadata => Vector[Requirement]) {
  private var first: Option[Vector[Requirement]] = None

  /** Returns the requirements. @throws iceberglite.spec.IcebergError.CommitConflict if `base` does not meet them */
  def require(base: TableMetadata, context: CommitContext): Vector[Requirement] = {
    val requirements = first.getOrElse(requirementsOf(base))
    requirements.foreach(_.check(Some(base), context.table))
    first = Some(requirements)
    requirements
  }
}
