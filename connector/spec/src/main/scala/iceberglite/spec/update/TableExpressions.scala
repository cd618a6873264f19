package iceberglite.spec.update

import iceberglite.spec.{FormatVersion, ObjectKind}
import iceberglite.spec.IcebergError.{AlreadyExists, NotFound, Unsupported, ValidationFailed}
import iceberglite.spec.metadata.TableMetadata
import iceberglite.spec.partition.{Identity, TableExpression, Void}
import iceberglite.spec.update.MetadataUpdate.AddExpression

/** Updates of the expressions of a table (version 4: `expressions` of table metadata). */
private[update] object TableExpressions {

  /**
   * Adds an expression for each partition field of a version 4 table that has none, except void fields. The ids of
   * expressions and columns are distinct, so `last-column-id` also covers the expressions.
   *
   * @throws ValidationFailed if the id of a partition field's column or expression is too high
   */
  def complete(m: TableMetadata): TableMetadata =
    if (m.formatVersion < FormatVersion.V4) m
    else {
      val expressions = TableExpression.complete(m.specs, m.expressions, m.lastColumnId)
      val ids = expressions.filter(_.partitionFieldId.isDefined)
        .flatMap(e => if (e.transform == Identity) e.sourceIds else Vector(e.id))
      ids.find(_ > TableExpression.MaxId).foreach { id =>
        throw ValidationFailed(
          s"Cannot partition table ${m.location} of format version ${m.formatVersion} by field $id: statistics are " +
            s"stored only for fields with ids up to ${TableExpression.MaxId}. Use format version 3"
        )
      }
      withExpressions(m, expressions)
    }

  /**
   * Rejects a change of a table whose metadata has lost the expression of a partition transform: the partition values
   * in its root manifests are stored under the id of the expression, and a new expression would have another id. Tables
   * that have only manifest lists (Avro files) are accepted, because their manifests contain the values themselves.
   *
   * @throws ValidationFailed if an expression is missing
   */
  def requirePresent(m: TableMetadata): Unit = if (m.formatVersion >= FormatVersion.V4) {
    // Only the file name tells a root from a manifest list, because the files are not read here. A manifest list with
    // another name than *.avro counts as a root: then, at worst, a valid change is rejected.
    val hasRoot = m.snapshots.exists(_.manifestList.exists(!_.endsWith(".avro")))
    val transformed = m.specs.flatMap(_.fields).filter(f => f.transform != Identity && f.transform != Void)
    for (field <- transformed if hasRoot && !m.expressions.exists(_.isOf(field))) throw ValidationFailed(
      s"Cannot change table ${m.location}: its metadata has no expression for the partition field ${field.name} (id " +
        s"${field.fieldId}). Another writer, or the server of the catalog, has dropped it, so that the partition " +
        "values in the files of the table cannot be found. Return the table to an earlier metadata file, which has " +
        "the expressions (see Limits in docs/v4.md)"
    )
  }

  /**
   * Adds an expression with a new id.
   *
   * @throws Unsupported if the format version is below 4
   * @throws AlreadyExists if the table has an expression with the same values or the same name
   * @throws ValidationFailed if the id is too high for statistics
   */
  def add(m: TableMetadata, added: AddExpression): TableMetadata = {
    requireV4(m)
    m.expressions.find(e => e.sourceIds == added.sourceIds && e.transform == added.transform).foreach { e =>
      val name = s"${e.name} (id ${e.id})"
      throw AlreadyExists(ObjectKind.Expression, name, "It has the same values; use this expression")
    }
    m.expressions.find(_.name == added.name).foreach { e =>
      throw AlreadyExists(ObjectKind.Expression, s"${e.name} (id ${e.id})", "Choose another name")
    }
    val id = TableExpression.nextId(m.expressions, m.lastColumnId)
    if (id > TableExpression.MaxId) throw ValidationFailed(
      s"Cannot add the expression ${added.name} with the id $id to table ${m.location}: statistics are stored " +
        s"only for fields with ids up to ${TableExpression.MaxId}"
    )
    withExpressions(m, m.expressions :+ TableExpression(id, added.sourceIds, added.transform, added.name, None))
  }

  /**
   * Adds the expressions of another table, with their ids.
   *
   * @throws Unsupported if the format version is below 4
   * @throws ValidationFailed if the table has expressions
   */
  def copy(m: TableMetadata, copied: Vector[TableExpression]): TableMetadata = {
    requireV4(m)
    if (m.expressions.nonEmpty)
      throw ValidationFailed(s"Cannot copy expressions to table ${m.location}, which has expressions")
    withExpressions(m, copied)
  }

  /**
   * Removes an expression.
   *
   * @throws NotFound if the table has no expression with this id
   * @throws ValidationFailed if a partition spec uses the expression
   */
  def remove(m: TableMetadata, id: Int): TableMetadata = {
    requireV4(m)
    val expression = m.expressions.find(_.id == id).getOrElse(throw NotFound(
      ObjectKind.Expression,
      id.toString,
      if (m.expressions.isEmpty) s"Table ${m.location} has no expressions"
      else s"The ids of the expressions are ${m.expressions.map(_.id).mkString(", ")}"
    ))
    for (spec <- m.specs; field <- spec.fields if expression.isOf(field)) throw ValidationFailed(
      s"Cannot remove the expression ${expression.name} (id $id) of table ${m.location}: its values are the " +
        s"partition values of the field ${field.name} in partition spec ${spec.specId}"
    )
    m.copy(expressions = m.expressions.filterNot(_.id == id))
  }

  private def requireV4(m: TableMetadata): Unit = if (m.formatVersion < FormatVersion.V4) throw Unsupported(
    s"an expression in table ${m.location} of format version ${m.formatVersion}",
    "Upgrade the table to format version 4"
  )

  private def withExpressions(m: TableMetadata, expressions: Vector[TableExpression]): TableMetadata =
    m.copy(expressions = expressions, lastColumnId = expressions.map(_.id).foldLeft(m.lastColumnId)(_ max _))
}
