package iceberglite.spec.partition

import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported, ValidationFailed}
import iceberglite.spec.schema.{ColumnPath, Schema}
import iceberglite.spec.types.{NestedField, Type}

/**
 * A partition field as a user defines it. It refers to its source column by the path of the column.
 *
 * @param name the name; if absent, the default name of the transform is used
 */
final case class UnboundPartitionField(source: Vector[String], transform: Transform, name: Option[String] = None)

/** A sort field as a user defines it. It refers to its source column by the path of the column. */
final case class UnboundSortField(
    source: Vector[String],
    transform: Transform = Identity,
    direction: SortDirection = SortDirection.Ascending,
    nullOrder: NullOrder = NullOrder.NullsFirst
)

object UnboundField {

  /**
   * Returns the source column of a partition field or a sort field.
   *
   * @throws IcebergError if the column does not exist, or if the transform does not support the column (spec:
   *   "Partitioning")
   */
  def source(schema: Schema, path: Vector[String], transform: Transform, caseSensitive: Boolean): NestedField = {
    val fieldPath = ColumnPath.require(schema, path, caseSensitive)
    val name = path.mkString(".")
    fieldPath.init.find(!_.fieldType.isInstanceOf[Type.StructType]).foreach { parent =>
      throw InvalidArgument(
        s"source of $transform",
        name,
        s"It is inside a ${parent.fieldType}, so a row can have many values"
      )
    }
    if (transform.isInstanceOf[UnknownTransform]) {
      throw Unsupported(
        s"the transform $transform of $name",
        s"The supported transforms are ${familyNames.mkString(", ")}"
      )
    }
    if (!transform.canTransform(fieldPath.last.fieldType)) {
      throw InvalidArgument(
        s"source of $transform",
        name,
        s"Values of type ${fieldPath.last.fieldType} do not support this transform"
      )
    }
    fieldPath.last
  }

  /** Returns the partition spec of a new table. Its partition field ids start at 1000. */
  def partitionSpec(schema: Schema, fields: Vector[UnboundPartitionField], caseSensitive: Boolean): PartitionSpec = {
    val bound = fields.zipWithIndex.map { case (f, i) =>
      val column = source(schema, f.source, f.transform, caseSensitive)
      val name = f.name.getOrElse(f.transform.defaultFieldName(schema.names(column.id)))
      checkName(schema, name, column.id, f.transform)
      PartitionField(column.id, PartitionSpec.FirstFieldId + i, name, f.transform)
    }
    bound.foreach(f => bound.takeWhile(_ ne f).foreach(checkNotRedundant(_, f)))
    bound.find(f => bound.exists(g => (g ne f) && g.name == f.name)).foreach { f =>
      throw InvalidArgument(
        "partition field",
        f.name,
        "Two fields have this name; create the table with the first one, and add the second one with ALTER TABLE"
      )
    }
    PartitionSpec(0, bound)
  }

  def sortOrder(schema: Schema, fields: Vector[UnboundSortField], caseSensitive: Boolean): SortOrder = {
    val bound = fields.map { f =>
      val column = source(schema, f.source, f.transform, caseSensitive)
      SortField(Vector(column.id), f.transform, f.direction, f.nullOrder)
    }
    if (bound.isEmpty) SortOrder.Unsorted else SortOrder(1, bound)
  }

  /** Checks that a partition field has the same name as a column only if it contains the values of this column. */
  private[iceberglite] def checkName(schema: Schema, name: String, sourceId: Int, transform: Transform): Unit = {
    if (name.isEmpty) throw InvalidArgument("partition field", "''", "A partition field must have a name")
    schema.find(name).filterNot(f => f.id == sourceId && transform == Identity).foreach { column =>
      throw InvalidArgument(
        "partition field",
        name,
        s"The column ${column.name} has this name; choose another name with AS"
      )
    }
  }

  /**
   * Checks that two partition fields are not equivalent, and that they are not both a year, month, day or hour of the
   * same column.
   */
  private[iceberglite] def checkNotRedundant(first: PartitionField, second: PartitionField): Unit = {
    if (first.sameValues(second)) {
      throw ValidationFailed(s"Cannot add partition field ${second.name}: ${first.name} has the same values")
    }
    val areTimes = TimeTransforms.contains(first.transform) && TimeTransforms.contains(second.transform)
    if (first.sourceIds == second.sourceIds && areTimes) {
      throw ValidationFailed(
        s"Cannot add redundant partition field ${second.name} (${second.transform}): ${first.name} " +
          s"(${first.transform}) has the same source column. Keep only the finer field, because it serves filters " +
          "on both"
      )
    }
  }

  private val TimeTransforms: Seq[Transform] = Seq(Year, Month, Day, Hour)

  private def familyNames: Seq[String] = Transforms.all.map(_.name)
}
