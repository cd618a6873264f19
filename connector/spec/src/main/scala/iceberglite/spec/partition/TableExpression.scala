package iceberglite.spec.partition

/**
 * An expression on columns (version 4: field `expressions` of table metadata). Its id differs from the ids of all
 * columns and other expressions. The statistics of the expression's values are stored under this id.
 *
 * @param partitionFieldId the id of the partition field with the values of the expression; absent if the expression was
 *   not added for a partition field
 */
final case class TableExpression(
    id: Int,
    sourceIds: Vector[Int],
    transform: Transform,
    name: String,
    partitionFieldId: Option[Int]
) {

  /** Whether a partition field has the values of this expression. */
  def isOf(field: PartitionField): Boolean =
    partitionFieldId.contains(field.fieldId) && hasValuesOf(field)

  /** Whether a partition field would have the values of this expression, which belongs to no partition field. */
  private def isUnusedFor(field: PartitionField): Boolean = partitionFieldId.isEmpty && hasValuesOf(field)

  /**
   * Whether the expressions cannot belong to the same table: they have the same id and different values, or different
   * ids and the values of the same partition field.
   */
  def contradicts(that: TableExpression): Boolean = {
    val haveSameValues = sourceIds == that.sourceIds && transform == that.transform
    val isOfSameField = partitionFieldId.exists(that.partitionFieldId.contains)
    val isOfOtherField = partitionFieldId.isDefined && that.partitionFieldId.isDefined && !isOfSameField
    if (id == that.id) !haveSameValues || isOfOtherField else haveSameValues && isOfSameField
  }

  private def hasValuesOf(field: PartitionField): Boolean =
    transform == field.transform && sourceIds == field.sourceIds
}

object TableExpression {

  /**
   * The highest id of a column or expression with statistics. The field ids of statistics (10,000 + 200 * id) end at
   * 200,000,000, below the reserved field ids. The values of a partition field are stored as statistics. Therefore, the
   * column or expression of a partition field must not have a higher id.
   */
  val MaxId: Int = 999949

  /**
   * Returns the id of the next expression.
   *
   * @param lastId the highest id of a column, dropped columns included
   */
  def nextId(existing: Vector[TableExpression], lastId: Int): Int = (existing.map(_.id) :+ lastId).max + 1

  /**
   * Returns the expressions of a table after a writer without expressions may have added partition fields: their ids
   * are above the ids of the fields with an expression, because the ids of partition fields increase. Other fields get
   * no expression, because files may have their values under the id of an expression that has been lost.
   *
   * @param lastId as for `complete`
   */
  def completeNewer(
      specs: Vector[PartitionSpec],
      existing: Vector[TableExpression],
      lastId: Int
  ): Vector[TableExpression] = {
    val known = existing.flatMap(_.partitionFieldId)
    if (known.isEmpty) existing
    else complete(specs.map(s => s.copy(fields = s.fields.filter(_.fieldId > known.max))), existing, lastId)
  }

  /**
   * Returns the expressions of a table whose partition specs may have changed. Existing expressions are kept, including
   * expressions that no partition spec uses. Partition fields without an expression get one, in the order of the
   * partition field ids. If an existing expression has the values of the field and belongs to no partition field, the
   * field gets this expression; otherwise, it gets a new one. Void fields need no expression, because their values are
   * always null.
   *
   * @param lastId the highest id of a column, dropped columns included; the ids of new expressions are higher
   */
  def complete(
      specs: Vector[PartitionSpec],
      existing: Vector[TableExpression],
      lastId: Int
  ): Vector[TableExpression] = {
    val fields = specs.flatMap(_.fields).filter(_.transform != Void).sortBy(_.fieldId)
    fields.foldLeft(existing) { (known, field) =>
      val unused = known.indexWhere(_.isUnusedFor(field))
      if (known.exists(_.isOf(field))) known
      else if (unused >= 0) known.updated(unused, known(unused).copy(partitionFieldId = Some(field.fieldId)))
      else {
        val id = nextId(known, lastId)
        known :+ TableExpression(id, field.sourceIds, field.transform, field.name, Some(field.fieldId))
      }
    }
  }
}
