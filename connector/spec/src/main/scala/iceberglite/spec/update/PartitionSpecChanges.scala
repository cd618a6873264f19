package iceberglite.spec.update

import iceberglite.spec.{FormatVersion, IcebergError, ObjectKind}
import iceberglite.spec.IcebergError.{AlreadyExists, NotFound, Unsupported, ValidationFailed}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{PartitionField, PartitionSpec, Transform, UnboundField, Void}
import iceberglite.spec.schema.ColumnPath
import iceberglite.spec.types.NestedField
import iceberglite.spec.update.MetadataUpdate.{AddPartitionSpec, LastAdded, SetDefaultSpec}

/**
 * A sequence of changes to a table's partitioning (spec: "Partition Evolution"). The object is immutable: every change
 * returns a new object.
 *
 * Existing files keep their partition spec. In version 1, a removed field is kept with the transform `void`. Version 1
 * does not store the partition field ids, and the ids of the other fields would change if the field were removed.
 */
final class PartitionSpecChanges private (
    metadata: TableMetadata,
    fields: Vector[PartitionField],
    lastPartitionId: Int,
    added: Set[Int],
    caseSensitive: Boolean
) {

  /**
   * Adds a partition field.
   *
   * @param source the path of the column
   * @param name the name; if absent, the field gets the name of the equivalent field of an earlier partition spec or,
   *   if there is no such field, a default name such as `id_bucket_16`
   */
  def addField(source: Vector[String], transform: Transform, name: Option[String] = None): PartitionSpecChanges = {
    val column = UnboundField.source(metadata.schema, source, transform, caseSensitive)
    val requestedName = name.getOrElse(defaultName(column, transform))
    val requested = PartitionField(column.id, lastPartitionId + 1, requestedName, transform)
    val field = existingField(requested, name).getOrElse(requested)
    UnboundField.checkName(metadata.schema, field.name, column.id, transform)
    activeFields.foreach(checkCompatible(_, field))
    val next = renameVoidField(field.name) :+ field
    copy(fields = next, lastPartitionId = math.max(lastPartitionId, field.fieldId), added = added + field.fieldId)
  }

  /** Removes a field by its name. */
  def removeField(name: String): PartitionSpecChanges = remove(requireField(name))

  /** Removes the field with the given source column and transform. */
  def removeField(source: Vector[String], transform: Transform): PartitionSpecChanges =
    remove(requireFieldOf(source, transform))

  /** Replaces the field with the given name by a new field. */
  def replaceField(
      name: String,
      source: Vector[String],
      transform: Transform,
      newName: Option[String]
  ): PartitionSpecChanges = removeField(name).addField(source, transform, newName)

  /** Replaces the field with the given source column and transform by a new field. */
  def replaceField(
      oldSource: Vector[String],
      oldTransform: Transform,
      source: Vector[String],
      transform: Transform,
      newName: Option[String]
  ): PartitionSpecChanges = removeField(oldSource, oldTransform).addField(source, transform, newName)

  /** Returns the new partition spec, or the compatible partition spec that the table already has. */
  def result: PartitionSpec = {
    val spec = PartitionSpec(metadata.specs.map(_.specId).max + 1, fields)
    metadata.specs.find(_.compatibleWith(spec)).getOrElse(spec)
  }

  /** Returns the changes as metadata updates. */
  def updates: Vector[MetadataUpdate] = Vector(AddPartitionSpec(result), SetDefaultSpec(LastAdded))

  private def isV1: Boolean = metadata.formatVersion == FormatVersion.V1

  private def activeFields: Vector[PartitionField] = fields.filter(_.transform != Void)

  private def remove(field: PartitionField): PartitionSpecChanges = {
    if (added(field.fieldId)) {
      throw ValidationFailed(s"Cannot remove partition field ${field.name}: the same change adds it")
    }
    if (isV1) copy(fields = fields.map(f => if (f.fieldId == field.fieldId) f.copy(transform = Void) else f))
    else copy(fields = fields.filterNot(_.fieldId == field.fieldId))
  }

  /**
   * Returns the equivalent field of an existing partition spec. Its id must be reused (spec: "Partitioning"). If the
   * user specified a name, the existing field must have this name. In version 1, fields can only be appended, so no id
   * is reused.
   */
  private def existingField(requested: PartitionField, name: Option[String]): Option[PartitionField] = {
    def matches(f: PartitionField): Boolean = f.sameValues(requested) && name.forall(_ == f.name)
    if (isV1) None
    else {
      metadata.specs.reverseIterator.flatMap(_.fields)
        .find(f => matches(f) && !fields.exists(_.fieldId == f.fieldId))
    }
  }

  private def checkCompatible(existing: PartitionField, field: PartitionField): Unit = {
    if (existing.sameValues(field)) {
      throw AlreadyExists(
        ObjectKind.PartitionField,
        s"${existing.name} (${field.transform})",
        "The partition spec already contains this field; choose another column or transform"
      )
    }
    // As in Apache Iceberg, two fields that are added in the same update must not be redundant. A new field may be
    // redundant with an older field, for example an hour field with an older day field.
    if (added(existing.fieldId)) UnboundField.checkNotRedundant(existing, field)
    checkName(existing, field.name)
  }

  private def checkName(existing: PartitionField, name: String): Unit = if (existing.name == name) {
    throw AlreadyExists(
      ObjectKind.PartitionField,
      name,
      "Choose another name with AS, or drop the existing field first"
    )
  }

  /**
   * Returns the fields, and renames the void field with the given name if there is one. Version 1 keeps such a void
   * field for each dropped field.
   */
  private def renameVoidField(name: String): Vector[PartitionField] = fields.map { f =>
    if (f.transform == Void && f.name == name) f.copy(name = s"${f.name}_${f.fieldId}") else f
  }

  private def requireField(name: String): PartitionField =
    activeFields.find(_.name == name).getOrElse(throw missing(name))

  private def requireFieldOf(source: Vector[String], transform: Transform): PartitionField = {
    val column = ColumnPath.require(metadata.schema, source, caseSensitive).last
    activeFields.find(f => f.sourceIds == Vector(column.id) && f.transform == transform)
      .getOrElse(throw missing(s"$transform of ${source.mkString(".")}"))
  }

  private def missing(description: String): IcebergError = NotFound(
    ObjectKind.PartitionField,
    description,
    if (activeFields.isEmpty) "The table is not partitioned"
    else s"The fields are ${activeFields.map(f => s"${f.name} (${f.transform} of ${sourceName(f)})").mkString(", ")}"
  )

  private def sourceName(field: PartitionField): String =
    metadata.schema.names.getOrElse(field.sourceId, field.sourceId.toString)

  /**
   * Returns the default name of a field that is added to an existing table. As in Apache Iceberg, this is the default
   * name of the field in a new table, followed by the parameter of the transform.
   */
  private def defaultName(column: NestedField, transform: Transform): String = {
    val base = transform.defaultFieldName(metadata.schema.names(column.id))
    PartitionSpecChanges.Parameter.findFirstMatchIn(transform.name).fold(base)(m => s"${base}_${m.group(1)}")
  }

  private def copy(
      fields: Vector[PartitionField],
      lastPartitionId: Int = lastPartitionId,
      added: Set[Int] = added
  ): PartitionSpecChanges = new PartitionSpecChanges(metadata, fields, lastPartitionId, added, caseSensitive)
}

object PartitionSpecChanges {
  private val Parameter = """\[(\d+)\]""".r

  /**
   * Starts a sequence of changes.
   *
   * @throws Unsupported if the default partition spec has a transform of a later version of the specification
   */
  def apply(metadata: TableMetadata, caseSensitive: Boolean = true): PartitionSpecChanges = {
    if (metadata.spec.hasUnknownTransform) {
      throw Unsupported(
        s"changing a partition spec with a transform of a later version (${metadata.spec})",
        "Use a release that supports the transform"
      )
    }
    val lastId = metadata.formatVersion match {
      // Readers derive the field ids of a version 1 partition spec from the positions of the fields. Therefore a new
      // field gets the id that follows the id of the last field in the same partition spec.
      case FormatVersion.V1 => PartitionSpec.FirstFieldId + metadata.spec.fields.size - 1
      case FormatVersion.V2 | FormatVersion.V3 | FormatVersion.V4 => metadata.lastPartitionId
    }
    new PartitionSpecChanges(metadata, metadata.spec.fields, lastId, Set.empty, caseSensitive)
  }
}
