package iceberglite.spec.partition

import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.{NestedType, PrimitiveType}
import iceberglite.spec.types.Type.StructType

/**
 * Checks the source columns of a partition spec or a sort order (spec: "Partitioning", "Sorting"). Each source column
 * must exist, must be outside of lists and maps, and must have a primitive type that the transform supports. The source
 * column of a field with the void transform may have been dropped.
 */
private[iceberglite] object SourceCheck {

  /**
   * Checks a partition spec.
   *
   * @throws ValidationFailed if a source column is not valid; the message names the field and the column
   */
  def checkPartitionSpec(schema: Schema, spec: PartitionSpec): Unit =
    spec.fields.filter(_.transform != Void).foreach { f =>
      def missing(id: Int) =
        s"Cannot drop field $id: the partition field ${f.name} uses it. Drop the partition field first"
      f.sourceIds.foreach(checkSource(schema, _, f.transform, s"the partition field ${f.name}", missing))
    }

  /**
   * Checks a sort order.
   *
   * @throws ValidationFailed if a source column is not valid; the message names the transform and the column
   */
  def checkSortOrder(schema: Schema, order: SortOrder): Unit = order.fields.foreach { f =>
    def missing(id: Int) = s"Cannot drop field $id: the table's sort order uses it. Change the sort order first"
    f.sourceIds.foreach(checkSource(schema, _, f.transform, s"the sort field ${f.transform}", missing))
  }

  private def checkSource(schema: Schema, id: Int, transform: Transform, user: String, missing: Int => String): Unit = {
    val column = schema.byId.getOrElse(id, throw ValidationFailed(missing(id)))
    def reject(reason: String): Nothing =
      throw ValidationFailed(s"Column ${schema.names(id)} cannot be the source of $user: $reason")
    column.fieldType match {
      case _: PrimitiveType => ()
      case nested: NestedType => reject(s"it is a $nested, but sources must be primitive")
    }
    // An unknown transform accepts all types, because the writer of the partition spec has checked the source columns.
    if (!transform.canTransform(column.fieldType)) reject(s"$transform does not support ${column.fieldType}")
    schema.ancestors(id).find(!_.fieldType.isInstanceOf[StructType]).foreach { parent =>
      reject(s"it is inside ${schema.names(parent.id)}, a ${parent.fieldType}, so a row can have many values")
    }
  }
}
