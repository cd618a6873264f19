package iceberglite.spec.update

import iceberglite.spec.{FormatVersion, ObjectKind}
import iceberglite.spec.IcebergError.{NotFound, ValidationFailed}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{PartitionField, PartitionSpec, Void}

/** Updates of the partition specs of a table. */
private[update] object Specs {

  /** Adds a partition spec, unless the table has a compatible one. Returns the new metadata and the id of the spec. */
  def add(m: TableMetadata, spec: PartitionSpec): (TableMetadata, Int) = {
    check(m, spec)
    // Spec, "Partitioning": writers must not create a partition spec if a compatible partition spec exists.
    m.specs.find(_.compatibleWith(spec)) match {
      case Some(same) => (m, same.specId)
      case None =>
        val id = m.specs.map(_.specId).foldLeft(-1)(_ max _) + 1
        val last = spec.fields.map(_.fieldId).foldLeft(m.lastPartitionId)(_ max _)
        (m.copy(specs = m.specs :+ spec.copy(specId = id), lastPartitionId = last), id)
    }
  }

  def setDefault(m: TableMetadata, id: Int): TableMetadata = {
    if (!m.specsById.contains(id)) {
      throw NotFound(ObjectKind.PartitionSpec, id.toString, "Add the spec before it becomes the default")
    }
    m.copy(defaultSpecId = id)
  }

  /** Removes partition specs. Ids that the table does not have are ignored. */
  def remove(m: TableMetadata, ids: Set[Int]): TableMetadata = {
    if (ids(m.defaultSpecId)) {
      throw ValidationFailed(s"Cannot remove partition spec ${m.defaultSpecId}: it is the default spec")
    }
    m.copy(specs = m.specs.filterNot(s => ids(s.specId)))
  }

  private def check(m: TableMetadata, spec: PartitionSpec): Unit = {
    firstDuplicate(spec.fields.map(_.name)).foreach { name =>
      throw ValidationFailed(s"Two partition fields have the name $name; rename one of them")
    }
    firstDuplicate(spec.fields.map(_.fieldId)).foreach { id =>
      throw ValidationFailed(s"Two partition fields have the id $id")
    }
    spec.fields.filter(_.transform != Void).foreach { f =>
      f.sourceIds.filterNot(id => m.schemas.exists(_.byId.contains(id))).foreach { id =>
        throw ValidationFailed(s"Partition field ${f.name} uses field $id, which no schema of the table has")
      }
    }
    if (m.formatVersion == FormatVersion.V1) checkSequential(spec) else spec.fields.foreach(checkCollision(m, _))
  }

  /**
   * Checks that the field ids of a version 1 partition spec are sequential. Version 1 does not store the field ids.
   * Instead, readers number the fields from 1000 on (spec: "Partition Evolution").
   */
  private def checkSequential(spec: PartitionSpec): Unit =
    spec.fields.zipWithIndex.foreach { case (f, i) =>
      if (f.fieldId != PartitionSpec.FirstFieldId + i) {
        throw ValidationFailed(
          s"Partition field ${f.name} has the id ${f.fieldId}, but in a table of format version 1 the ids are " +
            s"numbered from ${PartitionSpec.FirstFieldId}; upgrade the table to version 2"
        )
      }
    }

  /**
   * Checks that fields with the same id have the same source columns and the same transform in all partition specs, as
   * format version 2 and later require. The transforms of two such fields may also differ if one of them is void.
   */
  private def checkCollision(m: TableMetadata, field: PartitionField): Unit = {
    val existing = m.specs.flatMap(_.fields).filter(_.fieldId == field.fieldId)
    val same = existing.exists(f => f.sameValues(field) || (f.sourceIds == field.sourceIds && hasVoid(f, field)))
    if (existing.nonEmpty && !same) {
      throw ValidationFailed(
        s"Partition field ${field.name} has the id ${field.fieldId}, which belongs to ${existing.head.name} " +
          s"(${existing.head.transform} of field ${existing.head.sourceId})"
      )
    }
  }

  private def hasVoid(a: PartitionField, b: PartitionField): Boolean = a.transform == Void || b.transform == Void

  private def firstDuplicate[A](values: Vector[A]): Option[A] = values.diff(values.distinct).headOption
}
